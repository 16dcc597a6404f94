"""The gate of Eq. 5, in exact arithmetic: harder, no less valid, not too dear."""

from fractions import Fraction
from typing import Any, NamedTuple

from coevolve.config import GateConfig
from coevolve.evaluation.outcomes import Probe


class Decision(NamedTuple):
    """Whether a candidate is adopted, and each condition it fails (empty when accepted)."""

    accepted: bool
    reasons: tuple[str, ...]


def allowance(probe_accuracy: Fraction, baseline_accuracy: Fraction, gate: GateConfig) -> Fraction:
    """How many times the baseline's cost a harder candidate may cost: min(1 + slope (r_D - 1), cap).

    At accuracy 0 the relative difficulty is unbounded and the cap applies directly (Appendix B).
    """
    slope, cap = Fraction(gate.cost_slope), Fraction(gate.cost_cap)
    if probe_accuracy == 0:
        return cap
    return min(1 + slope * (baseline_accuracy / probe_accuracy - 1), cap)


def beatable(baseline: Probe) -> bool:
    """False at accuracy 0: no candidate can be strictly lower (Appendix B), so none is worth a probe."""
    return baseline.scores is not None and baseline.scores.seed_mean > 0


def accept(probe: Probe, baseline: Probe, gate: GateConfig) -> Decision:
    """Accept(e', e_o) of Eq. 5. Raises nothing: whatever cannot be compared is a reason against."""
    if probe.violation is not None:
        return Decision(False, (f"outside the constraints: {probe.violation}",))
    if probe.ended_early:
        return Decision(False, (f"less valid: ended early, Q could no longer reach {float(baseline.validity):.3f}",))
    if not (probe.complete and baseline.complete) or probe.scores is None or baseline.scores is None:
        return Decision(False, ("incomplete evaluation",))
    reasons = []
    if probe.validity < baseline.validity:
        reasons.append(f"less valid: Q {float(probe.validity):.3f} < {float(baseline.validity):.3f}")
    accuracy, reference = probe.scores.seed_mean, baseline.scores.seed_mean
    if not accuracy < reference:
        reasons.append(f"not harder: accuracy {float(accuracy):.3f} >= {float(reference):.3f}")
    else:
        cost, base = _cost(probe, gate), _cost(baseline, gate)
        if cost is None or base is None:
            reasons.append("cost unknown")
        elif cost > allowance(accuracy, reference, gate) * base:
            allowed = float(allowance(accuracy, reference, gate))
            ratio = cost / base if base else float("inf")
            reasons.append(f"too dear: {ratio:.3f} times the baseline's cost, {allowed:.3f} allowed")
    return Decision(not reasons, tuple(reasons))


def _cost(probe: Probe, gate: GateConfig) -> int | None:
    return probe.tokens if gate.cost_unit == "tokens" else probe.microusd


def reject_report(probe: Probe, baseline: Probe, decision: Decision, proposal: dict[str, Any]) -> dict[str, Any]:
    """What a later proposal of the same round learns of this one (R of Eq. 4)."""
    return {
        "edits": proposal.get("edits", []),
        "reasons": list(decision.reasons),
        "probe": _figures(probe),
        "baseline": _figures(baseline),
    }


def _figures(probe: Probe) -> dict[str, Any]:
    scores = probe.scores
    return {
        "validity": float(probe.validity),
        "accuracy": float(scores.seed_mean) if scores else None,
        "c_gen_usd": None if probe.microusd is None else probe.microusd / 1_000_000,
        "tokens": probe.tokens,
        "complete": probe.complete,
    }
