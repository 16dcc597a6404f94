"""The canary set: hostile programs run against this machine's boxes, for `doctor` and for the tests."""

import asyncio
import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from coevolve.errors import ToolError
from coevolve.sandbox.cheats import CHEATS
from coevolve.sandbox.escapes import CONTAINED, TRY, Program
from coevolve.sandbox.exchange import Call, Checker
from coevolve.sandbox.sandbox import Sandbox

SECONDS = 1.0
SECRET = "the host's secret"
QUESTIONS = ((2, 3), (10, -4), (0, 7))
TESTS = Checker("add", "", ("assert add(2, 3) == 5", "assert add(10, -4) == 6", "assert add(0, 7) == 7"))


class AttackResult(NamedTuple):
    """One attack: whether the box held (or the cheat was graded wrong), and what was seen."""

    name: str
    contained: bool
    detail: str


async def run_attacks(sandbox: Sandbox) -> list[AttackResult]:
    """Run every attack; a machine is fit for untrusted programs when all are contained. Raises SandboxRefused.

    Boxes of the kind `unsafe` hold nothing, so nothing is run in them: the one result says so.
    """
    if await sandbox.kind() == "unsafe":
        return [AttackResult("a box that holds", False, "verification.allow_unsafe=true and no sandbox works here")]
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
    ):
        secret = _lay(Path(folder))
        name = f"coevolve-{os.getpid()}"
        local.bind(f"\0{name}" if sys.platform == "linux" else f"{folder}/socket")
        local.listen()
        bait = {"{secret}": str(secret), "{port}": str(server.getsockname()[1]), "{abstract}": name, "{folder}": folder}
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_contained(sandbox, program, bait)) for program in CONTAINED]
            tasks += [group.create_task(_called(sandbox, cheat)) for cheat in CHEATS]
            tasks += [group.create_task(_asserted(sandbox, cheat)) for cheat in CHEATS]
        results = [task.result() for task in tasks]
        return [*results, _bait(Path(folder), secret), await _still_works(sandbox)]


def _lay(folder: Path) -> Path:
    secret = folder / "secret"
    secret.write_text(SECRET)
    return secret


def _bait(folder: Path, secret: Path) -> AttackResult:
    left = sorted(path.name for path in folder.iterdir() if path.name not in ("secret", "socket"))
    untouched = not left and secret.read_text() == SECRET
    return AttackResult("bait untouched", untouched, ", ".join(left))


async def _contained(sandbox: Sandbox, program: Program, bait: dict[str, str]) -> AttackResult:
    source = program.source
    for mark, value in bait.items():
        source = source.replace(mark, value)
    try:
        run = await sandbox.run(TRY + source, seconds=SECONDS)
    except ToolError as error:
        return AttackResult(program.name, False, f"the box was lost: {error}")
    held = "ESCAPED" not in run.stdout and run.outcome != "infra"
    return AttackResult(program.name, held, f"{run.outcome} {run.stdout[:120]} {run.stderr.strip()[-120:]}".strip())


async def _called(sandbox: Sandbox, cheat: Program) -> AttackResult:
    try:
        given = await sandbox.calls(cheat.source, [Call("call", "add", pair) for pair in QUESTIONS], seconds=SECONDS)
    except ToolError as error:
        return AttackResult(f"{cheat.name} (calls)", False, f"the box was lost: {error}")
    right = [
        item.outcome == "ok" and bool(item.value == sum(pair)) for item, pair in zip(given, QUESTIONS, strict=False)
    ]
    passed = len(given) == len(QUESTIONS) and all(right)
    return AttackResult(f"{cheat.name} (calls)", not passed, given[-1].outcome)


async def _asserted(sandbox: Sandbox, cheat: Program) -> AttackResult:
    try:
        seen = await sandbox.examine(cheat.source, TESTS, seconds=SECONDS)
    except ToolError as error:
        return AttackResult(f"{cheat.name} (asserts)", False, f"the box was lost: {error}")
    return AttackResult(f"{cheat.name} (asserts)", not seen.passed, f"{seen.outcome} {seen.detail}"[:160])


async def _still_works(sandbox: Sandbox) -> AttackResult:
    run = await sandbox.run("print(6 * 7)")
    return AttackResult("an honest program still runs", run.stdout == "42\n", run.outcome)
