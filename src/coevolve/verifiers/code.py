"""Coding answers: programs judged by tests, outputs compared as Python literals by value and type."""

from collections.abc import Iterator

from coevolve.events import Cause
from coevolve.sandbox.exchange import Call
from coevolve.tasks import Certificate, Draft
from coevolve.verifiers import extract, literals, mutants, suites
from coevolve.verifiers.grades import Grade, SelfCheck
from coevolve.verifiers.programs import program_check
from coevolve.verifiers.tools import Tools
from coevolve.verifiers.typed import TypedVerifier

PROGRAM_CHARS = 100_000


class CodeVerifier(TypedVerifier):
    """Verifier of the domain `coding`; answers that are no code go the way of every domain."""

    def __init__(self, tools: Tools) -> None:
        super().__init__("coding", tools)

    async def grade(self, draft: Draft, reply: str) -> Grade:
        """Extraction, then comparison."""
        if draft.answer.type != "code_tests":
            return await super().grade(draft, reply)
        wanted = draft.tests.entry_point if draft.tests else None
        source = extract.code(reply, "Solution" if draft.tests and draft.tests.kind == "leetcode_method" else wanted)
        return Grade("different", None, "no program found") if source is None else await self.compare(draft, source)

    async def compare(self, draft: Draft, value: str) -> Grade:
        """Judge a program or a literal."""
        if draft.answer.type == "code_output":
            return _literal_grade(draft.answer.value, value)
        if draft.answer.type != "code_tests":
            return await super().compare(draft, value)
        if draft.tests is None:
            return Grade("unknown", value, "the task has no tests")
        if len(value) > PROGRAM_CHARS:
            return Grade("different", value, f"program over {PROGRAM_CHARS} characters")
        judged = await suites.judge(self.tools.sandbox, value, draft.tests, draft.answer.value)
        if judged.verdict == "infra":
            return Grade("unknown", value, f"infra: {judged.reason}")
        return Grade("equal" if judged.verdict == "passed" else "different", value, judged.reason)

    async def check(self, draft: Draft) -> SelfCheck:
        """The reference passes its tests and wrong versions fail; a predicted output is recomputed."""
        if draft.answer.type == "code_tests":
            return await self._check_tests(draft)
        if draft.answer.type == "code_output":
            return await self._check_output(draft)
        return await super().check(draft)

    async def _check_tests(self, draft: Draft) -> SelfCheck:
        tests, reference = draft.tests, draft.answer.value
        if tests is None or (not tests.cases and not tests.code):
            return _refused("invalid_problem", "no tests")
        if not reference.strip():
            return _refused("invalid_problem", "no reference solution")
        judged = await suites.judge(self.tools.sandbox, reference, tests, reference)
        if judged.verdict == "infra":
            return _refused("tool_failure", judged.reason)
        if judged.verdict == "failed":
            return _refused("wrong_reference", f"the reference fails its own tests: {judged.reason}")
        killed, tried = 0, 0
        for mutant in _mutants(draft, judged):
            tried += 1
            fate = await suites.judge(self.tools.sandbox, mutant.source, tests, reference)
            if fate.verdict == "infra":
                return _refused("tool_failure", fate.reason)
            if fate.verdict == "passed" and mutant.sure:
                return _refused("invalid_problem", f"the tests accept a wrong program ({mutant.name})")
            killed += fate.verdict == "failed"
        if killed < 3:
            return _refused("invalid_problem", f"the tests refuse only {killed} of {tried} wrong programs")
        return SelfCheck(
            True, (), Certificate(kind="tests", detail=f"{killed} of {tried} wrong versions refused"), None
        )

    async def _check_output(self, draft: Draft) -> SelfCheck:
        gold = literals.parse(draft.answer.value)
        if not gold.read:
            return _refused("invalid_problem", f"the answer is no Python literal: {draft.answer.value[:80]!r}")
        tests = draft.tests
        if tests is not None and tests.kind == "call_output" and tests.call:
            call = Call("eval", tests.call.strip())
            seen = [
                (await self.tools.sandbox.calls(tests.setup + tests.code, [call], second=second))[-1]
                for second in (False, True)
            ]
            for given in seen:
                if given.outcome == "infra":
                    return _refused("tool_failure", given.error)
                if given.outcome != "ok":
                    return _refused("wrong_reference", f"the call fails: {given.error}")
            if not literals.same(seen[0].value, seen[1].value):
                return _refused("ambiguous", "two runs give two values")
            if not literals.same(seen[0].value, gold.value):
                return _refused("wrong_reference", f"the call gives {seen[0].value!r:.200}")
            return SelfCheck(True, (), Certificate(kind="program", detail="the call was run in the sandbox"), None)
        return await program_check(self, draft, self.tools)


def _mutants(draft: Draft, judged: suites.Judged) -> Iterator[mutants.Mutant]:
    tests = draft.tests
    if tests is None or tests.kind == "stdin_stdout":
        return mutants.of_program(draft.answer.value, [str(value) for value in judged.returned])
    name = tests.entry_point or suites.named(tests.cases)
    return mutants.of_function(draft.answer.value, name, tests.kind == "leetcode_method", judged.returned)


def _literal_grade(gold_text: str, value: str) -> Grade:
    gold, given = literals.parse(gold_text), literals.parse(value)
    if not gold.read:
        return Grade("unknown", value, "the reference is no Python literal")
    if not given.read:
        return Grade("different", value, "no Python literal")
    same = literals.same(gold.value, given.value)
    return Grade("equal" if same else "different", value, "" if same else "another value or type")


def _refused(cause: Cause, problem: str) -> SelfCheck:
    return SelfCheck(False, (problem,), None, cause)
