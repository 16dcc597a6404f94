"""Where to go from a construction that troubled a solver: the next grade, a terser form, a related transformation."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from coevolve.construction.base import ANY, SIZES
from coevolve.construction.grammar import last_step
from coevolve.construction.hint import Hint
from coevolve.construction.numbers import number_of
from coevolve.construction.numeric import StepConstruction
from coevolve.construction.registry import CONSTRUCTIONS
from coevolve.construction.step_kinds import STEP_KINDS

ARITHMETIC = ("follow_on", "second_unknown", "case_split", "constraint", "inversion", "digits")
RELATED: Mapping[str, tuple[str, ...]] = {
    **{name: tuple(other for other in ARITHMETIC if other != name) for name in ARITHMETIC},
    "percentage": ("follow_on", "second_unknown"),
    "formula_chain": ("unit_change", "follow_on", "second_unknown"),
    "unit_change": ("formula_chain", "follow_on", "second_unknown"),
    "letters": ("follow_on", "second_unknown", "case_split"),
    "distractor": ("second_unknown", "follow_on"),
    "code_step": ("compose_function",),
    "compose_function": ("code_step",),
    "sharpen": ("follow_on", "code_step"),
    "tighten": ("follow_on", "code_step"),
}
NOT_SHARPENED = frozenset({"sharpen", "tighten", "letters", "distractor", "compose_function"})


def ladder(hint: Hint) -> list[Hint]:
    """Transformations that follow from trouble with `hint`, the closest first."""
    higher = min(hint.size + 1, SIZES[-1])
    ops = CONSTRUCTIONS[hint.name].ops
    steps = [replace(hint, size=higher)]
    if hint.name not in NOT_SHARPENED:
        steps.append(Hint("sharpen", higher))
    if ops and hint.op != ANY:
        steps.append(replace(hint, op=ops[(ops.index(hint.op) + 1) % len(ops)]))
        steps.append(replace(hint, op=ANY, size=higher))
    if hint.style != "terse":
        steps.append(replace(hint, size=higher, style="terse"))
    steps += [Hint(name, hint.size, style=hint.style) for name in RELATED[hint.name]]
    steps += [Hint("tighten"), replace(hint, size=min(hint.size + 2, SIZES[-1]))]
    return steps


def unused(steps: Collection[Hint], library: Collection[str]) -> list[Hint]:
    """Those of `steps` whose hints are not in the library yet."""
    return list(dict.fromkeys(step for step in steps if str(step) not in library))


def inferred(domain: str, question: str, reference: str) -> Hint:
    """The construction that a task without known skills could have come from, by its text."""
    if domain == "coding":
        return Hint("compose_function" if "def " in reference else "code_step")
    if found := last_step(question, STEP_KINDS):
        for construction in CONSTRUCTIONS.values():
            if isinstance(construction, StepConstruction) and found[1].kind in construction.kinds:
                return Hint(construction.name)
    return Hint("follow_on" if number_of(reference) is not None else "letters")
