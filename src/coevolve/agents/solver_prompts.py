"""What a solving model is asked: fixed prompts, outside every edit (I1), chosen by the form of the answer."""

from functools import cache
from importlib import resources
from typing import Literal

import yaml
from pydantic import Field

from coevolve.llm.base import Message
from coevolve.tasks import AnswerType, Draft, Frozen, content_hash

Style = Literal["few_shot", "plain"]
Form = Literal["number", "quantity", "output", "program", "choice", "text"]
FORMS: dict[AnswerType, Form] = {
    "quantity": "quantity",
    "code_output": "output",
    "code_tests": "program",
    "choice": "choice",
    "text": "text",
}


class Example(Frozen):
    """One worked question."""

    ask: str
    reply: str


class FewShot(Frozen):
    """Examples for small models; programs have a system line of their own because they need more than one line."""

    system: str
    program_system: str
    examples: dict[Form, tuple[Example, ...]]


class Plain(Frozen):
    """One instruction after the question, for able models."""

    answer: str
    choice: str
    program: str


class Prompts(Frozen):
    """The content of fixed/solver.yaml."""

    few_shot: FewShot
    plain: Plain
    stop: tuple[str, ...] = Field(min_length=1)
    """What ends a one-line reply."""


@cache
def solver_prompts() -> Prompts:
    """The prompts shipped with the package."""
    text = resources.files("coevolve").joinpath("fixed", "solver.yaml").read_text(encoding="utf-8")
    return Prompts.model_validate(yaml.safe_load(text))


def form_of(domain: str, draft: Draft) -> Form:
    """How the answer is to be written: numbers of science questions carry units."""
    if domain == "science" and draft.answer.type in ("integer", "rational", "decimal", "percent"):
        return "quantity"
    return FORMS.get(draft.answer.type, "number")


def solver_messages(domain: str, draft: Draft, style: Style) -> tuple[Message, ...]:
    """The conversation that asks `draft`'s question; it starts with a prefix shared by all questions of its form."""
    form, prompts = form_of(domain, draft), solver_prompts()
    if style == "plain":
        closing = {"choice": prompts.plain.choice, "program": prompts.plain.program}.get(form, prompts.plain.answer)
        return (Message("user", f"{draft.question}\n\n{closing}"),)
    shots = prompts.few_shot
    messages = [Message("system", shots.program_system if form == "program" else shots.system)]
    for example in shots.examples[form]:
        messages += [Message("user", example.ask), Message("assistant", example.reply)]
    return (*messages, Message("user", draft.question))


def solver_stop(draft: Draft, style: Style) -> tuple[str, ...]:
    """What ends a reply early: the line's end, where the answer stands on one line."""
    one_line = style == "few_shot" and draft.answer.type != "code_tests"
    return solver_prompts().stop if one_line else ()


def prompts_hash() -> str:
    """Identifies the prompts, for instance in the record of a screening."""
    return content_hash(solver_prompts())
