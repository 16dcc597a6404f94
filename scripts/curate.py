"""Screens seeds and sources: python scripts/curate.py seeds=<files> benchmarks=<files> out=<folder> [review=<file>]."""

from coevolve.interrupts import loading

with loading():
    from coevolve.build import entry
    from coevolve.curation.settings import CurateConfig


def main(config: CurateConfig) -> int:
    """One curation."""
    with loading():
        from coevolve.curate import curate

    for line in curate(config):
        print(line)
    return 0


if __name__ == "__main__":
    entry(main, CurateConfig, "curate")
