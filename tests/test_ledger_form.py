"""ledger.jsonl and events.jsonl: rows of a round that will be replayed are cut off, and nothing else."""

import json
from pathlib import Path

from coevolve.event_log import EventLog
from coevolve.events import Event, Scope
from coevolve.ledger import Ledger, Row, Totals


def row(n: int, microusd: int | None = 5) -> Row:
    return Row(f"k{n}", 1, "generation", "", "c", n, "extend", 0, "m", 3, 4, 1, 2, microusd, 0.5, "ok", ("429",))


def test_a_row_holds_exactly_the_fields_that_others_rely_on(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append(row(1))
    ledger.flush()
    (written,) = [json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    promised = (
        "call round phase probe chain step role attempt model tokens_in tokens_out tokens_cached tokens_reasoning"
    )
    assert set(written) == {*promised.split(), "microusd", "seconds", "outcome", "retries"}


def test_rows_past_the_archived_size_are_cut_off(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append(row(1))
    kept = ledger.flush()
    ledger.append(row(2))
    ledger.close()
    again = Ledger(tmp_path / "ledger.jsonl", kept)
    again.append(row(3))
    again.close()
    calls = [json.loads(line)["call"] for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    assert calls == ["k1", "k3"]


def test_archived_sums_are_restored_into_the_run(tmp_path: Path) -> None:
    first = Ledger(tmp_path / "a.jsonl")
    first.append(row(1))
    first.append(row(2))
    second = Ledger(tmp_path / "b.jsonl")
    second.restore(first.cells())
    assert second.run == first.run == Totals(2, 6, 8, 2, 4, 10, 1.0)


def test_events_are_cut_alike(tmp_path: Path) -> None:
    event = Event(kind="step", scope=Scope(round=1, phase="generation"))
    log = EventLog(tmp_path / "events.jsonl")
    log.append(event)
    kept = log.flush()
    log.append(event)
    log.close()
    again = EventLog(tmp_path / "events.jsonl", kept)
    again.close()
    assert (tmp_path / "events.jsonl").read_text().count("\n") == 1
