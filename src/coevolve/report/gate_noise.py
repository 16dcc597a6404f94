"""How sure the gate's decisions were: paired errors, the A/A noise floor, and the power at this cohort size."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any

from coevolve.config import GateConfig
from coevolve.errors import DataError, boundary
from coevolve.evaluation.gate import Decision, accept
from coevolve.evaluation.outcomes import Probe, Scores, TaskScore, wilson
from coevolve.evaluation.paired import Paired, accept_paired, compared
from coevolve.report.runs import TrackedRound, TrackedRun
from coevolve.report.sections import Cell, Column, Line, Section
from coevolve.report.statistics import student

Z = "1.645"
"""Standard errors a gain must exceed where a run has no gate.z of its own: one-sided 5 %."""
POWER = 0.8
GAINS = (0.0, 0.02, 0.05, 0.10, 0.20)
"""True gains in difficulty whose chance of being seen is told."""
NORMAL = NormalDist()
REPEAT_COMMAND = "No run probed its baseline twice; gate.noise_floor=true does (it pays for one more probe a round)."


@dataclass(frozen=True)
class Compared:
    """One probe against its baseline, as archived."""

    run: TrackedRun
    round: int
    probe: Probe
    baseline: Probe
    accepted: bool
    """What the run did with it."""

    @cached_property
    def paired(self) -> Paired | None:
        """The paired figures; None where one side has no scores."""
        return compared(self.probe, self.baseline)

    @cached_property
    def by_paper(self) -> Decision:
        """Eq. 5 with this run's coefficients."""
        return accept(self.probe, self.baseline, _gate(self.run, "paper"))

    @cached_property
    def by_paired(self) -> Decision:
        """Eq. 5 and the paired test."""
        return accept_paired(self.probe, self.baseline, _gate(self.run, "paired"))


def gate_sections(runs: Sequence[TrackedRun]) -> list[Section]:
    """Decisions, noise floor, power."""
    candidates = [found for run in runs for number in run.rounds for found in _candidates(run, number)]
    repeats = [found for run in runs for number in run.rounds for found in _repeat(run, number)]
    return [decision_section(candidates), noise_section(repeats), power_section(candidates or repeats)]


def decision_section(candidates: Sequence[Compared]) -> Section:
    """A line for each candidate: gain, its error, the cost ratio, and what either gate says."""
    columns = (
        Column("baseline accuracy", "share"),
        Column("candidate accuracy", "share"),
        Column("gain", "points"),
        Column("paired SE", "share"),
        Column("gain / SE", "number"),
        Column("seen at 80 % power", "share"),
        Column("validity change", "points"),
        Column("cost ratio", "number"),
        Column("decided", "text"),
        Column("Eq. 5", "text"),
        Column("Eq. 5 and paired", "text"),
    )
    words = (
        "Gain: baseline less candidate accuracy over the gate cohort, each seed equal; above zero is harder. The "
        "interval is Student's over chains. Seen at 80 % power: the true gain that the paired test (one-sided 5 %, or "
        "the run's gate.z) would find four times in five at this error. Eq. 5 is the paper's gate; the last column "
        "adds the paired test, whichever gate the run used."
    )
    lines = tuple(_decision_line(found) for found in candidates)
    missing = "No candidate was probed: arms with post-task updates (ablation=full or post_task) have a gate."
    return Section("gate", "Decisions of the gate", words, "chains", columns, lines, missing)


def _decision_line(found: Compared) -> Line:
    probe, baseline, paired = found.probe, found.baseline, found.paired
    told = ("accepted" if found.accepted else "rejected", _word(found.by_paper), _word(found.by_paired))
    verdicts = tuple(Cell(text) for text in told)
    reasons = "; ".join(found.by_paper.reasons)
    if paired is None or probe.scores is None or baseline.scores is None:
        empty = (Cell(None),) * 8
        return Line(found.run.id, found.round, probe.name, probe.cohort, (*empty, *verdicts), reasons)
    low, high = student([_differences(probe.scores, baseline.scores)], -1.0, 1.0)
    detectable = None if paired.se is None else (float(_z(found.run)) + NORMAL.inv_cdf(POWER)) * paired.se
    ratio = probe.microusd / baseline.microusd if probe.microusd is not None and baseline.microusd else None
    cells = (
        Cell(float(baseline.scores.seed_mean)),
        Cell(float(probe.scores.seed_mean)),
        Cell(float(paired.gain), low, high),
        Cell(paired.se),
        Cell(float(paired.gain) / paired.se if paired.se else None),
        Cell(detectable),
        Cell(float(probe.validity - baseline.validity)),
        Cell(ratio),
        *verdicts,
    )
    return Line(found.run.id, found.round, probe.name, paired.n_chains, cells, reasons)


def noise_section(repeats: Sequence[Compared]) -> Section:
    """A/A: how far two probes of one harness lie apart, by run and over all runs."""
    columns = (
        Column("typical A/A gain (root mean square)", "share"),
        Column("largest", "points"),
        Column("mean paired SE", "share"),
        Column("harder than itself", "share"),
        Column("Eq. 5 would accept", "share"),
        Column("Eq. 5 and paired would accept", "share"),
    )
    words = (
        "The online baseline probed twice with other random draws: nothing differs but noise, so every acceptance here "
        "would be a phantom. Baseline and candidates share their draws where a server honours seeds, which makes their "
        "comparison less noisy than this one; the floor is an upper bound there. Intervals are Wilson's."
    )
    scored = [found for found in repeats if found.paired is not None]
    ids = list(dict.fromkeys(found.run.id for found in scored))
    groups = [(run, [found for found in scored if found.run.id == run]) for run in ids]
    groups += [("all runs", scored)] if len(ids) > 1 else []
    lines = tuple(_noise_line(name, group) for name, group in groups)
    return Section("noise_floor", "Noise floor (A/A)", words, "repeats", columns, lines, REPEAT_COMMAND)


def _noise_line(name: str, repeats: Sequence[Compared]) -> Line:
    found = [paired for repeat in repeats if (paired := repeat.paired) is not None]
    gains = [float(paired.gain) for paired in found]
    errors = [paired.se for paired in found if paired.se is not None]
    n = len(gains)

    def share(count: int) -> Cell:
        return Cell(count / n, *wilson(count / n, n))

    cells = (
        Cell(math.sqrt(sum(gain**2 for gain in gains) / n)),
        Cell(max(gains, key=abs)),
        Cell(sum(errors) / len(errors) if errors else None),
        share(sum(gain > 0 for gain in gains)),
        share(sum(repeat.by_paper.accepted for repeat in repeats)),
        share(sum(repeat.by_paired.accepted for repeat in repeats)),
    )
    return Line(name, None, "", n, cells)


def power_section(comparisons: Sequence[Compared]) -> Section:
    """By normal approximation: how often a true gain of some size passes the difficulty test of either gate."""
    columns = (
        Column("SE", "share"),
        Column("harder by Eq. 5", "share"),
        Column("beyond noise (paired)", "share"),
    )
    words = (
        "Normal approximation, not a simulation, with the error of the run's own comparisons (root mean square) at its "
        "own cohort size; the ranges in brackets are from its noisiest to its quietest comparison. Validity and cost, "
        "the other conditions of Eq. 5, are left out. At a true gain of 0 the share is the chance of a phantom at each "
        "try; in three tries it is at most 1 - (1 - share)^3."
    )
    lines = []
    for run in dict.fromkeys(found.run.id for found in comparisons):
        mine = [found for found in comparisons if found.run.id == run]
        errors = sorted(paired.se for found in mine if (paired := found.paired) is not None and paired.se)
        if errors:
            typical = math.sqrt(sum(error**2 for error in errors) / len(errors))
            lines += [_power_line(mine[0].run, gain, typical, errors) for gain in GAINS]
    missing = "No comparison with an error yet."
    return Section(
        "power", "Power of a decision at this cohort size", words, "comparisons", columns, tuple(lines), missing
    )


def _power_line(run: TrackedRun, gain: float, typical: float, errors: Sequence[float]) -> Line:
    z = float(_z(run))

    def chance(least: float) -> Cell:
        value, *ends = (NORMAL.cdf(gain / error - least) for error in (typical, errors[0], errors[-1]))
        return Cell(value, min(ends), max(ends))

    cells = (Cell(typical, errors[0], errors[-1]), chance(0.0), chance(z))
    return Line(run.id, None, f"true gain {100 * gain:g} points", len(errors), cells)


def _word(decision: Decision) -> str:
    return "accept" if decision.accepted else "reject"


def _z(run: TrackedRun) -> Fraction:
    return Fraction(str((run.config.get("gate") or {}).get("z") or Z))


def _gate(run: TrackedRun, name: str) -> GateConfig:
    """The run's coefficients under either gate; runs from before the paired gate lack its keys."""
    kept = run.config.get("gate") or {}
    z = (kept.get("z") or Z) if name == "paired" else None
    with boundary(DataError, f"{run.folder}/config.yaml: gate"):
        return GateConfig.model_validate({"noise_floor": False, **kept, "name": name, "z": z})


def _differences(scores: Scores, reference: Scores) -> list[float]:
    rates = {task.chain: task.correct / task.attempts for task in reference.tasks}
    return [rates[task.chain] - task.correct / task.attempts for task in scores.tasks]


def _candidates(run: TrackedRun, number: TrackedRound) -> Iterator[Compared]:
    evaluations = number.record["evaluations"]
    found = evaluations.get("candidates") or []
    accepted = len(found) if number.record["status"] == "accepted" else 0
    for place, candidate in enumerate(found, 1):
        baseline = probe_of(number.folder, evaluations["baseline"])
        yield Compared(run, number.round, probe_of(number.folder, candidate), baseline, place == accepted)


def _repeat(run: TrackedRun, number: TrackedRound) -> Iterator[Compared]:
    evaluations = number.record["evaluations"]
    if repeat := evaluations.get("baseline_repeat"):
        baseline = probe_of(number.folder, evaluations["baseline"])
        yield Compared(run, number.round, probe_of(number.folder, repeat), baseline, False)


def probe_of(folder: Any, record: Mapping[str, Any]) -> Probe:
    """An archived probe as the gate saw it. Raises DataError."""
    with boundary(DataError, f"{folder}/version.json: probe {record.get('probe')}"):
        kept = record["scores"]
        scores = Scores(tasks=tuple(TaskScore.model_validate(task) for task in kept["tasks"])) if kept else None
        usd = record["c_gen_usd"]
        return Probe(
            name=record["probe"],
            harness_id=record["harness_id"],
            complete=record["complete"],
            cohort=record["cohort"],
            valid=record["valid"],
            scores=scores,
            microusd=None if usd is None else round(usd * 1_000_000),
            tokens=record["tokens"],
            violation=record["violation"],
        )
