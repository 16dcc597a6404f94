"""Admission (Eq. 3): pure, bounded, and a trace becomes a skill at most once (I5)."""

import pytest
from pydantic import ValidationError

from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.skills import Skill, SkillProposal, admit

GAMMA = load(compose("experiment=demo"), RunConfig).constraints


def proposal(name: str, method: str = "") -> SkillProposal:
    return SkillProposal(name=name, intent="i", method=method or name, difficulty_effect="d", tool_hint="")


def test_an_admitted_skill_names_the_traces_it_came_from() -> None:
    result = admit((), [proposal("a")], ("r1/x/2",), "online", GAMMA)
    assert result.admitted == ("a",)
    assert result.skills[0].provenance == ("r1/x/2",)
    assert result.skills[0].status == "online"


def test_a_trace_becomes_a_skill_at_most_once() -> None:
    library = admit((), [proposal("a")], ("r1/x/2",), "online", GAMMA).skills
    again = admit(library, [proposal("b")], ("r1/x/2",), "post_task", GAMMA)
    assert again.skills == library
    assert "already became a skill" in again.refused["b"]


def test_one_trace_gives_one_skill_and_three_traces_at_most_three() -> None:
    names = [proposal(name) for name in "abcd"]
    assert admit((), names, ("t1",), "online", GAMMA).admitted == ("a",)
    assert admit((), names, ("t1", "t2", "t3"), "post_task", GAMMA).admitted == ("a", "b", "c")


def test_the_same_name_or_the_same_transformation_is_refused() -> None:
    library = admit((), [proposal("a", "double it")], ("t1",), "online", GAMMA).skills
    result = admit(library, [proposal("a", "other"), proposal("b", "double it")], ("t2",), "online", GAMMA)
    assert result.skills == library
    assert set(result.refused) == {"a", "b"}


def test_gamma_bounds_the_library_and_each_skill() -> None:
    small = GAMMA.model_copy(update={"skills": 1, "skill_chars": 50})
    library = admit((), [proposal("a")], (), "online", small).skills
    assert "full" in admit(library, [proposal("b")], (), "online", small).refused["b"]
    assert "characters" in admit((), [proposal("c", "x" * 100)], (), "online", small).refused["c"]


@pytest.mark.parametrize("name", ["../x", "A", "-a", "a-", "", "a" * 65, "a/b", "a\n", "con cat", "é"])
def test_names_are_plain(name: str) -> None:
    with pytest.raises(ValidationError):
        proposal(name, "m")


def test_every_field_of_the_four_must_say_something() -> None:
    with pytest.raises(ValidationError):
        Skill(name="a", intent="", method="m", difficulty_effect="d")
