"""Exports training data: format=sft|grpo runs=<folder of runs> benchmarks=<files> out=<folder> [size= mix=]."""

import sys

from coevolve.interrupts import loading

with loading():
    from coevolve.build import entry
    from coevolve.export.config import ExportConfig
    from coevolve.export.job import export


def main(config: ExportConfig) -> int:
    """Export once and say what is in it."""
    for line in export(config, lambda text: print(text, file=sys.stderr)):
        print(line)
    return 0


if __name__ == "__main__":
    entry(main, ExportConfig, "export")
