"""Runs Algorithm 1, or goes on with an interrupted run: python scripts/evolve.py experiment=demo [key=value …]."""

from coevolve.interrupts import loading

with loading():
    from coevolve.build import entry
    from coevolve.config import RunConfig


def main(config: RunConfig) -> int:
    """One run."""
    with loading():
        from coevolve.run import main as run

    return run(config)


if __name__ == "__main__":
    entry(main, RunConfig)
