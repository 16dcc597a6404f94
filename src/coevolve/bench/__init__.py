"""Measurements of the parts, one module a section; each returns the figures that its last printed line holds."""

from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from coevolve.config_models import Config, Positive
from coevolve.errors import ConfigError


class BenchConfig(Config):
    """What scripts/bench.py takes."""

    section: str | None
    math_pairs: str | None
    """verifiers: JSON lines of answer pairs to judge."""
    science_pairs: str | None
    planted: str | None
    """curation: a set with planted overlaps."""
    rows: Positive | None
    """export: candidate rows to make and audit."""


def measure(config: BenchConfig) -> dict[str, Any]:
    """Run the configured section with the settings that it takes. Raises ConfigError for an unknown one."""
    names = [module.name for module in iter_modules(__path__)]
    if config.section not in names:
        raise ConfigError(f"section={config.section}: no such section; give one of {', '.join(sections(names))}")
    bench = _bench(config.section)
    if bench is None:
        raise ConfigError(f"section={config.section}: measures nothing; give one of {', '.join(sections(names))}")
    values = config.model_dump(exclude={"section"})
    given = {name: Path(value) if isinstance(value, str) else value for name, value in values.items()}
    takes = signature(bench).parameters
    lacking = [name for name in takes if given.get(name) is None and takes[name].default is Parameter.empty]
    if lacking:
        raise ConfigError(f"section={config.section} needs {lacking[0]}=<file>")
    figures: dict[str, Any] = bench(**{name: given[name] for name in takes if given.get(name) is not None})
    return figures


def sections(names: Sequence[str]) -> list[str]:
    """Those of the modules that are a section: they hold `bench_<name>`."""
    return [name for name in names if _bench(name) is not None]


def _bench(name: str) -> Callable[..., Any] | None:
    return getattr(import_module(f"{__name__}.{name}"), f"bench_{name}", None)
