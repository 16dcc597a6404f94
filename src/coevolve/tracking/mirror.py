"""Writes to MLflow what a run folder holds and MLflow lacks. The only importer of mlflow besides report.runs.

Idempotent: what was written stands in `tracking.json` of the run folder, and a round written twice is the same point
(its time stamp is the archive's). One flat run a run folder, step = round; the sweep is a tag.
"""

import fcntl
import json
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag

from coevolve.errors import ToolError, boundary
from coevolve.tracking.reading import (
    flatten,
    harness_diff,
    parent_of,
    read_config,
    read_summary,
    round_metrics,
    run_tags,
    versions,
)
from coevolve.tracking.store import Store

Status = Literal["FINISHED", "FAILED", "KILLED"]
PARAM_CHARS = 6000
AT_THE_END = ("config.yaml", "summary.json", "events.jsonl", "ledger.jsonl")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on `path`, so that no two processes write at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def open_experiment(store: Store, name: str) -> tuple[MlflowClient, str]:
    """A client and the id of the experiment `name`, made where it is missing.

    Two processes that create one SQLite store at the same time destroy it, hence the lock.
    """
    if store.root is None:
        return _experiment(store, name)
    with locked(store.root / "mlflow.db.lock"):
        return _experiment(store, name)


def _experiment(store: Store, name: str) -> tuple[MlflowClient, str]:
    client = MlflowClient(store.uri)
    known = client.get_experiment_by_name(name)
    if known is not None:
        return client, str(known.experiment_id)
    return client, str(client.create_experiment(name, artifact_location=store.artifacts(name)))


class Mirror:
    """One run folder and its MLflow run."""

    def __init__(self, folder: Path, place: str, experiment: str, sweep: str) -> None:
        self.folder = folder
        self._store = Store.of(place)
        self._experiment_name = experiment
        self._state_path = folder / "tracking.json"
        self._state: dict[str, Any] = {}
        self._sweep = sweep

    def sync(self, status: Status | None) -> dict[str, Any]:
        """Write what is missing; `status` ends the MLflow run. Returns the state. Raises ToolError."""
        with boundary(ToolError, f"MLflow at {self._store.uri}"), locked(self.folder / "tracking.lock"):
            client, experiment_id = open_experiment(self._store, self._experiment_name)
            self._state = self._load(client, experiment_id)
            run = self._state["run"]
            self._rounds(client, run)
            for version in versions(self.folder):
                if version.name not in self._state["versions"]:
                    self._version(client, run, version)
            if status is None and self._state["ended"]:
                client.update_run(run, status="RUNNING")
                self._save(ended=False)
            if status is not None:
                self._end(client, run, status)
        return self._state

    def _load(self, client: MlflowClient, experiment_id: str) -> dict[str, Any]:
        """The state of an earlier sync with this very store, else that of a fresh MLflow run.

        A token, written before the MLflow run is made, finds it again when the process dies in between.
        """
        state = json.loads(self._state_path.read_text()) if self._state_path.exists() else {}
        if state.get("uri") != self._store.uri:
            state = {"uri": self._store.uri, "token": uuid.uuid4().hex, "sweep": self._sweep or state.get("sweep", "")}
        self._state = state
        self._save(experiment_id=experiment_id)
        found = client.search_runs([experiment_id], f"tags.token = '{self._state['token']}'", max_results=1)
        if found and found[0].info.run_id == state.get("run"):
            return self._state
        run = found[0].info.run_id if found else self._create(client, experiment_id)
        self._save(run=run, rounds=0, versions=[], ended=False)
        return self._state

    def _create(self, client: MlflowClient, experiment_id: str) -> str:
        config = read_config(self.folder)
        tags = run_tags(self.folder, config, self._state["sweep"])
        tags |= {"git_sha": _git_sha(), "token": self._state["token"]}
        run: str = client.create_run(experiment_id, tags=tags, run_name=self.folder.name).info.run_id
        client.log_batch(run, params=[Param(key, text[:PARAM_CHARS]) for key, text in flatten(config)])
        return run

    def _rounds(self, client: MlflowClient, run: str) -> None:
        rows, first = read_summary(self.folder)["rounds"], self._state["rounds"]
        if len(rows) == first:
            return
        written = [(path / "version.json").stat().st_mtime_ns // 1_000_000 for path in versions(self.folder)]
        metrics = [
            Metric(key, value, written[index], int(row["round"]))
            for index, row in enumerate(rows[first:], first)
            for key, value in round_metrics(row).items()
        ]
        tag = RunTag("harness_id", str(rows[-1].get("harness_id", "")))
        client.log_batch(run, metrics=metrics, tags=[tag])
        self._save(rounds=len(rows))

    def _version(self, client: MlflowClient, run: str, version: Path) -> None:
        name = version.name
        client.log_artifacts(run, str(version / "harness"), f"harness/{name}")
        client.log_text(run, harness_diff(parent_of(version), version / "harness"), f"diffs/{name}.diff")
        for file in ("tasks.jsonl", "version.json"):
            client.log_artifact(run, str(version / file), f"versions/{name}")
        self._save(versions=[*self._state["versions"], name])

    def _end(self, client: MlflowClient, run: str, status: Status) -> None:
        for name in AT_THE_END:
            if (self.folder / name).exists():
                client.log_artifact(run, str(self.folder / name))
        client.set_terminated(run, status)
        self._save(ended=True)

    def _save(self, **changes: Any) -> None:
        self._state = {**self._state, **changes}
        fresh = self._state_path.with_suffix(".new")
        fresh.write_text(json.dumps(self._state))
        fresh.replace(self._state_path)


def _git_sha() -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    command = [git, "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
