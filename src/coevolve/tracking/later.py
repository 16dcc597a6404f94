"""Writing a run folder to MLflow after the fact: what scripts/track.py does."""

from pathlib import Path

from coevolve.config_models import Config
from coevolve.tracking.reading import read_config, read_summary
from coevolve.tracking.store import Store


class TrackConfig(Config):
    """What scripts/track.py takes."""

    run: str
    """A run folder."""
    uri: str | None
    """A folder or address other than the run's own tracking.uri."""


def track(folder: Path, place: str | None) -> list[str]:
    """Write what MLflow lacks of `folder`; where to look. Raises DataError, ToolError."""
    from coevolve.tracking.mirror import Mirror

    folder = folder.absolute()
    config = read_config(folder)
    own = config.get("tracking") or {}
    place = place or str(own.get("uri", "outputs/tracking"))
    complete = read_summary(folder)["complete"]
    state = Mirror(folder, place, str(own.get("experiment") or config["experiment"]), "").sync(
        "FINISHED" if complete else "KILLED"
    )
    return [f"written: {state['rounds']} rounds and {len(state['versions'])} versions of {folder}"] + [
        f"  {line}" for line in Store.of(place).links(state["experiment_id"], state["view"])
    ]
