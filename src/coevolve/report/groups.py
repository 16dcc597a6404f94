"""Which runs belong into one table: chosen by what they measured, whatever their experiment is called."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from coevolve.evaluation.outcomes import TaskScore
from coevolve.report.runs import TrackedRound, TrackedRun

ARMS = {"task_only": "Task-only", "online": "Online only", "post_task": "Post-task only", "full": "Full"}
"""Ablation -> its name in the paper's tables, in their order."""
COHORTS = {"all": "All", "math": "Math", "coding": "Coding", "science": "Science"}
KINDS = {"embedded": "embedded default, not the paper's solver", "scripted": "no weights: machinery, never a claim"}
"""What a solver's option says about how far its figures go."""
EVOLVED = "evolved by "
"""How the key of a frozen evolved harness begins; its run and version follow."""
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
Placing = Callable[[TrackedRun], tuple[int, str, str]]
"""Order, key and label of the arm a run belongs to."""


@dataclass(frozen=True)
class Arm:
    """One configuration: an ablation, or a frozen harness; a run for each seed."""

    key: str
    """What the paper's table calls the row: task_only … full, initial, evolved."""
    label: str
    runs: tuple[TrackedRun, ...]
    """By seed."""

    def rounds(self) -> list[int]:
        """Rounds that every run of it has, in order."""
        return sorted(set.intersection(*({found.round for found in run.rounds} for run in self.runs)))


@dataclass(frozen=True)
class Group:
    """Runs that may be compared: the same solver, roles, domains, gate, cohort sizes and fixed parts."""

    arms: tuple[Arm, ...]
    left_out: tuple[str, ...]
    """Runs that repeat an arm and seed or lag behind another seed, as sentences."""

    @property
    def runs(self) -> tuple[TrackedRun, ...]:
        """All runs, arm by arm."""
        return tuple(run for arm in self.arms for run in arm.runs)

    @property
    def cohorts(self) -> tuple[str, ...]:
        """Cohorts with figures: the paper's mathematics one first, then `all` where there are several domains."""
        domains = self.runs[0].chains
        return (*(["math"] if "math" in domains else list(domains)[:1]), *(["all"] if len(domains) > 1 else []))

    @property
    def title(self) -> str:
        """Solver and size in words."""
        run = self.runs[0]
        kind = KINDS.get(run.solver_name)
        sizes = ", ".join(f"{len(chains)} {domain}" for domain, chains in run.chains.items())
        return f"{run.solver_model}{f' ({kind})' if kind else ''}; {sizes} chains; gate {run.summary.get('gate')}"

    def arm(self, key: str) -> Arm | None:
        """The arm of that key."""
        return next((arm for arm in self.arms if arm.key == key), None)


def ablation_groups(runs: Iterable[TrackedRun]) -> list[Group]:
    """Groups of the four arms, largest first; frozen-harness runs are not among them."""
    return _groups(
        [run for run in runs if run.frozen is None],
        lambda run: (list(ARMS).index(run.ablation), run.ablation, ARMS[run.ablation]),
    )


def transfer_groups(runs: Iterable[TrackedRun]) -> list[Group]:
    """Groups of frozen harnesses, H_0 first, then by version."""
    return _groups([run for run in runs if run.frozen is not None], _harness)


def _harness(run: TrackedRun) -> tuple[int, str, str]:
    frozen = run.frozen
    if frozen is None or (frozen.version, frozen.round) == (0, 0):
        return 0, "initial", "Initial H₀"
    key = f"{EVOLVED}{frozen.source_run} v{frozen.version}"
    return frozen.version, key, f"Evolved H{str(frozen.round).translate(SUBSCRIPTS)}"


def _groups(runs: Sequence[TrackedRun], place: Placing) -> list[Group]:
    found: dict[str, list[TrackedRun]] = {}
    for run in runs:
        found.setdefault(run.measuring_hash, []).append(run)
    groups = [_group(members, place) for members in found.values()]
    return sorted(groups, key=lambda group: (-len(group.runs[0].rounds[0].scores.tasks), group.runs[0].id))


def _group(runs: Sequence[TrackedRun], place: Placing) -> Group:
    chosen: dict[tuple[int, str, str], dict[int, TrackedRun]] = {}
    left_out = []
    for run in sorted(runs, key=lambda run: (-run.last_round, run.id)):
        by_seed = chosen.setdefault(place(run), {})
        if run.seed in by_seed:
            left_out.append(f"{run.id} is left out: {by_seed[run.seed].id} is the same arm and seed")
        else:
            by_seed[run.seed] = run
    arms = []
    for (_, key, label), by_seed in sorted(chosen.items()):
        furthest = max(run.last_round for run in by_seed.values())
        kept = [by_seed[seed] for seed in sorted(by_seed) if by_seed[seed].last_round == furthest]
        late = [run for run in by_seed.values() if run not in kept]
        left_out += [f"{run.id} is left out: it has come to round {run.last_round} of {furthest}" for run in late]
        arms.append(Arm(key, label, tuple(kept)))
    twice = {arm.label for arm in arms if [other.label for other in arms].count(arm.label) > 1}
    told = [replace(arm, label=f"{arm.label}: {arm.key}") if arm.label in twice else arm for arm in arms]
    return Group(tuple(told), tuple(left_out))


def cohort_scores(found: TrackedRound, cohort: str) -> tuple[TaskScore, ...]:
    """Reporting counts of a cohort: `all`, or one domain."""
    return tuple(score for score in found.scores.tasks if cohort in ("all", score.domain))
