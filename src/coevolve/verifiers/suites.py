"""A task's tests run on a candidate program. Expected values stay here; the box sees only the inputs."""

import ast
import json
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from coevolve.sandbox.box import Outcome
from coevolve.sandbox.exchange import Call, Checker
from coevolve.sandbox.sandbox import Sandbox
from coevolve.tasks import Tests
from coevolve.verifiers import sources

FLOAT_SLACK = 1e-6
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\Z")


class Judged(NamedTuple):
    """How a program did: `infra` is our own failure, never the program's."""

    verdict: Literal["passed", "failed", "infra"]
    reason: str
    returned: tuple[Any, ...] = ()
    """Plain values the program gave, as far as they crossed."""


class Expected(NamedTuple):
    """One call and what it must give."""

    call: Call
    value: Any


async def judge(sandbox: Sandbox, source: str, tests: Tests, reference: str) -> Judged:
    """Run `tests` on `source`. `reference` lends helper functions to test code that calls them."""
    seconds = tests.timeout_seconds
    if tests.kind == "stdin_stdout":
        return await _stdin(sandbox, source, tests.cases, seconds)
    if tests.kind == "leetcode_method":
        wanted = [_leetcode(tests, case) for case in tests.cases]
        return await _calls(sandbox, source, wanted, seconds, json_values=True)
    if tests.kind == "asserts":
        plain = [_plain_assert(case, tests.entry_point) for case in tests.cases]
        whole = f"{tests.setup}\n{source}" if tests.setup else source
        if plain and all(plain):
            return await _calls(sandbox, whole, [item for item in plain if item], seconds)
        name = tests.entry_point or named(tests.cases)
        checker = Checker(name, reference, (tests.setup, *map(str, tests.cases)))
        return await _examine(sandbox, whole, checker, seconds)
    if tests.kind == "check_function" and tests.entry_point:
        checker = Checker(tests.entry_point, reference, (tests.setup, tests.code), "check")
        return await _examine(sandbox, source, checker, seconds)
    return Judged("failed", f"tests of kind {tests.kind} do not judge a program")


def named(cases: Sequence[Any]) -> str:
    """The function that assert statements are about."""
    found = re.search(r"assert\s+\(?\s*(\w+)\s*\(", str(cases[0]) if cases else "")
    return found.group(1) if found else "solution"


def _plain_assert(case: Any, name: str | None) -> Expected | None:
    """`assert name(literals) == literal` as a call and its expected value; None for any other form."""
    parsed = sources.tree(str(case))
    statement = parsed.body if parsed else []
    if len(statement) != 1 or not isinstance(statement[0], ast.Assert):
        return None
    test = statement[0].test
    match test:
        case ast.Compare(left=ast.Call(func=ast.Name(id=called)) as call, ops=[ast.Eq()], comparators=[right]):
            pass
        case _:
            return None
    if name is not None and called != name:
        return None
    try:
        args = tuple(ast.literal_eval(item) for item in call.args)
        named = tuple((item.arg or "", ast.literal_eval(item.value)) for item in call.keywords)
        return Expected(Call("call", called, args, named), ast.literal_eval(right))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _leetcode(tests: Tests, case: Any) -> Expected:
    args = tuple(json.loads(line) for line in str(case["input"]).strip().split("\n"))
    return Expected(Call("method", tests.entry_point or "", args), json.loads(case["output"]))


async def _calls(
    sandbox: Sandbox, source: str, wanted: list[Expected], seconds: float | None, json_values: bool = False
) -> Judged:
    given = await sandbox.calls(source, [item.call for item in wanted], seconds=seconds)
    values = tuple(item.value for item in given if item.outcome == "ok")
    for place, want in enumerate(wanted):
        if place >= len(given) or given[place].outcome != "ok":
            last = given[min(place, len(given) - 1)]
            return _failed(last.outcome, f"case {place + 1}: {last.error}", values)
        same = (
            _json_equal(given[place].value, want.value)
            if json_values
            else _python_equal(given[place].value, want.value)
        )
        if not same:
            return Judged("failed", f"case {place + 1}: wrong value", values)
    return Judged("passed", "", values) if wanted else Judged("failed", "no cases")


def _python_equal(value: Any, expected: Any) -> bool:
    """Python's own `==`; both sides are plain data here."""
    return bool(value == expected)


def _json_equal(value: Any, expected: Any) -> bool:
    """JSON data: tuples read as lists, booleans apart from numbers, floats within 1e-6 relative or absolute."""
    if isinstance(value, list | tuple) and isinstance(expected, list):
        return len(value) == len(expected) and all(_json_equal(a, b) for a, b in zip(value, expected, strict=True))
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    if isinstance(value, int | float) and isinstance(expected, int | float):
        if isinstance(expected, int) and isinstance(value, int):
            return value == expected
        return _near(Fraction(value), Fraction(expected)) if _finite(value) else False
    return bool(value == expected)


def _finite(value: float) -> bool:
    return isinstance(value, int) or value - value == 0


def _near(value: Fraction, expected: Fraction) -> bool:
    slack = Fraction(FLOAT_SLACK)
    return abs(value - expected) <= max(slack, slack * abs(expected))


async def _examine(sandbox: Sandbox, source: str, checker: Checker, seconds: float | None) -> Judged:
    seen = await sandbox.examine(source, checker, seconds=seconds)
    if seen.passed:
        return Judged("passed", "", seen.returned)
    return _failed(seen.outcome, seen.detail, seen.returned)


def _failed(outcome: Outcome, detail: str, values: tuple[Any, ...]) -> Judged:
    return Judged("infra" if outcome == "infra" else "failed", f"{outcome}: {detail}"[:400], values)


async def _stdin(sandbox: Sandbox, source: str, cases: Sequence[Any], seconds: float | None) -> Judged:
    outputs: list[str] = []
    runs = await sandbox.runs(source, [str(case["input"]) for case in cases], seconds=seconds)
    for place, case in enumerate(cases):
        if place >= len(runs) or runs[place].outcome != "ok":
            last = runs[min(place, len(runs) - 1)]
            detail = f"case {place + 1}: {last.stderr.strip()[-200:]}"
            return _failed("timeout" if last.outcome == "ok" else last.outcome, detail, tuple(outputs))
        outputs.append(runs[place].stdout)
        if not same_output(runs[place].stdout, str(case["output"])):
            return Judged("failed", f"case {place + 1}: wrong output", tuple(outputs))
    return Judged("passed", "", tuple(outputs)) if cases else Judged("failed", "no cases")


def same_output(output: str, expected: str) -> bool:
    """Printed lines compared token by token: integers exactly, decimals within 1e-6, the rest as text."""
    ours, theirs = (text.strip().split("\n") for text in (output, expected))
    if len(ours) != len(theirs):
        return False
    pairs = [(a.split(), b.split()) for a, b in zip(ours, theirs, strict=True)]
    return all(len(a) == len(b) and all(_same_token(x, y) for x, y in zip(a, b, strict=True)) for a, b in pairs)


def _same_token(token: str, expected: str) -> bool:
    if token == expected:
        return True
    decimal = NUMBER.match(expected) and re.search(r"[.eE]", expected)
    if not decimal or not NUMBER.match(token) or max(len(token), len(expected)) > 400:
        return False
    if any(abs(int(part)) > 400 for text in (token, expected) for part in re.findall(r"[eE]([-+]?\d{1,9})", text)):
        return False
    return _near(Fraction(token), Fraction(expected))
