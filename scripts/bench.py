"""Measures one part on this machine; the last line is one JSON object: python scripts/bench.py section=verifiers."""

import json

from coevolve.interrupts import loading

with loading():
    from coevolve.bench import BenchConfig, measure
    from coevolve.build import entry


def main(config: BenchConfig) -> int:
    """One section."""
    print(json.dumps(measure(config)))
    return 0


if __name__ == "__main__":
    entry(main, BenchConfig, "bench")
