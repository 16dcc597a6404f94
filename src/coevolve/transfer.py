"""Frozen-harness evaluation (Section 4.4, Appendix E): archived harnesses on seeds that their runs never evolved.

Each is an ordinary task_only run with another first harness: skills, prompts, workflow and placements stay as they are,
only the tasks evolve. Solver, models and domains are what the configuration says, not what the harness evolved under.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from coevolve.archive import load_version
from coevolve.curation.apart import Apart
from coevolve.curation.curated import load_manifest
from coevolve.curation.held_out import open_sealed, readings
from coevolve.curation.records import SeedIssue, SeedReport
from coevolve.curation.sources import read_seeds
from coevolve.errors import ConfigError, ConstraintViolation, DataError
from coevolve.events import Event, Scope
from coevolve.harness import Harness, check_constraints
from coevolve.harness_folder import initial_harness
from coevolve.lab import ModelLab
from coevolve.run import main
from coevolve.start import Start
from coevolve.transfer_config import FrozenConfig, FrozenRun, TransferConfig, Words

H_0 = "h0"


class Source(NamedTuple):
    """One of the harnesses to compare, and where it comes from."""

    path: str
    harness: Harness
    met: str | None
    """The run (or copied version) whose tasks its seeds must be apart from."""
    run: str
    version: int
    round: int
    label: str


@dataclass(slots=True)
class FrozenStart(Start):
    """Lines 3-4 with a frozen harness and held-out seeds."""

    config: FrozenRun

    def harness(self) -> Harness:
        """The frozen harness. Raises DataError when it is not the one this run was started with."""
        frozen = self.config.frozen
        found = read_source(frozen.path).harness
        if found.id != frozen.harness_id:
            raise DataError(f"{frozen.path}: its harness is {found.id}, this run froze {frozen.harness_id}")
        try:
            check_constraints(found, self.config.constraints)
        except ConstraintViolation as error:
            raise ConfigError(f"{frozen.path}: {error}; give the constraints= it evolved under") from error
        return found

    def candidates(self, lab: ModelLab) -> SeedReport:
        """Held-out seeds in the order they are to be tried, without what a source run met; the reading is counted."""
        config, frozen = self.config, self.config.frozen
        if frozen.tasks is not None:
            kept = load_version(Path(frozen.tasks)).tasks
            return SeedReport(tuple(task for task in kept if task.domain in config.domain.include), (), len(kept))
        report = self._sealed() if frozen.held_out else read_seeds(config.seeds, config.domain.include, config.seed)
        apart = Apart(frozen.apart_from)
        clashes = {task.id: apart.clash(task) for task in report.tasks}
        issues = [SeedIssue(0, name, "reject", "evolved", f"{name}: {why}") for name, why in clashes.items() if why]
        left = tuple(task for task in report.tasks if clashes[task.id] is None)
        reading = len(readings(Path(frozen.held_out))) if frozen.held_out else 1
        data = {"read": report.read, "evolved": len(issues), "left": len(left), "reading": reading}
        scope = Scope(round=0, phase="initialisation")
        lab.emit(Event(kind="held_out", scope=scope, data=data))
        counts = Counter(task.domain for task in left)
        for domain in config.domain.include:
            if (found := counts[domain]) < (wanted := config.seeds.per_domain):
                few = f"{found} held-out {domain} seeds are left apart from what was evolved, {wanted} were wanted"
                lab.emit(Event(kind="warning", scope=scope, data={"message": few}))
        return SeedReport(left, (*report.issues, *issues), report.read)

    def _sealed(self) -> SeedReport:
        config, folder = self.config, Path(self.config.frozen.held_out or "")
        tasks = open_sealed(folder, "transfer", str(config.name))
        wanted = [task for task in tasks if task.domain in config.domain.include]
        random.Random(f"{config.seed}/held-out").shuffle(wanted)
        return SeedReport(tuple(wanted), (), len(tasks))


def evaluate(arm: FrozenRun) -> int:
    """One frozen harness: run, go on, or report a finished run, as evolve does."""
    frozen = arm.frozen
    told = {"harness": frozen.path, "source_run": frozen.source_run, "version": frozen.version, "round": frozen.round}
    return main(arm, FrozenStart, frozen=told)


def arms(config: TransferConfig) -> list[FrozenRun]:
    """One run a harness, all on the same seeds. Raises ConfigError, DataError."""
    if config.ablation.name != "task_only":
        raise ConfigError(f"ablation={config.ablation.name}: a frozen harness learns nothing; leave ablation=task_only")
    if config.from_version is not None:
        raise ConfigError("from_version= continues evolved tasks; a transfer starts from seeds: give harness= instead")
    if config.tasks is not None and (config.held_out is not None or words(config.apart_from)):
        raise ConfigError(
            "tasks= starts from archived tasks: held_out= and apart_from= are about seeds, leave them out"
        )
    sources = [read_source(word) for word in words(config.harness)]
    labels = [source.label for source in sources]
    if not labels:
        raise ConfigError("harness= is empty: give archived versions (<run>/archive/v008) and h0, by comma")
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise ConfigError(f"harness= holds {twice[0]} twice; start one of them apart, with a name=… of its own")
    met = {source.met for source in sources if source.met} | {absolute(word) for word in words(config.apart_from)}
    if config.tasks is not None:
        met = set()
        load_version(Path(config.tasks))
    Apart(sorted(met))  # whatever is wrong with these folders is said before a run folder is made
    if (held_out := sealed_folder(config)) is not None:
        load_manifest(Path(held_out))
    return [_arm(config, source, sorted(met)) for source in sources]


def _arm(config: TransferConfig, source: Source, met: Sequence[str]) -> FrozenRun:
    experiment = "transfer" if config.experiment == "none" else config.experiment
    plain = config.model_dump(exclude={"harness", "held_out", "apart_from", "tasks"})
    begun = ""
    if config.tasks is not None:
        begun = f"-from-{label_of(Path(config.tasks).absolute())}"
        counts = Counter(task.domain for task in load_version(Path(config.tasks)).tasks)
        plain["seeds"] |= {"source": "file", "path": f"{absolute(config.tasks)}/tasks.jsonl"}
        plain["seeds"] |= {"per_domain": max(counts.values()), "harness": "shipped"}
        plain["seeds"]["screen"] |= {"enabled": False}
    place = f"{source.label}{begun}-on-{config.domain.name}-{config.solver.name}-seed{config.seed}"
    frozen = FrozenConfig(
        path=source.path,
        harness_id=source.harness.id,
        source_run=source.run,
        version=source.version,
        round=source.round,
        held_out=sealed_folder(config),
        tasks=None if config.tasks is None else absolute(config.tasks),
        apart_from=list(met),
    )
    name = f"{config.name or experiment}/{place}"
    return FrozenRun.model_validate({**plain, "experiment": experiment, "name": name, "frozen": frozen})


def sealed_folder(config: TransferConfig) -> str | None:
    """The curated folder whose held-out seeds are read: `held_out`, or that of seeds=curated, never its other split."""
    if config.tasks is not None:
        return None
    given = config.held_out or (config.seeds.path if config.seeds.source == "curated" else None)
    return None if given is None else absolute(given)


def read_source(word: str) -> Source:
    """A harness by its word in `harness=`. Raises ConfigError, DataError."""
    if word == H_0:
        return Source(H_0, initial_harness(), None, "", 0, 0, H_0)
    folder = Path(word).absolute()
    if (folder / "archive").is_dir():
        last = max((path.name for path in (folder / "archive").glob("v*")), default="v000")
        raise ConfigError(f"harness={word}: a whole run; give one of its versions, like {folder}/archive/{last}")
    version, run = load_version(folder), folder.parents[1]
    if not (run / "config.yaml").is_file():
        return Source(str(folder), version.harness, str(folder), "", version.version, version.round, label_of(folder))
    run_id = "/".join(run.parts[-2:])
    return Source(str(folder), version.harness, str(run), run_id, version.version, version.round, label_of(folder))


def label_of(folder: Path) -> str:
    """What an archived version is called in a folder's name: its run and its number."""
    run = folder.parents[1]
    return f"{run.name}-{folder.name}" if (run / "config.yaml").is_file() else folder.name


def words(given: Words) -> list[str]:
    """The words of a list given by commas or as a list."""
    listed = given.split(",") if isinstance(given, str) else given
    return [word.strip() for word in listed if word.strip()]


def absolute(folder: str) -> str:
    """A folder's absolute path, so that a second start from elsewhere means the same."""
    return str(Path(folder).absolute())
