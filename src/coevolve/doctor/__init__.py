"""Checks of this machine and its models, or of one run folder. scripts/doctor.py"""

from collections.abc import Sequence
from pathlib import Path

from coevolve.config import RunConfig
from coevolve.doctor.checks import Check, report
from coevolve.doctor.machine import machine_checks
from coevolve.doctor.models import model_checks
from coevolve.doctor.run_folder import run_checks


class DoctorConfig(RunConfig):
    """What scripts/doctor.py takes: a run folder, or the configuration of a run that is to be started here."""

    run: str | None
    """A run folder; null = check this machine and the models of this configuration."""
    start: bool
    """Start the managed vLLM servers of the configuration too, and call them: minutes."""


def main(config: DoctorConfig) -> int:
    """Run the checks, one line each; 1 when one fails."""
    checks: Sequence[Check]
    if config.run is not None:
        checks = run_checks(Path(config.run))
    else:
        checks = [*machine_checks(config), *model_checks(config, start=config.start)]
    held = [report(name, check) for name, check in checks]
    return 0 if all(held) else 1
