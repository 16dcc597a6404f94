"""The first process of a box: prepared once, then forks one child a job and reports how each ended.

Talks to the parent over one message socket. In: a configuration, then `J<serial>` with the job's descriptors and
`K<serial>` to kill it. Out: `R` when ready, `E<serial><status><peak kB>` for each ended job. It never runs untrusted
code itself, and a job holds none of its descriptors.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from typing import Any

from coevolve.sandbox.inside import jobs

NOT_DUMPABLE, NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER_MODE = 4, 38, 22, 2
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
READ_FILE, READ_DIR, EXECUTE = 1 << 2, 1 << 3, 1 << 0
ENDED = struct.Struct("!cIiQ")
COMMAND = struct.Struct("!cI")


def main(control_fd: int) -> None:
    """Serve jobs until the parent goes away."""
    control = socket.socket(fileno=control_fd)
    setup = json.loads(control.recv(1 << 20))
    sys.path += setup["paths"]
    for name in setup["preload"]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    nothing = os.open("/dev/null", os.O_RDWR)
    _close_the_doors(setup)
    wakeup_in, wakeup_out = os.pipe()
    os.set_blocking(wakeup_out, False)
    os.set_blocking(wakeup_in, False)
    signal.set_wakeup_fd(wakeup_out, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    gc.collect()
    gc.freeze()
    control.send(b"R")
    _serve(control, wakeup_in, nothing, setup)


def _close_the_doors(setup: dict[str, Any]) -> None:
    """Limits and protections of the launcher itself; jobs inherit them and add their own."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    files = min(256, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(NOT_DUMPABLE, 0, 0, 0, 0)
    if setup["readable"] is not None:
        _restrict_files(libc, setup["readable"])
    if setup["launcher_filter"]:
        load_filter(bytes.fromhex(setup["launcher_filter"]))


def load_filter(program: bytes) -> None:
    """Load a seccomp program for this process and its future children. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HP", len(program) // 8, ctypes.addressof(code)))
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(SET_SECCOMP, FILTER_MODE, header, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp filter refused")


def _restrict_files(libc: Any, readable: list[str]) -> None:
    """Landlock: nothing on disk but `readable`, and that read-only. Raises OSError."""
    abi = libc.syscall(LANDLOCK_CREATE, None, 0, 1)
    handled = (1 << (13 if abi == 1 else 14 if abi == 2 else 15)) - 1
    if abi >= 5:
        handled |= 1 << 15
    fields = [handled] + [3] * (abi >= 4) + [3] * (abi >= 6)
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    ruleset = libc.syscall(LANDLOCK_CREATE, attributes, len(attributes), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock refused")
    for path in readable:
        with contextlib.suppress(FileNotFoundError):
            where = os.open(path, os.O_PATH)
            allowed = READ_FILE | EXECUTE | (READ_DIR if os.path.isdir(path) else 0)
            libc.syscall(LANDLOCK_ADD, ruleset, 1, struct.pack("=Qi", allowed, where), 0)
            os.close(where)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.syscall(LANDLOCK_RESTRICT, ruleset, 0):
        raise OSError(ctypes.get_errno(), "landlock refused")
    os.close(ruleset)


def _serve(control: socket.socket, wakeup: int, nothing: int, setup: dict[str, Any]) -> None:
    child = serial = 0
    while True:
        ready = select.select([control.fileno(), wakeup], [], [])[0]
        if wakeup in ready:
            child = _reaped(control, wakeup, child, serial)
        if control.fileno() not in ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(control, 64, 4)
        if not message:
            return
        command, number = COMMAND.unpack(message)
        if command == b"J":
            serial = number
            child = os.fork()
            if child == 0:
                _become_job(descriptors, nothing, setup)
            for descriptor in descriptors:
                os.close(descriptor)
        elif child and number == serial:
            os.kill(child, signal.SIGKILL)


def _reaped(control: socket.socket, wakeup: int, child: int, serial: int) -> int:
    """Report a child that has ended; the child that still runs, or 0."""
    with contextlib.suppress(BlockingIOError):
        os.read(wakeup, 512)
    pid, status, used = os.wait4(child, os.WNOHANG) if child else (0, 0, None)
    if not pid or used is None:
        return child
    control.send(ENDED.pack(b"E", serial, status, used.ru_maxrss))
    return 0


def _become_job(descriptors: list[int], nothing: int, setup: dict[str, Any]) -> None:
    """In the child: keep only the job's own descriptors, take limits and filter, run, never return."""
    code = 70
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        channel = _rearrange(descriptors, nothing)
        megabytes = setup["memory_mb"] << 20
        seconds = setup["cpu_seconds"]
        for what, limit in (
            (resource.RLIMIT_AS, megabytes),
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_NOFILE, 64),
        ):
            _limit(what, limit)
        if setup["job_filter"]:
            load_filter(bytes.fromhex(setup["job_filter"]))
        code = jobs.run(channel)
    except BaseException as error:
        code = 71
        with contextlib.suppress(BaseException):
            os.write(2, f"{type(error).__name__}: {error}\n".encode()[:1000])
    finally:
        os._exit(code)


def _limit(what: int, value: int) -> None:
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (value, value))


def _rearrange(descriptors: list[int], nothing: int) -> int:
    """Put the pipes on 0, 1, 2 and the channel on 3; close everything else."""
    channel, *pipes = [os.dup2(item, 100 + place) for place, item in enumerate(descriptors)]
    for place, item in enumerate(pipes or [nothing] * 3):
        os.dup2(item, place)
    os.dup2(channel, 3, inheritable=False)
    os.closerange(4, 256)
    return 3
