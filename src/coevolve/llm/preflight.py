"""One short call a model before a run spends anything."""

import asyncio
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from coevolve.errors import UserError
from coevolve.llm.base import ChatModel, ChatReply


@runtime_checkable
class Remote(Protocol):
    """A model that may be unreachable."""

    async def preflight(self) -> ChatReply:
        """One short call. Raises EndpointError or MissingExtra."""
        ...


async def preflight(models: Sequence[ChatModel]) -> tuple[tuple[ChatModel, ChatReply], ...]:
    """Call every remote model once, all at the same time; each with its reply, to be charged.

    Raises EndpointError or MissingExtra, naming the address, for the first that cannot serve.
    """
    tasks: list[tuple[ChatModel, asyncio.Task[ChatReply]]] = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks += [(model, group.create_task(model.preflight())) for model in models if isinstance(model, Remote)]
    except* UserError as errors:
        first = errors.exceptions[0]
    else:
        return tuple((model, task.result()) for model, task in tasks)
    raise first
