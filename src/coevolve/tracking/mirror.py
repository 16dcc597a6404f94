"""Writes to MLflow what a run folder holds and MLflow lacks. The only importer of mlflow besides report.runs.

Idempotent: what was written stands in `tracking.json` of the run folder, and a round written twice is the same point
(its time stamp is the archive's). One flat run a run folder, step = round; the sweep is a tag.
"""

import fcntl
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag

from coevolve.commit import code_commit
from coevolve.errors import ToolError, boundary
from coevolve.tracking.reading import (
    flatten,
    harness_diff,
    parent_of,
    read_config,
    read_record,
    read_summary,
    registered_name,
    round_metrics,
    run_tags,
    versions,
)
from coevolve.tracking.registry import register
from coevolve.tracking.store import VIEW_TAG, Store, view

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

    Two processes that create one SQLite store at the same time destroy it, hence the lock; so does the end of the one
    that creates it, hence a file beside it that takes its name when it is whole.
    """
    if store.root is None:
        return _experiment(store, name)
    with locked(store.root / "mlflow.db.lock"):
        _create_whole(store.root / "mlflow.db")
        return _experiment(store, name)


def _create_whole(database: Path) -> None:
    if database.exists():
        return
    for left in database.parent.glob(f"{database.name}.new*"):
        left.unlink()
    fresh = database.with_name(f"{database.name}.new")
    MlflowClient(f"sqlite:///{fresh}").search_experiments(max_results=1)
    fresh.replace(database)


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
            mlflow.set_tracking_uri(self._store.uri)  # of this process, which has no other store
            client, experiment_id = open_experiment(self._store, self._experiment_name)
            self._state = self._load(client, experiment_id)
            run = self._state["run"]
            self._share_view(client, experiment_id)
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
        tags |= {"git_sha": code_commit(), "token": self._state["token"]}
        run: str = client.create_run(experiment_id, tags=tags, run_name=self.folder.name).info.run_id
        client.log_batch(run, params=[Param(key, text[:PARAM_CHARS]) for key, text in flatten(config)])
        return run

    def _share_view(self, client: MlflowClient, experiment_id: str) -> None:
        """Keep the chart page's grouping with the experiment, so that one link opens it."""
        key, content = view(self._state["sweep"])
        if self._state.get("view") != key:
            client.set_experiment_tag(experiment_id, f"{VIEW_TAG}{key}", content)
            self._save(view=key)

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
        client.log_text(run, harness_diff(parent_of(version), version / "harness"), f"diffs/{name}.diff.txt")
        for file in ("tasks.jsonl", "version.json"):
            client.log_artifact(run, str(version / file), f"versions/{name}")
        family = registered_name(str(read_config(self.folder).get("experiment", "")), self.folder)
        register(client, run, family, version, read_record(version))
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
