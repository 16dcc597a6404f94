"""Where MLflow keeps its data: a folder with one SQLite file, or a server's address."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

CHART = "runs?compareRunsMode=CHART&workflowType=machine_learning"
VIEW_TAG = "mlflow.sharedViewState."
"""Experiment tag under which MLflow keeps a shared view of the chart page."""


def view(sweep: str) -> tuple[str, str]:
    """Key and content of the view in which the chart page opens: runs (of the sweep) grouped by ablation."""
    grouped = {"aggregateFunction": "average", "groupByKeys": [{"mode": "tag", "groupByData": "ablation"}]}
    content = {"groupBy": grouped, "searchFilter": f"tags.sweep = '{sweep}'" if sweep else ""}
    return f"by-ablation-{sweep}" if sweep else "by-ablation", json.dumps(content)


@dataclass(frozen=True, slots=True)
class Store:
    """One tracking store. `root` is None for a server."""

    uri: str
    root: Path | None

    @classmethod
    def of(cls, place: str) -> "Store":
        """The store at `place`: a folder (made absolute), a database URI or an http address."""
        if "://" in place:
            return cls(place, None)
        root = Path(place).absolute()
        return cls(f"sqlite:///{root / 'mlflow.db'}", root)

    def artifacts(self, experiment: str) -> str | None:
        """The absolute artifact address of an experiment; None leaves it to the server."""
        return (self.root / "artifacts" / experiment).as_uri() if self.root else None

    def links(self, experiment_id: str, shared: str = "") -> tuple[str, ...]:
        """What to run and open: the server's command where there is none yet, and the chart page in view `shared`."""
        page = f"#/experiments/{experiment_id}/{CHART}" + (f"&viewStateShareKey={shared}" if shared else "")
        if self.uri.startswith("http"):
            return (f"{self.uri.rstrip('/')}/{page}",)
        mlflow = Path(sys.executable).with_name("mlflow")
        command = (
            f"MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false {mlflow} server --workers 1 --host 127.0.0.1"
            f" --backend-store-uri {self.uri}"
        )
        return command, f"http://127.0.0.1:5000/{page}"
