"""What solver attempts amount to: accuracy (Eq. 2) in exact counts, with a task-clustered interval."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from coevolve.tasks import DOMAINS, Frozen, Task

Z_95 = 1.959963984540054


class TaskScore(Frozen):
    """One task's attempts: integer counts (Section 6 of the design: no float decides anything)."""

    chain: str
    domain: str
    correct: int
    attempts: int
    truncated: int = 0
    """Attempts cut at the token limit; they count as wrong."""
    unparsed: int = 0
    """Attempts without an answer; they count as wrong."""
    unknown: int = 0
    """Attempts the verifier could not decide; they count as wrong."""
    question_chars: int = 0


class Scores(Frozen):
    """Scores of one set of tasks under the fixed solver."""

    tasks: tuple[TaskScore, ...]

    @property
    def seed_mean(self) -> Fraction:
        """Mean accuracy with each seed weighted equally (Eq. 2's A-bar; what the gate compares)."""
        return _mean(self.tasks)

    @property
    def by_domain(self) -> dict[str, Fraction]:
        """Mean accuracy in each domain present."""
        return {
            domain: _mean(scores)
            for domain in DOMAINS
            if (scores := [score for score in self.tasks if score.domain == domain])
        }

    @property
    def all(self) -> Fraction:
        """Accuracy with each domain weighted equally (Section 4.2)."""
        domains = self.by_domain
        return sum(domains.values(), Fraction(0)) / len(domains)

    @property
    def n_attempts(self) -> int:
        """Attempts in all."""
        return sum(score.attempts for score in self.tasks)

    def interval(self) -> tuple[float, float]:
        """95 % interval of `all`, clustered by chain: attempts at one task are not independent."""
        groups = [
            [(score.correct, score.attempts) for score in self.tasks if score.domain == domain]
            for domain in self.by_domain
        ]
        return clustered_interval(groups)

    def record(self) -> dict[str, Any]:
        """The form archives, events and the meta-agent see."""
        low, high = self.interval()
        total = self.n_attempts
        return {
            "accuracy": {
                "all": float(self.all),
                "seed_mean": float(self.seed_mean),
                **{domain: float(value) for domain, value in self.by_domain.items()},
            },
            "interval": [low, high],
            "n_tasks": len(self.tasks),
            "n_attempts": total,
            "truncated": sum(score.truncated for score in self.tasks) / total,
            "unparsed": sum(score.unparsed for score in self.tasks) / total,
            "question_chars": sum(score.question_chars for score in self.tasks) / len(self.tasks),
            "tasks": [score.model_dump(mode="json") for score in self.tasks],
        }


def _mean(scores: Sequence[TaskScore]) -> Fraction:
    return sum((Fraction(score.correct, score.attempts) for score in scores), Fraction(0)) / len(scores)


def clustered_interval(groups: Sequence[Sequence[tuple[int, int]]]) -> tuple[float, float]:
    """Wilson interval (95 %) of the equally weighted mean over `groups` of per-task (correct, attempts).

    The sample size is an effective one, from the variance between tasks: between the number of tasks (attempts at a
    task all alike) and the number of attempts (attempts independent). At an accuracy of 0 or 1 it is the number of
    tasks, so that the width is still honest.
    """
    rates = [[correct / attempts for correct, attempts in group] for group in groups]
    n_tasks, n_attempts = sum(map(len, rates)), sum(attempts for group in groups for _, attempts in group)
    p = sum(sum(group) / len(group) for group in rates) / len(rates)
    variance = 0.0
    for group in rates:
        mean = sum(group) / len(group)
        spread = sum((rate - mean) ** 2 for rate in group)
        within = spread / (len(group) - 1) if len(group) > 1 else mean * (1 - mean)
        variance += within / len(group) / len(rates) ** 2
    if not 0 < p < 1:
        return wilson(p, n_tasks)
    size = p * (1 - p) / variance if variance > 0 else float(n_attempts)
    return wilson(p, min(max(size, float(n_tasks)), float(n_attempts)))


def wilson(p: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share `p` out of `n` (n may be an effective, fractional size)."""
    centre = (p + Z_95**2 / (2 * n)) / (1 + Z_95**2 / n)
    half = Z_95 / (1 + Z_95**2 / n) * math.sqrt(p * (1 - p) / n + Z_95**2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


class Probe(NamedTuple):
    """One harness's isolated round over the cohort: what Eq. 5 compares."""

    name: str
    harness_id: str
    complete: bool
    """False when cut by the evaluation budget, an interruption or a dead endpoint: never accepted (I8)."""
    cohort: int
    valid: int
    """New final candidates that passed validity before fallback; missing ones are invalid."""
    scores: Scores | None
    """Of the tasks after fallback; None when incomplete."""
    microusd: int | None
    tokens: int
    violation: str | None = None
    """Why the harness lies outside Gamma, if it does: then nothing was run."""
    tasks: tuple[Task, ...] = ()
    ended_early: bool = False
    """Ended because so many candidates were missing that it could no longer be as valid as the baseline."""

    @property
    def validity(self) -> Fraction:
        """Q(H)."""
        return Fraction(self.valid, self.cohort) if self.cohort else Fraction(0)

    def record(self) -> dict[str, Any]:
        """The form archives and reject reports hold."""
        return {
            "probe": self.name,
            "harness_id": self.harness_id,
            "complete": self.complete,
            "ended_early": self.ended_early,
            "violation": self.violation,
            "cohort": self.cohort,
            "valid": self.valid,
            "validity": float(self.validity),
            "c_gen_usd": None if self.microusd is None else self.microusd / 1_000_000,
            "tokens": self.tokens,
            "scores": self.scores.record() if self.scores else None,
        }
