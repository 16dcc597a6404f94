"""Forecasts calls, tokens, dollars and hours of a run: python scripts/estimate.py experiment=… [pilot=<run folder>]"""

from coevolve.interrupts import loading

with loading():
    from coevolve.build import entry
    from coevolve.estimate import EstimateConfig, main

if __name__ == "__main__":
    entry(main, EstimateConfig, "estimate")
