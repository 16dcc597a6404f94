"""Neither the order of the input nor an interruption changes what comes out; a finished folder is reported."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from coevolve.curation.curated import EVOLUTION, HELD_OUT, MANIFEST
from coevolve.errors import ConfigError, Interrupted

REPOSITORY = Path(__file__).resolve().parents[2]


def lines(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def manifest(out):
    return json.loads((out / MANIFEST).read_text())


def test_two_runs_with_shuffled_input_keep_the_same_bytes(desk, sums, tmp_path):
    records = [*sums(30), *({**row, "id": f"twin-{row['id']}"} for row in sums(5)), {**sums(9)[8], "answer": "1"}]
    hashes = []
    for turn in range(2):
        random.Random(turn).shuffle(records)
        first, second = records[:20], records[20:]
        folder = tmp_path / str(turn)
        folder.mkdir()
        paths = [lines(folder / "x.jsonl", *first), lines(folder / "y.jsonl", *second)]
        out = desk.curate(f"seeds=[{paths[turn]},{paths[1 - turn]}]", f"out={folder / 'out'}")
        texts = [[(r["question"], r["answer"]) for r in rows(out / name)] for name in (EVOLUTION, HELD_OUT)]
        hashes.append(json.dumps(texts))
    assert hashes[0] == hashes[1] and "holds 8 plums" not in hashes[0]


def test_a_second_start_reports_and_another_configuration_is_refused_by_name(desk, sums, tmp_path):
    seeds = lines(tmp_path / "s.jsonl", *sums(6))
    out = desk.curate(f"seeds={seeds}")
    before = (out / MANIFEST).stat().st_mtime_ns
    assert desk.curate(f"seeds={seeds}") == out and (out / MANIFEST).stat().st_mtime_ns == before
    with pytest.raises(ConfigError, match="held_out"):
        desk.curate(f"seeds={seeds}", "held_out=0.5")
    lines(seeds, *sums(7))
    with pytest.raises(ConfigError, match=r"another input: .*s\.jsonl"):
        desk.curate(f"seeds={seeds}")
    assert len(desk.ids(desk.curate(f"seeds={seeds}", "fresh=true"))) == 7
    assert len(list(tmp_path.glob("out.before-*"))) == 1


def coding(number):
    """A prediction that the sandbox checks."""
    tests = {"kind": "call_output", "code": "", "call": f"{number} * {number} + 1"}
    question = f"What is the value of {number} * {number} + 1?"
    answer = str(number * number + 1)
    return {"id": f"c{number}", "domain": "coding", "question": question, "answer": answer, "tests": tests}


def test_interrupted_in_every_step_it_ends_with_the_same_hash(desk, sums, tmp_path, monkeypatch):
    monkeypatch.setattr("coevolve.curation.intake.EVERY", 3)
    monkeypatch.setattr("coevolve.curation.screening.EVERY", 3)
    monkeypatch.setattr("coevolve.curation.screening.TOGETHER", 3)
    seeds = f"seeds={lines(tmp_path / 's.jsonl', *sums(20), sums(1)[0], *map(coding, range(4)))}"
    whole = desk.curate(seeds, f"out={tmp_path / 'whole'}")
    for name in ("read", "families", "overlap", "verify", "skills"):
        with monkeypatch.context() as patch, pytest.raises(Interrupted, match="run the same command"):
            interrupt(patch, name, after=8)
            desk.curate(seeds)
        assert not (tmp_path / "out" / MANIFEST).exists()
    out = desk.curate(seeds)
    assert manifest(out)["folder_hash"] == manifest(whole)["folder_hash"]
    assert manifest(out)["shares"] == manifest(whole)["shares"]
    assert len(rows(out / "ledger.jsonl")) == len(rows(whole / "ledger.jsonl"))
    assert not list(out.glob(".work*"))


def interrupt(patch, wanted, after):
    """End the step `wanted` by Ctrl-C once it has advanced so far."""

    @contextmanager
    def step(name, total):
        done = 0

        def advance(count):
            nonlocal done
            done += count
            if name == wanted and done >= after:
                raise KeyboardInterrupt

        yield advance

    patch.setattr("coevolve.curate.step", step)


@pytest.mark.slow
def test_killed_and_started_again_it_ends_with_the_same_hash(desk, sums, tmp_path):
    seeds = f"seeds={lines(tmp_path / 's.jsonl', *sums(100), *map(coding, range(30)))}"
    whole = desk.curate(seeds, f"out={tmp_path / 'whole'}")
    out = tmp_path / "cut"
    command = [sys.executable, str(REPOSITORY / "scripts" / "curate.py"), seeds, "benchmarks=[]", f"out={out}"]
    kills = 0
    for wait in (0.05, 0.3, 0.6, 1.0):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        while not (out / ".work.sqlite").exists() and process.poll() is None:
            time.sleep(0.02)
        time.sleep(wait)
        kills += process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert kills
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert manifest(out)["folder_hash"] == manifest(whole)["folder_hash"]
