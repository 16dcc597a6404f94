"""A draft's own program: run twice in the sandbox, its printed value compared with the reference."""

from typing import Protocol

from coevolve.events import Cause
from coevolve.tasks import Certificate, Draft
from coevolve.verifiers.grades import Grade, SelfCheck
from coevolve.verifiers.tools import Tools


class Compares(Protocol):
    """Whatever can compare a bare value with a draft's reference."""

    async def compare(self, draft: Draft, value: str) -> Grade:
        """As `Verifier.compare`."""
        ...


async def program_check(verifier: Compares, draft: Draft, tools: Tools, looks: int = 2) -> SelfCheck:
    """Certificate `program` when the draft's program prints the reference; no program: ok without a certificate.

    The second look, under another hash seed, finds programs that print now this and now that.
    """
    if draft.program is None or not draft.program.strip():
        return SelfCheck(True, (), None, None)
    first = await tools.sandbox.run(draft.program)
    if first.outcome == "infra":
        return _refused("tool_failure", "the sandbox failed")
    if first.outcome != "ok":
        return _refused("wrong_reference", f"the program fails: {first.outcome} {first.stderr.strip()[-200:]}")
    printed = _last_line(first.stdout)
    if not printed:
        return _refused("wrong_reference", "the program prints nothing")
    refused = await _compared(verifier, draft, printed, "wrong_reference")
    if refused is None and looks > 1:
        second = await tools.sandbox.run(draft.program, second=True)
        if second.outcome == "ok" and _last_line(second.stdout) != printed:
            refused = await _compared(verifier, draft, _last_line(second.stdout), "ambiguous")
    return refused or SelfCheck(True, (), Certificate(kind="program", detail="the program prints the reference"), None)


async def _compared(verifier: Compares, draft: Draft, printed: str, cause: Cause) -> SelfCheck | None:
    """None when the printed value is the reference; `cause` when it is not."""
    grade = await verifier.compare(draft, printed)
    if grade.reason.startswith("infra"):
        return _refused("tool_failure", grade.reason)
    if grade.verdict == "equal":
        return None
    run = "another run of the program" if cause == "ambiguous" else "the program"
    return _refused(cause, f"{run} prints {printed[:120]!r}: {grade.verdict} {grade.reason}")


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _refused(cause: Cause, problem: str) -> SelfCheck:
    return SelfCheck(False, (problem,), None, cause)
