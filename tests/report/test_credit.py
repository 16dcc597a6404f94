"""Credit by skill: what fired where, and a planted effect is found while a confounded one is not."""

import csv
import io
import json
import random
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.made_up import round_, run

from coevolve.harness_folder import initial_harness, save_harness
from coevolve.report import credit
from coevolve.report.credit import Contrast, Sample, contrast, places, read_firings
from coevolve.report.runs import TrackedRun


def event(chain: str, number: int, skills: list[str], valid: bool = True, **changes: Any) -> dict[str, Any]:
    return {
        "kind": changes.get("kind", "chain"),
        "scope": {"round": number, "phase": changes.get("phase", "generation"), "probe": ""},
        "chain": chain,
        "step": 0,
        "data": {
            "valid": valid,
            "skills": skills,
            "missed": changes.get("missed", False),
            "problems": [],
            "cause": None,
        },
    }


def contrasted(
    used: Sequence[bool], values: Sequence[float], cells: Sequence[Hashable], chains: Sequence[str]
) -> Contrast | None:
    skills = tuple(frozenset(["s"] if mine else []) for mine in used)
    return contrast(
        np.asarray(used), Sample(skills, np.asarray(values, dtype=float), places(cells), places(chains), 1.0)
    )


def tracked(folder: Path, counts: Sequence[Sequence[int]], events: Sequence[dict[str, Any]]) -> TrackedRun:
    rounds = []
    for number, right in enumerate(counts):
        version = folder / "archive" / f"v{number:03d}"
        save_harness(initial_harness(), version / "harness")
        rounds.append(replace(round_(number, right), folder=version))
    lines = (json.dumps(one, separators=(",", ":")) for one in events)
    (folder / "events.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return replace(run("a/full", rounds), folder=folder)


def written(folder: Path, runs: Sequence[TrackedRun]) -> dict[tuple[str, str], dict[str, str]]:
    paths = credit.write(runs, folder)
    assert [path.name for path in paths] == ["skills.md", "skills.csv"]
    rows = csv.DictReader(io.StringIO(paths[1].read_text()))
    return {(row["item"], row["quantity"]): row for row in rows}


def test_where_a_skill_fired_and_what_followed_is_counted(tmp_path: Path) -> None:
    counts = [[4, 4, 4, 4], [2, 2, 4, 4], [0, 1, 4, 3]]
    events = [
        event("c0", 1, ["one-more-sum"], missed=True),
        event("c1", 1, ["one-more-sum", "one-more-sum"]),
        event("c2", 1, [], valid=False),
        event("c3", 1, []),
        event("c0", 2, ["one-more-sum"]),
        event("c1", 2, ["grown"]),
        event("c2", 2, ["one-more-sum"], valid=False),
        event("c3", 2, []),
        event("c3", 1, ["one-more-sum"], phase="candidate"),
        event("c3", 9, ["one-more-sum"]),
        event("c3", 1, ["one-more-sum"], kind="step"),
    ]
    found = written(tmp_path, [tracked(tmp_path, counts, events)])
    fired = found["one-more-sum", "origin"]
    assert (fired["value"], fired["n"], fired["note"]) == ("initial", "4", "3 chains")
    assert found["one-more-sum", "rounds"]["value"] == "1-2"
    assert found["one-more-sum", "domains"]["value"] == "math 4"
    assert float(found["one-more-sum", "own attempt missed"]["value"]) == 0.25
    assert float(found["one-more-sum", "valid with"]["value"]) == 0.75
    assert float(found["one-more-sum", "valid without"]["value"]) == 0.75
    assert float(found["one-more-sum", "harder with"]["value"]) == 0.5, "halves of a point three times"
    assert float(found["one-more-sum", "harder without"]["value"]) == pytest.approx(0.5 / 3, rel=1e-5)
    assert found["grown", "origin"]["value"] == "not archived"
    assert ("grown", "difficulty difference") not in found, "one chain has no error"


def test_a_skill_is_not_credited_for_the_round_it_was_used_in() -> None:
    """Round 2 is harder by a half for everyone; the skill is mostly used there and does nothing."""
    used, values, cells, chains = [], [], [], []
    for chain in range(12):
        for number, mine in ((1, chain < 2), (2, chain >= 2)):
            used.append(mine)
            values.append(0.1 + 0.5 * (number == 2) + 0.01 * (-1) ** (chain // 2 + number))
            cells.append((number, "math"))
            chains.append(str(chain))
    found = contrasted(used, values, cells, chains)
    assert found is not None
    assert found.value == pytest.approx(0, abs=0.02)
    with_, without = ([v for v, u in zip(values, used, strict=True) if u is side] for side in (True, False))
    assert sum(with_) / len(with_) - sum(without) / len(without) > 0.25, "the raw means would have credited it"


def test_a_planted_effect_is_estimated_exactly_where_nothing_else_varies() -> None:
    used = [True, True, False, False]
    found = contrasted(used, [0.5, 0.3, 0.1, 0.1], [1] * 4, list("abcd"))
    assert found is not None
    assert found.value == pytest.approx(0.3)
    assert found.low < 0.3 < found.high


@pytest.mark.parametrize(
    ("used", "values", "why"),
    [
        ([True] * 4, [1, 0, 1, 0], "nothing without it"),
        ([True, False, False, False], [1, 0, 1, 0], "one chain with it"),
        ([True, True, False, False], [1, 1, 1, 1], "nothing varies"),
    ],
)
def test_what_cannot_be_compared_is_not(used: list[bool], values: list[float], why: str) -> None:
    assert contrasted(used, values, [1] * 4, list("abcd")) is None, why


def test_a_round_that_used_it_throughout_says_nothing() -> None:
    found = contrasted([True, True, False, False], [0.9, 0.8, 0.1, 0.2], [1, 1, 2, 2], list("abcd"))
    assert found is None


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """95 % nominal, 200 cohorts of 30 chains and 8 rounds, tasks drifting harder, chains that differ."""
    draw = random.Random(0)
    covered = 0
    for _ in range(200):
        used, values, cells, chains = [], [], [], []
        for chain in range(30):
            own, leaning = draw.gauss(0, 0.1), draw.betavariate(2, 4)
            for number in range(8):
                mine = draw.random() < leaning
                used.append(mine)
                values.append(0.6 - 0.05 * number + own + 0.15 * mine + draw.gauss(0, 0.25))
                cells.append((number, chain % 3))
                chains.append(str(chain))
        found = contrasted(used, values, cells, chains)
        assert found is not None
        covered += found.low <= 0.15 <= found.high
    assert 0.91 <= covered / 200 <= 0.99, "three standard errors of 200 draws around 0.95"


def test_rounds_that_are_not_archived_yet_do_not_count(tmp_path: Path) -> None:
    found = tracked(tmp_path, [[4, 4], [3, 3]], [event("c0", 1, []), event("c0", 2, []), event("unknown", 1, [])])
    assert [(firing.chain, firing.round, firing.harder) for firing in read_firings(found)] == [("c0", 1, 0.25)]


def test_a_run_without_rounds_says_what_is_missing(tmp_path: Path) -> None:
    credit.write([tracked(tmp_path, [[4, 4]], [])], tmp_path)
    assert "No skill fired" in (tmp_path / "skills.md").read_text()
