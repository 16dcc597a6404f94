"""When two records ask the same question: up to spacing and case, exactly, and with the same answer."""

import hashlib
from typing import NamedTuple

from coevolve.curation import normalise
from coevolve.tasks import Answer, Task
from coevolve.verifiers import plain


class Asked(NamedTuple):
    """What a question is compared by; digests, so that a long source costs a few bytes a record."""

    folded: bytes
    """Domain and question up to spacing and case; coding questions as they stand."""
    exact: bytes
    """The same with case kept: of two questions that differ in case alone, both may be meant."""
    answer: str


def asked(task: Task) -> Asked:
    """How `task` is compared with others."""
    exact = task.question if task.domain == "coding" else normalise.same_words(task.question)
    folded = exact if task.domain == "coding" else exact.casefold()
    return Asked(digest(f"{task.domain}/{folded}"), digest(exact), _answer(task.answer))


def digest(text: str) -> bytes:
    """A short hash of any text, lone surrogates included."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _answer(answer: Answer) -> str:
    if answer.type == "code_tests":
        return "a program"
    written = plain.written(answer.value) if answer.type in plain.NUMERIC or answer.type == "quantity" else None
    return f"{written.value if written else answer.value.strip()} {answer.unit or ''}".casefold()
