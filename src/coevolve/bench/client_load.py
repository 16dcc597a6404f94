"""One client under load, as a program of its own, so that its CPU and memory are its own.

`bare` is the least that aiohttp needs; `calls` is what a run does for each call: journal, ceilings, request, retries,
limits, parsing, ledger. A second `calls` run over the same folder finds every call recorded.
"""

import argparse
import asyncio
import json
import resource
import time
from pathlib import Path

import aiohttp

from coevolve.config import BudgetConfig, CeilingConfig
from coevolve.config_models import FlowConfig, PriceConfig
from coevolve.events import Scope
from coevolve.journal import Journal
from coevolve.ledger import CallKey, Ledger
from coevolve.llm.base import ChatRequest, Message, Sampling
from coevolve.llm.budgets import Budgets
from coevolve.llm.calls import Calls, Seat
from coevolve.llm.openai import OpenAIModel
from coevolve.llm.replies import extract_object

PRICE = PriceConfig(input=1.0, output=2.0, cached=0.1, reasoning=None, nominal=True)
SYSTEM = "Work the problem out and answer with one JSON object: {answer, reasoning}."
QUESTION = "In how many ways can {n} red and {n} blue beads be laid in a row so that no two red ones touch? " * 3


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def bare(base_url: str, count: int, at_once: int) -> None:
    """The loop of workers that nothing can undercut."""
    numbers = iter(range(count))
    connector = aiohttp.TCPConnector(limit=at_once)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(600)) as session:

        async def work() -> None:
            for n in numbers:
                turns = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION.format(n=n)}]
                async with session.post(
                    f"{base_url}/chat/completions", json={"model": "mock", "messages": turns}
                ) as got:
                    payload = await got.json()
                    json.loads(payload["choices"][0]["message"]["content"])

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(work())


async def through_calls(base_url: str, count: int, at_once: int, folder: Path) -> None:
    """All calls at once; the client holds them to `at_once`."""
    flow = FlowConfig(
        concurrency=at_once, requests_per_minute=None, tokens_per_minute=None, timeout_seconds=600.0, retries=4
    )
    model = OpenAIModel.at("mock", base_url, None, flow)
    seat = Seat(model, PRICE, 0.7, 256)
    none = CeilingConfig(calls=None, tokens=None, usd=1e6, seconds=None)
    budget = BudgetConfig(
        generation=none,
        evaluation=none,
        chain=none,
        total=none,
        gate_per_domain=1,
        candidates=1,
        attempts=4,
        chain_concurrency=at_once,
    )
    ledger = Ledger(folder / "ledger.jsonl", 0)
    journal = Journal(folder / "journal")
    calls = Calls(journal, ledger, Budgets(budget, ledger), lambda _: None)
    calls.start_round(1)
    scope = Scope(round=1, phase="generation", probe="")

    async def one(n: int) -> None:
        messages = (Message("system", SYSTEM), Message("user", QUESTION.format(n=n)))
        request = ChatRequest(messages, Sampling(0.7, 256, n))
        reply = await calls.call(CallKey(scope, f"chain-{n % 150:03d}", n // 150, "extend", 0), seat, request)
        extract_object(reply.text)

    async with asyncio.TaskGroup() as group:
        for n in range(count):
            group.create_task(one(n))
    journal.close()
    ledger.close()
    await model.close()


def main() -> None:
    """Run one load and print its figures as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("bare", "calls"))
    parser.add_argument("base_url")
    parser.add_argument("count", type=int)
    parser.add_argument("at_once", type=int)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    started, cpu = time.perf_counter(), _cpu()
    if given.kind == "bare":
        asyncio.run(bare(given.base_url, given.count, given.at_once))
    else:
        asyncio.run(through_calls(given.base_url, given.count, given.at_once, given.folder))
    figures = {
        "seconds": time.perf_counter() - started,
        "loop_cpu": _cpu() - cpu,
        "cpu": _cpu(),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
