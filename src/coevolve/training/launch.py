"""One training run: look, write down, start."""

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from coevolve.archive import write_json
from coevolve.errors import ConfigError, ToolError
from coevolve.training.checks import Check, checks
from coevolve.training.command import Command, command
from coevolve.training.config import TrainConfig


def train(config: TrainConfig, say: Callable[[str], None]) -> None:
    """Check, print the command, run it. Raises UserError before the start, ToolError when the trainer fails."""
    found = checks(config)
    made = command(config)
    for check in found:
        say(f"{'problem' if check.problem else 'ok':8}{check.what}: {check.found}{_because(check)}")
    say(written(made))
    if config.dry_run:
        return
    if problems := [check for check in found if check.problem]:
        raise ConfigError(f"training={config.training.name}: {problems[0].what}: {problems[0].problem}")
    out = Path(config.out)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "training.json", {**config.model_dump(mode="json"), "command": list(made.words)})
    ended = subprocess.run(made.words, env={**os.environ, **made.environment}, check=False, cwd=made.folder)
    if ended.returncode:
        raise ToolError(f"the trainer ended with {ended.returncode}; its own messages stand above")
    say(f"trained: {out}")


def written(made: Command) -> str:
    """The command as one would type it."""
    environment = [f"{name}={shlex.quote(value)}" for name, value in made.environment.items()]
    return " ".join([*environment, *map(shlex.quote, made.words)])


def _because(check: Check) -> str:
    return f" ({check.problem})" if check.problem else ""
