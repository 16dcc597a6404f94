"""Which task a chain keeps, and which chains the gate compares on."""

import pytest
from pydantic import ValidationError

from coevolve.tasks import Answer, Certificate, Domain, Task, Tolerance, advance_or_retain_valid_seeds, content_hash
from coevolve.tasks import freeze_gate_cohort as freeze


def task(chain: str, domain: Domain = "math", number: int = 0) -> Task:
    return Task(
        id=f"{chain}@{number}",
        chain=chain,
        domain=domain,
        round=number,
        question="q",
        answer=Answer(type="integer", value="1"),
        certificate=Certificate(kind="source"),
        source="s",
        license="CC0-1.0",
    )


def test_each_chain_keeps_its_latest_valid_task_even_when_an_ancestor_was_harder() -> None:
    before = [task("a", number=3), task("b", number=1)]
    after = advance_or_retain_valid_seeds(before, {"a": task("a", number=4)})
    assert [one.id for one in after] == ["a@4", "b@1"]


def test_every_round_holds_exactly_one_task_a_chain() -> None:
    before = [task("a"), task("b")]
    after = advance_or_retain_valid_seeds(before, {"b": task("b", number=1), "stranger": task("stranger")})
    assert [one.chain for one in after] == ["a", "b"]


def test_the_cohort_is_balanced_repeatable_and_in_chain_order() -> None:
    tasks = [task(f"{domain}{n}", domain) for domain in ("math", "coding", "science") for n in range(9)]
    cohort = freeze(tasks, 4, "7")
    assert [sum(one.domain == domain for one in cohort) for domain in ("math", "coding", "science")] == [4, 4, 4]
    assert cohort == freeze(list(tasks), 4, "7")
    assert cohort != freeze(tasks, 4, "8")
    assert [tasks.index(one) for one in cohort] == sorted(tasks.index(one) for one in cohort)
    assert len(freeze(tasks[:3], 50, "1")) == 3


def test_a_content_hash_does_not_depend_on_key_order() -> None:
    assert content_hash({"a": 1, "b": [2]}) == content_hash({"b": [2], "a": 1})
    assert content_hash({"a": 1}) != content_hash({"a": "1"})


@pytest.mark.parametrize("bad", [{"type": "number"}, {"value": 3}, {"extra": 1}, {"tolerance": {"rel": 0.5}}])
def test_answers_are_typed_and_strictly_formed(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Answer.model_validate({"type": "integer", "value": "3", **bad})


def test_tolerances_are_relative_or_absolute() -> None:
    assert Tolerance(rel=0.01).abs is None
