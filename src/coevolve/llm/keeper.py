"""Runs one server and ends it, with everything it started, as soon as whoever started the keeper is gone.

A program of its own, with the standard library alone: python keeper.py COMMAND... Its standard input is a pipe that
its owner never writes to; when the pipe closes (at a normal end, an error or kill -9 alike) the server is ended.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

GRACE_SECONDS = 5.0
POLL_SECONDS = 0.05
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PROC = Path("/proc")


def keep(command: list[str]) -> int:
    """Run `command` until it ends or standard input closes; its exit code."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)  # what it leaves behind becomes ours, and is ended too
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    server = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: _prctl(PR_SET_PDEATHSIG, signal.SIGKILL),  # noqa: PLW1509 - the keeper has one thread
    )
    while server.poll() is None:
        readable, _, _ = select.select([sys.stdin], [], [], POLL_SECONDS * 4)
        if readable and not os.read(sys.stdin.fileno(), 4096):
            break
    end(server)
    return server.wait()


def end(server: subprocess.Popen[bytes]) -> None:
    """Ask the server's processes to end, then kill what is left: a server at warm-up does not listen."""
    _signal(server, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_SECONDS
    while _left(server) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    while _left(server):
        _signal(server, signal.SIGKILL)
        time.sleep(POLL_SECONDS)


def _signal(server: subprocess.Popen[bytes], number: int) -> None:
    for pid in {server.pid, *descendants(os.getpid())} if server.poll() is None else descendants(os.getpid()):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _left(server: subprocess.Popen[bytes]) -> bool:
    """Whether anything still runs; the dead among our children are reaped on the way."""
    running = server.poll() is None
    for pid in descendants(os.getpid()):
        if pid == server.pid:
            continue
        try:
            running |= os.waitpid(pid, os.WNOHANG) == (0, 0)
        except ChildProcessError:
            running = True
    return running


def descendants(root: int) -> list[int]:
    """Processes below `root`, children before grandchildren; empty where there is no /proc."""
    parents: dict[int, int] = {}
    for folder in PROC.iterdir() if PROC.is_dir() else ():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue
            parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    found = [root]
    for each in found:
        found += [pid for pid, parent in parents.items() if parent == each]
    return found[1:]


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1:]))
