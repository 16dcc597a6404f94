"""The doctor accepts a sound run folder and names the record that is broken in any other."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from coevolve.archive import Archive, Version
from coevolve.build import compose, load
from coevolve.doctor import DoctorConfig, main, run_checks
from coevolve.errors import DataError
from coevolve.events import Scope
from coevolve.harness import Harness
from coevolve.harness_folder import initial_harness
from coevolve.journal import Journal
from coevolve.ledger import CallKey, Ledger, Row
from coevolve.tasks import Answer, Certificate, Task


def task(chain: str) -> Task:
    return Task(
        id=f"{chain}-1",
        chain=chain,
        domain="math",
        round=0,
        question="2 + 3?",
        answer=Answer(type="integer", value="5"),
        certificate=Certificate(kind="source"),
        source="own",
        license="CC0-1.0",
    )


def row(number: int, chain: str) -> Row:
    key = CallKey(Scope(round=number, phase="generation"), chain, 0, "extend", 0)
    return Row(str(key), number, "generation", "", chain, 0, "extend", 0, "m", 100, 20, 0, 0, 18, 0.25, "ok")


def version(number: int, harness: Harness, parent: Harness | None, ledger: Ledger) -> Version:
    return Version(
        version=number,
        round=number,
        parents=(parent.id,) if parent else (),
        status="online-only" if parent else "initial",
        harness=harness,
        tasks=(task("a"), task("b")),
        fixed_hash="f",
        config_hash="c",
        evaluations={"reporting": {}},
        rejections=(),
        costs={"cells": ledger.cells()},
        files={"ledger": ledger.flush(), "events": 0},
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A sound run folder of two versions."""
    (tmp_path / "config.yaml").write_text("seed: 0\n")
    (tmp_path / "events.jsonl").write_text('{"kind": "round"}\n')
    harness = initial_harness()
    ledger, archive = Ledger(tmp_path / "ledger.jsonl"), Archive(tmp_path / "archive", lambda _: None)
    rows, journal = [], Journal(tmp_path / "journal")
    for number in range(2):
        ledger.start_round()
        journal.open_round(number)
        for chain in ("a", "b"):
            paid = row(number, chain)
            journal.append_call(paid.call, {"hash": "h", "seen": 0, "reply": {}, "row": paid.record()})
            ledger.append(paid)
        made = archive.add(version(number, harness, harness if number else None, ledger))
        rows.append({"round": number, "status": made.status, "harness_id": harness.id})
    ledger.close()
    journal.close()
    (tmp_path / "summary.json").write_text(json.dumps({"complete": True, "rounds": rows}))
    return tmp_path


def doctor(run: Path) -> int:
    return main(load(compose(f"run={run}", config_name="doctor"), DoctorConfig))


def test_a_sound_run_is_ok_check_by_check(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor(run) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(run_checks(run))
    assert all(line.startswith("ok ") for line in lines)


def edit_record(change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    def edit(run: Path) -> None:
        path = run / "archive" / "v001" / "version.json"
        record = json.loads(path.read_text())
        change(record)
        path.write_text(json.dumps(record))

    return edit


def edit_harness(run: Path) -> None:
    path = run / "archive" / "v001" / "harness" / "prompts" / "extend.md"
    path.write_text(path.read_text() + "\nAlso be kind.\n")


def same_chain_twice(run: Path) -> None:
    path = run / "archive" / "v001" / "tasks.jsonl"
    path.write_text(path.read_text().replace('"chain": "b"', '"chain": "a"').replace('"chain":"b"', '"chain":"a"'))


def first_ledger_line(old: str, new: str) -> Callable[[Path], None]:
    def edit(run: Path) -> None:
        path = run / "ledger.jsonl"
        path.write_text(path.read_text().replace(old, new, 1))

    return edit


def call_paid_twice(run: Path) -> None:
    with (run / "ledger.jsonl").open("a") as file:
        file.write((run / "ledger.jsonl").read_text().splitlines()[0] + "\n")


def journal_line(number: int, old: str, new: str) -> Callable[[Path], None]:
    def edit(run: Path) -> None:
        path = run / "journal" / f"r{number:03d}.jsonl"
        path.write_text(path.read_text().replace(old, new, 1))

    return edit


def lose_journal(run: Path) -> None:
    (run / "journal" / "r001.jsonl").unlink()


def remove_version(run: Path) -> None:
    (run / "archive" / "v000").rename(run / "archive" / "v007")


def cut_events(run: Path) -> None:
    edit_record(lambda record: record.update(files={**record["files"], "events": 10_000}))(run)  # type: ignore[dict-item]


def other_summary(run: Path) -> None:
    path = run / "summary.json"
    path.write_text(path.read_text().replace("online-only", "accepted"))


@pytest.mark.parametrize(
    ("breakage", "named"),
    [
        (edit_harness, "v001/harness"),
        (edit_record(lambda record: record.update(parents=["0" * 16])), "v001/version.json: parents"),
        (edit_record(lambda record: record.update(fixed_hash="other")), "fixed_hash"),
        (same_chain_twice, "v001/tasks.jsonl: chain a has 2 tasks"),
        (first_ledger_line('"tokens_in": 100', '"tokens_in": 101'), "tokens_in of generation//extend"),
        (first_ledger_line('"microusd": 18', '"microusd": 19'), "microusd of generation//extend"),
        (call_paid_twice, "paid for twice"),
        (journal_line(1, '"tokens_out": 20', '"tokens_out": 2'), "ledger.jsonl line 3: r1/generation//a/0/extend/0"),
        (journal_line(0, '{"call"', "{call"), "r000.jsonl line 1: not JSON"),
        (journal_line(0, '{"call"', '{"cell"'), "r000.jsonl line 1: no record of a journal"),
        (lose_journal, "does not stand so in"),
        (remove_version, "version 0 should stand here"),
        (cut_events, "events.jsonl"),
        (lambda run: (run / "config.yaml").write_text("seed: ["), "config.yaml: cannot be read"),
        (lambda run: (run / "config.yaml").write_text(""), "config.yaml: no configuration of a run"),
        (other_summary, "summary.json: status of round 1"),
    ],
)
def test_what_is_broken_is_named(
    run: Path, capsys: pytest.CaptureFixture[str], breakage: Callable[[Path], None], named: str
) -> None:
    breakage(run)
    assert doctor(run) == 1
    broken = [line for line in capsys.readouterr().out.splitlines() if line.startswith("BROKEN")]
    assert any(named in line for line in broken), broken


def test_a_folder_that_is_no_run_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no run folder"):
        run_checks(tmp_path)


def test_a_run_that_stopped_before_its_first_round_is_unfinished_and_not_broken(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(run / "archive")
    for name in ("summary.json", "events.jsonl"):
        (run / name).unlink()
    assert doctor(run) == 0
    said = capsys.readouterr().out
    assert "BROKEN" not in said
    assert "unfinished versions: no round is archived yet" in said and "unfinished summary: not written yet" in said


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_summary_behind_the_archive_is_unfinished_unless_it_says_that_the_run_is_complete(
    run: Path, capsys: pytest.CaptureFixture[str], kept: int
) -> None:
    path = run / "summary.json"
    summary = json.loads(path.read_text())
    path.write_text(json.dumps({**summary, "complete": False, "rounds": summary["rounds"][:kept]}))
    assert doctor(run) == 0
    assert f"unfinished summary: {kept} of 2 archived versions" in capsys.readouterr().out
    path.write_text(json.dumps({**summary, "complete": True, "rounds": summary["rounds"][:kept]}))
    assert doctor(run) == (0 if kept == 2 else 1)


def test_what_a_resumed_run_had_no_use_for_may_stand_twice(run: Path) -> None:
    first = json.loads((run / "ledger.jsonl").read_text().splitlines()[0])
    with (run / "ledger.jsonl").open("a") as file:
        file.write(json.dumps({**first, "outcome": "unused"}) + "\n")
    assert doctor(run) == 0


def test_this_machine_is_checked_part_by_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("models=procedural", "solver=scripted", f"tracking.uri={tmp_path}/t")
    assert main(load(compose(*words, config_name="doctor"), DoctorConfig)) == 0
    said = capsys.readouterr().out
    for part in ("python", "extras", "sandbox", "tracking store", "disk", "gpu", "solver: scripted"):
        assert f"ok     {part}" in said
