"""skills.md and skills.csv: where each skill fired, and how valid and hard tasks were with and without it.

The unit is a chain in a round. With and without are compared within the same round and domain, so that a skill is not
credited for being used late, when tasks are harder anyway (a regression on the skill with a mean for every round and
domain); errors are clustered by chain. The Director chooses skills, so credit is association and no proof of effect.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevolve.errors import DataError, boundary
from coevolve.harness_folder import load_harness
from coevolve.report.runs import TrackedRun, read_lines
from coevolve.report.sections import Cell, Column, Line, Section, page, sheet
from coevolve.report.statistics import t_quantile
from coevolve.skills import Skill

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
LEAST_CHAINS = 2
"""Chains with and without a skill that a comparison needs on either side; fewer have no error."""
LEAD = (
    "One line a skill and run. Fired: chains and rounds of production that used the skill. Harder: by how many "
    "points a new valid task lowered its chain's accuracy from the round before. Differences are with minus without,"
    " within the same round and domain, with 95 % intervals clustered by chain; above zero, tasks made with the "
    "skill are more often valid, or become harder. The Director chooses skills, so this is association, not proof. A"
    " round in which all chains of a domain used a skill, or none did, says nothing about it."
)
COLUMNS = (
    Column("origin", "text"),
    Column("rounds", "text"),
    Column("domains", "text"),
    Column("own attempt missed", "share"),
    Column("valid with", "share"),
    Column("valid without", "share"),
    Column("validity difference", "points"),
    Column("harder with", "points"),
    Column("harder without", "points"),
    Column("difficulty difference", "points"),
)
MISSING = "No skill fired: a run needs at least one archived round."


@dataclass(frozen=True)
class Firing:
    """One chain in one round of production."""

    chain: str
    domain: str
    round: int
    skills: frozenset[str]
    valid: bool
    missed: bool
    harder: float | None
    """Accuracy before less after; None where the chain made no valid task."""


class Contrast(NamedTuple):
    """With minus without, within cells."""

    value: float
    low: float
    high: float


def write(runs: Sequence[TrackedRun], out: Path) -> list[Path]:
    """Write both files into `out` and return their paths. Raises DataError."""
    lines = tuple(line for run in runs for line in skill_lines(run))
    found = [Section("skills", "Skills", "", "fired", COLUMNS, lines, MISSING)]
    texts = {"skills.md": page("Credit by skill", LEAD, found), "skills.csv": sheet(found)}
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
    return [out / name for name in texts]


def skill_lines(run: TrackedRun) -> Iterator[Line]:
    """Credit of each skill that fired in a run, most used first."""
    firings = list(read_firings(run))
    uses = Counter(name for firing in firings for name in firing.skills)
    origins = _origins(run)
    valid = Sample.of(firings, [float(firing.valid) for firing in firings], 1.0)
    made = [firing for firing in firings if firing.harder is not None]
    harder = Sample.of(made, [firing.harder or 0.0 for firing in made], 2.0)
    for name in sorted(uses, key=lambda name: (-uses[name], name)):
        yield _line(run, name, origins.get(name), firings, (valid, harder))


def read_firings(run: TrackedRun) -> Iterator[Firing]:
    """Chains and rounds of production from the event log, with the accuracies of the archive. Raises DataError."""
    rates = {
        found.round: {task.chain: task.correct / task.attempts for task in found.scores.tasks} for found in run.rounds
    }
    domains = {chain: domain for domain, chains in run.chains.items() for chain in chains}
    for event in read_lines(run.folder / "events.jsonl", '"kind":"chain"', '"phase":"generation"'):
        number, chain, data = event["scope"]["round"], event["chain"], event["data"]
        if chain not in rates.get(number, {}) or chain not in rates.get(number - 1, {}):
            continue
        harder = rates[number - 1][chain] - rates[number][chain] if data["valid"] else None
        with boundary(DataError, f"{run.folder}/events.jsonl: chain {chain} in round {number}"):
            used = frozenset(data["skills"])
            yield Firing(chain, domains[chain], number, used, data["valid"], bool(data["missed"]), harder)


def _origins(run: TrackedRun) -> Mapping[str, Skill]:
    """Every skill that ever stood in an archived library, by name; a later text of the same name is another edit."""
    found: dict[str, Skill] = {}
    for number in run.rounds:
        for skill in load_harness(number.folder / "harness").skills:
            found.setdefault(skill.name, skill)
    return found


def _line(
    run: TrackedRun, name: str, skill: Skill | None, firings: Sequence[Firing], samples: Sequence["Sample"]
) -> Line:
    fired = [firing for firing in firings if name in firing.skills]
    rounds = sorted({firing.round for firing in fired})
    domains = Counter(firing.domain for firing in fired)
    cells = (
        Cell(skill.status if skill else "not archived"),
        Cell(str(rounds[0]) if len(rounds) == 1 else f"{rounds[0]}-{rounds[-1]}"),
        Cell(", ".join(f"{domain} {count}" for domain, count in sorted(domains.items()))),
        Cell(sum(firing.missed for firing in fired) / len(fired)),
        *(cell for sample in samples for cell in _compared(name, sample)),
    )
    n_chains = len({firing.chain for firing in fired})
    return Line(run.id, None, name, len(fired), cells, f"{n_chains} chain{'s' if n_chains > 1 else ''}")


def _compared(name: str, sample: "Sample") -> tuple[Cell, Cell, Cell]:
    """Mean with, mean without, and the difference within rounds and domains."""
    used = np.asarray([name in skills for skills in sample.skills], dtype=bool)
    means = (sample.values[side].mean() if side.any() else None for side in (used, ~used))
    found = contrast(used, sample)
    with_, without = (Cell(None if mean is None else float(mean)) for mean in means)
    return with_, without, Cell(*found) if found else Cell(None)


class Sample(NamedTuple):
    """One outcome over chains and rounds, places of cells and chains counted from 0."""

    skills: tuple[frozenset[str], ...]
    values: Floats
    cells: Places
    """Rounds and domains, within which with and without are compared."""
    chains: Places
    bound: float
    """The largest difference there can be."""

    @classmethod
    def of(cls, firings: Sequence[Firing], values: Sequence[float], bound: float) -> "Sample":
        """A value for each firing."""
        return cls(
            tuple(firing.skills for firing in firings),
            np.asarray(values, dtype=float),
            places([(firing.round, firing.domain) for firing in firings]),
            places([firing.chain for firing in firings]),
            bound,
        )


def places(names: Sequence[Hashable]) -> Places:
    """Each name as a number, in order of appearance."""
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.asarray([known[name] for name in names], dtype=np.int64)


def contrast(used: NDArray[np.bool_], sample: Sample) -> Contrast | None:
    """Regression of the values on `used` with a mean for every cell; its error is clustered by chain (95 %, Student's).

    Degrees of freedom are those of the rarer side: chains with, or without, less one. None where no cell has both, or
    one side has fewer than two chains, or nothing varies.
    """
    fewest = min(len(np.unique(sample.chains[side])) for side in (used, ~used))
    if fewest < LEAST_CHAINS:
        return None
    x, y = _centred(used.astype(float), sample.cells), _centred(sample.values, sample.cells)
    weight = float(x @ x)
    by_chain = np.bincount(sample.chains, weights=x * y - x * x * (float(x @ y) / weight if weight else 0.0))
    n, n_chains, n_means = len(y), len(by_chain), int(sample.cells.max()) + 2
    spread = float(by_chain @ by_chain)
    if weight == 0 or spread == 0 or n <= n_means:
        return None
    small_sample = n_chains / (n_chains - 1) * (n - 1) / (n - n_means)
    slope, half = float(x @ y) / weight, t_quantile(fewest - 1) * math.sqrt(spread * small_sample) / weight
    return Contrast(slope, max(-sample.bound, slope - half), min(sample.bound, slope + half))


def _centred(values: Floats, cells: Places) -> Floats:
    """Values less the mean of their cell."""
    means = np.bincount(cells, weights=values) / np.bincount(cells)
    centred: Floats = values - means[cells]
    return centred
