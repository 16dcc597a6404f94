"""How far a curation is: a bar on a terminal, a plain line every few seconds elsewhere."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

EVERY_SECONDS = 5.0
Item = TypeVar("Item")
Advance = Callable[[int], None]


def say(line: str) -> None:
    """One line beside the progress."""
    Console(stderr=True, highlight=False).print(line, markup=False, soft_wrap=True)


@contextmanager
def step(name: str, total: int | None) -> Iterator[Advance]:
    """Show one step; the function it gives takes how many more are done. `total` None = not known."""
    console = Console(stderr=True, highlight=False)
    if console.is_terminal:
        times = (TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(TextColumn(f"{name:12}"), BarColumn(), MofNCompleteColumn(), *times, console=console) as progress:
            task = progress.add_task(name, total=total)
            yield lambda count: progress.advance(task, count)
        return
    shown = _Lines(console, name, total)
    yield shown.advance
    shown.say()


def told(items: Iterable[Item], advance: Advance) -> Iterator[Item]:
    """The items, each counted as it is taken."""
    for item in items:
        yield item
        advance(1)


class _Lines:
    """Plain lines of one step."""

    def __init__(self, console: Console, name: str, total: int | None) -> None:
        self._console, self._name, self._total, self._done = console, name, total, 0
        self._begun = self._said = time.monotonic()

    def advance(self, count: int) -> None:
        self._done += count
        if time.monotonic() - self._said > EVERY_SECONDS:
            self.say()

    def say(self) -> None:
        self._said = time.monotonic()
        of = f" of {self._total}" if self._total is not None else ""
        self._console.print(f"{self._name}: {self._done}{of}, {self._said - self._begun:.0f} s", markup=False)
