"""Accuracy curves as plain figures in the page's own coordinates; the template turns them into inline SVG."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from coevolve.evaluation.outcomes import TaskScore, clustered_interval
from coevolve.report.runs import TrackedRound, TrackedRun
from coevolve.tasks import DOMAINS

WIDTH, HEIGHT = 460, 290
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 40
GAP = 3.5
"""Pixels between the curves of two runs, so that their intervals do not hide one another."""
ARMS = ("task_only", "online", "post_task", "full")
SHAPES = ("circle", "square", "triangle", "diamond")


class Point(NamedTuple):
    """One round of one run: where it lies, and what it says."""

    x: float
    y: float
    low: float
    high: float
    label: str


class Curve(NamedTuple):
    """One run. `colour` follows the arm, `dash` tells apart runs of one arm."""

    run: int
    name: str
    colour: int
    shape: str
    dash: int
    points: tuple[Point, ...]

    @property
    def path(self) -> str:
        """The line through the points, as SVG wants it."""
        return "M" + "L".join(f"{point.x:.1f} {point.y:.1f}" for point in self.points)


class Chart(NamedTuple):
    """One panel: accuracy in percent over rounds."""

    title: str
    description: str
    curves: tuple[Curve, ...]
    ticks: tuple[tuple[float, int], ...]
    """(x, round)."""


class Estimate(NamedTuple):
    """An accuracy with its 95 % interval, clustered by chain."""

    value: float
    low: float
    high: float
    n_tasks: int
    n_attempts: int

    def __str__(self) -> str:
        return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%})"


def estimate(found: TrackedRound, domain: str) -> Estimate | None:
    """Accuracy of one domain, or of `all` with each domain weighted equally; None where nothing was measured."""
    names = DOMAINS if domain == "all" else (domain,)
    groups = [group for name in names if (group := [task for task in found.scores.tasks if task.domain == name])]
    if not groups:
        return None
    low, high = clustered_interval([[(task.correct, task.attempts) for task in group] for group in groups])
    tasks = [task for group in groups for task in group]
    value = sum(map(_mean, groups)) / len(groups)
    return Estimate(value, low, high, len(tasks), sum(task.attempts for task in tasks))


def _mean(tasks: Sequence[TaskScore]) -> float:
    return sum(task.correct / task.attempts for task in tasks) / len(tasks)


def charts(runs: Sequence[TrackedRun], names: Sequence[str]) -> list[Chart]:
    """A panel for all domains together and one a domain, every run a curve; `names` are what runs are called."""
    last = max(run.last_round for run in runs)
    domains = [domain for domain in DOMAINS if any(domain in run.chains for run in runs)]
    panels = ["all", *domains] if len(domains) > 1 else domains
    return [_chart(domain, runs, names, last) for domain in panels]


def _chart(domain: str, runs: Sequence[TrackedRun], names: Sequence[str], last: int) -> Chart:
    title = "All domains, weighted equally" if domain == "all" else domain.capitalize()
    curves = tuple(_curves(domain, runs, names, last))
    ends = "; ".join(curve.points[-1].label for curve in curves)
    step = max(1, -(-last // 14))
    ticks = tuple((_x(number, last), number) for number in range(0, last + 1, step))
    return Chart(title, f"Accuracy of the fixed solver by round, lower is harder. At the end: {ends}.", curves, ticks)


def _curves(domain: str, runs: Sequence[TrackedRun], names: Sequence[str], last: int) -> Iterator[Curve]:
    seen: dict[str, int] = {}
    for index, (run, name) in enumerate(zip(runs, names, strict=True)):
        repeat = seen[run.ablation] = seen.get(run.ablation, -1) + 1
        shift = (index - (len(runs) - 1) / 2) * min(GAP, 20 / len(runs))
        points = tuple(
            _point(found.round, value, _x(found.round, last) + shift, name)
            for found in run.rounds
            if (value := estimate(found, domain)) is not None
        )
        if points:
            yield Curve(index, name, arm(run), SHAPES[arm(run) % len(SHAPES)], repeat % 4, points)


def arm(run: TrackedRun) -> int:
    """The place of the run's arm among the four; one more for anything else."""
    return ARMS.index(run.ablation) if run.ablation in ARMS else len(ARMS)


def _point(number: int, found: Estimate, x: float, name: str) -> Point:
    label = f"{name}, round {number}: {found}, {found.n_tasks} tasks, {found.n_attempts} attempts"
    return Point(x, y(found.value), y(found.low), y(found.high), label)


def _x(number: int, last: int) -> float:
    inner = WIDTH - LEFT - RIGHT - 28
    return LEFT + 14 + inner * (number / last if last else 0.5)


def y(share: float) -> float:
    """Where an accuracy lies; 0 to 100 % fill the panel."""
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)
