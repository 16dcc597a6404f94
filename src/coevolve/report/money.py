"""What harder tasks cost: total evolution cost, cost per accuracy point, and task_only given the same money.

Money is the total evolution cost of Appendix B (everything but reporting), cumulative, per original seed; tokens stand
in where a price is unknown. Two ways of spending an arm's money on a fixed harness are compared: more rounds, and more
samples of the same rounds, of which each chain keeps the hardest.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Literal, NamedTuple

from coevolve.report.runs import TrackedRound, TrackedRun
from coevolve.report.sections import Cell, Column, Line, Section
from coevolve.report.statistics import Estimate, Values, accuracy, paired, rates, student

PHASES = ("initialisation", "generation", "in_loop", "post_task", "baseline", "candidate")
Currency = Literal["usd", "tokens"]
MOST_SAMPLES = 8
"""Samples of which the hardest is taken at most: the outcomes to weigh grow as three to their number."""
ENOUGH = 0.95
"""Share of an arm's money from which task_only counts as having spent the same."""


class Spent(NamedTuple):
    """What a run had spent after a round, per original seed."""

    usd: float | None
    """None where one price was unknown."""
    tokens: float

    def of(self, currency: Currency) -> float:
        """The amount in one currency."""
        return self.tokens if currency == "tokens" or self.usd is None else self.usd


def spent_by_round(run: TrackedRun) -> dict[int, Spent]:
    """Cumulative evolution cost after each round (I10)."""
    n, micro, tokens = len(run.rounds[0].scores.tasks), 0, 0
    known, found = True, {}
    for number in run.rounds:
        for cell in _cells(number):
            known = known and cell["microusd"] is not None
            micro += cell["microusd"] or 0
            tokens += cell["tokens_in"] + cell["tokens_out"]
        found[number.round] = Spent(micro / 1_000_000 / n if known else None, tokens / n)
    return found


def _cells(number: TrackedRound) -> list[dict[str, int]]:
    return [cell for cell in number.record["costs"]["cells"] if cell["phase"] != "reporting"]


def decline(run: TrackedRun, number: TrackedRound) -> Estimate:
    """By how much accuracy fell since the run's first round, on the same chains."""
    pair = (rates(run.rounds[0].scores.tasks), rates(number.scores.tasks))
    return paired("first", "now", number.round, [pair], 1.0).estimate


def cost_section(runs: Sequence[TrackedRun]) -> Section:
    """One line a run: what was spent on what, and what a point of accuracy cost."""
    columns = (
        Column("total a seed", "usd"),
        Column("total a seed, tokens", "number"),
        *(Column(phase, "share") for phase in PHASES),
        Column("accuracy fell by", "points"),
        Column("a point cost a seed", "usd"),
    )
    words = (
        "Total evolution cost after the last round, per original seed, and its shares by phase (of tokens where a "
        "price is unknown); reporting is apart. Accuracy fell by: first round less last on the same chains "
        "(Student's). A point cost: total over points fallen; its interval is that of the fall, open above where "
        "there may be none. Prices of local and procedural models are nominal."
    )
    lines = tuple(_cost_line(run) for run in runs if run.last_round > run.rounds[0].round)
    title = "Total evolution cost, and cost per accuracy point"
    return Section("cost", title, words, "chains", columns, lines, "No run has made a round yet.")


def _cost_line(run: TrackedRun) -> Line:
    total, fall = spent_by_round(run)[run.last_round], decline(run, run.rounds[-1])
    unit = "microusd" if total.usd is not None else "tokens"
    by_phase: Counter[str] = Counter()
    for cell in (cell for number in run.rounds for cell in _cells(number)):
        amount = cell["microusd"] if unit == "microusd" else cell["tokens_in"] + cell["tokens_out"]
        by_phase[str(cell["phase"])] += amount
    whole = sum(by_phase.values())
    shares = tuple(Cell(by_phase[phase] / whole if whole else None) for phase in PHASES)
    price = Cell(None)
    if total.usd is not None and fall.value > 0:
        ends = [total.usd / (100 * fall.high), total.usd / (100 * fall.low) if fall.low > 0 else math.inf]
        price = Cell(total.usd / (100 * fall.value), *ends)
    cells = (Cell(total.usd), Cell(total.tokens), *shares, Cell(fall.value, fall.low, fall.high), price)
    note = "" if run.rounds[0].round == 0 else f"from round {run.rounds[0].round} on: what came before is not in it"
    return Line(run.id, run.last_round, run.ablation, fall.n_chains, cells, note)


def matched_section(runs: Sequence[TrackedRun]) -> Section:
    """Every arm against task_only with the same money: more rounds, or more samples of the same rounds."""
    columns = (
        Column("spent a seed", "usd"),
        Column("accuracy", "share"),
        Column("task_only spent", "usd"),
        Column("task_only: accuracy", "share"),
        Column("arm minus task_only", "points"),
    )
    words = (
        "More rounds: task_only of the same seeds at its last round that cost no more than the arm's whole run. More "
        "samples: task_only runs on the same seeds with other draws, as many as the money buys; each chain keeps its "
        "hardest, chosen on half of its attempts and measured on the other half (the mean over all halves), so that "
        "the choice does not flatter it. Differences are on the same chains (Student's); below zero the arm's tasks "
        "are harder. Amounts are tokens a seed where a price is unknown."
    )
    arms = [run for run in runs if run.frozen is None and run.ablation != "task_only" and run.last_round > 0]
    lines = tuple(line for run in arms for line in (_more_rounds(run, runs), _more_samples(run, runs)))
    missing = "No run of an arm other than task_only."
    return Section("matched", "The same money without harness updates", words, "chains", columns, lines, missing)


def _currency(*runs: TrackedRun) -> Currency:
    return "usd" if all(spent_by_round(run)[run.last_round].usd is not None for run in runs) else "tokens"


def _twin(run: TrackedRun, runs: Sequence[TrackedRun]) -> TrackedRun | None:
    """task_only of the same seeds and seed."""
    fits = [
        other
        for other in runs
        if (other.frozen, other.ablation, other.seed) == (None, "task_only", run.seed)
        and other.measuring_hash == run.measuring_hash
        and other.chains == run.chains
    ]
    return max(fits, key=lambda other: other.last_round, default=None)


def _more_rounds(run: TrackedRun, runs: Sequence[TrackedRun]) -> Line:
    twin = _twin(run, runs)
    currency = _currency(run, twin) if twin else _currency(run)
    whole = spent_by_round(run)[run.last_round].of(currency)
    if twin is None:
        again = f"python scripts/evolve.py experiment={run.experiment} ablation=task_only seed={run.seed}"
        return _lacking(run, "more rounds", whole, f"no task_only run of these seeds; {again}")
    spent = {number: amount.of(currency) for number, amount in spent_by_round(twin).items()}
    fits = [number for number, amount in spent.items() if number > 0 and amount <= whole]
    if not fits:
        return _lacking(run, "more rounds", whole, f"one round of {twin.id} costs more than this whole run")
    last, note = max(fits), f"{twin.id} after round {max(fits)}"
    if last == twin.last_round and spent[last] < ENOUGH * whole:
        a_round = (spent[last] - spent[twin.rounds[0].round]) / max(1, last - twin.rounds[0].round)
        wanted = last + math.ceil((whole - spent[last]) / a_round) if a_round > 0 else last + 1
        again = f"the command of {twin.id} with rounds={wanted}"
        note += f", which spent only {spent[last] / whole:.0%}; to match: {again}"
    found = twin.at(last)
    assert found is not None
    return _line(run, "more rounds", whole, spent[last], rates(found.scores.tasks), note)


def _more_samples(run: TrackedRun, runs: Sequence[TrackedRun]) -> Line:
    chains = {chain for members in run.chains.values() for chain in members}
    last = run.last_round
    copies = [
        other
        for other in runs
        if (other.ablation, other.solver_model) == ("task_only", run.solver_model)
        and (other.frozen is None or other.frozen.version == 0)
        and other.rounds[0].record["fixed_hash"] == run.rounds[0].record["fixed_hash"]
        and other.at(last) is not None
        and {chain for members in other.chains.values() for chain in members} == chains
    ]
    currency = _currency(run, *copies)
    whole = spent_by_round(run)[last].of(currency)
    seeds = f"outputs/{run.id}/archive/{run.rounds[0].folder.name}"
    again = f"python scripts/transfer.py harness=h0 tasks={seeds} rounds={last} seed=<another>"
    if not copies:
        return _lacking(run, "more samples", whole, f"no task_only run on these seeds reached round {last}; {again}")
    prices = [spent_by_round(other)[last].of(currency) for other in copies]
    buys = 0
    while buys < min(len(prices), MOST_SAMPLES) and sum(prices[: buys + 1]) <= whole:
        buys += 1
    affordable = math.floor(whole * len(prices) / sum(prices)) if sum(prices) > 0 else len(prices)
    note = f"the money buys about {affordable} samples of {last} rounds, {len(copies)} exist"
    if buys < 2:
        why = f"{note}; {again}" if affordable > 1 else f"{note}: not two of them"
        return _lacking(run, "more samples", whole, why)
    used = copies[:buys]
    note = f"hardest of {buys}: {', '.join(other.id for other in used)}"
    note += f"; {affordable} would match: {again}" if affordable > buys else ""
    return _line(run, "more samples", whole, sum(prices[:buys]), hardest(used, last), note)


def hardest(runs: Sequence[TrackedRun], round: int) -> Values:
    """Each chain's rate at its hardest task among `runs`: chosen on half of the attempts, measured on the rest."""
    kept = [found.scores.tasks for run in runs if (found := run.at(round)) is not None]
    counts: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for tasks in kept:
        for task in tasks:
            counts.setdefault(task.domain, {}).setdefault(task.chain, []).append((task.correct, task.attempts))
    return {
        domain: {chain: hardest_rate(tries) for chain, tries in chains.items()} for domain, chains in counts.items()
    }


def hardest_rate(tries: Sequence[tuple[int, int]]) -> float:
    """Expected rate, on attempts not used for choosing, of the task with fewest right among half of its attempts.

    `tries` holds (correct, attempts) of each task; ties are shared equally. With one attempt a task there is no second
    half, and the mean over the tasks is returned.
    """
    if min(attempts for _, attempts in tries) < 2:
        return sum(correct / attempts for correct, attempts in tries) / len(tries)
    halves = [_halves(correct, attempts) for correct, attempts in tries]
    expected = 0.0
    for outcome in product(*halves):
        chance = math.prod(share for _, share, _ in outcome)
        least = min(right for right, _, _ in outcome)
        left = [rate for right, _, rate in outcome if right == least]
        expected += chance * sum(left) / len(left)
    return expected


def _halves(correct: int, attempts: int) -> list[tuple[float, float, float]]:
    """(share right in the first half, its chance, share right in the second) over all ways to halve the attempts."""
    first = attempts // 2
    second = attempts - first
    ways = math.comb(attempts, first)
    return [
        (
            right / first,
            math.comb(correct, right) * math.comb(attempts - correct, first - right) / ways,
            (correct - right) / second,
        )
        for right in range(max(0, correct - second), min(first, correct) + 1)
    ]


def _line(run: TrackedRun, way: str, whole: float, spent: float, theirs: Values, note: str) -> Line:
    mine = accuracy(run.rounds[-1].scores.tasks)
    pair = (rates(run.rounds[-1].scores.tasks), theirs)
    difference = paired("arm", "task_only", run.last_round, [pair], 1.0).estimate
    strata = [list(chains.values()) for chains in theirs.values()]
    mean = sum(sum(values) / len(values) for values in strata) / len(strata)
    cells = (
        Cell(whole),
        Cell(mine.value, mine.low, mine.high),
        Cell(spent),
        Cell(mean, *student(strata, 0.0, 1.0)),
        Cell(difference.value, difference.low, difference.high),
    )
    return Line(run.id, run.last_round, way, mine.n_chains, cells, note)


def _lacking(run: TrackedRun, way: str, whole: float, why: str) -> Line:
    mine = accuracy(run.rounds[-1].scores.tasks)
    cells = (Cell(whole), Cell(mine.value, mine.low, mine.high), *((Cell(None),) * 3))
    return Line(run.id, run.last_round, way, mine.n_chains, cells, f"not to be had: {why}")
