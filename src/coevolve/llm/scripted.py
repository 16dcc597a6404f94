"""Models without weights: replies from a function, and a solver that guesses from the numbers it reads."""

import asyncio
import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from coevolve.llm.base import ChatReply, ChatRequest, Usage

NUMBER = re.compile(r"\d+")
STEP = re.compile(r"Then (add|subtract|multiply by) (\d+)")
CHARS_A_TOKEN = 4
SCRIPTED_SOLVER = "scripted-solver"


@dataclass(slots=True)
class ScriptedModel:
    """Answers with what `reply` makes of a request, after `seconds`; the same request has the same answer."""

    reply: Callable[[ChatRequest], str]
    name: str = "scripted"
    seconds: float = 0.0

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request."""
        started = time.perf_counter()
        if self.seconds:
            await asyncio.sleep(self.seconds)
        text = self.reply(request)
        words = sum(len(message.content) for message in request.messages) // CHARS_A_TOKEN
        usage = Usage(words, max(1, len(text) // CHARS_A_TOKEN))
        return ChatReply(text, "stop", usage, self.name, time.perf_counter() - started)

    async def close(self) -> None:
        """Nothing is held."""


def guess(request: ChatRequest) -> str:
    """Some operation on the question's first two numbers, drawn by request and seed; then the steps it can read."""
    question = request.messages[-1].content
    numbers = [int(found) for found in NUMBER.findall(question)[:2]] or [0]
    a, b = numbers[0], numbers[-1]
    draw = hashlib.sha256(f"{request.sampling.seed}/{question}".encode()).digest()[0] % 4
    value = (Fraction(a + b), Fraction(a * b), Fraction(a - b), Fraction(a, b) if b else Fraction(a))[draw]
    for verb, number in STEP.findall(question):
        operand = int(number)
        value = {"add": value + operand, "subtract": value - operand, "multiply by": value * operand}[verb]
    return f"Answer: {value}"


def scripted_solver() -> ScriptedModel:
    """The solver of `experiment=machinery`: it answers at once, and right about one time in four at best."""
    return ScriptedModel(guess, name=SCRIPTED_SOLVER)
