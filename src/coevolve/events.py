"""What happens in a run, as records: the logs Z and what metrics M are counted from."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from coevolve.tasks import Draft, Frozen, Task

Phase = Literal["initialisation", "generation", "in_loop", "post_task", "baseline", "candidate", "reporting"]
PHASES: tuple[Phase, ...] = (
    "initialisation",
    "generation",
    "in_loop",
    "post_task",
    "baseline",
    "candidate",
    "reporting",
)

REPEAT = "baseline-repeat"
"""The probe that measures the noise floor: the baseline again, with draws of its own."""

Role = Literal["director", "extend", "revise", "verify", "solver", "meta_skill", "meta_harness", "acquisition"]

Cause = Literal[
    "reasoning_weakness", "invalid_problem", "wrong_reference", "ambiguous", "tool_failure", "truncated", "unparsed"
]
"""Why an attempt or a verification went wrong; only `reasoning_weakness` is a miss (I4), the others call for repair."""


class Scope(Frozen):
    """Where in a run something happens: a round, a phase of it, and in probes which one."""

    round: int
    phase: Phase
    probe: str = ""
    """"" in production, `baseline`, `candidate-1` … `candidate-3`, or `baseline-repeat` (A/A)."""


class Event(Frozen):
    """One line of events.jsonl."""

    kind: str
    """step, miss, admission, chain, test, probe, proposal, verdict, round, seeds, warning …"""
    scope: Scope
    chain: str = ""
    step: int = 0
    data: Mapping[str, Any] = {}


class Verdict(Frozen):
    """What Verify found about one draft: validity by the fixed criteria, the vote, and why not."""

    valid: bool
    cause: Cause | None = None
    problems: tuple[str, ...] = ()
    certificate_kind: str = ""
    certificate_detail: str = ""
    votes: tuple[Mapping[str, Any], ...] = ()


@dataclass(slots=True)
class SolverMiss:
    """An attributed solver miss on a valid QA (Eq. 3's z): the trace a skill may be made from, once.

    The chain that met it waits for `settled`, so that its next Director step sees the new library (I3).
    """

    trace: str
    """Identifier: `r<round>[/<probe>]/<chain>/<step>`."""
    scope: Scope
    chain: str
    step: int
    task: Task
    """The chain's task before this round."""
    draft: Draft
    attempt: str
    """The wrong attempt's text."""
    extracted: str
    settled: asyncio.Event = field(default_factory=asyncio.Event)
