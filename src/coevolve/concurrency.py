"""Running many things at once without losing those in flight when one of them has to stop."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

from coevolve.errors import CoevolveError

Value = TypeVar("Value")


async def finish_all(work: Iterable[Awaitable[Value]]) -> list[Value]:
    """Await everything at once, in order; a CoevolveError is raised only after all of it has ended.

    A paid call in flight is thus finished and recorded when a sibling meets a ceiling or the user stops the run.
    """
    failures: list[CoevolveError] = []

    async def settle(item: Awaitable[Value]) -> Value | None:
        try:
            return await item
        except CoevolveError as error:
            failures.append(error)
            return None

    async with asyncio.TaskGroup() as group:
        running = [group.create_task(settle(item)) for item in work]
    if failures:
        raise failures[0]
    return [task.result() for task in running]  # type: ignore[misc]
