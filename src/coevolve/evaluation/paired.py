"""The gate of Eq. 5 with a paired test beside it: is the gain in difficulty more than this cohort's noise?"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from coevolve.config import GateConfig
from coevolve.evaluation.gate import Decision, accept
from coevolve.evaluation.outcomes import Probe, Scores


class Paired(NamedTuple):
    """A gain in difficulty over chains that both sides measured; attempts are clustered within their chain."""

    n_chains: int
    gain: Fraction
    """Mean over chains of the baseline's accuracy less the other's; above 0 is harder."""
    variance: Fraction | None
    """Of the gain (its standard error squared); None with fewer than two chains."""

    @property
    def se(self) -> float | None:
        """Standard error of the gain."""
        return None if self.variance is None else math.sqrt(self.variance)

    def exceeds(self, z: Fraction) -> bool:
        """Whether gain > z SE, exactly: a square root never decides."""
        return self.variance is not None and self.gain > 0 and self.gain**2 > z**2 * self.variance

    def record(self) -> dict[str, Any]:
        """The form archives and events hold; `z` is the gain in standard errors, null where that is undefined."""
        se = self.se
        return {
            "n_chains": self.n_chains,
            "gain": float(self.gain),
            "se": se,
            "z": float(self.gain) / se if se else None,
        }


class Verdict(NamedTuple):
    """What the gate decided, with the paired figures that every decision carries."""

    decision: Decision
    paired: Paired | None
    """None where one side has no scores."""

    def record(self) -> dict[str, Any]:
        """The form archives and events hold."""
        return {
            "accepted": self.decision.accepted,
            "reasons": list(self.decision.reasons),
            "paired": self.paired.record() if self.paired else None,
        }


def paired_gain(differences: Sequence[Fraction]) -> Paired:
    """Mean and its variance over one difference a chain: sum (d - mean)^2 / (n (n - 1)).

    The domains are not taken as strata: a cohort of one chain a domain would then have no variance at all, and where
    domains differ this is the wider of the two.
    """
    n = len(differences)
    gain = sum(differences, Fraction(0)) / n
    spread = sum((difference**2 for difference in differences), Fraction(0)) - n * gain**2
    return Paired(n, gain, spread / (n * (n - 1)) if n > 1 else None)


def compare(scores: Scores, reference: Scores) -> Paired:
    """The gain of `scores` over `reference`, chain by chain. Raises ValueError when they measured other chains."""
    rates = [
        {task.chain: Fraction(task.correct, task.attempts) for task in measured.tasks}
        for measured in (scores, reference)
    ]
    mine, theirs = rates
    if not mine or mine.keys() != theirs.keys():
        raise ValueError(f"chains differ: {sorted(mine.keys() ^ theirs.keys())[:3]}")
    return paired_gain([theirs[chain] - mine[chain] for chain in sorted(mine)])


def compared(probe: Probe, baseline: Probe) -> Paired | None:
    """The paired figures of two probes of one cohort; None where one has no scores."""
    if probe.scores is None or baseline.scores is None:
        return None
    return compare(probe.scores, baseline.scores)


def accept_paired(probe: Probe, baseline: Probe, gate: GateConfig) -> Decision:
    """Eq. 5, and besides a paired gain beyond `gate.z` standard errors."""
    decision, found = accept(probe, baseline, gate), compared(probe, baseline)
    if found is None or found.gain <= 0 or found.exceeds(Fraction(gate.z or 0)):
        return decision
    noise = f"{gate.z} x {found.se:.3f} (paired SE)" if found.se is not None else "an unknown SE: one chain"
    return Decision(False, (*decision.reasons, f"not beyond noise: gain {float(found.gain):.3f} <= {noise}"))


GATES = {"paper": accept, "paired": accept_paired}


def judge(probe: Probe, baseline: Probe, gate: GateConfig) -> Verdict:
    """The decision of the configured gate, and the paired figures whichever gate it is."""
    return Verdict(GATES[gate.name](probe, baseline, gate), compared(probe, baseline))
