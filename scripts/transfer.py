"""Frozen harnesses on held-out seeds: python scripts/transfer.py harness=<run>/archive/v008,h0 [key=value …]."""

import sys

from coevolve.interrupts import loading

with loading():
    from coevolve.build import entry
    from coevolve.transfer_config import TransferConfig


def main(config: TransferConfig) -> int:
    """One run a harness, one after another."""
    with loading():
        from coevolve.transfer import arms, evaluate

    runs = arms(config)
    for number, arm in enumerate(runs, 1):
        print(f"harness {number} of {len(runs)}: {arm.frozen.path} ({arm.frozen.harness_id})", file=sys.stderr)
        evaluate(arm)
    return 0


if __name__ == "__main__":
    entry(main, TransferConfig, "transfer")
