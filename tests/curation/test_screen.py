"""The solver screen keeps what is always answered right, in order, and no more than is wanted."""

import pytest

from coevolve.config import ScreenConfig, SeedsConfig
from coevolve.curation.screen import screen
from coevolve.tasks import Answer, Certificate, Task


def config(per_domain, enabled=True):
    return SeedsConfig(
        source="bundled",
        path=None,
        harness="shipped",
        split=None,
        config_name=None,
        columns={},
        defaults={},
        per_domain=per_domain,
        question_chars=2000,
        screen=ScreenConfig(enabled=enabled, attempts=4),
    )


def task(name, domain="math"):
    return Task(
        id=name,
        chain=name,
        domain=domain,
        round=0,
        question=f"question {name}",
        answer=Answer(type="integer", value="1"),
        certificate=Certificate(kind="source"),
        source="test",
        license="CC0-1.0",
    )


def solver(wrong, asked):
    async def solve(candidate, attempts):
        asked.append(candidate.id)
        return attempts - (candidate.id in wrong), attempts

    return solve


async def test_candidates_are_tried_in_order_until_enough_are_kept():
    asked = []
    candidates = [task(f"m{n}") for n in range(10)]
    result = await screen(candidates, config(3), ("math",), solver({"m0", "m2"}, asked))
    assert [kept.id for kept in result.kept] == ["m1", "m3", "m4"]
    assert asked == ["m0", "m1", "m2", "m3", "m4"]
    assert result.shares["math"] == {"candidates": 10, "refused": 0, "tried": 5, "kept": 3, "screened_out": 0.4}


async def test_domains_are_filled_each_for_itself():
    candidates = [task("m0"), task("c0", "coding"), task("c1", "coding")]
    result = await screen(candidates, config(1), ("math", "coding"), solver({"c0"}, []))
    assert [kept.id for kept in result.kept] == ["m0", "c1"]


async def test_without_screening_the_first_candidates_are_kept_unasked():
    asked = []
    result = await screen([task("m0"), task("m1")], config(1, enabled=False), ("math",), solver(set(), asked))
    assert ([kept.id for kept in result.kept], asked) == (["m0"], [])


async def test_too_few_candidates_give_what_there_is():
    result = await screen([task("m0"), task("m1")], config(5), ("math",), solver({"m1"}, []))
    assert [kept.id for kept in result.kept] == ["m0"]


async def test_a_refused_reference_costs_no_attempt():
    asked = []

    async def verify(candidate):
        return None if candidate.id == "m0" else candidate

    result = await screen([task("m0"), task("m1")], config(1), ("math",), solver(set(), asked), verify)
    assert ([kept.id for kept in result.kept], asked) == (["m1"], ["m1"])
    assert result.shares["math"]["refused"] == 1


async def test_no_attempt_made_is_no_success():
    async def solve(candidate, attempts):
        return 0, 0

    assert (await screen([task("m0")], config(1), ("math",), solve)).kept == ()


async def test_a_failure_inside_solve_is_not_swallowed():
    async def solve(candidate, attempts):
        raise ValueError("broken")

    with pytest.raises(ExceptionGroup):
        await screen([task("m0")], config(1), ("math",), solve)
