"""The reward for verl and TRL: our verifiers, called from the threads and processes that trainers use.

An export writes a small `reward.py` beside its data which binds the verification settings:
verl takes it as `reward.custom_reward_function.path=<export>/reward.py` with `name=compute_score`; TRL takes the
function `accuracy`.
"""

import asyncio
import json
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from coevolve.config import VerificationConfig
from coevolve.tasks import Draft
from coevolve.verifiers.base import Verifiers

SECONDS = 120.0
"""Most a single judgement may take, sandbox limits included; a later answer counts as wrong."""


class Reward:
    """Judges completions on an event loop of its own, so that it may be called from any thread and forked process.

    Picklable; a process that did not start the loop starts one for itself.
    """

    def __init__(self, verification: Mapping[str, Any]) -> None:
        self._verification = dict(verification)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._verifiers: Verifiers | None = None
        self._process = os.getpid()

    def compute_score(
        self, data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None, **_: Any
    ) -> float:
        """1.0 for a right completion, else 0.0 (verl's signature). Raises ValueError for a foreign ground truth."""
        return self._scores([(solution_str, ground_truth)])[0]

    def accuracy(self, completions: Sequence[Any], ground_truth: Sequence[str], **_: Any) -> list[float]:
        """1.0 or 0.0 for each completion (TRL's signature): texts, or message lists whose last one is judged."""
        texts = [text if isinstance(text, str) else str(text[-1]["content"]) for text in completions]
        return self._scores(list(zip(texts, ground_truth, strict=True)))

    def close(self) -> None:
        """End the verifier's workers; the next call starts new ones."""
        with self._lock:
            loop, verifiers = self._loop, self._verifiers
            self._loop = self._verifiers = None
        if loop is not None and verifiers is not None:
            asyncio.run_coroutine_threadsafe(verifiers.close(), loop).result(SECONDS)
            loop.call_soon_threadsafe(loop.stop)

    def __getstate__(self) -> dict[str, Any]:
        return {"verification": self._verification}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["verification"])  # type: ignore[misc]

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        judged = [(text, *_read(truth)) for text, truth in pairs]
        loop, verifiers = self._running()

        async def judge(text: str, domain: str, draft: Draft) -> float:
            try:
                grade = await asyncio.wait_for(verifiers.grade(domain, draft, text), SECONDS)
            except TimeoutError:
                return 0.0
            return float(grade.verdict == "equal")

        async def judge_all() -> list[float]:
            async with asyncio.TaskGroup() as group:
                made = [group.create_task(judge(*one)) for one in judged]
            return [task.result() for task in made]

        return asyncio.run_coroutine_threadsafe(judge_all(), loop).result()

    def _running(self) -> tuple[asyncio.AbstractEventLoop, Verifiers]:
        if self._process != os.getpid():  # forked: no thread of the parent is here, and its lock may be held for ever
            self.__init__(self._verification)  # type: ignore[misc]
        with self._lock:
            if self._loop is None or self._verifiers is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="coevolve-reward", daemon=True).start()
                self._verifiers = Verifiers(VerificationConfig.model_validate(self._verification))
            return self._loop, self._verifiers


def reward_file(verification: VerificationConfig) -> str:
    """The text of the `reward.py` that lies beside an export."""
    settings = json.dumps(verification.model_dump(mode="json"), indent=4)
    settings = settings.replace(": true", ": True").replace(": false", ": False").replace(": null", ": None")
    return (
        '"""Rewards for this export: `compute_score` for verl, `accuracy` for TRL."""\n\n'
        "from coevolve.export.reward import Reward\n\n"
        f"_reward = Reward({settings})\n"
        "compute_score = _reward.compute_score\n"
        "accuracy = _reward.accuracy\n"
    )


def _read(truth: str) -> tuple[str, Draft]:
    try:
        record = json.loads(truth)
        return str(record["domain"]), Draft.model_validate(record["draft"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"this ground truth is not from a coevolve export: {str(truth)[:80]!r}") from error
