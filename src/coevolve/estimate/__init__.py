"""Before a run: what it will take, from a measured pilot or from declared averages. scripts/estimate.py"""

from pathlib import Path

from coevolve.config import RunConfig
from coevolve.estimate.forecast import DeclaredConfig, forecast
from coevolve.estimate.pilot import read_pilot
from coevolve.estimate.text import print_forecast


class EstimateConfig(RunConfig):
    """What scripts/estimate.py takes: the run's own configuration, and what to forecast it from."""

    pilot: str | None
    """A run folder to measure; null = the declared averages."""
    declared: DeclaredConfig


def main(config: EstimateConfig) -> int:
    """Print the forecast. Raises DataError for a pilot that cannot serve."""
    pilot = read_pilot(Path(config.pilot).absolute(), config.domain.include) if config.pilot else None
    print_forecast(forecast(config, config.declared, pilot))
    return 0
