"""Models without weights repeat themselves exactly."""

import time

from coevolve.llm.base import ChatRequest, Message, Sampling
from coevolve.llm.scripted import ScriptedModel, scripted_solver


def request(text: str, seed: int = 1) -> ChatRequest:
    return ChatRequest((Message("system", "s"), Message("user", text)), Sampling(0.7, 64, seed))


async def test_the_same_request_has_the_same_answer_and_another_seed_may_not():
    solver = scripted_solver()
    asked = "A shop has 12 pens and gets 7 more. How many are there?"
    texts = [(await solver.chat(request(asked, seed))).text for seed in range(40)]
    assert texts == [(await solver.chat(request(asked, seed))).text for seed in range(40)]
    assert set(texts) == {"Answer: 19", "Answer: 84", "Answer: 5", "Answer: 12/7"}


async def test_a_question_without_numbers_gets_an_answer_too():
    assert (await scripted_solver().chat(request("What colour is the sky?"))).text.startswith("Answer: ")


async def test_latency_and_tokens_are_stated():
    model = ScriptedModel(lambda asked: "x" * 40, seconds=0.05)
    started = time.perf_counter()
    reply = await model.chat(request("y" * 400))
    assert time.perf_counter() - started >= 0.05 and reply.seconds >= 0.05
    assert (reply.usage.tokens_in, reply.usage.tokens_out, reply.finish) == (100, 10, "stop")
    await model.close()
