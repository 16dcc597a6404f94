"""Typed plain data on the wire between the parent and a box, and the frames that carry it.

Only exact built-in types cross; anything else crosses as its nearest plain base (an int subclass as an int) or as
`Opaque`, so an object cannot bring its own `__eq__` along.
"""

import json
import os
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

SAFE_INT = 2**53
DEPTH = 60
MEMBERS = 10_000
"""Most members of a set or mapping that are read back: colliding hashes make larger ones cost minutes."""


class Opaque:
    """A value that has no plain form; equal to nothing, itself included."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<{self.kind}>"


def encode(value: Any, depth: int = 0) -> Any:
    """The JSON form of `value`. Raises RecursionError on data nested deeper than 60."""
    if depth > DEPTH:
        raise RecursionError("data nested too deeply")
    if value is None or value is True or value is False:
        return value
    if isinstance(value, bool):
        return bool.__eq__(value, True)
    if isinstance(value, int):
        plain = int.__index__(value)
        return plain if -SAFE_INT < plain < SAFE_INT else {"i": hex(plain)}
    if isinstance(value, float):
        return {"f": float.hex(value)}
    if isinstance(value, str):
        return str.__str__(value) if type(value) is str else str.__add__("", value)
    return _encode_other(value, depth + 1)


def _encode_other(value: Any, depth: int) -> Any:
    for kind, mark, members in MEMBERED:
        if isinstance(value, kind):
            inner = [encode(item, depth) for item in members(value)]
            return {mark: inner} if mark else inner
    if isinstance(value, dict):
        return {"d": [[encode(key, depth), encode(item, depth)] for key, item in dict.items(value)]}
    if isinstance(value, complex):
        return {"c": [float.hex(value.real), float.hex(value.imag)]}
    if isinstance(value, bytes | bytearray):
        return {"b": bytes(value).hex(), "m": isinstance(value, bytearray)}
    if isinstance(value, range):
        return {"r": [encode(part, depth) for part in (value.start, value.stop, value.step)]}
    if type(value) is Fraction:
        return {"q": [encode(value.numerator, depth), encode(value.denominator, depth)]}
    if type(value) is Decimal:
        return {"n": str(value)}
    return {"o": type(value).__name__[:80]}


MEMBERED: tuple[tuple[type, str, Callable[[Any], Any]], ...] = (
    (list, "", list.__iter__),
    (tuple, "t", tuple.__iter__),
    (set, "s", set.__iter__),
    (frozenset, "z", frozenset.__iter__),
)


def _pair(parts: list[Any]) -> complex:
    return complex(float.fromhex(parts[0]), float.fromhex(parts[1]))


DECODERS: dict[str, Callable[[Any], Any]] = {
    "i": lambda body: int(body, 16),
    "f": float.fromhex,
    "t": lambda body: tuple(decode(item) for item in body),
    "d": lambda body: {decode(key): decode(item) for key, item in body},
    "s": lambda body: {decode(item) for item in body},
    "z": lambda body: frozenset(decode(item) for item in body),
    "c": _pair,
    "b": bytes.fromhex,
    "r": lambda body: range(*(decode(part) for part in body)),
    "q": lambda body: Fraction(decode(body[0]), decode(body[1])),
    "n": Decimal,
    "o": lambda body: Opaque(str(body)),
}


def decode(data: Any) -> Any:
    """Plain data from its JSON form. Raises ValueError, TypeError, KeyError or ArithmeticError on forged forms."""
    if isinstance(data, list):
        return [decode(item) for item in data]
    if not isinstance(data, dict):
        if isinstance(data, float):
            raise ValueError("a bare float is not part of the form")
        return data
    kind = next(iter(data))
    if kind in "dsz" and len(data[kind]) > MEMBERS:
        raise ValueError(f"a set or mapping of over {MEMBERS} members")
    value = DECODERS[kind](data[kind])
    return bytearray(value) if kind == "b" and data.get("m") else value


def pack(message: Any) -> bytes:
    """A frame: four bytes of length, then JSON."""
    body = json.dumps(message, allow_nan=False).encode()
    return len(body).to_bytes(4, "big") + body


def write_frame(descriptor: int, message: Any) -> None:
    """Write one frame to a blocking descriptor."""
    view = memoryview(pack(message))
    while view:
        view = view[os.write(descriptor, view) :]


def read_frame(descriptor: int) -> Any:
    """Read one frame from a blocking descriptor; EOFError when the other side is gone."""
    return json.loads(_exactly(descriptor, int.from_bytes(_exactly(descriptor, 4), "big")))


def _exactly(descriptor: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(descriptor, min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
