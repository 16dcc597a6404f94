"""Ctrl-C while a script loads its parts or its configuration: one line, no traceback. It imports next to nothing."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPED = 3
"""Exit code of a stop with everything saved; while loading there is nothing to save."""


@contextmanager
def loading() -> Iterator[None]:
    """Inside, Ctrl-C ends the program at once: an import or a lookup that is broken off half-way raises anything.

    Where whoever started the program has Ctrl-C ignored, it stays ignored; only a main thread may set handlers.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"coevolve: interrupted\n")
    os._exit(STOPPED)
