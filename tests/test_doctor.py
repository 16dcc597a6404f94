"""The doctor accepts a sound run folder and names the record that is broken in any other."""

import json
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
    rows = []
    for number in range(2):
        ledger.start_round()
        for chain in ("a", "b"):
            ledger.append(row(number, chain))
        made = archive.add(version(number, harness, harness if number else None, ledger))
        rows.append({"round": number, "status": made.status, "harness_id": harness.id})
    ledger.close()
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
        (remove_version, "version 0 should stand here"),
        (cut_events, "events.jsonl"),
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


def test_this_machine_is_checked_part_by_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(load(compose(f"tracking.uri={tmp_path}/t", config_name="doctor"), DoctorConfig))
    said = capsys.readouterr().out
    for part in ("python", "extras", "sandbox", "tracking store", "disk"):
        assert part in said
