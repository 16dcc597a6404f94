"""Where MLflow keeps its data: a folder with one SQLite file, or a server's address."""

import sys
from dataclasses import dataclass
from pathlib import Path

CHART = "runs?compareRunsMode=CHART&workflowType=machine_learning"


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

    def links(self, experiment_id: str) -> tuple[str, ...]:
        """What to run and open: the server's command where there is none yet, and the chart page."""
        page = f"#/experiments/{experiment_id}/{CHART}"
        if self.uri.startswith("http"):
            return (f"{self.uri.rstrip('/')}/{page}",)
        mlflow = Path(sys.executable).with_name("mlflow")
        command = (
            f"MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false {mlflow} server --workers 1 --host 127.0.0.1"
            f" --backend-store-uri {self.uri}"
        )
        return command, f"http://127.0.0.1:5000/{page}"
