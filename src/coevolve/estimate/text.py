"""The forecast as a person reads it: tables by role and by phase, hours, ceilings in the way, what is not in it."""

from collections.abc import Iterator, Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from coevolve.config import RunConfig
from coevolve.config_models import SolverSeat
from coevolve.estimate.forecast import DRAWS, Forecast, bound_by_models, generation_and_evaluation, spread
from coevolve.estimate.parts import CALLS, SECONDS, TOKENS_IN, TOKENS_OUT, Numbers, players
from coevolve.estimate.pilot import Pilot
from coevolve.events import PHASES
from coevolve.tracking.reading import flatten

HOUR = 3600.0
PLAIN_WIDTH = 160
FREE = (
    "rounds",
    "seed",
    "name",
    "experiment",
    "fresh",
    "from_version",
    "outputs",
    "live",
    "tracking.",
    "budget.candidates",
    "budget.attempts",
    "budget.gate_per_domain",
    "budget.generation.",
    "budget.evaluation.",
    "budget.chain.",
    "budget.total.",
    "seeds.per_domain",
    "seeds.screen.",
    "ablation.",
    "domain.",
    "gate.",
    "pilot",
    "declared.",
)
"""Keys that the forecast takes into account, or that cost nothing."""
LEFT_OUT = (
    "not in it: retries and failed calls beyond the pilot's, the preflight, start of servers and fetching of weights, "
    "curation outside the run, scoring on benchmarks, training; ceilings are named above, never applied"
)


def print_forecast(made: Forecast) -> None:
    """Write it to the output stream; ranges hold 95 % of the simulated runs."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(file=console.file, width=PLAIN_WIDTH, highlight=False)
    who = players(made.config)
    roles = [(part, (part,), who[part].model) for part in who]
    console.print(_table(made, "role", [(name, (), parts, model) for name, parts, model in roles]))
    console.print(_table(made, "phase", [(phase, (phase,), (), "") for phase in PHASES]))
    for line in closing_lines(made):
        console.print(line, soft_wrap=True, markup=False)


def _table(made: Forecast, what: str, rows: Sequence[tuple[str, Sequence[str], Sequence[str], str]]) -> Table:
    config = made.config
    chains = config.seeds.per_domain * len(config.domain.include)
    title = f"{config.experiment} · {config.ablation.name} · {chains} chains, {config.rounds} rounds · by {what}"
    table = Table(title=title, title_justify="left")
    table.add_column(what, no_wrap=True)
    for name in ("calls", "tokens in", "tokens out", "US $", "model hours"):
        table.add_column(name, justify="right", no_wrap=True)
    if any(model for *_, model in rows):
        table.add_column("model")
    for name, phases, parts, model in [*rows, ("total", (), (), "")]:
        sums = made.sums(phases=phases, parts=parts)
        if sums[:, CALLS].any():
            figures = [shown(sums[:, column]) for column in (CALLS, TOKENS_IN, TOKENS_OUT)]
            usd = made.usd(phases=phases, parts=parts)
            table.add_row(
                name, *figures, "unknown" if usd is None else shown(usd), shown(sums[:, SECONDS] / HOUR), model
            )
    return table


def shown(draws: Numbers) -> str:
    """`expected (low - high)`."""
    low, expected, high = spread(draws)
    return short(expected) if short(low) == short(high) else f"{short(expected)} ({short(low)} - {short(high)})"


def short(value: float) -> str:
    """Three figures, with k, M or G."""
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{mark}"
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.2g}"


def closing_lines(made: Forecast) -> list[str]:
    """What is said below the tables."""
    lines = [f"wall time: {shown(made.wall_seconds / HOUR)} hours, {_pace(made)}"]
    lines += [f"look at: {line}" for line in ceilings_met(made)]
    lines += _prices(made)
    lines.append(_origin(made))
    if made.pilot is not None:
        lines += _differences(made.config, made.pilot)
    return [*lines, LEFT_OUT]


def _pace(made: Forecast) -> str:
    pilot = made.pilot
    if pilot is None or pilot.wall_seconds <= 0:
        return "from the declared seconds a call and calls at once"
    at_once = float(pilot.work[SECONDS]) / pilot.wall_seconds
    if bound_by_models(pilot):
        return f"at the pilot's pace: {at_once:.1f} calls under way on average, on its machine and servers"
    each = pilot.wall_seconds / max(float(pilot.work[CALLS]), 1.0)
    return f"at the pilot's pace: {each:.3f} s a call, most of it tools, on its machine"


def _origin(made: Forecast) -> str:
    declared = ", ".join(sorted(made.used.get("declared", ())))
    ranges = f"ranges: 95 % of {DRAWS - 1} simulated runs"
    if made.pilot is None:
        return f"{ranges}; everything from declared averages (declared.*), nothing measured: run a pilot of two rounds"
    pilot = made.pilot
    measured = f"{len(pilot.domains)} chains x {pilot.rounds} rounds of {pilot.folder}"
    growth = "" if pilot.rounds > 1 else "; one round shows no growth of prompts, two would"
    return f"{ranges}, resampled from {measured}{growth}" + (
        f"; declared, not measured: {declared}" if declared else ""
    )


def _prices(made: Forecast) -> Iterator[str]:
    who = players(made.config)
    used = {cell.part for cell in made.cells if cell.sums.any()}
    unknown = [part for part in who if part in used and not who[part].price.known]
    if unknown:
        keys = "models.price.* (or a role's own) and solver.price.*"
        yield f"prices unknown: {', '.join(unknown)}; give {keys} for dollars"
    if any(who[part].price.nominal for part in used):
        yield "nominal prices for local and procedural models: nobody is billed"


def ceilings_met(made: Forecast) -> Iterator[str]:
    """Ceilings that simulated runs would meet; the first round of each."""
    for number in range(1, made.config.rounds + 1):
        for name, (sums, usd) in generation_and_evaluation(made, number).items():
            yield from _met(made.config, name, sums, usd, f"in round {number}")
    yield from _met(made.config, "total", made.sums(), made.usd(), "")


def _met(config: RunConfig, name: str, sums: Numbers, usd: Numbers | None, when: str) -> Iterator[str]:
    ceiling = getattr(config.budget, name)
    tokens = sums[:, TOKENS_IN] + sums[:, TOKENS_OUT]
    for key, draws in (("calls", sums[:, CALLS]), ("tokens", tokens), ("usd", usd), ("seconds", sums[:, SECONDS])):
        most = getattr(ceiling, key)
        if most is None or draws is None:
            continue
        share = float(np.mean(draws[1:] > most))
        if share > 0.025:
            yield f"budget.{name}.{key}={most:g} is met {when} of {share:.0%} of the simulated runs ({shown(draws)})"


def _differences(config: RunConfig, pilot: Pilot) -> Iterator[str]:
    mine = dict(flatten(config.model_dump(mode="json")))
    names = sorted(
        name
        for name in mine.keys() & pilot.config.keys()
        if mine[name] != pilot.config[name] and not name.startswith(FREE) and ".price." not in name
    )
    if names:
        some = ", ".join(f"{name} ({pilot.config[name]} there, {mine[name]} here)" for name in names[:4])
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        yield f"the pilot differs in what is not modelled: {some}{more}"
    if isinstance(config.models.attempt, SolverSeat) != (pilot.config.get("models.attempt.kind") == "solver"):
        yield "the pilot's own attempt was made by another model"
