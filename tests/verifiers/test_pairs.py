import asyncio
import json
import time
from pathlib import Path

import pytest

from coevolve.bench.verifiers import Pair, _math_pair, _science_pair, bench_verifiers
from coevolve.errors import DataError
from coevolve.tasks import Draft
from coevolve.verifiers.base import Verifiers

HERE = Path(__file__).parent


def own(name: str) -> list[dict]:
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text("utf-8").splitlines()]


async def judged(verifiers: Verifiers, domain: str, pairs: list[Pair]) -> list[tuple[bool, bool, float, Pair, str]]:
    out = []
    for pair in pairs:
        start = time.perf_counter()
        grade = await verifiers.compare(domain, pair.draft, pair.answer)
        seconds = time.perf_counter() - start
        out.append((grade.verdict == "equal", pair.expected, seconds, pair, grade.reason))
    return out


def mistakes(results: list[tuple[bool, bool, float, Pair, str]], accepted: bool) -> list[str]:
    return [
        f"{p.label}: {p.draft.answer.value} | {p.answer} ({why})"
        for ok, want, _, p, why in results
        if ok != want and ok == accepted
    ]


@pytest.mark.parametrize(("domain", "make"), [("math", _math_pair), ("science", _science_pair)])
async def test_own_pairs_of_every_kind_are_judged_as_written(verifiers: Verifiers, domain: str, make) -> None:
    results = await judged(verifiers, domain, [make(row) for row in own(f"{domain}_pairs")])
    assert mistakes(results, accepted=True) == []
    assert mistakes(results, accepted=False) == []
    assert max(seconds for _, _, seconds, _, _ in results) < 3


@pytest.mark.parametrize(("domain", "make"), [("math", _math_pair), ("science", _science_pair)])
async def test_shared_pairs_have_no_wrong_accepted_and_few_right_refused(
    verifiers: Verifiers, shared_data: Path, domain: str, make
) -> None:
    rows = [json.loads(line) for line in (shared_data / f"{domain}_pairs.jsonl").read_text("utf-8").splitlines()]
    results = await judged(verifiers, domain, [make(row) for row in rows])
    assert mistakes(results, accepted=True) == []
    refused = mistakes(results, accepted=False)
    assert len(refused) <= 0.02 * len(rows), refused
    assert max(seconds for _, _, seconds, _, _ in results) < 3


async def test_mathematics_is_symmetric(verifiers: Verifiers) -> None:
    left_out = ("bomb", "injection", "malformed", "empty", "boxed", "words")
    pairs = [_math_pair(row) for row in own("math_pairs") if row["kind"] not in left_out]
    pairs = [pair for pair in pairs if pair.draft.answer.type != "percent"]  # a bare 25 is read by the reference there
    turned = []
    for pair in pairs:
        answer = pair.draft.answer.model_copy(update={"value": pair.answer})
        turned.append(pair._replace(draft=Draft(question="", answer=answer), answer=pair.draft.answer.value))
    there, back = await judged(verifiers, "math", pairs), await judged(verifiers, "math", turned)
    different = [f"{a[3].draft.answer.value} | {a[3].answer}" for a, b in zip(there, back, strict=True) if a[0] != b[0]]
    assert different == []


async def test_a_reference_equals_itself(verifiers: Verifiers) -> None:
    rows = [row for row in own("math_pairs") if row["gold"]]
    results = await judged(
        verifiers, "math", [_math_pair({**row, "answer": row["gold"], "expected": True}) for row in rows]
    )
    assert mistakes(results, accepted=False) == []


def test_grading_works_from_several_threads_with_loops_of_their_own(verifiers: Verifiers) -> None:
    from concurrent.futures import ThreadPoolExecutor

    pair = _math_pair({"gold": r"\sqrt{8}", "answer": "", "expected": True})

    def work(number: int) -> str:
        return asyncio.run(
            verifiers.compare("math", pair.draft, rf"\frac{{{2 * number}\sqrt{{2}}}}{{{number}}}")
        ).verdict

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(work, range(1, 30))) == {"equal"}


def test_the_bench_prints_a_table_and_returns_the_contract_figures(tmp_path: Path, capsys) -> None:
    for name in ("math", "science"):
        rows = [row for row in own(f"{name}_pairs") if row["kind"] in ("fraction", "convert")][:6]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    figures = bench_verifiers(tmp_path / "math.jsonl", tmp_path / "science.jsonl")
    for name in ("math", "science"):
        assert set(figures[name]) >= {"n", "wrong_accepted", "right_refused", "hung", "median_ms", "p99_ms"}
        assert figures[name]["wrong_accepted"] == figures[name]["hung"] == 0
    json.dumps(figures)
    assert "math-verify" in capsys.readouterr().out.replace("\n", "")


def test_the_bench_names_a_broken_line(tmp_path: Path) -> None:
    broken = tmp_path / "math.jsonl"
    broken.write_text('{"gold": "1", "answer": "1", "expected": true}\n{"gold": 1\n')
    with pytest.raises(DataError, match=r"math\.jsonl:2"):
        bench_verifiers(broken, broken)
