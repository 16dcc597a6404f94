"""What every domain shares: extraction, the comparators of each answer type, the gold's own test."""

from collections.abc import Mapping
from typing import Any

from coevolve.errors import ToolError
from coevolve.sandbox.exchange import Call
from coevolve.tasks import Draft
from coevolve.verifiers import extract, kinds, perturb, plain
from coevolve.verifiers.exact.notation import HEAVY
from coevolve.verifiers.grades import Grade, SelfCheck
from coevolve.verifiers.programs import program_check
from coevolve.verifiers.tools import Tools

OPINION_SECONDS = 1.0


class TypedVerifier:
    """Verifier of answers by their type; domains override what they judge otherwise."""

    def __init__(self, domain: str, tools: Tools) -> None:
        self.domain = domain
        self.tools = tools

    async def grade(self, draft: Draft, reply: str) -> Grade:
        """Extraction, then comparison; a reply that declares nothing is different, with `extracted` None."""
        value = extract.answer(reply)
        return Grade("different", None, "no answer found") if value is None else await self.compare(draft, value)

    async def compare(self, draft: Draft, value: str) -> Grade:
        """Judge a bare value; a box around it is opened."""
        if extract.BOX.search(value):
            value = extract.boxed(value[-extract.REPLY_CHARS :]) or ""
        if draft.answer.type == "checker":
            return await self._checker(draft, value)
        found = plain.compare(draft.answer, value)
        if found is not None:
            return Grade(found[0], value, found[1])
        return await self.ask(draft, value, self.rule(draft))

    def rule(self, draft: Draft) -> Mapping[str, Any] | None:
        """The tolerance rule for the checker process; None = mathematics' way."""
        tolerance = draft.answer.tolerance
        if draft.answer.type != "quantity" and tolerance is None:
            return None
        return {
            "rel": None if tolerance is None or tolerance.rel is None else repr(tolerance.rel),
            "abs": None if tolerance is None or tolerance.abs is None else repr(tolerance.abs),
            "exact": False,
            "unit_in_prompt": True,
        }

    def kind(self, draft: Draft) -> str:
        """What the checker process takes the reference for."""
        return draft.answer.type

    async def ask(self, draft: Draft, value: str, rule: Mapping[str, Any] | None) -> Grade:
        """The verdict of a checker process, with a second opinion where it is not firm."""
        answer = draft.answer
        gold = answer.value if rule is not None or not answer.unit else f"{answer.value} \\text{{{answer.unit}}}"
        request = {"gold": gold, "unit": answer.unit or "", "answer": value, "kind": self.kind(draft), "rule": rule}
        try:
            found = await self.tools.checkers.ask("compare", request)
        except ToolError as error:
            return Grade("unknown", value, f"infra: {error}")
        if found is None:
            return Grade("unknown", value, f"no verdict within {self.tools.config.checker_seconds:g} s")
        grade = Grade(found["verdict"], value, found["reason"])
        if grade.verdict == "equal" or found["firm"] or rule is not None or HEAVY.search(value) or HEAVY.search(gold):
            return grade
        return await self._second_opinion(grade, gold, value)

    async def _second_opinion(self, grade: Grade, gold: str, value: str) -> Grade:
        """math-verify can turn `different` into `unknown`, never into `equal`."""
        request = {"gold": gold, "answer": value, "seconds": 1}
        try:
            found = await self.tools.checkers.ask("opinion", request, OPINION_SECONDS)
        except ToolError:
            return grade
        if found is None or found["equal"] is None:
            return grade
        if found["equal"]:
            return grade._replace(verdict="unknown", reason=f"{grade.reason}; a second checker says equal")
        return grade._replace(verdict="different") if grade.verdict == "unknown" else grade

    async def _checker(self, draft: Draft, value: str) -> Grade:
        """An evaluator program kept as task data: its `check(answer)` must return True in the sandbox."""
        given = (await self.tools.sandbox.calls(draft.answer.value, [Call("call", "check", (value,))]))[-1]
        if given.outcome == "infra":
            return Grade("unknown", value, f"infra: {given.error}")
        if given.outcome != "ok" or not isinstance(given.value, bool):
            return Grade(
                "unknown", value, f"the task's checker gave no verdict: {given.error or type(given.value).__name__}"
            )
        return Grade("equal" if given.value else "different", value, "")

    async def check(self, draft: Draft) -> SelfCheck:
        """The gold must pass, wrong answers near it must fail, and the program, if any, must print it."""
        if draft.answer.type == "checker":
            return await program_check(self, draft, self.tools)
        unfit = kinds.unfit(draft.answer)
        if unfit is not None:
            return SelfCheck(False, (unfit,), None, "invalid_problem")
        gold = await self.compare(draft, self.shown(draft))
        if gold.reason.startswith("infra"):
            return SelfCheck(False, (gold.reason,), None, "tool_failure")
        if gold.verdict != "equal":
            problem = f"the reference does not equal itself ({gold.verdict}: {gold.reason})"
            return SelfCheck(False, (problem,), None, "invalid_problem")
        accepted = [
            wrong for wrong in perturb.answers(draft.answer) if (await self.compare(draft, wrong)).verdict == "equal"
        ]
        if accepted:
            return SelfCheck(False, (f"the wrong answer {accepted[0][:80]!r} passes",), None, "invalid_problem")
        return await program_check(self, draft, self.tools)

    def shown(self, draft: Draft) -> str:
        """The reference as a solver would write it, unit included."""
        answer = draft.answer
        return f"{answer.value} {answer.unit}" if answer.unit else answer.value
