"""Writes a run folder to MLflow: what tracking missed, or a whole finished run. run=<folder> [uri=<store>]"""

from pathlib import Path

from coevolve.interrupts import loading

with loading():
    from coevolve.build import entry
    from coevolve.tracking.later import TrackConfig, track


def main(config: TrackConfig) -> int:
    """Sync once and say where to look."""
    for line in track(Path(config.run), config.uri):
        print(line)
    return 0


if __name__ == "__main__":
    entry(main, TrackConfig, "track")
