"""Scores a model on a benchmark: benchmark=<name> solver=… [student=<trained model> label=<data it learnt from>]."""

import sys

from coevolve.interrupts import loading

with loading():
    from coevolve.benchmark.config import EvaluateConfig
    from coevolve.benchmark.job import evaluate
    from coevolve.build import entry


def main(config: EvaluateConfig) -> int:
    """Evaluate once and say what came out."""
    for line in evaluate(config, lambda text: print(text, file=sys.stderr)):
        print(line)
    return 0


if __name__ == "__main__":
    entry(main, EvaluateConfig, "evaluate")
