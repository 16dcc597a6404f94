"""Typed reference answers: from a record's answer, in any form users write it, to an `Answer`."""

import ast
import re
from collections.abc import Mapping
from typing import Any, get_args

from coevolve.curation.normalise import (
    POWER_UNIT,
    choices_in,
    clean,
    final_answer,
    narrow,
    number,
    plain_unit,
    unbalanced,
    value_and_unit,
)
from coevolve.curation.records import Notes, Unusable
from coevolve.tasks import Answer, AnswerType, Domain, Tests, Tolerance
from coevolve.verifiers import kinds

TEST_FIELDS = frozenset(Tests.model_fields)
TYPES: tuple[str, ...] = get_args(AnswerType)
CURRENCIES = ("$", "€", "£", "¥")
WORD_CHOICES = ("yes", "no", "maybe", "true", "false")


def typed_answer(domain: Domain, row: Mapping[str, Any], question: str, notes: Notes) -> Answer:
    """The reference answer of a record. Raises Unusable."""
    stated = row.get("answer_type")
    if stated is not None and stated != "number" and stated not in TYPES:
        known = ", ".join(TYPES)
        raise Unusable(
            "unknown_answer_type", f"answer_type {str(stated)[:40]!r} is unknown; use number or one of {known}"
        )
    given = row.get("answer")
    if given is None:
        raise Unusable("missing_answer", "it has no answer; seeds need a reference answer")
    if isinstance(given, bool):
        notes.repair("boolean_to_choice", f"the answer {str(given).lower()} is read as the choice {given}")
        return Answer(type="choice", value=str(given))
    if isinstance(given, list):
        return _set(given, notes)
    if not isinstance(given, str | int | float):
        raise Unusable("unsupported_type", f"its answer is a {type(given).__name__}; give text or a number")
    text = str(given)
    if not text.strip():
        raise Unusable("empty_answer", "its answer is empty; seeds need a reference answer")
    form = _form(domain, row, stated)
    if form == "code_tests":
        return Answer(type="code_tests", value=text)
    if form == "code_output":
        return Answer(type="code_output", value=_literal(text))
    return _prose(domain, row, clean(text, notes, "answer"), question, stated, notes)


def _form(domain: Domain, row: Mapping[str, Any], stated: str | None) -> str | None:
    """`stated`, or for a coding record without one what its tests say."""
    if stated is not None or domain != "coding":
        return stated
    tests = row.get("tests")
    if not isinstance(tests, Mapping):
        return "code_output"
    return "code_output" if tests.get("kind") == "call_output" else "code_tests"


def _literal(given: str) -> str:
    try:
        ast.literal_eval(given.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise Unusable(
            "unparsable_answer", f"the answer {given[:40]!r} is no Python literal; strings need their quotes"
        ) from error
    return given.strip()


def _set(given: list[Any], notes: Notes) -> Answer:
    values = [narrow(str(item)).strip() for item in given if isinstance(item, str | int | float)]
    if len(values) != len(given) or not values or not all(values):
        raise Unusable("list_answer_unsupported", "its answer is a list of more than plain values; give one text")
    notes.repair("multi_value_answer", f"the answer list is read as the set {{{', '.join(values)}}}")
    return Answer(type="set", value=f"\\{{{', '.join(values)}\\}}")


def _prose(
    domain: Domain, row: Mapping[str, Any], text: str, question: str, stated: str | None, notes: Notes
) -> Answer:
    inner = final_answer(text)
    if inner is not None:
        if inner.strip() != text:
            notes.repair("final_answer_extracted", f"the answer is taken from its box: {inner[:60]!r}")
        text = inner.strip()
    choices = _choices(row, question)
    if stated == "choice" or (stated is None and choices and text.strip("() .").upper() in choices):
        return _choice(text, choices, notes)
    if stated == "text":
        return Answer(type="text", value=text, aliases=_aliases(row))
    if unbalanced(text):
        raise Unusable("unparsable_answer", f"the brackets of the answer {text[:40]!r} do not close")
    if stated in (None, "number", "integer", "decimal", "rational", "percent", "quantity"):
        found = _numeric(domain, row, text, stated, notes)
        if found is not None:
            return found
    return _symbolic(row, text, stated)


def _choices(row: Mapping[str, Any], question: str) -> dict[str, str]:
    meta = row.get("meta")
    given = row.get("choices") or (meta.get("choices") if isinstance(meta, Mapping) else None)
    if isinstance(given, Mapping):
        return {str(key): str(text) for key, text in given.items()}
    if isinstance(given, list) and given and all(isinstance(item, str) for item in given):
        return {chr(ord("A") + place): text for place, text in enumerate(given[:10])}
    return choices_in(question)


def _choice(text: str, choices: dict[str, str], notes: Notes) -> Answer:
    key = text.strip("() .")
    exact = {name.casefold(): name for name in choices}
    if key.casefold() in exact:
        return Answer(type="choice", value=exact[key.casefold()], choices=choices)
    named = [name for name, words in choices.items() if words.strip().casefold() == text.strip(" .").casefold()]
    if len(named) == 1:
        notes.repair("choice_text_to_letter", f"the answer {text[:40]!r} is choice {named[0]}")
        return Answer(type="choice", value=named[0], choices=choices)
    if not choices and (len(key) == 1 or key.casefold() in WORD_CHOICES):
        return Answer(type="choice", value=key)
    raise Unusable("unknown_choice", f"the answer {text[:40]!r} is none of the choices; give the letter of one")


def _numeric(domain: Domain, row: Mapping[str, Any], text: str, stated: str | None, notes: Notes) -> Answer | None:
    found = number(text) or value_and_unit(text)
    if found is None:
        return None
    if found.change:
        notes.repair(*found.change)
    value, unit = found.value, found.unit
    if isinstance(row.get("unit"), str) and row["unit"].strip():
        value, unit = _own_unit(value, row["unit"], notes)
    tolerance = _tolerance(row)
    if unit == "%" and tolerance is None:
        return Answer(type="percent", value=value, unit="%")
    whole = re.fullmatch(r"-?\d+", value) is not None
    measured = bool(unit) and not whole and unit not in CURRENCIES
    counted = whole and stated == "integer" and tolerance is None
    if not counted and (domain == "science" or stated == "quantity" or tolerance is not None or measured):
        return Answer(type="quantity", value=value, unit=unit, tolerance=tolerance)
    return Answer(type="integer" if whole else "decimal", value=value, unit=unit)


def _own_unit(value: str, given: str, notes: Notes) -> tuple[str, str | None]:
    unit = plain_unit(given)
    power = POWER_UNIT.match(unit)
    if power is None:
        return value, unit or None
    notes.repair("power_of_ten_moved", f"the unit {given!r} holds a power of ten; it was moved into the value")
    mantissa, _, exponent = value.lower().partition("e")
    return f"{mantissa}e{int(exponent or 0) + int(power[1])}", power["rest"].strip() or None


def _tolerance(row: Mapping[str, Any]) -> Tolerance | None:
    meta = row.get("meta")
    sources = [row, meta if isinstance(meta, Mapping) else {}]
    rel = next((source["tolerance_rel"] for source in sources if source.get("tolerance_rel") is not None), None)
    absolute = next((source["tolerance_abs"] for source in sources if source.get("tolerance_abs") is not None), None)
    if rel is None and absolute is None:
        return None
    try:
        return Tolerance(rel=None if rel is None else float(rel), abs=None if absolute is None else float(absolute))
    except (ValueError, TypeError) as error:
        raise Unusable("bad_tolerance", f"tolerance {rel or absolute!r}: a share up to 0.2, or a size") from error


def _symbolic(row: Mapping[str, Any], text: str, stated: str | None) -> Answer:
    kind = kinds.infer(text)
    if stated == "number" and kind not in ("rational", "expression"):
        raise Unusable("unparsable_answer", f"the answer {text[:40]!r} is no number; give its value alone")
    if kind is None and stated is None:
        raise Unusable("unparsable_answer", f"the answer {text[:40]!r} cannot be read; state its answer_type")
    if kind == "text" and stated is None:
        return Answer(type="text", value=text, aliases=_aliases(row))
    wanted = stated if stated in TYPES and stated not in ("expression", "quantity") else kind
    return Answer.model_validate({"type": wanted or "expression", "value": text, "unit": row.get("unit")})


def _aliases(row: Mapping[str, Any]) -> tuple[str, ...]:
    meta = row.get("meta")
    given = row.get("aliases") or (meta.get("aliases") if isinstance(meta, Mapping) else None) or ()
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def typed_tests(row: Mapping[str, Any], answer: Answer) -> Tests | None:
    """How a coding answer is judged; keys that only describe are left out. Raises Unusable."""
    given = row.get("tests")
    if given is None:
        if answer.type == "code_tests":
            raise Unusable("missing_tests", "a program needs tests; add a tests object")
        return None
    if not isinstance(given, Mapping):
        raise Unusable("bad_tests", f"its tests are a {type(given).__name__}; give an object with a kind")
    try:
        known = {name: value for name, value in given.items() if name in TEST_FIELDS and value is not None}
        return Tests.model_validate(known)
    except ValueError as error:
        first = str(error).splitlines()
        raise Unusable("bad_tests", f"its tests cannot be read ({' '.join(first[1:3]).strip()})") from error
