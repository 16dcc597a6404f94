"""The type of a reference answer, told from its text."""

from coevolve.tasks import Answer, AnswerType
from coevolve.verifiers import plain
from coevolve.verifiers.exact import notation, reading
from coevolve.verifiers.exact.equality import Unsure
from coevolve.verifiers.exact.notation import Refused
from coevolve.verifiers.exact.shapes import Many, Matrix, Named, Region, Relation, Row, Scalar, Shape, Words
from coevolve.verifiers.exact.tokens import Unreadable

READ = frozenset(("rational", "decimal", "percent", "expression", "tuple", "set", "interval", "matrix", "equation"))
FORMS: dict[str, AnswerType] = {"integer": "integer", "decimal": "decimal", "fraction": "rational"}
SHAPES: dict[type, AnswerType] = {
    Scalar: "expression",
    Many: "set",
    Region: "interval",
    Matrix: "matrix",
    Named: "equation",
    Relation: "equation",
    Words: "text",
}


def infer(value: str) -> AnswerType | None:
    """The type of a mathematical or short-text reference; None when it reads as nothing."""
    number = plain.written(value)
    if number is not None:
        return "percent" if "%" in value else FORMS[number.form]
    if len(value.strip("() ")) == 1 and value.strip("() ") in "ABCDEFGH":
        return "choice"
    try:
        return _of_shape(reading.read(notation.clean(value)))
    except (Unreadable, Unsure, Refused, RecursionError):
        return None


def unfit(answer: Answer) -> str | None:
    """Why a reference's value does not fit its type; None when it fits."""
    value = answer.value
    if not value.strip():
        return "the reference is empty"
    if answer.type == "integer":
        number = plain.written(value)
        return None if number and number.value.denominator == 1 else f"{value[:60]!r} is no whole number"
    if answer.type == "choice" and answer.choices:
        return None if plain.choice(value, answer.choices) else f"{value[:60]!r} is none of the choices"
    if answer.type in READ:
        return None if infer(value) else f"{value[:60]!r} is no readable {answer.type}"
    return None


def _of_shape(shape: Shape) -> AnswerType:
    if isinstance(shape, Row):
        return "interval" if shape.brackets in ("(]", "[)", "[]") and len(shape.items) == 2 else "tuple"
    return SHAPES[type(shape)]
