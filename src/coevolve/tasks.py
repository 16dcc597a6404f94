"""Tasks (verified question-answer pairs), their answers, and the pure choices made among them.

A chain is one original seed's line of tasks; its id is the seed's id.
"""

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Domain = Literal["math", "coding", "science"]
DOMAINS: tuple[Domain, ...] = ("math", "coding", "science")

AnswerType = Literal[
    "integer",
    "rational",
    "decimal",
    "percent",
    "expression",
    "tuple",
    "set",
    "interval",
    "matrix",
    "equation",
    "text",
    "choice",
    "quantity",
    "code_output",
    "code_tests",
    "checker",
]
"""What decides the comparator. `quantity` is a number with or without a unit, compared within a tolerance (science);
`code_output` a Python literal; `code_tests` a reference program judged by tests; `checker` an evaluator program kept
as task data and run by the fixed verifier."""

CertificateKind = Literal["program", "tests", "quorum", "derivation", "source"]
"""Why a task is believed solvable, strongest first: a program recomputed the answer in the sandbox; the reference
passed its tests and mutants failed; independent solvers agreed; the answer was derived exactly from a verified parent;
the source states it."""


class Frozen(BaseModel):
    """An immutable record that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Tolerance(Frozen):
    """How far a quantity may lie from the reference: relative to it, or absolute in the reference's unit."""

    rel: float | None = Field(default=None, ge=0, le=0.2)
    abs: float | None = Field(default=None, ge=0)


class Answer(Frozen):
    """A typed reference answer; `value` is always text, never a float."""

    type: AnswerType
    value: str
    unit: str | None = None
    tolerance: Tolerance | None = None
    choices: Mapping[str, str] | None = None
    """For `choice`: letter to text, when the question lists them."""
    aliases: tuple[str, ...] = ()
    """For `text`: other spellings that are as right."""


class Tests(Frozen):
    """How a coding answer is judged; the kinds are those of the seeds file's form."""

    __test__ = False

    kind: Literal["asserts", "check_function", "call_output", "stdin_stdout", "leetcode_method"]
    entry_point: str | None = None
    setup: str = ""
    code: str = ""
    """Program text that comes before `call` (call_output) or the check function (check_function)."""
    call: str | None = None
    cases: tuple[Any, ...] = ()
    """asserts: assert statements; stdin_stdout and leetcode_method: {"input": text, "output": text}."""
    timeout_seconds: float | None = None


class Certificate(Frozen):
    """Evidence, given before anything is scored, that a task is well posed and its reference right."""

    kind: CertificateKind
    detail: str = ""


class Draft(Frozen):
    """What Extend or Revise proposes: a question-answer pair that nobody has verified yet."""

    question: str
    answer: Answer
    solution: str = ""
    program: str | None = None
    """A program that prints the answer; it is run in the sandbox."""
    tests: Tests | None = None
    skills_used: tuple[str, ...] = ()


class Task(Frozen):
    """One verified QA of one chain; a row of tasks.jsonl."""

    id: str
    chain: str
    domain: Domain
    round: int
    question: str
    answer: Answer
    solution: str = ""
    program: str | None = None
    tests: Tests | None = None
    certificate: Certificate
    parent: str | None = None
    skills: tuple[str, ...] = ()
    """Names of the skills used on the whole line of this task, oldest first."""
    harness_id: str = ""
    source: str
    license: str
    meta: Mapping[str, Any] = Field(default_factory=dict)
    p_hat: str | None = None
    """Correct answers over attempts made for reporting, as "3/4"."""
    n_attempts: int | None = None

    def draft(self) -> Draft:
        """This task as the unverified draft of itself, for transformations that start from it."""
        return Draft(
            question=self.question,
            answer=self.answer,
            solution=self.solution,
            program=self.program,
            tests=self.tests,
        )


def content_hash(value: Any) -> str:
    """The SHA-256 (first 16 hex digits) of a JSON-able value or pydantic record, independent of key order."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def advance_or_retain_valid_seeds(tasks: Sequence[Task], produced: Mapping[str, Task]) -> tuple[Task, ...]:
    """Each chain's latest valid completed task, else its predecessor (Algorithm 1, line 14; I2)."""
    return tuple(produced.get(task.chain, task) for task in tasks)


def freeze_gate_cohort(tasks: Sequence[Task], per_domain: int, seed: str) -> tuple[Task, ...]:
    """`per_domain` current tasks of each domain, drawn once by `seed`, in chain order (line 19)."""
    chosen: set[str] = set()
    for domain in DOMAINS:
        chains = sorted(task.chain for task in tasks if task.domain == domain)
        chosen.update(random.Random(f"{seed}/{domain}").sample(chains, min(per_domain, len(chains))))
    return tuple(task for task in tasks if task.chain in chosen)
