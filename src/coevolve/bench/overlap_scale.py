"""How time and memory of the overlap check grow with the pool: 2,000 benchmark items, without the semantic extra."""

import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from rich.console import Console

from coevolve.bench.planted_set import own_planted
from coevolve.overlap.checker import OverlapChecker
from coevolve.overlap.families import families
from coevolve.overlap.records import Candidate
from coevolve.overlap.registry import BenchmarkItem, BenchmarkVersion, Registry

ITEMS = 2_000
SIZES = (10_000, 30_000, 100_000)
COPIES = 20
"""One candidate in so many repeats a benchmark item with other names and numbers."""
NAMES = "Ada Ben Chen Dara Emil Femi Gita Hugo Iris Jonas Kofi Lena Mira Noah Omar Pia".split()


def bench_overlap_scale() -> dict[str, Any]:
    """Check made-up pools of growing size; print and return CPU and wall seconds, and the peak of memory."""
    chance = random.Random(2)
    words = sorted(
        {word for row in own_planted() for word in row.question.split() if word.isalpha() and word.islower()}
    )
    forms = [_form(words, chance) for _ in range(ITEMS)]
    items = [BenchmarkItem("made", str(place), _filled(form, chance), None) for place, form in enumerate(forms)]
    checker, build = _timed(lambda: OverlapChecker(Registry("made", [BenchmarkVersion("made", ITEMS, "")], items)))
    console, rows = Console(), []
    for size in SIZES:
        caught, seconds = _timed(partial(_check, checker, words, forms, size))
        grouped, grouping = _timed(partial(_group, words, forms, size))
        row = {
            "candidates": size,
            "caught": caught,
            "check": seconds,
            "families": grouped,
            "grouping": grouping,
            "peak_mb": _peak_mb(),
        }
        console.print(row, highlight=False)
        rows.append(row)
    per = [row["check"]["cpu_seconds"] / row["candidates"] for row in rows]
    return {"benchmark_items": ITEMS, "build": build, "sizes": rows, "growth": round(per[-1] / per[0], 3)}


def _check(checker: OverlapChecker, words: list[str], forms: list[list[str]], size: int) -> int:
    return sum(finding.verdict == "drop" for finding in checker.check(_pool(words, forms, size)))


def _group(words: list[str], forms: list[list[str]], size: int) -> int:
    return len(set(families(_pool(words, forms, size)).values()))


def _pool(words: list[str], forms: list[list[str]], size: int) -> Iterator[Candidate]:
    chance = random.Random(size)
    for place in range(size):
        form = chance.choice(forms) if place % COPIES == 0 else _form(words, chance)
        yield Candidate(str(place), _filled(form, chance))


def _form(words: list[str], chance: random.Random) -> list[str]:
    """40 to 80 words with open places for names and numbers; a few words come up often, as they do in any language."""
    length = chance.randint(40, 80)
    form = [words[min(int(chance.paretovariate(0.35)) - 1, len(words) - 1)] for _ in range(length)]
    for mark, count in (("@", 3), ("#", 4)):
        for place in chance.sample(range(1, length), count):
            form[place] = mark
    return form


def _filled(form: list[str], chance: random.Random) -> str:
    drawn = {"@": lambda: chance.choice(NAMES), "#": lambda: str(chance.randint(2, 999))}
    return "How " + " ".join(drawn[word]() if word in drawn else word for word in form) + "?"


def _timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return result, {"cpu_seconds": round(cpu, 2), "wall_seconds": round(wall, 2)}


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
