"""What a person sees: plain lines without a terminal, a live view on one, the closing table from the summary alone."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from coevolve import progress
from coevolve.progress import Progress, clock, closing_table, print_closing, what_next


def row(number: int, **more: Any) -> dict[str, Any]:
    return {
        "round": number,
        "accuracy": {"all": 0.75, "seed_mean": 0.75, "math": 1.0, "coding": 0.5},
        "interval": [0.5, 0.9],
        "validity": None if number == 0 else 0.5,
        "fallback_rate": None if number == 0 else 0.5,
        "skills": 3,
        "status": "accepted" if number else "initial",
        "harness_id": "0123456789abcdef",
        "c_gen_usd": None if number == 0 else 0.0123,
        "total_usd": 0.05,
        **more,
    }


SUMMARY = {
    "experiment": "demo",
    "ablation": "full",
    "seed": 0,
    "solver": {"name": "embedded", "model": "tiny"},
    "complete": True,
    "rounds": [row(0), row(1)],
}


def plain() -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, width=120), out


def test_without_a_terminal_a_stage_is_one_line_however_often_it_advances() -> None:
    console, out = plain()
    with Progress(live=True, rounds=4, chains=6, console=console) as shown:
        shown.phase(1, "generation", 600)
        for _ in range(600):
            shown.advance()
        shown.phase(1, "reporting", 24)
    assert out.getvalue().count("\n") == 2
    assert "round 1 of 4" in out.getvalue()


def test_a_long_stage_says_where_it_stands_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    console, out = plain()
    with Progress(live=False, rounds=4, chains=6, console=console) as shown:
        shown.phase(1, "generation", 6)
        shown.show(accuracy=0.5, misses=2, skills=1, cost_usd=0.01)
        for _ in range(3):
            now[0] += progress.PLAIN_LINE_SECONDS
            shown.advance()
    last = out.getvalue().splitlines()[-1]
    assert out.getvalue().count("\n") == 4
    for part in ("generation 3/6", "accuracy 50.0%", "2 misses", "1 skills admitted", "$0.0100"):
        assert part in last


def test_the_time_left_comes_from_finished_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    shown = Progress(live=False, rounds=4, chains=6, console=plain()[0])
    shown.phase(1, "generation", 6)
    assert shown.seconds_left() is None
    now[0] = 60.0
    shown.phase(2, "generation", 6)
    assert shown.seconds_left() == 180.0
    now[0] = 90.0
    assert shown.seconds_left() == 150.0
    shown.phase(5, "measuring accuracy", 6)
    assert shown.seconds_left() is None
    assert "after the last round" in shown.status()


def test_on_a_terminal_the_view_is_live_and_lines_said_stay() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100)
    with Progress(live=True, rounds=2, chains=3, console=console) as shown:
        shown.phase(1, "generation", 3)
        shown.show(accuracy=0.5)
        shown.advance()
        shown.say("round 1: accepted")
    assert "round 1 of 2" in out.getvalue()
    assert "round 1: accepted" in out.getvalue()


@pytest.mark.parametrize(("seconds", "text"), [(45, "45 s"), (720, "12 min"), (11_100, "3 h 5 min")])
def test_durations_are_said_as_a_person_does(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_the_closing_table_is_rebuilt_from_the_summary_alone() -> None:
    table = closing_table(SUMMARY)
    assert table.row_count == 2
    assert [column.header for column in table.columns][3:5] == ["math", "coding"], "only the domains of the run"
    console, out = plain()
    print_closing(SUMMARY, what_next(Path("/runs/x"), ("mlflow server", "http://h/#/x")), console)
    text = out.getvalue()
    for part in ("75.0%", "50.0% - 90.0%", "accepted", "01234567", "0.0123", "charts", "/runs/x/archive"):
        assert part in text


def test_an_unfinished_run_is_called_so() -> None:
    assert "not complete" in str(closing_table({**SUMMARY, "complete": False}).title)
