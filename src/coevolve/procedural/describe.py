"""Skills as text: what a hint's construction does, in the four fields, without any item's numbers."""

from collections.abc import Collection, Mapping
from typing import Any

from coevolve.construction.base import ANY
from coevolve.construction.hint import Hint

GRADES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
TEXTS: Mapping[str, tuple[str, str, str]] = {
    "follow_on": (
        "carry a result into one further operation",
        "Let the found result enter one more arithmetic operation{op}.",
        "one more place where a digit or a carry can be lost",
    ),
    "second_unknown": (
        "keep two related unknowns apart",
        "Introduce a second number in a stated relation{op} to the result and ask for both together.",
        "the relation must be turned into an equation before anything is computed",
    ),
    "constraint": (
        "meet a divisibility condition",
        "Ask for the nearest number that meets a divisibility condition{op} around the result.",
        "searching around the result replaces one plain operation",
    ),
    "inversion": (
        "reason backwards from a stated result",
        "State what a further operation gives and ask for the number that leads there{op}.",
        "the operation must be undone instead of carried out",
    ),
    "case_split": (
        "choose the branch that a property of the result decides",
        "Let parity or size of the result{op} decide which operation follows.",
        "the right operation must be found before it is carried out",
    ),
    "digits": (
        "work on the digits of a result",
        "Ask for a function of the decimal digits of the result{op}.",
        "every digit of the result counts",
    ),
    "percentage": (
        "apply a percentage",
        "Ask what the found percentage is of a given number.",
        "a share must be turned back into a number",
    ),
    "formula_chain": (
        "link physical quantities by formulas",
        "Let the found quantity enter a further formula and ask for the next quantity with its unit.",
        "the right formula and unit must be chosen at every link",
    ),
    "unit_change": (
        "convert between units",
        "Ask for the result in another unit.",
        "a conversion factor must be recalled and applied in the right direction",
    ),
    "letters": (
        "carry a recalled answer into a count",
        "Ask for a number or text that follows from the letters of the answer{op}.",
        "the answer must be known exactly before it can be measured",
    ),
    "distractor": (
        "leave out what is irrelevant",
        "Put true facts with numbers before the question that have nothing to do with it.",
        "relevant numbers must be told from irrelevant ones",
    ),
    "code_step": (
        "trace one further operation on a value",
        "Apply one more operation{op} to the value that the expression has.",
        "intermediate values must be traced exactly",
    ),
    "compose_function": (
        "compose functions",
        "Ask for a further function that carries the result of the first one on{op}.",
        "two specifications must hold at once",
    ),
    "sharpen": (
        "compute with longer numbers",
        "Replace the last operand by a longer one where it stands, so that the question does not grow.",
        "more digits and carries at the same length",
    ),
    "tighten": (
        "read terse statements",
        "Say the added steps in as few words as they need, which leaves room for further steps.",
        "less guidance, and room for more steps",
    ),
}


def slug(hint: Hint, taken: Collection[str]) -> str:
    """A free skill name that says what the hint does, without digits."""
    parts = [hint.name.replace("_", "-"), *([hint.op] if hint.op != ANY else []), GRADES[hint.size - 1]]
    name = "-".join([*parts, *(["terse"] if hint.style == "terse" else [])])
    suffixes = ("", *(f"-{letter}" for letter in "bcdefghijklmnopqrstuvwxyz"))
    return next(name + suffix for suffix in suffixes if name + suffix not in taken)


def content(hint: Hint) -> dict[str, str]:
    """The four fields of a skill that names this hint."""
    intent, method, effect = TEXTS[hint.name]
    variant = f" ({hint.op})" if hint.op != ANY else ""
    wording = " Word it tersely." if hint.style == "terse" else ""
    return {
        "intent": intent,
        "method": f"{method.format(op=variant)} Use operands of the {GRADES[hint.size - 1]} grade.{wording}",
        "difficulty_effect": f"{effect}; the {GRADES[hint.size - 1]} grade sets how hard the step is",
        "tool_hint": str(hint),
    }


def skill(hint: Hint, taken: Collection[str]) -> dict[str, Any]:
    """A whole proposal under a free name."""
    return {"name": slug(hint, taken), **content(hint)}
