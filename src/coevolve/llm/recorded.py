"""Replay: models that are never called, and what to say of a request that no recording holds (I16)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevolve.errors import DataError, EndpointError
from coevolve.ledger import CallKey
from coevolve.llm.base import ChatReply, ChatRequest

SHOWN = 40
"""Characters of each side that a difference shows."""
CURE = "undo what changed, or run it with models of its own"


class NotRecorded(EndpointError):
    """A replay came to a request that has no recorded answer."""


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """Stands where the model `name` sat in the recorded run; its replies are in the journal."""

    name: str

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Raises NotRecorded: whatever is recorded is found before a model is asked."""
        raise NotRecorded(f"{self.name}: a replay calls no model")

    async def close(self) -> None:
        """Nothing is held."""


def not_recorded(path: Path, key: CallKey, request: ChatRequest) -> DataError:
    """The error for the call `key`, with the nearest request recorded in the journal file `path`."""
    record = _nearest(path, key, request)
    where = f"{path.parent.name}/{path.name}"
    if record is None:
        return DataError(f"replay: {key} is not recorded, {where} holds no call of {key.role}; {CURE}")
    same = record["call"] == str(key)
    nearest = "it asked otherwise there" if same else f"the nearest there is {record['call']}"
    return DataError(f"replay: {key} is not recorded in {where}; {nearest}: {_difference(record, request)}; {CURE}")


def _nearest(path: Path, key: CallKey, request: ChatRequest) -> dict[str, Any] | None:
    """The recorded call of the same key, else the one of the same role whose words are the most alike."""
    asked, best, score = _words(request.record()), None, -1
    for line in path.open("rb") if path.exists() else ():
        if not line.endswith(b"\n") or not line.startswith(b'{"call"'):
            continue
        record = json.loads(line)
        if record["call"] == str(key):
            return dict(record)
        if record["row"]["role"] == key.role and "request" in record:
            words = _words(record["request"])
            alike = _alike(words, asked) + _alike(words[::-1], asked[::-1])
            if alike > score:
                best, score = dict(record), alike
    return best


def _words(request: Mapping[str, Any]) -> str:
    return "\n".join(message["content"] for message in request["messages"])


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))


def _difference(record: Mapping[str, Any], request: ChatRequest) -> str:
    """The first thing in which a recorded request and `request` differ."""
    old, new = record.get("request"), request.record()
    if old is None:
        return "its request was not kept"
    for number, (then, now) in enumerate(zip(old["messages"], new["messages"], strict=False), 1):
        if then["content"] != now["content"]:
            at = _alike(then["content"], now["content"])
            shown = [json.dumps(text["content"][max(0, at - SHOWN // 2) : at + SHOWN]) for text in (then, now)]
            return f"message {number} ({now['role']}) from character {at}: recorded {shown[0]}, now {shown[1]}"
    if len(old["messages"]) != len(new["messages"]):
        return f"recorded {len(old['messages'])} messages, now {len(new['messages'])}"
    for name, value in new["sampling"].items():
        then = old["sampling"].get(name)
        if then != (list(value) if isinstance(value, tuple) else value):
            return f"{name} recorded {then}, now {value}"
    return "the same words, another model, reply schema or use of the same record"
