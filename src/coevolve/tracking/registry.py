"""Harness versions in MLflow's model registry: one registered name a run folder, one version an archived version.

`models:/<name>@accepted` is the newest harness that passed the gate, `models:/<name>@latest` the newest of all (an
alias that MLflow keeps itself). Idempotent: a version that is there is not made again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mlflow
from mlflow import MlflowClient

ACCEPTED = "accepted"
MODEL_TYPE = "harness"


def register(client: MlflowClient, run: str, name: str, version: Path, record: Mapping[str, Any]) -> None:
    """Make `version` (an archive folder with its record) a version of the registered model `name`.

    MLflow's tracking URI must be that of `client`: the registry reads the model back from there.
    """
    tags = {key: str(record.get(key, "")) for key in ("version", "round", "status", "harness_id")}
    tags["parents"] = ", ".join(record.get("parents") or ())
    if not client.search_registered_models(f"name = '{name}'"):
        client.create_registered_model(name, tags={"run": run}, description="Harness versions of one run")
    known = {found.tags.get("version"): found for found in client.search_model_versions(f"run_id = '{run}'")}
    made = known.get(tags["version"])
    if made is None:
        model = _model(client, run, version, tags)
        made = client.create_model_version(
            name,
            f"models:/{model}",
            run_id=run,
            tags=tags,
            model_id=model,
            description=f"{version.name}, round {tags['round']}: {tags['status']}",
        )
    if record.get("status") == ACCEPTED:
        client.set_registered_model_alias(name, ACCEPTED, made.version)


def _model(client: MlflowClient, run: str, version: Path, tags: Mapping[str, str]) -> str:
    params = {"harness_id": tags["harness_id"]}
    model = mlflow.create_external_model(f"harness-{version.name}", run, dict(tags), params, MODEL_TYPE)
    client.log_model_artifacts(model.model_id, str(version / "harness"))
    return str(model.model_id)
