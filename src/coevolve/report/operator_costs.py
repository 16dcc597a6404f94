"""What extend, revise and verify cost, chain by chain: C_ERV with something to be unsure about (Appendix E)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coevolve.ledger import operators
from coevolve.report.runs import TrackedRun
from coevolve.report.statistics import Values

Sums = Mapping[int, Mapping[str, float]]
"""Production round -> chain -> cost; a chain without such a call cost nothing."""


@dataclass(frozen=True)
class OperatorCosts:
    """Operator costs of one run."""

    run: TrackedRun
    usd: Sums | None
    """None where one price is unknown."""
    tokens: Sums
    """Input and output together."""
    nominal: bool
    """Whether the prices are nominal ones of local models, which nobody is billed."""

    def cohort(self, round: int, cohort: str, in_tokens: bool) -> Values:
        """Domain -> chain -> cost of a round, for a cohort: `all`, or one domain."""
        sums = self.tokens if in_tokens or self.usd is None else self.usd
        domains = {domain: chains for domain, chains in self.run.chains.items() if cohort in ("all", domain)}
        return {domain: {chain: sums[round][chain] for chain in chains} for domain, chains in domains.items()}


def operator_costs(run: TrackedRun) -> OperatorCosts:
    """Sums of the ledger's rows of production extend, revise and verify calls, failures included. Raises DataError."""
    chains = [chain for members in run.chains.values() for chain in members]
    usd = {found.round: dict.fromkeys(chains, 0.0) for found in run.rounds if found.round > 0}
    tokens = {round: dict(sums) for round, sums in usd.items()}
    priced = True
    for row in run.ledger('"generation"'):
        if row["round"] not in usd or not operators(row["phase"], row["probe"], row["role"]):
            continue
        tokens[row["round"]][row["chain"]] += row["tokens_in"] + row["tokens_out"]
        priced = priced and row["microusd"] is not None
        usd[row["round"]][row["chain"]] += (row["microusd"] or 0) / 1_000_000
    return OperatorCosts(run, usd if priced else None, tokens, _nominal(run.config))


def _nominal(config: Mapping[str, Any]) -> bool:
    models = config.get("models") or {}
    return any(bool((models.get(role) or {}).get("price", {}).get("nominal")) for role in ("extend", "revise"))
