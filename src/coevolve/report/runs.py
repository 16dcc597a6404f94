"""Tracked runs, read: the one input of tables, figures, diagnostics and the page.

`find_runs` takes folders, experiment names or MLflow experiment names and gives `TrackedRun`s in a fixed order. All
reading is of finished rounds: what a run at work has not archived yet does not exist here, and nothing is written.

A frozen-harness run (Appendix E; scripts/transfer.py) is an ordinary run folder whose summary.json has two more keys
beside `experiment`, `ablation` … of the head:

    "experiment": "transfer…",          # any name that starts so
    "frozen": {"harness": <path or id of the archived version>, "source_run": <id of the run it comes from>,
               "version": <number in that archive>, "round": <its round>}

H_0 is version 0 of round 0. All harnesses that are compared start from the same seeds: same chains, solver, attempts
and rounds.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from coevolve.archive import load_record, load_tasks
from coevolve.errors import ConfigError, DataError, ToolError, boundary
from coevolve.evaluation.outcomes import Scores, TaskScore
from coevolve.tasks import Task, content_hash
from coevolve.tracking import Store
from coevolve.tracking.reading import read_config, read_summary, versions

SHARED = {"table5": "table6", "table8": "table6", "table5_small": "table6_small", "table8_small": "table6_small"}
"""Experiments whose runs lie in another's folder: tables 5, 6 and 8 are about the same four arms."""
MEASURING = ("solver", "models", "domain", "gate", "constraints", "seeds", "verification")
"""Sections of a configuration that must be alike in runs that are compared; the arm and the seed may differ."""
HEAD = ("experiment", "ablation", "seed", "solver", "complete", "rounds")
"""Keys of summary.json that every reader relies on."""
SET_ASIDE = ".before-"
"""Part of the name of a folder that fresh=true has kept."""


@dataclass(frozen=True)
class FrozenHarness:
    """Which archived harness a transfer run used, unchanged, in every round."""

    harness: str
    source_run: str
    version: int
    round: int


@dataclass(frozen=True)
class TrackedRound:
    """One archived round; round 0 is the original seeds."""

    round: int
    row: Mapping[str, Any]
    """The row of summary.json: validity, fallback_rate, skills, c_gen_usd, c_erv_usd, total_usd … (shares, US dollars
    per original seed)."""
    record: Mapping[str, Any]
    """version.json: status, evaluations (reporting, in_loop, baseline, candidates), rejections, costs."""
    scores: Scores
    """Reporting counts of every chain, exact."""
    folder: Path
    """archive/vNNN."""

    def tasks(self) -> tuple[Task, ...]:
        """The tasks of this version, one a chain. Raises DataError."""
        return load_tasks(self.folder / "tasks.jsonl")


@dataclass(frozen=True)
class TrackedRun:
    """One run folder."""

    folder: Path
    id: str
    """The last two parts of the folder: `<experiment>/<arm>`; unique among the runs that are read together."""
    summary: Mapping[str, Any]
    """summary.json, whole."""
    config: Mapping[str, Any]
    """config.yaml, whole."""
    rounds: tuple[TrackedRound, ...]
    """In order; at least one."""
    frozen: FrozenHarness | None
    commit: str | None
    """Commit of the code that made the run, where it is known."""

    @property
    def experiment(self) -> str:
        """The experiment it was last started as."""
        return str(self.summary["experiment"])

    @property
    def ablation(self) -> str:
        """task_only, online, post_task or full."""
        return str(self.summary["ablation"])

    @property
    def seed(self) -> int:
        """The run's seed: it draws the original seeds and every sample."""
        return int(self.summary["seed"])

    @property
    def solver_name(self) -> str:
        """The option of the group `solver`: embedded, openai, vllm, scripted …"""
        return str(self.summary["solver"]["name"])

    @property
    def solver_model(self) -> str:
        """The model that made the attempts."""
        return str(self.summary["solver"]["model"])

    @property
    def complete(self) -> bool:
        """Whether the run has ended by itself."""
        return bool(self.summary["complete"])

    @property
    def last_round(self) -> int:
        """The newest archived round."""
        return self.rounds[-1].round

    @property
    def attempts(self) -> int:
        """Reporting attempts made at each task (the paper: four)."""
        return self.rounds[0].scores.tasks[0].attempts

    @property
    def chains(self) -> Mapping[str, tuple[str, ...]]:
        """Domain -> its chains, in the order of the seeds."""
        found: dict[str, list[str]] = {}
        for score in self.rounds[0].scores.tasks:
            found.setdefault(score.domain, []).append(score.chain)
        return {domain: tuple(chains) for domain, chains in found.items()}

    @cached_property
    def measuring_hash(self) -> str:
        """The same in runs that may be compared: solver, models, domains, gate, seeds' source and size, fixed parts."""
        sections: dict[str, Any] = {name: self.config.get(name) for name in (*MEASURING, "from_version")}
        solver = dict(sections["solver"] or {})
        sections["solver"] = {key: solver[key] for key in solver if key not in ("threads", "slots")}
        frozen = self.config.get("frozen") or {}
        sections["frozen"] = [frozen.get(name) for name in ("held_out", "tasks", "apart_from")]
        sizes = {domain: len(chains) for domain, chains in self.chains.items()}
        return content_hash([sections, sizes, self.attempts, self.rounds[0].record.get("fixed_hash")])

    def at(self, round: int) -> TrackedRound | None:
        """The archived round of that number, if there is one."""
        return next((found for found in self.rounds if found.round == round), None)

    def events(self) -> Iterator[dict[str, Any]]:
        """Lines of events.jsonl, of archived rounds and of the one at work. Raises DataError naming the line."""
        return read_lines(self.folder / "events.jsonl")

    def ledger(self, *having: str) -> Iterator[dict[str, Any]]:
        """Rows of ledger.jsonl; with `having`, only lines that hold each of these texts (before any parsing)."""
        return read_lines(self.folder / "ledger.jsonl", *having)


def read_lines(path: Path, *having: str) -> Iterator[dict[str, Any]]:
    """JSON lines of a file that hold every text of `having`; a missing file has none. Raises DataError naming the line.

    A last line without its end is of a write that is still going on, and is left out.
    """
    if not path.exists():
        return
    wanted = [text.encode() for text in having]
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n") or not all(text in line for text in wanted):
                continue
            try:
                yield json.loads(line)
            except ValueError as error:
                raise DataError(f"{path} line {number}: not JSON; doctor.py run={path.parent} tells more") from error


def read_run(folder: Path) -> TrackedRun:
    """One run folder. Raises DataError naming the file that is missing or broken."""
    folder = folder.absolute()
    summary, config = read_summary(folder), read_config(folder)
    if not versions(folder):
        raise DataError(f"{folder}: no archived round yet; let the run finish at least one")
    if missing := [name for name in HEAD if name not in summary]:
        raise DataError(
            f"{folder}/summary.json: no {', '.join(missing)}; the run's own command, given again, rebuilds it"
        )
    rows = {row["round"]: row for row in summary["rounds"]}
    records = [(path, load_record(path)) for path in versions(folder)]
    rounds = tuple(
        TrackedRound(record["round"], rows[record["round"]], record, _scores(path, record), path)
        for path, record in records
        if record["round"] in rows
    )
    if not rounds:
        raise DataError(f"{folder}: no archived round yet; let the run finish at least one")
    frozen = summary.get("frozen")
    run_id = "/".join(folder.parts[-2:])
    return TrackedRun(
        folder, run_id, summary, config, rounds, FrozenHarness(**frozen) if frozen else None, summary.get("commit")
    )


def _scores(path: Path, record: Mapping[str, Any]) -> Scores:
    with boundary(DataError, f"{path}/version.json: evaluations.reporting.tasks"):
        tasks = record["evaluations"]["reporting"]["tasks"]
        return Scores(tasks=tuple(TaskScore.model_validate(task) for task in tasks))


def find_runs(where: Sequence[str], outputs: Path, tracking: str) -> tuple[TrackedRun, ...]:
    """The runs that `where` names, each once, ordered by id.

    Each entry is a folder (a run, or any folder above runs), an experiment below `outputs`, or an MLflow experiment in
    the store `tracking` (a folder or address). Runs without an archived round are passed over where there are others.
    Raises ConfigError when an entry names nothing, DataError for a broken run.
    """
    folders = {folder.absolute(): None for name in where for folder in _folders(name, outputs, tracking)}
    runs = [read_run(folder) for folder in [folder for folder in folders if versions(folder)] or folders]
    ids: dict[str, Path] = {}
    for run in runs:
        if run.id in ids:
            raise ConfigError(f"two runs are called {run.id}: {ids[run.id]} and {run.folder}; give one of them")
        ids[run.id] = run.folder
    return tuple(sorted((with_commit(run) for run in runs), key=lambda run: run.id))


def places(name: str, outputs: Path) -> tuple[Path, ...]:
    """Where runs that one word of `runs=` means may lie; the first that is a folder counts."""
    return Path(name), outputs / name, outputs / SHARED.get(name, name)


def _folders(name: str, outputs: Path, tracking: str) -> list[Path]:
    """Run folders that one word of `runs=` means."""
    for folder in places(name, outputs):
        if folder.is_dir():
            if found := list(below(folder)):
                return found
            raise ConfigError(f"runs={name}: no run below {folder} (a run folder holds config.yaml and archive/)")
    if found := _in_mlflow(name, tracking):
        return found
    raise ConfigError(f"runs={name}: no such folder, no experiment below {outputs}, none in MLflow at {tracking}")


def below(folder: Path) -> Iterator[Path]:
    """`folder` if it is a run folder, else those below it; folders that fresh=true set aside are passed over."""
    if (folder / "archive").is_dir() and (folder / "config.yaml").is_file():
        yield folder
        return
    if (folder / "mlflow.db").exists():
        return
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and not inner.name.startswith(".") and SET_ASIDE not in inner.name:
            yield from below(inner)


def _in_mlflow(experiment: str, tracking: str) -> list[Path]:
    """Folders of the runs of an MLflow experiment, by their tag; a name the store does not know gives none."""
    client = _client(tracking)
    if client is None:
        return []
    with boundary(ToolError, f"MLflow at {tracking}"):
        known = client.get_experiment_by_name(experiment)
        if known is None:
            return []
        found = client.search_runs([known.experiment_id], max_results=1000)
    folders = [Path(run.data.tags["folder"]) for run in found if "folder" in run.data.tags]
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError(f"runs={experiment}: MLflow names {folder}, which is gone; give the folders themselves")
    return folders


def _client(place: str) -> Any:
    """An MLflow client, or None where there is no store yet: looking must not make one."""
    store = Store.of(place)
    if store.root is not None and not (store.root / "mlflow.db").exists():
        return None
    if store.uri.startswith("sqlite:///") and not Path(store.uri.removeprefix("sqlite:///")).exists():
        return None
    from mlflow import MlflowClient

    return MlflowClient(store.uri)


def with_commit(run: TrackedRun) -> TrackedRun:
    """The run with its commit from a local MLflow store where the summary lacks it; a bad store tells nothing."""
    path = run.folder / "tracking.json"
    if run.commit or not path.exists():
        return run
    state = json.loads(path.read_text(encoding="utf-8"))
    client = _client(state["uri"]) if "run" in state and state["uri"].startswith("sqlite:") else None
    if client is None:
        return run
    with suppress(ToolError), boundary(ToolError, f"MLflow at {state['uri']}"):
        return replace(run, commit=client.get_run(state["run"]).data.tags.get("git_sha") or None)
    return run
