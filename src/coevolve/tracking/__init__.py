"""The only writer to MLflow: it mirrors what a run folder holds and is never on a run's path."""

from coevolve.tracking.store import Store
from coevolve.tracking.tracker import Tracker

__all__ = ["Store", "Tracker"]
