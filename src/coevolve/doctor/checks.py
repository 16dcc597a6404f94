"""What a check is, and how its end is told."""

from collections.abc import Callable

from coevolve.errors import ModelError, ToolError, UserError, boundary


class Unfinished(Exception):
    """Nothing is wrong, something is not there yet; the message says what."""


Check = tuple[str, Callable[[], str]]
"""What is checked, and a function that returns a remark, or raises UserError, ToolError, ModelError or Unfinished."""


def report(name: str, check: Callable[[], str]) -> bool:
    """Make one check and print `ok`, `unfinished`, or what is broken; whether nothing is broken."""
    try:
        with boundary(ToolError, name):
            remark = _made(check)
    except (UserError, ToolError, ModelError) as error:
        print(f"BROKEN {name}: {' '.join(str(error).split())}")
        return False
    print(f"{remark[0]} {name}{f': {remark[1]}' if remark[1] else ''}")
    return True


def _made(check: Callable[[], str]) -> tuple[str, str]:
    try:
        return "ok    ", check()
    except Unfinished as left:
        return "unfinished", str(left)
