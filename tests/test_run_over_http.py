"""A whole run with every role over HTTP at a server that fails in every way, and its replay without any server."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.errors import EndpointError
from coevolve.llm.base import ChatModel, ChatReply, ChatRequest
from coevolve.llm.faulty_server import FAULTS, FaultyServer
from coevolve.llm.scripted import scripted_solver
from coevolve.procedural.model import ProceduralModel
from coevolve.run import main

REPOSITORY = Path(__file__).resolve().parents[1]
KEY = "sk-secret-of-this-test-0123456789"
SHARES = {**dict.fromkeys(FAULTS, 0.02), "hang": 0.005}
TIMEOUT_SECONDS, RETRIES = 4.0, 8
ROLES = ("director", "extend", "revise", "verify.0", "attempt", "meta_skill", "meta_harness")
WORDS = {"429_wait": "429", "hang": "timeout", "wrong_model": "model"}
"""What the client calls a fault, where its name is another."""
IN_THE_REPLY = ("ok", "slow", "empty", "wrong_schema", "truncation")
"""What comes back as an answer, good or bad."""


@dataclass
class Everyone:
    """Plays every role: the procedural model where a schema is asked for, else a solver."""

    name: str = "everyone"
    agents: ChatModel = field(default_factory=ProceduralModel)
    solver: ChatModel = field(default_factory=scripted_solver)

    async def chat(self, request: ChatRequest) -> ChatReply:
        return await (self.solver if request.schema is None else self.agents).chat(request)

    async def close(self) -> None:
        return None


@contextmanager
def serving(shares: dict[str, float], spared: int = 0) -> Iterator[FaultyServer]:
    """A server in a thread of its own; `spared` first requests meet no fault."""
    server = FaultyServer(Everyone(), shares, seed=3, hang_seconds=60, slow_seconds=0.2, key=KEY, names=("everyone",))
    server.spared = spared
    started, over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with server:
            started.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    started.wait()
    try:
        yield server
    finally:
        over.set()
        thread.join()


def evolve(*words: str, key: str | None = KEY) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "scripts/evolve.py", "tracking=off", "live=false", *words],
        cwd=REPOSITORY,
        env={**os.environ, "TEST_KEY": key or ""},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def over_http(address: str) -> list[str]:
    """Every role and the solver at one endpoint, with prices that make a token's micro-dollars whole."""
    prices = [f"{who}.price.{what}" for who in ("models", "solver") for what in ("input=1", "output=2")]
    flows = [f"{who}.flow" for who in (*(f"models.{role}" for role in ROLES), "solver")]
    return [
        "experiment=machinery",
        "models=openai_compatible",
        "solver=openai",
        "budget=demo",
        "rounds=3",
        "seeds.per_domain=1",
        *(f"{who}.{key}" for who in ("models", "solver") for key in (f"base_url={address}", "model=everyone")),
        *(f"{who}.key_env=TEST_KEY" for who in ("models", "solver")),
        *prices,
        *(f"{flow}.timeout_seconds={TIMEOUT_SECONDS}" for flow in flows),
        *(f"{flow}.retries={RETRIES}" for flow in flows),
    ]


@dataclass(frozen=True)
class Recorded:
    """A finished run and what its server counted."""

    folder: Path
    outcomes: Counter[str]
    tokens: Counter[str]

    def rows(self) -> list[dict]:
        return [json.loads(line) for line in (self.folder / "ledger.jsonl").read_text().splitlines()]

    def archive(self) -> dict[str, bytes]:
        return files(self.folder / "archive")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    outputs = tmp_path_factory.mktemp("outputs")
    with serving(SHARES, spared=2) as server:
        done = evolve(*over_http(server.base_url), f"outputs={outputs}", "name=recorded")
        assert done.returncode == 0, done.stderr
        return Recorded(outputs / "recorded", Counter(server.served.outcomes), Counter(server.served.tokens))


def test_a_run_through_every_fault_ends_whole(recorded: Recorded) -> None:
    assert set(recorded.outcomes) == {"ok", *FAULTS}
    assert json.loads((recorded.folder / "summary.json").read_text())["complete"]
    events = [json.loads(line) for line in (recorded.folder / "events.jsonl").read_text().splitlines()]
    begun: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    for event in events:
        where = json.dumps(event["scope"], sort_keys=True)
        begun[where] += event["data"]["chains"] if event["kind"] == "batch" else 0
        ended[where] += event["kind"] == "chain"
    assert +begun == +ended, "a chain was lost"
    for number in range(4):
        assert (recorded.folder / "archive" / f"v{number:03d}" / "tasks.jsonl").read_text().count("\n") == 3


def test_every_fault_stands_in_the_ledger_and_retries_are_bounded(recorded: Recorded) -> None:
    rows, served = recorded.rows(), recorded.outcomes
    retries = Counter(word for row in rows for word in row["retries"])
    injected: Counter[str] = Counter()
    for fault, count in served.items():
        if fault not in IN_THE_REPLY:
            injected[WORDS.get(fault, fault)] += count
    assert retries == injected
    assert max(len(row["retries"]) for row in rows) <= RETRIES
    outcomes = Counter(row["outcome"] for row in rows)
    assert outcomes["truncated"] == served["truncation"]
    assert outcomes["unparsed"] == served["empty"] + served["wrong_schema"]
    assert len(rows) == sum(served[fault] for fault in IN_THE_REPLY)


def test_cost_is_what_the_server_counted(recorded: Recorded) -> None:
    rows = recorded.rows()
    assert sum(row["tokens_in"] for row in rows) == recorded.tokens["in"]
    assert sum(row["tokens_out"] for row in rows) == recorded.tokens["out"]
    assert sum(row["microusd"] for row in rows) == recorded.tokens["in"] + 2 * recorded.tokens["out"]
    cells = [
        cell
        for path in sorted((recorded.folder / "archive").glob("v*/version.json"))
        for cell in json.loads(path.read_text())["costs"]["cells"]
    ]
    short = [cell for cell in cells if cell["phase"] == "initialisation"]
    assert {cell["role"] for cell in short} == {"solver", "director"}, "each start's short calls are paid for"
    control = sum(row["microusd"] for row in rows if row["probe"] == "control")
    assert sum(cell["microusd"] for cell in cells) + control == sum(row["microusd"] for row in rows)


def test_no_file_of_a_run_holds_the_key(recorded: Recorded) -> None:
    found = [name for name, content in files(recorded.folder).items() if KEY.encode() in content]
    assert not found
    assert b"TEST_KEY" in (recorded.folder / "config.yaml").read_bytes()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (("solver.base_url=http://127.0.0.1:9/v1",), "http://127.0.0.1:9/v1: cannot connect"),
        (("models.model=absent",), "no model 'absent' there (404)"),
    ],
    ids=["dead endpoint", "missing model"],
)
def test_what_is_wrong_at_an_endpoint_is_told_before_anything_is_spent(
    wrong: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with serving({}) as server:
        words = (*over_http(server.base_url), *wrong, "tracking=off", "live=false", f"outputs={tmp_path}", "name=run")
        config = load(compose(*words), RunConfig)
        started = time.monotonic()
        with pytest.raises(EndpointError) as failure:
            main(config)
    assert time.monotonic() - started < 10
    assert says in str(failure.value) and "http://127.0.0.1:" in str(failure.value)
    assert not (tmp_path / "run" / "ledger.jsonl").exists()


def test_a_wrong_key_is_one_line_and_exit_code_2_and_is_not_shown(tmp_path: Path) -> None:
    with serving({}) as server:
        done = evolve(*over_http(server.base_url), f"outputs={tmp_path}", "name=run", key="sk-another")
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert f"{server.base_url}: refuses the key in TEST_KEY (401)" in line
    assert "sk-another" not in done.stdout + done.stderr


def test_a_replay_without_a_server_repeats_the_archive_bit_for_bit(recorded: Recorded) -> None:
    done = evolve("models=replay", f"replay.path={recorded.folder}", f"outputs={recorded.folder.parent}", key=None)
    assert done.returncode == 0, done.stderr
    again = Recorded(recorded.folder.parent / "replay-of-recorded", Counter(), Counter())
    assert len(recorded.archive()) > 3 * 20
    assert again.archive() == recorded.archive()
    for name in ("ledger.jsonl", "events.jsonl"):
        lines = [sorted((run.folder / name).read_bytes().splitlines()) for run in (again, recorded)]
        assert lines[0] == lines[1], "the order of lines is all that may differ"


def test_a_request_that_was_not_recorded_stops_with_the_nearest_one(recorded: Recorded) -> None:
    words = ("models=replay", f"replay.path={recorded.folder}", f"outputs={recorded.folder.parent}", "name=changed")
    done = evolve(*words, "goal=Make them easy.")
    assert done.returncode == 2
    said = done.stderr.strip().splitlines()[-1]
    assert said.startswith("coevolve: replay: r1/post_task//candidate-1/0/meta_harness/0 is not recorded"), said
    assert "message 2 (user) from character" in said and "Make the tasks harder" in said and "Make them easy." in said
