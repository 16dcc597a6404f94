"""Ctrl-C while a script still loads its parts: one line instead of a traceback. It imports next to nothing itself."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPED = 3
"""Exit code of a stop with everything saved; while loading there is nothing to save."""


@contextmanager
def loading() -> Iterator[None]:
    """Inside, Ctrl-C ends the program at once: an import that is broken off half-way raises anything.

    Where whoever started the program has Ctrl-C ignored, it stays ignored.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"coevolve: interrupted\n")
    os._exit(STOPPED)
