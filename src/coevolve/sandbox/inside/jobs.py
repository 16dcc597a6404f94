"""What a job does once it is alone in its process: a whole program, a row of calls, or a checker."""

import atexit
import builtins
import contextlib
import io
import os
import sys
import traceback
from types import ModuleType
from typing import Any

from coevolve.sandbox.inside.wire import decode, encode, read_frame, write_frame

TEXT = 400


def run(channel: int) -> int:
    """Read the job from the channel and do it; the exit code."""
    job = read_frame(channel)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8", errors="surrogateescape")
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        raw = io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False))
        stream = io.TextIOWrapper(raw, "utf-8", errors="backslashreplace", write_through=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv = ["program"]
    sys.set_int_max_str_digits(job.get("digits", 4300))
    if job["mode"] == "program":
        os.close(channel)
        return _program(job["source"])
    (_calls if job["mode"] == "calls" else _checker)(channel, job)
    return 0


def _program(source: str) -> int:
    """Run `source` as `__main__`, as the interpreter would."""
    code = 0
    try:
        exec(compile(source, "<program>", "exec"), _module("__main__").__dict__)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    except BaseException as error:
        code = 3 if isinstance(error, MemoryError) else 1
        with contextlib.suppress(BaseException):
            sys.stderr.write(_told(error) + "\n")
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
    return code & 0xFF


def _module(name: str) -> ModuleType:
    module = ModuleType(name)
    module.__dict__["__builtins__"] = builtins
    sys.modules[name] = module
    return module


def _told(error: BaseException) -> str:
    """Type and text of an error with its last line in the program, short."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith("<")]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {str(error)[:TEXT]}{where}"


def _failed(error: BaseException) -> dict[str, Any]:
    base = next((kind.__name__ for kind in type(error).__mro__ if getattr(builtins, kind.__name__, None) is kind), "")
    return {"raise": base or "Exception", "text": _told(error)}


def _again(name: str, text: str) -> Exception:
    """The built-in exception of that name, rebuilt on the checker's side."""
    kind = getattr(builtins, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)) or issubclass(kind, UnicodeError):
        return RuntimeError(text)
    return kind(text)


def _calls(channel: int, job: dict[str, Any]) -> None:
    """Define the program, then answer one call a frame with the value or the error."""
    space = _module("solution").__dict__
    try:
        exec(compile(job["source"], "<solution>", "exec"), space)
    except BaseException as error:
        write_frame(channel, _failed(error))
        return
    write_frame(channel, {"ready": True})
    while True:
        try:
            call = read_frame(channel)
        except EOFError:
            return
        try:
            answer = {"value": encode(_one_call(space, call))}
        except BaseException as error:
            answer = _failed(error)
        write_frame(channel, answer)


def _one_call(space: dict[str, Any], call: dict[str, Any]) -> Any:
    if call["op"] == "eval":
        return eval(compile(call["source"], "<call>", "eval"), space)
    arguments = [decode(item) for item in call["args"]]
    named = {key: decode(item) for key, item in call.get("named", {}).items()}
    if call["op"] == "method":
        return getattr(space["Solution"](), call["name"])(*arguments, **named)
    return space[call["name"]](*arguments, **named)


def _checker(channel: int, job: dict[str, Any]) -> None:
    """Run the task's own test code against a stand-in whose calls are answered by another box."""
    space = _module("checker").__dict__
    made = 0

    def stand_in(*args: Any, **named: Any) -> Any:
        nonlocal made
        made += 1
        try:
            asked = {"args": [encode(item) for item in args], "named": {key: encode(v) for key, v in named.items()}}
        except RecursionError as error:
            raise TypeError("arguments nested too deeply to hand over") from error
        write_frame(channel, {"call": asked})
        answer = read_frame(channel)
        if "raise" in answer:
            raise _again(answer["raise"], answer["text"])
        return decode(answer["value"])

    try:
        if job["helpers"]:
            exec(compile(job["helpers"], "<helpers>", "exec"), space)
        space[job["name"]] = stand_in
        for part in job["parts"]:
            exec(compile(part, "<tests>", "exec"), space)
        if job["check"]:
            space[job["check"]](stand_in)
        write_frame(channel, {"passed": True, "calls": made})
    except BaseException as error:
        write_frame(channel, {"passed": False, "calls": made, "part": _told(error)})
