import json
from pathlib import Path

import pytest

from coevolve.tasks import Answer, Draft, Tests
from coevolve.verifiers import mutants, suites
from coevolve.verifiers.base import Verifiers

ADD = "def add(a, b):\n    return a + b\n"
ADD_TESTS = Tests(kind="asserts", entry_point="add", cases=("assert add(2, 3) == 5", "assert add(-1, 1) == 0"))


def coding(reference: str, tests: Tests) -> Draft:
    return Draft(question="Write it.", answer=Answer(type="code_tests", value=reference), tests=tests)


def output(value: str, code: str = "", call: str | None = None) -> Draft:
    tests = Tests(kind="call_output", code=code, call=call) if call else None
    return Draft(question="What is it?", answer=Answer(type="code_output", value=value), tests=tests)


SUITES = {
    "asserts": (ADD, ADD_TESTS),
    "asserts with tolerance": (
        ADD,
        Tests(
            kind="asserts",
            entry_point="add",
            setup="import math",
            cases=("assert math.isclose(add(.1, .2), .3)", "assert add(1, 1) == 2"),
        ),
    ),
    "check_function": (
        ADD + "def helper():\n    return 5\n",
        Tests(
            kind="check_function",
            entry_point="add",
            code="def check(candidate):\n    assert candidate(2, 3) == helper()\n    assert candidate(0, 1) == 1\n",
        ),
    ),
    "stdin_stdout": (
        "print(sum(map(int, input().split())))",
        Tests(kind="stdin_stdout", cases=({"input": "2 3\n", "output": "5"}, {"input": "1 1\n", "output": "2\n"})),
    ),
    "leetcode_method": (
        "class Solution:\n    def add(self, a, b):\n        return a + b\n",
        Tests(
            kind="leetcode_method",
            entry_point="add",
            cases=({"input": "2\n3", "output": "5"}, {"input": "[1]\n[2]", "output": "[1, 2]"}),
        ),
    ),
}


@pytest.mark.parametrize("name", SUITES)
async def test_every_kind_of_tests_passes_the_reference_and_certifies_it(verifiers: Verifiers, name: str) -> None:
    reference, tests = SUITES[name]
    check = await verifiers.check("coding", coding(reference, tests))
    assert check.ok, check.problems
    assert check.certificate is not None
    assert check.certificate.kind == "tests"
    grade = await verifiers.grade("coding", coding(reference, tests), f"Here:\n```python\n{reference}```\n")
    assert grade.verdict == "equal"


@pytest.mark.parametrize("name", SUITES)
async def test_every_kind_of_tests_refuses_wrong_programs(verifiers: Verifiers, name: str) -> None:
    reference, tests = SUITES[name]
    wrong = reference.replace("a + b", "a").replace("sum(", "max(")
    assert (await verifiers.compare("coding", coding(reference, tests), wrong)).verdict == "different"
    assert (await verifiers.grade("coding", coding(reference, tests), "I do not know.")).extracted is None


async def test_a_reference_that_fails_its_tests_is_a_wrong_reference(verifiers: Verifiers) -> None:
    check = await verifiers.check("coding", coding("def add(a, b):\n    return a - b\n", ADD_TESTS))
    assert (check.ok, check.cause) == (False, "wrong_reference")


@pytest.mark.parametrize(
    "tests",
    [
        Tests(kind="asserts", entry_point="add", cases=("assert True",)),
        Tests(kind="asserts", entry_point="add", cases=("assert add(2, 3)",)),
        Tests(kind="asserts", entry_point="add", cases=("assert add(2, 3) is not None",)),
        Tests(kind="asserts", entry_point="add", cases=()),
        Tests(kind="check_function", entry_point="add", code="def check(candidate):\n    candidate(1, 2)\n"),
    ],
)
async def test_tests_that_accept_wrong_programs_make_the_task_invalid(verifiers: Verifiers, tests: Tests) -> None:
    check = await verifiers.check("coding", coding(ADD, tests))
    assert not check.ok


async def test_a_missing_reference_or_missing_tests_make_the_task_invalid(verifiers: Verifiers) -> None:
    assert (await verifiers.check("coding", coding("", ADD_TESTS))).cause == "invalid_problem"
    bare = Draft(question="?", answer=Answer(type="code_tests", value=ADD))
    assert (await verifiers.check("coding", bare)).cause == "invalid_problem"


async def test_an_output_is_recomputed_in_the_sandbox(verifiers: Verifiers) -> None:
    right = output("[1, 4]", "def f(x):\n    return [i * i for i in x]\n", "f([1, 2])")
    check = await verifiers.check("coding", right)
    assert check.ok
    assert check.certificate is not None
    assert check.certificate.kind == "program"
    wrong = output("[1, 5]", "def f(x):\n    return [i * i for i in x]\n", "f([1, 2])")
    assert (await verifiers.check("coding", wrong)).cause == "wrong_reference"
    crash = output("1", "", "1 // 0")
    assert (await verifiers.check("coding", crash)).cause == "wrong_reference"


async def test_an_output_that_changes_from_run_to_run_is_ambiguous(verifiers: Verifiers) -> None:
    check = await verifiers.check("coding", output("7", "", "hash('a') % 1000003"))
    assert check.cause in ("ambiguous", "wrong_reference")
    assert not check.ok


@pytest.mark.parametrize(
    ("gold", "reply", "verdict"),
    [
        ("'abc'", "Answer: 'abc'", "equal"),
        ("'abc'", 'It joins. Answer: "abc".', "equal"),
        ("True", "Answer: 1", "different"),
        ("[1, 2]", "\\boxed{[1, 2]}", "equal"),
        ("3", "Answer: 3.0", "different"),
        ("3", "three", "different"),
    ],
)
async def test_replies_to_output_questions(verifiers: Verifiers, gold: str, reply: str, verdict: str) -> None:
    assert (await verifiers.grade("coding", output(gold), reply)).verdict == verdict


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("5\n6\n", "5\n6", True),
        ("5", "5\n6", False),
        ("5\n6\n7", "5\n6", False),
        ("0.3333334", "0.3333333", True),
        ("5.0", "5", False),
        ("1e999999999", "1.0", False),
        ("nan", "0.5", False),
        ("YES ", "YES", True),
        ("yes", "YES", False),
        ("100000000000000000000000001", "100000000000000000000000000", False),
    ],
)
def test_printed_lines_are_compared_token_by_token(printed: str, expected: str, same: bool) -> None:
    assert suites.same_output(printed, expected) is same


def test_mutants_of_a_function_differ_from_it() -> None:
    made = list(mutants.of_function("def f(x):\n    return x < 3 and x + 1\n", "f", False, (True, 4)))
    assert len(made) >= 8
    assert len({mutant.source for mutant in made}) == len(made)
    assert sum(mutant.sure for mutant in made) >= 4


def rows_of(path: Path, every: int) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()][::every]


async def references(verifiers: Verifiers, path: Path, every: int) -> None:
    for row in rows_of(path, every):
        kept = {key: value for key, value in row.get("tests", {}).items() if key not in ("language", "expected")}
        answer = Answer(type=row["answer_type"], value=row["answer"])
        draft = Draft(question=row["question"], answer=answer, tests=Tests(**kept) if kept else None)
        check = await verifiers.check("coding", draft)
        assert check.ok, (row["id"], check.problems)


FILES = ("seeds/code_mbpp", "seeds/code_cruxeval", "seeds/code_bbh", "seeds/small_tinypy", "benchmarks/code_humaneval")


@pytest.mark.parametrize("name", FILES)
async def test_a_sample_of_public_references_passes_and_their_mutants_fail(
    verifiers: Verifiers, shared_data: Path, name: str
) -> None:
    await references(verifiers, shared_data / f"{name}.jsonl", 40)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
async def test_all_public_references_pass_and_their_mutants_fail(
    verifiers: Verifiers, shared_data: Path, name: str
) -> None:
    await references(verifiers, shared_data / f"{name}.jsonl", 1)
