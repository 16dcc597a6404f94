"""Asking the procedural model as agents do."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from coevolve.agents.replies import (
    AcquisitionReply,
    DirectorReply,
    DraftReply,
    MetaHarnessReply,
    MetaSkillReply,
    VerifyReply,
)
from coevolve.llm.base import ChatReply, ChatRequest, Message, Sampling
from coevolve.procedural.model import ProceduralModel

REPLIES = {
    "director": DirectorReply, "extend": DraftReply, "revise": DraftReply, "verify": VerifyReply,
    "meta_skill": MetaSkillReply, "meta_harness": MetaHarnessReply,
    "acquisition": AcquisitionReply,
}  # fmt: skip


def reply(role: str, payload: dict, seed: int = 0, prompt: str = "Do your part.", max_tokens: int = 4096) -> ChatReply:
    messages = (Message("system", prompt), Message("user", json.dumps(payload)))
    return asyncio.run(ProceduralModel().chat(ChatRequest(messages, Sampling(0.0, max_tokens, seed), None, role)))


def asked(role: str, payload: dict, seed: int = 0, prompt: str = "Do your part.") -> dict[str, Any]:
    text = reply(role, payload, seed, prompt).text
    REPLIES[role].model_validate_json(text)
    return json.loads(text)


@pytest.fixture(name="reply")
def replying() -> Callable[..., ChatReply]:
    """The model's whole reply to one role's payload."""
    return reply


@pytest.fixture
def ask() -> Callable[..., dict[str, Any]]:
    """The parsed reply, after it was validated against the role's form."""
    return asked
