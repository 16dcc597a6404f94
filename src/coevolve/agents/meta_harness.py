"""MetaHarness: typed edits of the whole harness from logs, metrics and reject reports (Eq. 4)."""

from collections.abc import Mapping, Sequence
from typing import Any

from coevolve.agents.base import Desk, package_prompt, render
from coevolve.agents.replies import MetaHarnessReply
from coevolve.harness import Harness, Proposal
from coevolve.ledger import CallKey


async def meta_harness(
    desk: Desk,
    key: CallKey,
    harness: Harness,
    goal: str,
    feedback: Mapping[str, Any],
    rejections: Sequence[Mapping[str, Any]],
) -> Proposal:
    """Delta-H for a fresh copy of `harness`; `feedback` holds metrics, logs and scores."""
    payload = {
        "goal": goal,
        "constraints": desk.constraints.model_dump(mode="json"),
        "harness": harness.model_dump(mode="json"),
        **feedback,
        "rejections": list(rejections),
    }
    system = render(package_prompt("improver", "meta_harness"), desk.variables("meta_harness", ""))
    return await desk.ask(key, system, payload, MetaHarnessReply)
