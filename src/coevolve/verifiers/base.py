"""The facade every other part uses: one verifier a domain, verdicts remembered, code hashed."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from coevolve.config import VerificationConfig
from coevolve.errors import ConfigError, ToolError, boundary
from coevolve.sandbox.sandbox import Sandbox
from coevolve.tasks import Draft, content_hash
from coevolve.verifiers.checkers import Checkers
from coevolve.verifiers.code import CodeVerifier
from coevolve.verifiers.grades import Grade, Sameness, SelfCheck, Verifier
from coevolve.verifiers.math import MathVerifier
from coevolve.verifiers.programs import program_check
from coevolve.verifiers.science import ScienceVerifier
from coevolve.verifiers.tools import Tools

__all__ = ["PLUGINS", "Grade", "Sameness", "SelfCheck", "Tools", "Verifier", "Verifiers"]

PLUGINS = "coevolve.verifiers"
"""Entry-point group of further domains: each entry is a callable `(Tools) -> Verifier`."""

REMEMBERED = 20_000
"""Verdicts kept in memory."""


class Verifiers:
    """All verifiers of a run. Safe to use from several event loops and threads at once."""

    def __init__(self, config: VerificationConfig) -> None:
        self.sandbox = Sandbox(config)
        self.checkers = Checkers(config)
        self.tools = Tools(config, self.sandbox, self.checkers)
        self.registry: dict[str, Verifier] = {
            "math": MathVerifier(self.tools),
            "coding": CodeVerifier(self.tools),
            "science": ScienceVerifier(self.tools),
        }
        sources = [path for package in ("verifiers", "sandbox") for path in _sources(f"coevolve.{package}")]
        for entry in entry_points(group=PLUGINS):
            with boundary(ToolError, f"verifier plugin {entry.name} ({entry.value})"):
                make: Callable[[Tools], Verifier] = entry.load()
                self.registry[entry.name] = make(self.tools)
            sources += _sources(entry.module)
        self.code_hash = _hash(sources)
        self._grades: OrderedDict[tuple[str, str, str, str], Grade] = OrderedDict()
        self._lock = threading.Lock()

    async def grade(self, domain: str, draft: Draft, reply: str) -> Grade:
        """Find and judge the answer in a model's reply."""
        key = self._key("reply", domain, draft, reply)
        known = self._recall(key)
        return known or self._remember(key, await self._verifier(domain).grade(draft, reply))

    async def compare(self, domain: str, draft: Draft, value: str) -> Grade:
        """Judge a bare value, such as a Verify vote."""
        key = self._key("value", domain, draft, value)
        known = self._recall(key)
        return known or self._remember(key, await self._verifier(domain).compare(draft, value))

    async def check(self, domain: str, draft: Draft) -> SelfCheck:
        """Judge a draft by its own evidence; never remembered, since a program may be random."""
        return await self._verifier(domain).check(draft)

    async def confirm(self, domain: str, draft: Draft) -> SelfCheck:
        """Judge once more the program of a draft that `check` has passed; ok where it has none.

        One look where `check` takes two: a program that two looks found steady is not tried for chance again.
        """
        if draft.tests is not None and (draft.program is not None or draft.tests.kind == "call_output"):
            return await self.check(domain, draft)
        return await program_check(_Remembered(self, domain), draft, self.tools, looks=1)

    async def warm(self) -> None:
        """Start boxes and checker processes now, so that no later answer waits for them. Raises SandboxRefused."""
        await self.checkers.warm()
        await self.sandbox.kind()

    async def close(self) -> None:
        """End every box and worker; calling it twice is harmless."""
        await self.sandbox.close()
        await self.checkers.close()

    def _verifier(self, domain: str) -> Verifier:
        if domain not in self.registry:
            raise ConfigError(f"no verifier for domain {domain!r}: known are {', '.join(sorted(self.registry))}")
        return self.registry[domain]

    def _key(self, how: str, domain: str, draft: Draft, text: str) -> tuple[str, str, str, str]:
        judged = {"answer": draft.answer.model_dump(mode="json"), "question": draft.question}
        if draft.tests is not None:
            judged["tests"] = draft.tests.model_dump(mode="json")
        answer = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{how}/{domain}", content_hash(judged), answer, self.code_hash

    def _recall(self, key: tuple[str, str, str, str]) -> Grade | None:
        with self._lock:
            if key in self._grades:
                self._grades.move_to_end(key)
            return self._grades.get(key)

    def _remember(self, key: tuple[str, str, str, str], grade: Grade) -> Grade:
        if not grade.reason.startswith("infra"):
            with self._lock:
                self._grades[key] = grade
                while len(self._grades) > REMEMBERED:
                    self._grades.popitem(last=False)
        return grade


class _Remembered(NamedTuple):
    """Comparisons of one domain by way of the verdicts remembered."""

    verifiers: Verifiers
    domain: str

    async def compare(self, draft: Draft, value: str) -> Grade:
        return await self.verifiers.compare(self.domain, draft, value)


def _sources(module: str) -> Iterator[Path]:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return
    origin = Path(spec.origin)
    if origin.name == "__init__.py":
        yield from sorted(origin.parent.rglob("*.py"))
    else:
        yield origin


def _hash(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        body = path.read_bytes()
        digest.update(f"{path.parent.name}/{path.name}\0{len(body)}\0".encode() + body)
    return digest.hexdigest()
