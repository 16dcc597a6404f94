"""Every construction keeps answers exact, questions readable and within their ceilings."""

import random
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coevolve.construction.base import STYLES, Inapplicable, Limits
from coevolve.construction.numbers import number_of
from coevolve.construction.registry import CONSTRUCTIONS
from coevolve.tasks import Answer, Draft, Tests, Tolerance

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
CAPITAL = Draft(question="What is the capital city of Ghana?", answer=Answer(type="text", value="Accra"))
CHOICE = Draft(
    question="Which one is a metal?\nA) neon\nB) iron\nC) sulfur",
    answer=Answer(type="choice", value="B", choices={"A": "neon", "B": "iron", "C": "sulfur"}),
)
START = {
    "math": [BAGS, CHOICE],
    "science": [SPEED, CAPITAL, CHOICE],
    "coding": [REVERSE, DOUBLE],
}
FILES = [
    "code_bbh", "code_cruxeval", "code_mbpp", "math_aqua", "math_bbh", "math_gsm8k", "math_hendrycks",
    "science_arc_challenge", "science_molar_mass", "science_scibench_worked", "science_theoremqa",
    "small_arithmetic_rg", "small_capitals", "small_elements", "small_mawps", "small_physics1", "small_svamp",
    "small_tinypy",
]  # fmt: skip


def extend(draft: Draft, domain: str, size: int, rng: random.Random, limits: Limits = LIMITS) -> tuple[str, Draft]:
    """One construction drawn at random; ("", draft) where none applies."""
    names = [name for name, found in CONSTRUCTIONS.items() if domain in found.domains and found.applies(draft, domain)]
    rng.shuffle(names)
    for name in names:
        construction = CONSTRUCTIONS[name].configured("any", rng.choice(STYLES))
        try:
            return name, construction.apply(draft, domain, size, rng, limits)
        except Inapplicable:
            continue
    return "", draft


def proof(draft: Draft) -> str | None:
    """A program that prints the draft's answer, computed apart from the constructions; None where it has none."""
    if draft.answer.type == "code_tests" and draft.tests is not None:
        return "\n".join([draft.tests.setup, draft.answer.value, *draft.tests.cases, "print('passed')"])
    return draft.program


def agrees(draft: Draft, printed: str) -> bool:
    if draft.answer.type == "code_tests":
        return printed == "passed"
    if draft.answer.type == "code_output":
        return printed == draft.answer.value
    return number_of(printed.split(maxsplit=1)[0]) == number_of(draft.answer.value)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 6), st.sampled_from(["math", "science"]), st.booleans())
def test_twelve_extensions_keep_the_answer_exact_by_the_programs_own_account(seed, top, domain, roomy):
    rng = random.Random(seed)
    draft = rng.choice(START[domain])
    limits = Limits(4000 if roomy else 400, 200)
    for step in range(12):
        _, draft = extend(draft, domain, 1 + step * top // 12, rng, limits)
        assert len(draft.question) <= limits.question_chars
        assert len(draft.answer.value) <= limits.answer_chars
        if draft.program:
            output: list[str] = []
            exec(draft.program, {"print": lambda x, *unit, into=output: into.append(str(x))})
            assert number_of(output[-1]) == number_of(draft.answer.value), draft


@pytest.mark.parametrize("name", FILES)
def test_real_seeds_take_twelve_extensions_with_answers_that_hold(seeds: Callable, printed: Callable, name: str):
    chains = random.Random(name).sample(seeds(name), 20)
    drafts, made = [], []
    for number, (domain, start) in enumerate(chains):
        draft, rng = start, random.Random(f"{name}/{number}")
        limits = Limits(max(400, len(draft.question) + 300), 200)
        steps = 0
        for step in range(12):
            used, draft = extend(draft, domain, 1 + step // 4, rng, limits)
            steps += bool(used)
            assert len(draft.question) <= limits.question_chars
            if used and proof(draft):
                drafts.append(draft)
        made.append(steps)
    assert sum(count > 0 for count in made) >= 0.9 * len(made)
    outputs = printed([proof(draft) or "" for draft in drafts])
    wrong = [(d.question, d.answer.value, out) for d, out in zip(drafts, outputs, strict=True) if not agrees(d, out)]
    assert not wrong, wrong[:2]


@pytest.mark.parametrize("name", FILES)
def test_nearly_every_real_seed_has_an_applicable_construction_of_size_one(seeds: Callable, name: str):
    applicable = 0
    for number, (domain, draft) in enumerate(found := seeds(name)):
        limits = Limits(max(400, len(draft.question) + 200), 200)
        applicable += bool(extend(draft, domain, 1, random.Random(number), limits)[0])
    assert applicable >= 0.9 * len(found)


def test_equal_seeds_of_the_generator_give_equal_drafts():
    for domain, drafts in START.items():
        for draft in drafts:
            twice = [extend(draft, domain, 2, random.Random(5)) for _ in range(2)]
            assert twice[0] == twice[1]


@pytest.mark.parametrize("op", ["add", "mul"])
def test_a_larger_size_means_a_longer_operand(op: str):
    construction = CONSTRUCTIONS["follow_on"].configured(op, "terse")
    means = []
    for size in range(1, 9):
        values = [
            number_of(construction.apply(BAGS, "math", size, random.Random(seed), LIMITS).answer.value) or Fraction(0)
            for seed in range(30)
        ]
        means.append(sum(values) / len(values))
    assert means == sorted(means) and len(set(means)) == len(means)


def test_verbose_wording_costs_more_room_than_terse_wording():
    for domain, drafts in START.items():
        for draft in drafts:
            for name, construction in CONSTRUCTIONS.items():
                if name in ("tighten", "sharpen", "distractor") or not construction.applies(draft, domain):
                    continue
                lengths = {}
                for style in STYLES:
                    for seed in range(20):
                        try:
                            changed = construction.configured("any", style).apply(
                                draft, domain, 1, random.Random(seed), LIMITS
                            )
                        except Inapplicable:
                            continue
                        lengths.setdefault(style, []).append(len(changed.question))
                assert min(lengths["verbose"]) > min(lengths["terse"]), name


def test_a_question_never_grows_over_its_ceiling():
    tight = Limits(len(BAGS.question) + 10, 200)
    with pytest.raises(Inapplicable, match="characters"):
        CONSTRUCTIONS["follow_on"].apply(BAGS, "math", 1, random.Random(0), tight)
    assert (
        CONSTRUCTIONS["follow_on"]
        .configured("add", "terse")
        .apply(BAGS, "math", 1, random.Random(0), Limits(len(BAGS.question) + 13, 200))
    )


def test_an_inexact_quantity_is_only_scaled_or_grown_and_its_error_is_carried():
    rough = Draft(
        question="What is the mass in g?",
        answer=Answer(type="quantity", value="2.5", unit="g", tolerance=Tolerance(rel=0.05)),
    )
    with pytest.raises(Inapplicable):
        CONSTRUCTIONS["follow_on"].configured("sub", "terse").apply(rough, "science", 2, random.Random(0), LIMITS)
    with pytest.raises(Inapplicable):
        CONSTRUCTIONS["case_split"].apply(rough, "science", 1, random.Random(0), LIMITS)
    scaled = CONSTRUCTIONS["follow_on"].configured("mul", "terse").apply(rough, "science", 2, random.Random(0), LIMITS)
    assert scaled.answer.tolerance == Tolerance(rel=0.05)
    grown = CONSTRUCTIONS["follow_on"].configured("add", "terse").apply(rough, "science", 2, random.Random(0), LIMITS)
    assert grown.answer.tolerance is not None and grown.answer.tolerance.rel is not None
    assert grown.answer.tolerance.rel == pytest.approx(0.05 * 2.5 / float(grown.answer.value))


def test_an_inversion_of_a_plain_sum_has_exactly_one_solution():
    source = Draft(question="What is 7 * 3 - 5?", answer=Answer(type="integer", value="16"))
    for seed in range(10):
        inverted = (
            CONSTRUCTIONS["inversion"]
            .configured("source", "terse")
            .apply(source, "math", 1, random.Random(seed), LIMITS)
        )
        masked = inverted.question.removeprefix("For which number n is ").removesuffix(" = 16?")
        fitting = [n for n in range(-50, 51) if eval(masked, {"n": n}) == 16]
        assert fitting == [int(inverted.answer.value)]
    with pytest.raises(Inapplicable):
        CONSTRUCTIONS["inversion"].configured("source", "terse").apply(BAGS, "math", 1, random.Random(0), LIMITS)


def test_other_spellings_of_a_text_answer_must_agree():
    metal = Draft(question="Which element is Al?", answer=Answer(type="text", value="aluminium", aliases=("aluminum",)))
    with pytest.raises(Inapplicable, match="spellings"):
        CONSTRUCTIONS["letters"].configured("length", "terse").apply(metal, "science", 1, random.Random(0), LIMITS)


def test_a_foreign_program_is_carried_on(printed: Callable):
    draft = BAGS.model_copy(update={"program": "print(3 * 4)"})
    for seed in range(3):
        draft = CONSTRUCTIONS["follow_on"].apply(draft, "math", 1, random.Random(seed), LIMITS)
    assert "3 * 4" in (draft.program or "") and printed([draft.program or ""]) == [draft.answer.value]


@settings(deadline=None)
@given(
    st.text(max_size=60),
    st.text(max_size=40),
    st.sampled_from(
        ["integer", "quantity", "code_output", "expression", "text", "choice", "percent", "code_tests", "set", "matrix"]
    ),
    st.sampled_from(sorted(CONSTRUCTIONS)),
)
def test_no_draft_crashes_a_construction(question: str, value: str, kind: str, name: str):
    draft = Draft(question=question, answer=Answer(type=kind, value=value))
    for domain in CONSTRUCTIONS[name].domains:
        try:
            changed = CONSTRUCTIONS[name].apply(draft, domain, 2, random.Random(0), LIMITS)
        except Inapplicable:
            continue
        assert len(changed.question) <= LIMITS.question_chars


def test_a_percentage_becomes_a_number():
    share = Draft(question="What percentage is it?", answer=Answer(type="percent", value="25%"))
    number = CONSTRUCTIONS["percentage"].apply(share, "math", 1, random.Random(0), LIMITS)
    of = int(number.question.split(" of ")[1].removesuffix("?"))
    assert Fraction(number.answer.value) == Fraction(of, 4) and number.answer.type == "integer"


def test_expressions_take_written_operations_only_where_they_are_one_formula():
    root = Draft(question="Find x.", answer=Answer(type="expression", value="1 - \\sqrt{3}"))
    twice = CONSTRUCTIONS["follow_on"].configured("mul", "terse").apply(root, "math", 1, random.Random(0), LIMITS)
    assert twice.answer.value in ("2 \\cdot (1 - \\sqrt{3})", "3 \\cdot (1 - \\sqrt{3})")
    for value in ("[1, \\infty)", "0, \\pi", "x = 3", "60^\\circ", "3 \\text{ cm}"):
        listed = root.model_copy(update={"answer": Answer(type="expression", value=value)})
        assert not CONSTRUCTIONS["follow_on"].applies(listed, "math")
