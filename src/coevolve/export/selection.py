"""Which audited rows go out: the mix of domains, the size, and train against validation by family."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

from coevolve.errors import DataError
from coevolve.export.rows import Row
from coevolve.tasks import DOMAINS, Domain


def shuffled(rows: Sequence[Row], seed: int) -> list[Row]:
    """Rows in an order that depends on the seed and their keys alone, never on the order they were found in."""
    return sorted(rows, key=lambda row: (_draw(seed, row.key), row.key))


def choose(
    rows: Sequence[Row], weights: Mapping[Domain, int] | None, size: int | None, tokens: int | None
) -> list[Row]:
    """The first rows of each domain that make up the mix; without weights, in the shares of the rows themselves.

    Raises DataError naming what is short and what would do.
    """
    if weights is None:
        found = Counter(row.task.domain for row in rows)
        weights = {domain: found[domain] for domain in DOMAINS if found[domain]}
    pools = {domain: [row for row in rows if row.task.domain == domain] for domain in weights}
    total = sum(weights.values())
    if size is None:
        size = min((len(pool) * total // weights[domain] for domain, pool in pools.items()), default=0)
    counts = _counts(weights, size)
    if short := {domain: count for domain, count in counts.items() if count > len(pools[domain])}:
        best = min(len(pool) * total // weights[domain] for domain, pool in pools.items())
        have = ", ".join(f"{len(pools[domain])} {domain} rows of {count} wanted" for domain, count in short.items())
        raise DataError(f"size={size}: only {have} passed; size={best} is the most with this mix, or give more runs")
    if size == 0 or not rows:
        have = ", ".join(f"{domain}: {len(pool)}" for domain, pool in pools.items()) or "none"
        raise DataError(
            f"no row can be exported with this mix (rows that passed: {have}); give another mix= or more runs"
        )
    chosen = [row for domain in weights for row in pools[domain][: counts[domain]]]
    return chosen if tokens is None else _within(chosen, weights, tokens)


def is_validation(row: Row, share: float, seed: int) -> bool:
    """Whether the row's whole family is set apart."""
    return _draw(seed, f"family/{row.family}") < share


def _counts(weights: Mapping[Domain, int], size: int) -> dict[Domain, int]:
    """Largest remainders: counts that add up to `size`."""
    total = sum(weights.values())
    counts = {domain: size * weight // total for domain, weight in weights.items()}
    rest = sorted(weights, key=lambda domain: (-(size * weights[domain] % total), domain))
    for domain in rest[: size - sum(counts.values())]:
        counts[domain] += 1
    return counts


def _within(rows: Sequence[Row], weights: Mapping[Domain, int], tokens: int) -> list[Row]:
    """As many rows as hold `tokens` tokens, shared out over the domains by weight."""
    total, kept = sum(weights.values()), []
    for domain, weight in weights.items():
        left = tokens * weight // total
        for row in rows:
            if row.task.domain == domain and (row.total_tokens or 0) <= left:
                kept.append(row)
                left -= row.total_tokens or 0
    if not kept:
        raise DataError(f"tokens={tokens}: not one row fits; give more")
    return kept


def _draw(seed: int, text: str) -> float:
    """A number in [0, 1) that the seed and the text alone decide."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{text}".encode()).digest()[:7]) / 2**56
