"""One self-contained HTML page about tracked runs: no server, no network, no other file.

What stands on the page at once is text, tables and inline SVG. The lineages, which are nearly all of its content, lie
in it compressed, one island a chain, and are unpacked by its script when a chain is opened. A content security policy
allows exactly that one style sheet and that one script, so that no text of a task can run, and nothing can be loaded.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from jinja2 import Environment, FunctionLoader, StrictUndefined

from coevolve.errors import ConfigError
from coevolve.report import page_curves
from coevolve.report.page_costs import Costs, Warnings, costs, warnings
from coevolve.report.page_curves import Estimate, charts, estimate
from coevolve.report.page_history import Chapter, history
from coevolve.report.page_lineage import Detail, lineages, pack
from coevolve.report.runs import TrackedRound, TrackedRun
from coevolve.tasks import DOMAINS

DETAILS = (Detail(12_000, 4_000), Detail(6_000, 1_200), Detail(3_000, 300), Detail(1_500, 0))
"""Characters kept of a text and of an attempt, tried in this order until the page is small enough."""
MOST_ISLAND_BYTES = 15_000_000
"""Room for the lineages of all runs: it leaves 5 MB of a page of 20 MB to everything else."""
OF_THE_MACHINE = ("outputs", "name", "live", "fresh", "tracking")
"""Keys of a configuration that say where a run was made, not what it is: a page may be given away."""
DIFFERENCES = ("experiment", "ablation", "frozen", "domain", "solver", "gate", "seed")
"""What tells runs apart, in the order in which a run's short name says it."""


class PageRound(NamedTuple):
    """One row of a run's table of rounds."""

    row: Mapping[str, Any]
    accuracy: Estimate | None
    domains: Mapping[str, Estimate | None]


@dataclass(frozen=True)
class PageRun:
    """One run as the page shows it."""

    number: int
    name: str
    """Short, unique on the page."""
    run: TrackedRun
    domains: tuple[str, ...]
    rounds: tuple[PageRound, ...]
    chapters: Sequence[Chapter]
    costs: Costs
    warnings: Warnings
    configuration: str
    """config.yaml, less what is of its machine alone."""
    index: Mapping[str, Any]
    """What the list of chains needs: {name, rounds, chains: [[chain, domain, [[correct, n, new] a round]]]}."""
    islands: Sequence[str]
    """Packed lineages, in the order of `index["chains"]`."""


def write_page(runs: Sequence[TrackedRun], path: Path) -> None:
    """Write the page about `runs` to `path`, whole or not at all. Raises ConfigError without runs, DataError."""
    if not runs:
        raise ConfigError("a page needs at least one run; give runs=<folder or experiment>")
    text = page(runs)
    writing = path.with_name(f".{path.name}.writing")
    writing.parent.mkdir(parents=True, exist_ok=True)
    writing.write_text(text, encoding="utf-8", newline="")
    writing.replace(path)


def page(runs: Sequence[TrackedRun], room: int = MOST_ISLAND_BYTES) -> str:
    """The page as text, the arms in their usual order; the same runs give the same text."""
    runs = sorted(runs, key=lambda run: (run.experiment, page_curves.arm(run), run.solver_name, run.seed, run.id))
    names = short_names(runs)
    detail, packed = _fitting(runs, room)
    shown = [
        _page_run(number, name, run, records, islands)
        for number, (name, run, (records, islands)) in enumerate(zip(names, runs, packed, strict=True))
    ]
    style, script = _asset("page.css"), _asset("page.js")
    return (
        _environment()
        .get_template("page.html")
        .render(
            runs=shown,
            charts=charts(runs, names),
            detail=detail,
            full_detail=DETAILS[0],
            style=style,
            script=script,
            policy=_policy(style, script),
            domain_names=DOMAINS,
        )
    )


def short_names(runs: Sequence[TrackedRun]) -> list[str]:
    """What to call each run: its arm and whatever else differs among the runs; its id where that is not enough."""
    facts = [{name: _fact(run, name) for name in DIFFERENCES} for run in runs]
    differing = [name for name in DIFFERENCES if name != "ablation" and len({fact[name] for fact in facts}) > 1]
    names = [
        " · ".join([fact["ablation"], *(f"seed {fact[name]}" if name == "seed" else fact[name] for name in differing)])
        for fact in facts
    ]
    return names if len(set(names)) == len(names) else [run.id for run in runs]


def _fact(run: TrackedRun, name: str) -> str:
    if name == "frozen":
        return f"harness {run.frozen.source_run} v{run.frozen.version}" if run.frozen else "harness evolving"
    value = run.summary.get(name, "")
    return str(value["model"] if isinstance(value, Mapping) else value)


def _fitting(runs: Sequence[TrackedRun], room: int) -> tuple[Detail, list[tuple[list[dict[str, Any]], list[str]]]]:
    """Lineages of all runs, read and packed, in the greatest detail for which there is room."""
    for detail in DETAILS:
        used, packed = 0, []
        for run in runs:
            records = lineages(run, detail)
            islands = [pack(record) for record in records]
            packed.append((records, islands))
            used += sum(map(len, islands))
            if used > room and detail != DETAILS[-1]:
                break
        else:
            break
    return detail, packed


def _page_run(
    number: int, name: str, run: TrackedRun, records: Sequence[Mapping[str, Any]], islands: Sequence[str]
) -> PageRun:
    domains = tuple(domain for domain in DOMAINS if domain in run.chains)
    chains = [
        [
            record["chain"],
            record["domain"],
            [[found.get("correct"), found.get("n"), int(found["new"])] for found in record["rounds"]],
        ]
        for record in records
    ]
    return PageRun(
        number=number,
        name=name,
        run=run,
        domains=domains,
        rounds=tuple(_page_round(found, domains) for found in run.rounds),
        chapters=history(run),
        costs=costs(run),
        warnings=warnings(run),
        configuration=_configuration(run.config),
        index={"name": name, "rounds": [found.round for found in run.rounds], "chains": chains},
        islands=islands,
    )


def _configuration(config: Mapping[str, Any]) -> str:
    kept = {key: value for key, value in config.items() if key not in OF_THE_MACHINE}
    return str(yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=100))


def _page_round(found: TrackedRound, domains: Iterable[str]) -> PageRound:
    return PageRound(found.row, estimate(found, "all"), {domain: estimate(found, domain) for domain in domains})


def _asset(name: str) -> str:
    return resources.files("coevolve.report").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Allows this style sheet and this script by their hashes, and nothing else."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"percent": _percent, "usd": _usd, "count": _count, "short": _short, "signed": _signed}
    environment.globals |= {"chart": page_curves}
    return environment


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _usd(amount: float | None) -> str:
    """US dollars with as many digits as they need; an unknown price says so."""
    if amount is None:
        return "unknown"
    return f"${amount:,.2f}" if amount >= 100 else f"${amount:.4f}"


def _count(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}"


def _short(number: int) -> str:
    """A large count to about three digits."""
    if number >= 1_000_000:
        return f"{number / 1_000_000:.1f}M"
    return f"{number / 1_000:.0f}k" if number >= 10_000 else f"{number:,}"


def _signed(number: float | None) -> str:
    return "" if number is None else f"{number:+.3f}"
