"""One training run: look, write down, start."""

import json
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

RECORD = "training.json"
"""What is written beside the weights: the configuration and the command."""
SECONDS_TO_END = 60.0
"""How long an interrupted trainer may take to write a checkpoint."""


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
    _same(out / RECORD, made)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / RECORD, {**config.model_dump(mode="json"), "command": list(made.words)})
    code = _run(made)
    if code:
        raise ToolError(f"the trainer ended with {code}; its own messages stand above")
    say(f"trained: {out}")


def _same(record: Path, made: Command) -> None:
    """Refuse another training in a folder that has one: a trainer would go on from its checkpoints."""
    if not record.exists():
        return
    before = json.loads(record.read_text(encoding="utf-8"))["command"]
    if before != list(made.words):
        changed = sorted(set(before).symmetric_difference(made.words))
        raise ConfigError(
            f"out={record.parent}: trained before with another command ({changed[0]} …); give another out="
        )


def _run(made: Command) -> int:
    """The trainer's exit code. Ctrl-C reaches the trainer too, which gets time to end by itself."""
    with subprocess.Popen(made.words, env={**os.environ, **made.environment}, cwd=made.folder) as running:
        try:
            return running.wait()
        except KeyboardInterrupt:
            try:
                running.wait(SECONDS_TO_END)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                running.terminate()
            raise


def written(made: Command) -> str:
    """The command as one would type it."""
    environment = [f"{name}={shlex.quote(value)}" for name, value in made.environment.items()]
    return " ".join([*environment, *map(shlex.quote, made.words)])


def _because(check: Check) -> str:
    return f" ({check.problem})" if check.problem else ""
