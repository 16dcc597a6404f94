"""What a verifier says, and the one shape of a verifier."""

from typing import Literal, NamedTuple, Protocol

from coevolve.events import Cause
from coevolve.tasks import Certificate, Draft

Sameness = Literal["equal", "different", "unknown"]


class Grade(NamedTuple):
    """One answer judged. `unknown` is never a pass; `extracted` None means that no answer was found."""

    verdict: Sameness
    extracted: str | None
    reason: str


class SelfCheck(NamedTuple):
    """What a draft's own evidence says, before anybody attempts it."""

    ok: bool
    problems: tuple[str, ...]
    certificate: Certificate | None
    cause: Cause | None


class Verifier(Protocol):
    """The judge of one domain. Implementations hold no state that changes a verdict."""

    domain: str

    async def grade(self, draft: Draft, reply: str) -> Grade:
        """Find the answer in a model's reply and compare it with the draft's reference."""
        ...

    async def compare(self, draft: Draft, value: str) -> Grade:
        """Compare a bare value with the draft's reference; nothing is searched for."""
        ...

    async def check(self, draft: Draft) -> SelfCheck:
        """Judge the draft by its own evidence: gold, perturbed golds, program, tests, mutants."""
        ...
