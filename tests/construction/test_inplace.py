"""Changes in place: longer operands and terser wording at the same or a smaller length."""

import random

import pytest

from coevolve.construction.base import Inapplicable, Limits
from coevolve.construction.hint import construction_for, parse_hint
from coevolve.construction.registry import CONSTRUCTIONS
from coevolve.tasks import Answer, Draft, Tests

LIMITS = Limits(question_chars=400, answer_chars=200)
BAGS = Draft(question="Ann has 3 bags of 4 nuts. How many nuts has she?", answer=Answer(type="integer", value="12"))
SPEED = Draft(
    question="A car covers 60 m in 5 s. What is its speed in m/s?",
    answer=Answer(type="quantity", value="12", unit="m/s"),
)
REVERSE = Draft(
    question="What does this Python expression evaluate to?\n\n'stone'[::-1]",
    answer=Answer(type="code_output", value="'enots'"),
    tests=Tests(kind="call_output", call="'stone'[::-1]"),
)
DOUBLE = Draft(
    question="Write a function that doubles a number.\n\nName the function `double`. Example:\nassert double(2) == 4",
    answer=Answer(type="code_tests", value="def double(n):\n    return 2 * n\n"),
    tests=Tests(kind="asserts", entry_point="double", cases=("assert double(2) == 4", "assert double(-3) == -6")),
)


def test_sharpening_makes_the_last_operand_longer_and_not_the_question():
    rng = random.Random(3)
    first = CONSTRUCTIONS["follow_on"].configured("add", "verbose").apply(BAGS, "math", 1, rng, LIMITS)
    sharper = CONSTRUCTIONS["sharpen"].apply(first, "math", 3, rng, LIMITS)
    assert 0 < len(sharper.question) - len(first.question) <= 2
    assert int(sharper.answer.value) >= 12 + 21
    assert sharper.solution.count("this gives") == 1
    with pytest.raises(Inapplicable, match="twice"):
        CONSTRUCTIONS["sharpen"].apply(sharper, "math", 1, rng, LIMITS)


def test_sharpening_works_on_expressions_and_on_linked_quantities():
    rng = random.Random(1)
    for style in ("terse", "verbose"):
        longer = CONSTRUCTIONS["code_step"].configured("concat", style).apply(REVERSE, "coding", 1, rng, LIMITS)
        sharper = CONSTRUCTIONS["sharpen"].apply(longer, "coding", 4, rng, LIMITS)
        assert sharper.answer.value.startswith("'enots") and len(sharper.answer.value) == len("'enots'") + 5
        assert (
            sharper.answer.value[6:-1] in sharper.question and longer.answer.value[6:-1] + "'" not in sharper.question
        )
    moved = CONSTRUCTIONS["formula_chain"].apply(SPEED, "science", 1, rng, LIMITS)
    for size in (3, 4, 5):
        try:
            again = CONSTRUCTIONS["sharpen"].apply(moved, "science", size, rng, LIMITS)
        except Inapplicable:
            continue
        assert again.answer.unit == moved.answer.unit and again.answer.value != moved.answer.value


def test_tightening_keeps_the_answer_and_wins_room():
    rng = random.Random(4)
    for domain, draft, name in (
        ("math", BAGS, "follow_on"), ("coding", REVERSE, "code_step"), ("coding", DOUBLE, "compose_function"),
    ):  # fmt: skip
        first = CONSTRUCTIONS[name].configured("any", "verbose").apply(draft, domain, 1, rng, LIMITS)
        tight = CONSTRUCTIONS["tighten"].apply(first, domain, 1, rng, LIMITS)
        assert len(tight.question) < len(first.question) and tight.answer == first.answer
        with pytest.raises(Inapplicable):
            CONSTRUCTIONS["tighten"].apply(tight, domain, 1, rng, LIMITS)


def test_a_fixed_verbose_harness_runs_out_of_room_and_terser_or_sharper_skills_go_on():
    def rounds(hints: list[str], style: str) -> int:
        draft, rng, made = BAGS, random.Random(9), 0
        for _ in range(40):
            hint = parse_hint(rng.choice(hints), CONSTRUCTIONS)
            try:
                draft = construction_for(hint, CONSTRUCTIONS, style).apply(draft, "math", hint.size, rng, LIMITS)
            except Inapplicable:
                continue
            made += 1
        return made

    fixed = rounds(["construction: follow_on size=1 op=add", "construction: second_unknown size=1"], "verbose")
    terse = rounds(["construction: follow_on size=1 op=add", "construction: second_unknown size=1"], "terse")
    sharper = rounds(
        ["construction: follow_on size=1 op=add", *(f"construction: sharpen size={n}" for n in (2, 3, 4))], "verbose"
    )
    assert fixed < 10 < terse and sharper > fixed
