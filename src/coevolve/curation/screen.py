"""The solver screen: original seeds start where the solver always succeeds, so that round 0 lies near 100 %."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from coevolve.concurrency import finish_all
from coevolve.config import SeedsConfig
from coevolve.tasks import Domain, Task

Solve = Callable[[Task, int], Awaitable[tuple[int, int]]]
"""(task, attempts wanted) -> (right answers, attempts made)."""
Verify = Callable[[Task], Awaitable[Task | None]]
"""The task with its certificate, or None when its reference fails its own verifier."""


class ScreenResult(NamedTuple):
    """The chosen seeds, domain by domain, and what became of the candidates."""

    kept: tuple[Task, ...]
    shares: dict[str, Any]
    """domain -> {candidates, refused, tried, kept, screened_out}; screened_out is a share of those tried."""


async def screen(
    candidates: Sequence[Task],
    config: SeedsConfig,
    domains: Sequence[Domain],
    solve: Solve,
    verify: Verify | None = None,
) -> ScreenResult:
    """The first `per_domain` candidates of each domain that are answered right in every attempt.

    Domains are screened side by side. Candidates are tried in their order, as many at once as are still wanted, so the
    result depends on neither timing nor concurrency. `verify`, where given, comes before any attempt is paid for.
    """
    parts = await finish_all(
        _screen_domain([task for task in candidates if task.domain == domain], config, solve, verify)
        for domain in domains
    )
    kept = tuple(task for chosen, _ in parts for task in chosen)
    return ScreenResult(kept, {domain: share for domain, (_, share) in zip(domains, parts, strict=True)})


async def _screen_domain(
    candidates: Sequence[Task], config: SeedsConfig, solve: Solve, verify: Verify | None
) -> tuple[list[Task], dict[str, Any]]:
    kept: list[Task] = []
    place = refused = tried = 0

    async def outcome(task: Task) -> tuple[Task | None, bool]:
        checked = await verify(task) if verify else task
        if checked is None or not config.screen.enabled:
            return checked, True
        right, made = await solve(checked, config.screen.attempts)
        return checked, made > 0 and right == made

    while len(kept) < config.per_domain and place < len(candidates):
        batch = candidates[place : place + config.per_domain - len(kept)]
        place += len(batch)
        for checked, right in await finish_all(outcome(task) for task in batch):
            refused += checked is None
            tried += checked is not None and config.screen.enabled
            if checked is not None and right:
                kept.append(checked)
    share = {
        "candidates": len(candidates),
        "refused": refused,
        "tried": tried,
        "kept": len(kept),
        "screened_out": round(1 - len(kept) / tried, 4) if tried else 0.0,
    }
    return kept, share
