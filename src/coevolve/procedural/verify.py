"""Verify: structural checks, and an answer only where the text alone determines one."""

import re
from typing import Any

from coevolve.construction.arithmetic import arithmetic_in, evaluated
from coevolve.construction.base import Asked
from coevolve.construction.grammar import last_step, split_steps
from coevolve.construction.numbers import operand_text
from coevolve.construction.step_kinds import STEP_KINDS
from coevolve.construction.unit_kinds import plain_unit
from coevolve.procedural.payload import Asking

REQUEST = re.compile(
    r"\?|\b(?:find|compute|calculate|determine|evaluate|solve|simplify|express|what|which|who|how|when|where|why|write|"
    r"give|state|name|prove|show|list|add|subtract|multiply|divide|take|convert|complete|predict|answer|work out|"
    r"implement|return|estimate|decide|is|are|does|then|now)\b",
    re.IGNORECASE,
)
PLACEHOLDER = re.compile(
    r"\{\{\s*\w+\s*\}\}|\b(?:TODO|TBD|XXX)\b|\[(?:insert|blank|number|name)\b[^\]]*\]|<(?:insert|blank)[^>]*>"
)
MISSING = re.compile(
    r"\b(?:shown|given|depicted|seen) in the (?:figure|diagram|picture|graph|image|table) (?:above|below)",
    re.IGNORECASE,
)
BACKWARD = re.compile(r"\A(?:Then|Now (?:add|subtract|multiply|divide|take|work|find|convert)|Another number is)\b")
SHORTEST = 8


def verify(asking: Asking) -> dict[str, Any]:
    """Whether the problem is well posed as far as its form tells, and its answer where it is plain arithmetic."""
    payload = asking.payload
    asked = Asked(payload["question"].strip(), payload["answer_type"], payload.get("unit"), payload["domain"])
    problems = _problems(asked, payload.get("choices"))
    answer, reasoning = ("", "The form shows no fault.") if not problems else ("", "The form shows a fault.")
    if not problems and (derived := _derived(asked)):
        answer, reasoning = derived
    return {"well_posed": not problems, "answer": answer, "reasoning": reasoning, "problems": problems}


def _problems(asked: Asked, choices: Any) -> list[str]:
    question = asked.question
    problems = []
    if len(question) < SHORTEST:
        return ["the question is empty"]
    if not REQUEST.search(question):
        problems.append("nothing is asked")
    if asked.domain != "coding" and PLACEHOLDER.search(question):
        problems.append("a placeholder was left unfilled")
    if MISSING.search(question):
        problems.append("the question refers to something that is not there")
    if BACKWARD.match(question):
        problems.append("the question refers to a result that it does not ask for")
    if asked.answer_type == "choice" and choices and not all(str(text) in question for text in choices.values()):
        problems.append("the choices are not in the question")
    if question.count("```") % 2:
        problems.append("a code block is not closed")
    found = last_step(question, STEP_KINDS)
    wanted = found[1].kind.unit_out if found else None
    if wanted and asked.unit and plain_unit(asked.unit) != wanted:
        problems.append(f"the question asks for {wanted}, the answer is in {asked.unit}")
    return problems


def _derived(asked: Asked) -> tuple[str, str] | None:
    """The answer of a sum followed by known steps, and how it came about."""
    head, steps = split_steps(asked.question, STEP_KINDS)
    text = arithmetic_in(head)
    value = evaluated(text) if text else None
    if value is None or asked.answer_type not in ("integer", "rational", "decimal", "quantity"):
        return None
    lines = [f"{text} = {operand_text(value)}"]
    for step in steps:
        if step.kind.integer and value.denominator != 1:
            return None
        value = step.kind.after(value, step.operands)
        lines.append(f"{step.kind.text(step.operands, 'terse')} {operand_text(value)}")
    return operand_text(value), "; ".join(lines)
