"""A prompt edit that the procedural model cannot notice is declared inert and takes no probe."""

import json
from pathlib import Path
from typing import Any

import pytest

from coevolve.agents.base import Desk
from coevolve.agents.solver import Solver
from coevolve.algorithm import InLoopTest, Proposed
from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.event_log import EventLog
from coevolve.events import Scope
from coevolve.harness_folder import initial_harness
from coevolve.journal import Journal
from coevolve.lab import ModelLab
from coevolve.ledger import Ledger
from coevolve.llm.budgets import Budgets
from coevolve.llm.calls import Calls, Seat
from coevolve.llm.scripted import ScriptedModel
from coevolve.procedural.inert import inert_prompts
from coevolve.start import Start
from coevolve.synthesis.verification import FixedVerifier
from coevolve.tasks import Answer, Certificate, Task
from coevolve.verifiers.base import Verifiers

PROMPTS = dict(initial_harness().prompts)
ROLES = ("director", "extend", "revise")
CONFIG = load(compose("experiment=machinery"), RunConfig)


@pytest.mark.parametrize(
    ("role", "added", "inert"),
    [
        ("extend", "Think twice.", True),
        ("extend", "Word every step tersely.", False),
        ("revise", "Word every step tersely.", False),
        ("director", "Word every step tersely.", True),
    ],
)
def test_only_the_wording_that_a_writing_prompt_asks_for_is_read(role: str, added: str, inert: bool) -> None:
    after = {**PROMPTS, role: f"{PROMPTS[role]}\n{added}"}
    assert inert_prompts(PROMPTS, after, ROLES) == ([role] if inert else [])
    assert inert_prompts(PROMPTS, after, ()) == [], "a language model reads everything"


async def proposed(folder: Path, edits: list[dict[str, Any]], seen: list[Any]) -> Proposed | None:
    """What the lab makes of a proposal with `edits`; the procedural model plays the editable roles."""
    reply = json.dumps({"evidence": "e", "expected": "x", "risks": "r", "edits": edits})
    ledger = Ledger(folder / "ledger.jsonl", 0)
    calls = Calls(Journal(folder / "journal"), ledger, Budgets(CONFIG.budget, ledger), lambda row: None)
    calls.start_round(1)
    seat = Seat(ScriptedModel(lambda request: reply), CONFIG.models.director.price, 0.0, 4096)
    desk = Desk(calls, {"meta_harness": (seat,)}, 0, CONFIG.constraints)
    verifiers = Verifiers(CONFIG.verification)
    solver = Solver(calls, seat, "plain", verifiers, 0)
    verify = FixedVerifier(desk, verifiers, solver, CONFIG.verification)
    log = EventLog(folder / "events.jsonl", 0)
    lab = ModelLab(CONFIG, desk, solver, verify, log, "f", "c", Start(CONFIG), seen.append)
    harness = initial_harness()
    seed = Task(
        id="m",
        chain="m",
        domain="math",
        round=0,
        question="What is 2 + 3?",
        answer=Answer(type="integer", value="5"),
        certificate=Certificate(kind="source"),
        source="test",
        license="CC0-1.0",
    )
    try:
        batch = lab.start_batch(harness, [seed], Scope(round=1, phase="generation"), None)
        scope = Scope(round=1, phase="candidate", probe="candidate-1")
        return await lab.meta_harness(scope, harness, batch, InLoopTest(None, ()), ())
    finally:
        await verifiers.close()
        calls.journal.close()


def prompt(role: str, added: str) -> dict[str, Any]:
    return {"kind": "prompt", "name": role, "op": "revise", "content": f"{PROMPTS[role]}\n{added}"}


async def test_a_proposal_of_inert_prompt_edits_alone_is_refused_before_any_probe(tmp_path: Path) -> None:
    seen: list[Any] = []
    found = await proposed(tmp_path, [prompt("extend", "Think twice.")], seen)
    assert found is not None
    assert found.harness is None
    assert "change nothing" in str(found.violation)
    assert found.proposal["inert"] == ["extend"]
    assert seen[-1].kind == "proposal"
    assert seen[-1].data["inert"] == ["extend"]


async def test_beside_an_edit_that_counts_an_inert_one_is_declared_and_tried(tmp_path: Path) -> None:
    wider = {"kind": "workflow", "name": "skills_per_extend", "op": "revise", "content": 2}
    found = await proposed(tmp_path, [prompt("director", "Think twice."), wider], [])
    assert found is not None
    assert found.harness is not None
    assert found.proposal["inert"] == ["director"]
