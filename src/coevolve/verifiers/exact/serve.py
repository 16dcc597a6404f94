"""A checker process: answers one request a frame until its input ends. Started by `checkers`, killed at will."""

import os
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

from coevolve.errors import ToolError, boundary
from coevolve.sandbox.inside.wire import read_frame, write_frame
from coevolve.sandbox.inside.zygote import load_filter
from coevolve.verifiers.exact import judge, opinion, science

Request = dict[str, Any]


def main() -> None:
    """Prepare, take limits, say ready, serve."""
    setup = read_frame(0)
    sys.set_int_max_str_digits(100_000)
    sys.setrecursionlimit(4000)
    answers = _second_opinion() if setup["role"] == "opinion" else _comparisons()
    memory = setup["memory_mb"] << 20
    for what, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (limit, limit))
    if setup["filter"]:
        load_filter(bytes.fromhex(setup["filter"]))
    out = os.dup(1)
    os.dup2(2, 1)
    write_frame(out, {"ready": True})
    while True:
        try:
            request = read_frame(0)
        except EOFError:
            return
        write_frame(out, _answered(answers, request))


def _answered(answers: Callable[[Request], Request], request: Request) -> Request:
    """The answer; a fault of ours is said to be one, and the process lives on."""
    try:
        with boundary(ToolError, "checker"):
            return answers(request)
    except ToolError as error:
        return {"verdict": "unknown", "reason": f"infra: {error}"[:300], "firm": True, "equal": None}


def _comparisons() -> Callable[[Request], Request]:
    sizes = judge.Sizes()
    sizes("m")

    def answer(request: Request) -> Request:
        if request["rule"] is None:
            return judge.compare(request["gold"], request["answer"], request["kind"], sizes)._asdict()
        return science.grade(
            request["gold"], request["unit"], request["answer"], _rule(request["rule"]), sizes
        )._asdict()

    return answer


def _rule(stated: Request) -> science.Rule:
    rel, absolute = (None if stated[key] is None else Fraction(stated[key]) for key in ("rel", "abs"))
    return science.Rule(rel, absolute, bool(stated["exact"]), bool(stated["unit_in_prompt"]))


def _second_opinion() -> Callable[[Request], Request]:
    equal = opinion.load()
    return lambda request: {"equal": equal(request["gold"], request["answer"], request["seconds"])}
