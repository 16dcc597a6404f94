import asyncio
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from coevolve.config import VerificationConfig
from coevolve.sandbox.exchange import Call, Checker
from coevolve.sandbox.inside.wire import Opaque, decode, encode
from coevolve.sandbox.sandbox import Sandbox

ADD = "def add(a, b):\n    return a + b\n"


async def test_a_program_reads_stdin_and_its_output_comes_back(box: Sandbox) -> None:
    run = await box.run("import sys\nprint(sum(map(int, sys.stdin)))\nprint('é', file=sys.stderr)", "1\n2\n3\n")
    assert (run.outcome, run.stdout, run.stderr) == ("ok", "6\n", "é\n")


async def test_a_large_stdin_and_a_large_output_pass_together(box: Sandbox) -> None:
    text = "x" * 900_000
    run = await box.run("import sys\nsys.stdout.write(sys.stdin.read())", text)
    assert run.outcome == "ok"
    assert run.stdout == text


async def test_output_over_the_cap_is_cut_and_told(box: Sandbox) -> None:
    run = await box.run("print('x' * (2 << 20))")
    assert run.outcome == "output"
    assert len(run.stdout) < 2 << 20


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("1/0", "error"),
        ("raise SystemExit(3)", "memory"),
        ("x = [0] * 10**10", "memory"),
        ("import os; os.abort()", "crash"),
        ("def f(", "error"),
        ("raise SystemExit", "ok"),
        ("import sys; sys.exit('bad')", "error"),
    ],
)
async def test_outcomes_are_told_apart(box: Sandbox, source: str, outcome: str) -> None:
    run = await box.run(source)
    if source.startswith("raise SystemExit(3)"):
        assert run.outcome in ("error", "memory")
    else:
        assert run.outcome == outcome


async def test_a_time_limit_holds_and_the_box_lives_on(box: Sandbox) -> None:
    start = time.monotonic()
    run = await box.run("while True: pass", seconds=0.5)
    assert run.outcome == "timeout"
    assert time.monotonic() - start < 2
    assert (await box.run("print(1)")).stdout == "1\n"


async def test_the_suite_limit_ends_a_row_of_runs(limits: VerificationConfig) -> None:
    sandbox = Sandbox(limits.model_copy(update={"suite_seconds": 1.0}))
    runs = await sandbox.runs("import time\ntime.sleep(0.4)", [""] * 10)
    await sandbox.close()
    assert 2 <= len(runs) <= 3


async def test_nothing_is_left_for_the_next_job(box: Sandbox) -> None:
    await box.run("import builtins, math, random\nbuiltins.len = None\nmath.pi = 3\nrandom.seed(1)")
    run = await box.run("import math\nprint(len('abc'), math.pi > 3)")
    assert run.stdout == "3 True\n"


async def test_a_second_look_runs_under_another_hash_seed(box: Sandbox) -> None:
    first = await box.run("print(hash('coevolve'))")
    second = await box.run("print(hash('coevolve'))", second=True)
    assert (first.outcome, second.outcome) == ("ok", "ok")
    assert first.stdout != second.stdout


async def test_the_hash_seed_of_second_looks_goes_on_changing(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coevolve.sandbox.sandbox.SECOND_JOBS", 2)
    seen = [(await box.run("print(hash('coevolve'))", second=True)).stdout for _ in range(5)]
    assert len(set(seen)) > 1


async def test_random_numbers_differ_between_jobs_of_one_box(box: Sandbox) -> None:
    seen = {(await box.run("import random\nprint(random.random())")).stdout for _ in range(4)}
    assert len(seen) > 1


async def test_calls_return_typed_values(box: Sandbox) -> None:
    source = "def f(x):\n    print('noise')\n    return x\n"
    values = [1, True, None, 2.5, "é\ud800", b"x", (1, [2]), {"a": {1, 2}}, frozenset({3}), 2**200, 1 + 2j, range(3)]
    values += [Fraction(1, 3), Decimal("0.1"), bytearray(b"y"), -0.0]
    given = await box.calls(source, [Call("call", "f", (value,)) for value in values])
    assert [item.outcome for item in given] == ["ok"] * len(values)
    assert [(type(item.value), item.value) for item in given] == [(type(value), value) for value in values]


async def test_calls_keep_state_within_a_suite_and_report_errors(box: Sandbox) -> None:
    source = "seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen) if x else 1 // x\n"
    given = await box.calls(source, [Call("call", "f", (1,)), Call("call", "f", (0,)), Call("call", "f", (2,))])
    assert [(item.outcome, item.value) for item in given] == [("ok", 1), ("error", None), ("ok", 3)]
    assert "ZeroDivisionError" in given[1].error


async def test_methods_expressions_and_named_arguments_can_be_called(box: Sandbox) -> None:
    source = "class Solution:\n    def twice(self, n, *, plus=0):\n        return 2 * n + plus\nK = 4\n"
    wanted = [Call("method", "twice", (3,), (("plus", 1),)), Call("eval", "K + 1")]
    assert [item.value for item in await box.calls(source, wanted)] == [7, 5]


async def test_a_checker_asks_the_candidate_in_another_box(box: Sandbox) -> None:
    good = Checker("add", "", ("assert add(1, 2) == 3", "assert add([1], [2]) == [1, 2]"))
    assert (await box.examine(ADD, good)).passed
    raises = "try:\n    add(1, 'x')\nexcept TypeError:\n    pass\nelse:\n    assert False"
    assert (await box.examine(ADD, Checker("add", "", (raises,)))).passed
    assert not (await box.examine(ADD, Checker("add", "", ("assert add(1, 2) == 4",)))).passed


async def test_tests_that_never_call_the_candidate_pass_nobody(box: Sandbox) -> None:
    seen = await box.examine(ADD, Checker("add", "", ("assert True",)))
    assert not seen.passed
    assert seen.detail == "no call was made"


async def test_a_cancelled_wait_frees_its_box_at_once(limits: VerificationConfig) -> None:
    sandbox = Sandbox(limits.model_copy(update={"sandbox_processes": 1, "case_seconds": 30.0, "suite_seconds": 60.0}))
    await sandbox.run("print(1)")
    waiting = asyncio.create_task(sandbox.run("while True: pass"))
    await asyncio.sleep(0.3)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    start = time.monotonic()
    assert (await sandbox.run("print(2)")).stdout == "2\n"
    assert time.monotonic() - start < 5
    await sandbox.close()


@pytest.mark.parametrize(
    "forged",
    [1.5, {"i": "zz"}, {"d": [[1]]}, {"q": [1, 0]}, {"s": [[1]]}, {"z": 5}, {"nope": 1}, {}, {"t": None}, {"f": "x"}],
)
def test_forged_values_are_refused_by_the_decoder(forged: object) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, ArithmeticError, StopIteration, AttributeError)):
        decode(forged)


def test_an_opaque_value_equals_nothing() -> None:
    value = decode(encode(object()))
    assert isinstance(value, Opaque)
    assert value != value  # noqa: PLR0124
    assert [value] != [decode(encode(object()))]


def test_subclasses_cross_as_their_plain_base() -> None:
    class Odd(int):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = int.__hash__

    assert encode(Odd(4)) == 4
    assert type(decode(encode(Odd(4)))) is int


@pytest.mark.slow
async def test_ten_thousand_pooled_executions_leave_nothing_behind(limits: VerificationConfig) -> None:
    sandbox = Sandbox(limits)
    await sandbox.run("print(0)")

    def held() -> tuple[int, int]:
        resident = int(Path("/proc/self/statm").read_text().split()[1])
        return len(list(Path("/proc/self/fd").iterdir())), resident

    async def many(count: int) -> None:
        for number in range(count):
            assert (await sandbox.run(f"print({number})")).stdout == f"{number}\n"

    async def both(count: int) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(many(count))
            group.create_task(many(count))

    await both(250)
    before = held()
    await both(5000)
    after = held()
    await sandbox.close()
    assert after[0] <= before[0] + 4
    assert after[1] <= before[1] + 5_000
