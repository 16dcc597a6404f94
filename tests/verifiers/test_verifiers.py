import time
from pathlib import Path

import pytest
from tests.verifiers.conftest import CONFIG

from coevolve.errors import ConfigError
from coevolve.sandbox.programs import Run
from coevolve.tasks import Answer, AnswerType, Draft, Tests, Tolerance
from coevolve.verifiers import kinds
from coevolve.verifiers.base import Grade, Tools, Verifiers
from coevolve.verifiers.typed import TypedVerifier


def draft(kind: AnswerType, value: str, program: str | None = None, question: str = "?", **more: object) -> Draft:
    return Draft(question=question, answer=Answer(type=kind, value=value, **more), program=program)


GOLDS: list[tuple[str, Draft]] = [
    ("math", draft("integer", "34")),
    ("math", draft("integer", "0")),
    ("math", draft("rational", "7/3")),
    ("math", draft("decimal", "2.75")),
    ("math", draft("percent", "25%")),
    ("math", draft("percent", "25")),
    ("math", draft("expression", r"\frac{\sqrt{3}}{2}")),
    ("math", draft("expression", "x^2+1")),
    ("math", draft("tuple", "(1, 2)")),
    ("math", draft("set", r"\{1, 2\}")),
    ("math", draft("interval", "[0, 1)")),
    ("math", draft("matrix", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}")),
    ("math", draft("equation", "y = 2x + 1")),
    ("math", draft("text", "Monday")),
    ("math", draft("choice", "B", choices={"A": "1", "B": "2"})),
    ("math", draft("integer", "5", unit="apples")),
    ("math", draft("decimal", "3.1", tolerance=Tolerance(abs=0.1))),
    ("science", draft("quantity", "9.81", unit="m/s^2")),
    ("science", draft("quantity", "0", unit="m/s")),
    ("science", draft("quantity", "7.4", tolerance=Tolerance(abs=0.05))),
    ("science", draft("quantity", "20", unit="°C")),
    ("science", draft("quantity", "2.24", unit=r"$10^7 \mathrm{~s}$")),
    ("science", draft("integer", "8")),
    ("science", draft("decimal", "111.0", unit="g/mol", tolerance=Tolerance(abs=0.1))),
    ("science", draft("text", "lutetium", aliases=("Lutecium",))),
    ("science", draft("choice", "maybe", choices={"yes": "yes", "no": "no", "maybe": "maybe"})),
    ("science", draft("expression", r"\frac{mv^2}{2}")),
    ("coding", draft("code_output", "[1, 'a']")),
    ("coding", draft("text", "apple banana")),
]


@pytest.mark.parametrize(
    ("domain", "gold"), GOLDS, ids=[f"{d}-{g.answer.type}-{g.answer.value[:12]}" for d, g in GOLDS]
)
async def test_every_verifier_accepts_its_gold_and_refuses_corrupted_ones(
    verifiers: Verifiers, domain: str, gold: Draft
) -> None:
    check = await verifiers.check(domain, gold)
    assert check.ok, check.problems
    assert check.certificate is None
    reply = f"Working. Answer: {gold.answer.value} {gold.answer.unit or ''}"
    grade = await verifiers.grade(domain, gold, reply)
    assert grade.verdict == "equal", grade


@pytest.mark.parametrize(
    ("domain", "gold"),
    [
        ("math", draft("integer", "")),
        ("math", draft("expression", r"\frac{0}{0}")),
        ("math", draft("integer", "9**9**9")),
        ("math", draft("choice", "", choices={"A": "1", "B": "2"})),
        ("coding", draft("code_output", "abc def")),
    ],
)
async def test_golds_that_cannot_be_checked_make_the_task_invalid(
    verifiers: Verifiers, domain: str, gold: Draft
) -> None:
    check = await verifiers.check(domain, gold)
    assert (check.ok, check.cause) == (False, "invalid_problem")


async def test_a_program_that_prints_the_answer_is_a_certificate(verifiers: Verifiers) -> None:
    check = await verifiers.check("math", draft("integer", "34", "print('sum')\nprint(30 + 4)"))
    assert check.ok
    assert check.certificate is not None
    assert check.certificate.kind == "program"


@pytest.mark.parametrize(
    ("program", "cause"),
    [
        ("print(35)", "wrong_reference"),
        ("1/0", "wrong_reference"),
        ("pass", "wrong_reference"),
        ("while True: pass", "wrong_reference"),
        ("print(34 if hash('a') % 2 else 35)", ("ambiguous", "wrong_reference")),
    ],
)
async def test_a_program_that_disagrees_refuses_the_reference(program: str, cause: str | tuple[str, ...]) -> None:
    for _ in range(8):  # two looks have two hash seeds, which can agree on one bit
        fresh = Verifiers(CONFIG)
        check = await fresh.check("math", draft("integer", "34", program))
        await fresh.close()
        if not check.ok:
            break
    assert not check.ok
    assert check.cause in cause


@pytest.mark.parametrize(
    ("program", "cause"),
    [("print(17 * 2)", None), ("print(35)", "wrong_reference"), ("print(1 / 0)", "wrong_reference")],
)
async def test_a_certificate_is_confirmed_by_one_more_run(
    verifiers: Verifiers, monkeypatch: pytest.MonkeyPatch, program: str, cause: str | None
) -> None:
    looks, run = [], verifiers.sandbox.run

    async def counted(source: str, *args: str, second: bool = False) -> Run:
        looks.append(second)
        return await run(source, *args, second=second)

    monkeypatch.setattr(verifiers.sandbox, "run", counted)
    checked = await verifiers.confirm("math", draft("integer", "34", program))
    assert (checked.ok, checked.cause) == (cause is None, cause)
    assert looks == [False]


@pytest.mark.parametrize("looks", ["check", "confirm"])
async def test_a_comparison_that_could_not_be_made_is_no_wrong_reference(
    verifiers: Verifiers, monkeypatch: pytest.MonkeyPatch, looks: str
) -> None:
    async def failed(*ignored: object) -> Grade:
        return Grade("unknown", None, "infra: no checker process")

    monkeypatch.setattr(verifiers, "compare", failed)
    monkeypatch.setattr(verifiers.registry["math"], "compare", failed)
    checked = await getattr(verifiers, looks)("math", draft("integer", "34", "print(34)"))
    assert (checked.ok, checked.cause, checked.problems) == (False, "tool_failure", ("infra: no checker process",))


async def test_confirming_takes_the_call_of_a_predicted_output_again(verifiers: Verifiers) -> None:
    tests = Tests(kind="call_output", code="def f(x):\n    return x + 1\n", call="f(2)")
    asked = Draft(question="?", answer=Answer(type="code_output", value="3"), tests=tests)
    assert (await verifiers.confirm("coding", asked)).ok
    wrong = asked.model_copy(update={"answer": Answer(type="code_output", value="4")})
    assert (await verifiers.confirm("coding", wrong)).cause == "wrong_reference"


async def test_programs_may_print_fractions_radicals_and_units(verifiers: Verifiers) -> None:
    half = draft("rational", "1/2", "from fractions import Fraction\nprint(Fraction(2, 4))")
    assert (await verifiers.check("math", half)).certificate is not None
    root = draft("expression", r"2\sqrt{2}", "from sympy import sqrt\nprint(sqrt(8))")
    assert (await verifiers.check("math", root)).certificate is not None
    speed = draft("quantity", "20", "print(72 / 3.6)", question="How fast, in m/s?", unit="m/s")
    assert (await verifiers.check("science", speed)).certificate is not None


async def test_a_bare_number_stands_only_where_the_question_fixes_the_unit(verifiers: Verifiers) -> None:
    asked = draft("quantity", "9.8", question="What is g in m/s^2?", unit="m/s^2")
    open_ = draft("quantity", "9.8", question="A stone falls at 9.8 m/s^2. What is g?", unit="m/s^2")
    spelt = draft("quantity", "9.8", question="Give g in meters per second squared.", unit="m/s^2")
    assert (await verifiers.compare("science", asked, "9.8")).verdict == "equal"
    assert (await verifiers.compare("science", spelt, "9.8")).verdict == "equal"
    assert (await verifiers.compare("science", open_, "9.8")).verdict == "different"


async def test_a_power_of_ten_in_the_unit_counts(verifiers: Verifiers) -> None:
    gold = draft("quantity", "2.24", question="?", unit=r"$10^7 \mathrm{~s}$")
    assert (await verifiers.compare("science", gold, "2.24e7 s")).verdict == "equal"
    assert (await verifiers.compare("science", gold, "2.24 s")).verdict == "different"


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("Answer: B", "equal"),
        ("Answer: (B) 2", "equal"),
        ("The answer is B.", "equal"),
        ("\\boxed{\\textbf{(B)}\\ 2}", "equal"),
        ("Answer: option B", "equal"),
        ("Answer: two", "equal"),
        ("Answer: A", "different"),
        ("Answer: A or B", "different"),
        ("Answer: B or C", "different"),
        ("Answer: (B) one", "different"),
        ("B", "different"),
    ],
)
async def test_choices(verifiers: Verifiers, reply: str, verdict: str) -> None:
    gold = draft("choice", "B", choices={"A": "one", "B": "two", "C": "three"})
    if "2" in reply:
        gold = draft("choice", "B", choices={"A": "1", "B": "2", "C": "3"})
    assert (await verifiers.grade("science", gold, reply)).verdict == verdict


async def test_an_evaluator_program_kept_as_task_data_is_run_by_the_fixed_verifier(verifiers: Verifiers) -> None:
    checker = "def check(answer):\n    a, b = map(int, answer.split())\n    return a * b == 12 and a < b\n"
    gold = draft("checker", checker)
    assert (await verifiers.grade("math", gold, "Answer: 3 4")).verdict == "equal"
    assert (await verifiers.grade("math", gold, "Answer: 4 3")).verdict == "different"
    assert (await verifiers.grade("math", gold, "Answer: x")).verdict == "unknown"


async def test_verdicts_are_remembered_by_task_answer_and_code(verifiers: Verifiers) -> None:
    gold = draft("expression", r"\sqrt{12}")
    first = await verifiers.compare("math", gold, r"2\sqrt{3}")
    start = time.perf_counter()
    for _ in range(100):
        assert await verifiers.compare("math", gold, r"2\sqrt{3}") is first
    assert time.perf_counter() - start < 0.5
    assert len(verifiers.code_hash) == 64
    assert int(verifiers.code_hash, 16)


async def test_an_unknown_domain_is_named(verifiers: Verifiers) -> None:
    with pytest.raises(ConfigError, match=r"poetry.*coding, math, science"):
        await verifiers.grade("poetry", draft("text", "x"), "Answer: x")


async def test_a_further_domain_needs_only_a_verifier(verifiers: Verifiers) -> None:
    class Anagrams(TypedVerifier):
        def __init__(self, tools: Tools) -> None:
            super().__init__("anagrams", tools)

    verifiers.registry["anagrams"] = Anagrams(verifiers.tools)
    try:
        assert (await verifiers.grade("anagrams", draft("text", "tea"), "Answer: Tea")).verdict == "equal"
    finally:
        del verifiers.registry["anagrams"]


async def test_the_plugin_of_the_guide_works_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verifiers: Verifiers
) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "verification.md").read_text("utf-8")
    source = guide.split("```python\n")[1].split("```")[0]
    assert len(source.splitlines()) <= 32
    write_plugin(tmp_path, source)
    monkeypatch.syspath_prepend(str(tmp_path))
    with_plugin = Verifiers(verifiers.tools.config)
    try:
        assert with_plugin.code_hash != verifiers.code_hash
        assert (await with_plugin.grade("colours", draft("text", "red"), "Answer: #FF0000")).verdict == "equal"
        assert (await with_plugin.grade("colours", draft("text", "red"), "Answer: blue")).verdict == "different"
        assert (await with_plugin.check("colours", draft("text", "beige"))).cause == "invalid_problem"
    finally:
        await with_plugin.close()


def write_plugin(folder: Path, source: str) -> None:
    (folder / "my_colours.py").write_text(source)
    info = folder / "my_colours-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-colours\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[coevolve.verifiers]\ncolours = my_colours:make\n")


async def test_a_killed_checker_process_is_replaced(verifiers: Verifiers) -> None:
    before = verifiers.checkers.timeouts
    request = {"gold": r"\sqrt{2}", "unit": "", "answer": "x", "kind": "", "rule": None}
    assert await verifiers.checkers.ask("compare", request, 0.0) is None
    assert verifiers.checkers.timeouts == before + 1
    assert (await verifiers.compare("math", draft("expression", r"\sqrt{18}"), r"3\sqrt{2}")).verdict == "equal"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("34", "integer"),
        ("-1,234", "integer"),
        ("2.50", "decimal"),
        ("7/3", "rational"),
        (r"\frac{7}{3}", "rational"),
        (r"25\%", "percent"),
        (r"\sqrt{2}", "expression"),
        ("(1,2)", "tuple"),
        ("[1,2)", "interval"),
        (r"\{1,2\}", "set"),
        (r"x^2+y^2=4", "equation"),
        ("Monday", "text"),
        ("C", "choice"),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", "matrix"),
        (r"\frac{1}{", None),
    ],
)
def test_the_type_of_a_reference_is_told_from_its_text(value: str, kind: str | None) -> None:
    assert kinds.infer(value) == kind
