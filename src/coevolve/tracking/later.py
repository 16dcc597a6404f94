"""Writing a run folder to MLflow after the fact: what scripts/track.py does."""

import os
from pathlib import Path

from coevolve.config_models import Config
from coevolve.errors import ConfigError, ToolError
from coevolve.tracking.reading import read_config, read_summary
from coevolve.tracking.store import Store
from coevolve.tracking.tracker import QUIET


class TrackConfig(Config):
    """What scripts/track.py takes."""

    run: str
    """A run folder."""
    uri: str | None
    """A folder or address other than the run's own tracking.uri."""


def track(folder: Path, place: str | None) -> list[str]:
    """Write what MLflow lacks of `folder`; where to look. Raises DataError, ConfigError."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    from coevolve.tracking.mirror import Mirror

    folder = folder.absolute()
    config = read_config(folder)
    own = config.get("tracking") or {}
    place = place or str(own.get("uri", "outputs/tracking"))
    complete = read_summary(folder)["complete"]
    mirror = Mirror(folder, place, str(own.get("experiment") or config["experiment"]), "")
    try:
        state = mirror.sync("FINISHED" if complete else "KILLED")
    except ToolError as error:
        raise ConfigError(f"{error}; give uri=<folder or server that answers>, or try again later") from error
    return [f"written: {state['rounds']} rounds and {len(state['versions'])} versions of {folder}"] + [
        f"  {line}" for line in Store.of(place).links(state["experiment_id"], state["view"])
    ]
