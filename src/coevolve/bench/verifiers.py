"""How well and how fast answers are judged, beside math-verify, and how many programs a second run."""

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from coevolve.config import VerificationConfig
from coevolve.errors import DataError, ToolError, UserError
from coevolve.tasks import Answer, Draft, Tolerance
from coevolve.verifiers import extract, kinds
from coevolve.verifiers.base import Verifiers
from coevolve.verifiers.exact import chemistry, science
from coevolve.verifiers.exact.notation import Refused
from coevolve.verifiers.exact.tokens import Unreadable

HUNG_SECONDS = 3.0
PEER_SECONDS = 5
EXECUTIONS = 400
SECOND_LOOKS = 20
WIDTH = 118

SETTINGS = VerificationConfig(
    allow_unsafe=False,
    quorum=2,
    certificates=["program", "tests", "derivation", "quorum"],
    workers=2,
    checker_seconds=2.5,
    checker_memory_mb=1024,
    case_seconds=5.0,
    suite_seconds=20.0,
    sandbox_memory_mb=512,
    output_bytes=1 << 20,
    sandbox_processes=2,
)


class Pair(NamedTuple):
    """One labelled pair: the task it stands for, the answer given, whether it should pass."""

    draft: Draft
    answer: str
    expected: bool
    label: str


class Score(NamedTuple):
    """What one checker did on one file."""

    checker: str
    n: int
    wrong_accepted: int
    right_refused: int
    hung: int
    median_ms: float
    p99_ms: float
    max_ms: float
    disagreed: tuple[str, ...]

    def figures(self) -> dict[str, Any]:
        """The contract's numbers."""
        kept = ("n", "wrong_accepted", "right_refused", "hung", "median_ms", "p99_ms", "max_ms")
        return {key: value for key, value in self._asdict().items() if key in kept}


def bench_verifiers(math_pairs: Path, science_pairs: Path) -> dict[str, Any]:
    """Judge both files with this package and with math-verify; print a table, return the figures. Raises DataError."""
    math = [_math_pair(row) for row in _rows(math_pairs)]
    natural = [_science_pair(row) for row in _rows(science_pairs)]
    return asyncio.run(_bench(math, natural))


async def _bench(math: Sequence[Pair], natural: Sequence[Pair]) -> dict[str, Any]:
    verifiers = Verifiers(SETTINGS)
    console = Console(width=WIDTH)
    try:
        await verifiers.checkers.warm()
        scores = {"math": await _own(verifiers, "math", math), "science": await _own(verifiers, "science", natural)}
        peers = {"math": await _math_verify(verifiers, math), "science": await _math_verify(verifiers, natural)}
        _print(console, scores, peers)
        figures: dict[str, Any] = {name: score.figures() for name, score in scores.items()}
        figures["math_verify"] = {name: score.figures() for name, score in peers.items() if score}
        figures["throughput"] = await _throughput(verifiers, math, natural)
        console.print(", ".join(f"{name} {value:g}" for name, value in figures["throughput"].items()))
    finally:
        await verifiers.close()
    return figures


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror}); give a file of labelled pairs, one JSON object a line"
        ) from error
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            rows.append({"gold": row["gold"], "answer": row["answer"], "expected": bool(row["expected"]), **row})
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}:{number}: a pair needs gold, answer and expected ({error})") from error
    return rows


def _math_pair(row: dict[str, Any]) -> Pair:
    answer = Answer(type=kinds.infer(row["gold"]) or "expression", value=row["gold"])
    return Pair(Draft(question="", answer=answer), row["answer"], row["expected"], row.get("kind", ""))


def _science_pair(row: dict[str, Any]) -> Pair:
    gold, rule = row["gold"], str(row.get("tol", "default"))
    unit, kind = "", "expression"
    try:
        if not chemistry.is_chemical(gold):
            unit, kind = science.quantity(gold).unit, "quantity"
    except (Refused, Unreadable):
        kind = "expression"
    name, _, size = rule.partition("=")
    tolerance = Tolerance(**{name: float(size)}) if size else None
    answer = Answer.model_validate(
        {"type": "integer" if rule == "exact" else kind, "value": gold, "tolerance": tolerance}
    )
    question = f"Give the answer in {unit}." if row.get("unit_in_prompt") else "Give the answer."
    return Pair(Draft(question=question, answer=answer), row["answer"], row["expected"], row.get("kind", ""))


async def _own(verifiers: Verifiers, domain: str, pairs: Sequence[Pair]) -> Score:
    async def judge(pair: Pair) -> bool:
        return (await verifiers.compare(domain, pair.draft, pair.answer)).verdict == "equal"

    return await _score("coevolve", pairs, judge)


async def _math_verify(verifiers: Verifiers, pairs: Sequence[Pair]) -> Score | None:
    async def judge(pair: Pair) -> bool:
        answer = pair.answer if extract.BOX.search(pair.answer) else rf"\boxed{{{pair.answer}}}"
        request = {"gold": pair.draft.answer.value, "answer": answer, "seconds": PEER_SECONDS}
        found = await verifiers.checkers.ask("opinion", request, 2.0 * PEER_SECONDS)
        return bool(found and found["equal"])

    try:
        await judge(pairs[0])
    except ToolError:
        return None
    return await _score("math-verify", pairs, judge)


async def _score(name: str, pairs: Sequence[Pair], judge: Callable[[Pair], Awaitable[bool]]) -> Score:
    times: list[float] = []
    accepted = refused = 0
    disagreed = []
    for pair in pairs:
        start = time.perf_counter()
        try:
            passed = await judge(pair)
        except ToolError:
            passed = False
        times.append(time.perf_counter() - start)
        accepted += passed and not pair.expected
        refused += pair.expected and not passed
        if passed != pair.expected:
            verb = "accepted" if passed else "refused"
            disagreed.append(f"{pair.label}: {verb} {pair.answer[:50]!r} for {pair.draft.answer.value[:50]!r}")
    ordered = sorted(1000 * seconds for seconds in times)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    hung = sum(seconds > HUNG_SECONDS for seconds in times)
    median = statistics.median(ordered)
    return Score(
        name,
        len(pairs),
        accepted,
        refused,
        hung,
        round(median, 3),
        round(p99, 2),
        round(ordered[-1], 2),
        tuple(disagreed),
    )


async def _throughput(verifiers: Verifiers, math: Sequence[Pair], natural: Sequence[Pair]) -> dict[str, float]:
    figures = {}
    for name, pairs in (("math", math), ("science", natural)):
        fresh = [pair for pair in pairs if pair.label not in ("bomb", "injection")]
        start = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for pair in fresh:
                group.create_task(verifiers.compare(name, pair.draft, pair.answer + "  "))
        figures[f"{name}_checks_per_second"] = round(len(fresh) / (time.perf_counter() - start), 1)
    try:
        await verifiers.sandbox.run("print(0)")
    except UserError:
        return figures
    for name, count, second in (("pooled", EXECUTIONS, False), ("second", SECOND_LOOKS, True)):
        start = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                group.create_task(verifiers.sandbox.run(f"print({number})", second=second))
        figures[f"executions_per_second_{name}"] = round(count / (time.perf_counter() - start), 1)
    return figures


def _print(console: Console, scores: dict[str, Score], peers: dict[str, Score | None]) -> None:
    table = Table(title="Answers judged")
    for column in (
        "file",
        "checker",
        "pairs",
        "wrong accepted",
        "right refused",
        "hung > 3 s",
        "median ms",
        "p99 ms",
        "max ms",
    ):
        table.add_column(column)
    for name, own in scores.items():
        for score in (own, peers[name]):
            if score:
                cells = (
                    score.n,
                    score.wrong_accepted,
                    score.right_refused,
                    score.hung,
                    score.median_ms,
                    score.p99_ms,
                    score.max_ms,
                )
                table.add_row(name, score.checker, *map(str, cells))
    console.print(table)
    for name, own in scores.items():
        for line in own.disagreed:
            console.print(f"{name} {line}", markup=False)
