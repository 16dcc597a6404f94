"""Writes, checks and launches a training command: training=<name> data=<export folder> out=<folder> [dry_run=true]."""

from coevolve.interrupts import loading

with loading():
    from coevolve.build import entry
    from coevolve.training.config import TrainConfig
    from coevolve.training.launch import train


def main(config: TrainConfig) -> int:
    """Train once."""
    train(config, print)
    return 0


if __name__ == "__main__":
    entry(main, TrainConfig, "train")
