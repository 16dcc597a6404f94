"""Whole run folders made up for the page's tests, through the classes that write real ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from coevolve.archive import Archive, Candidate, Version
from coevolve.evaluation.outcomes import Scores, TaskScore
from coevolve.event_log import EventLog
from coevolve.events import Event, Scope
from coevolve.harness import Harness
from coevolve.harness_folder import initial_harness
from coevolve.journal import Journal
from coevolve.ledger import CallKey, Ledger, Row, evolution, generation, operators
from coevolve.report.runs import TrackedRun, read_run
from coevolve.skills import Skill
from coevolve.summary import Summary
from coevolve.tasks import DOMAINS, Answer, Certificate, Task

HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=x onerror=window.hacked=1> <!-- & \"'` {{ 7 * 7 }} \u2028 é"
)
Text = Callable[[str], str]
"""A text for a place, named by a word like `question c3 2`."""


class RunBuilder:
    """A run of `chains` chains and `rounds` rounds in the arm full; `text` writes all that models would."""

    def __init__(self, folder: Path, chains: int = 3, rounds: int = 2, text: Text = str, seed: int = 0) -> None:
        self.folder, self.rounds, self.text, self.seed = folder, rounds, text, seed
        self.chains = [(text(f"c{number}"), DOMAINS[number % 3]) for number in range(chains)]
        folder.mkdir(parents=True)
        self.archive = Archive(folder / "archive", None)
        self.ledger = Ledger(folder / "ledger.jsonl")
        self.log = EventLog(folder / "events.jsonl")
        self.journal = Journal(folder / "journal")
        self.harness = initial_harness()
        self.price: int | None = 10

    def build(self, complete: bool = True) -> TrackedRun:
        """Write everything and read it back as reports do."""
        (self.folder / "config.yaml").write_text(yaml.safe_dump({"solver": {"name": "scripted"}, "seed": self.seed}))
        tasks = tuple(self._task(chain, domain, 0, None) for chain, domain in self.chains)
        for number in range(self.rounds + 1):
            self.journal.open_round(number)
            self.ledger.start_round()
            tasks = tuple(self._advance(task, number) for task in tasks)
            self._archive(number, tasks)
        for part in (self.ledger, self.log, self.journal):
            part.close()
        head = {"experiment": "made-up", "ablation": "full", "seed": self.seed, "unsafe_execution": False}
        head |= {"domain": "all", "gate": "paper", "solver": {"name": "scripted", "model": "scripted"}, "models": {}}
        summary = Summary(self.folder / "summary.json", head, self.archive)
        summary.write(complete=complete, wall_seconds=1.0)
        return read_run(self.folder)

    def retained(self, chain: str, number: int) -> bool:
        """Whether the chain makes no valid new task in that round: the last chain in round 2."""
        return number == 2 and chain == self.chains[-1][0]

    def _task(self, chain: str, domain: Any, number: int, parent: Task | None) -> Task:
        place = f"{chain} {number}"
        return Task(
            id=f"{chain}@{number}" if number else chain,
            chain=chain,
            domain=domain,
            round=number,
            question=(f"{parent.question} And {number}?" if parent else self.text(f"question {place}")),
            answer=Answer(type="integer", value=f"{40 + number}"),
            solution=self.text(f"solution {place}"),
            program=f"print({40 + number})" if number else None,
            certificate=Certificate(kind="program" if number else "source", detail="prints the reference"),
            parent=parent.id if parent else None,
            skills=(*parent.skills, f"skill-{number}") if parent else (),
            source="made up",
            license="CC0-1.0",
        )

    def _advance(self, task: Task, number: int) -> Task:
        valid = number > 0 and not self.retained(task.chain, number)
        if number > 0:
            self._production(task, number, valid)
        for attempt in range(4):
            key = CallKey(Scope(round=number, phase="reporting"), task.chain, 0, "solver", attempt)
            self._call(key, self.text(f"attempt {task.chain} {number} {attempt}"))
        return self._task(task.chain, task.domain, number, task) if valid else task

    def _production(self, task: Task, number: int, valid: bool) -> None:
        scope = Scope(round=number, phase="generation")
        problem = self.text(f"problem {task.chain} {number}")
        steps = [
            ("extend", "drafted with a skill"),
            ("verify", "valid" if valid else f"invalid (ambiguous): {problem}"),
        ]
        for step, (action, outcome) in enumerate(steps, 1):
            data = {"action": action, "outcome": outcome, "skills": [f"skill-{number}"] if step == 1 else []}
            self.log.append(Event(kind="step", scope=scope, chain=task.chain, step=step, data=data))
        vote = {"well_posed": valid, "answer": "41", "reasoning": self.text("reasoning"), "problems": [problem]}
        self._call(CallKey(scope, task.chain, 2, "verify", 0), json.dumps(vote))
        self._call(CallKey(scope, task.chain, 2, "verify", 100), self.text("own attempt"))
        data = {"trace": "t", "admitted": [f"skill-{number}"] if valid else [], "refused": {}}
        self.log.append(Event(kind="admission", scope=scope, chain=task.chain, step=2, data=data))
        outcome = {"valid": valid, "skills": [], "missed": valid, "problems": [] if valid else [problem]}
        outcome["cause"] = None if valid else "ambiguous"
        self.log.append(Event(kind="chain", scope=scope, chain=task.chain, data=outcome))

    def _call(self, key: CallKey, text: str, outcome: str = "ok", retries: tuple[str, ...] = ()) -> None:
        scope = key.scope
        row = Row(
            str(key), scope.round, scope.phase, scope.probe, key.chain, key.step, key.role, key.attempt,
            "made-up", 100, 20, 0, 0, self.price, 0.5, outcome, retries,
        )  # fmt: skip
        self.ledger.append(row)
        reply = {"text": text, "finish": "length" if outcome == "truncated" else "stop"}
        plain = {name: getattr(row, name) for name in Row.__slots__}
        self.journal.append_call(str(key), {"hash": "h", "seen": 0, "reply": reply, "row": plain})

    def scores(self, number: int) -> Scores:
        """Every chain solves one attempt less a round, from four."""
        found = [
            TaskScore(chain=chain, domain=domain, correct=max(0, 4 - number), attempts=4, unparsed=min(number, 1))
            for chain, domain in self.chains
        ]
        return Scores(tasks=tuple(found))

    def _archive(self, number: int, tasks: tuple[Task, ...]) -> None:
        before, evaluations = self.harness, {"reporting": self.scores(number).record()}
        rejections: tuple[dict[str, Any], ...] = ()
        candidates: tuple[Candidate, ...] = ()
        if number:
            self.harness = self._learn(before, number)
            evaluations |= self._gate(number)
            rejections = ({"edits": [], "reasons": ["not harder: accuracy 0.750 >= 0.500"]},)
            candidates = (Candidate(harness=self.harness, tasks=()),)
            if number == self.rounds:
                evaluations["weak_zeros"] = [tasks[0].id]
                message = Event(
                    kind="warning", scope=Scope(round=number, phase="candidate"), data={"message": self.text("w")}
                )
                self.log.append(message)
        costs = {
            "cells": self.ledger.cells(),
            "c_gen_microusd": self.ledger.sum(generation).microusd,
            "c_erv_microusd": self.ledger.sum(operators).microusd,
            "evolution_microusd": self.ledger.sum(evolution).microusd,
            "calls": self.ledger.sum(lambda *_: True).calls,
        }
        self.archive.add(
            Version(
                version=number, round=number, parents=(before.id,) if number else (),
                status="online-only" if number else "initial", harness=self.harness, tasks=tasks,
                fixed_hash="f", config_hash="c", evaluations=evaluations, rejections=rejections, costs=costs,
                files={"ledger": self.ledger.flush(), "events": self.log.flush()}, candidates=candidates,
            )
        )  # fmt: skip

    def _learn(self, harness: Harness, number: int) -> Harness:
        """One skill more, the first one gone, the Director's prompt with a line more, and another workflow."""
        fields = {"intent": self.text(f"intent {number}"), "method": "m", "difficulty_effect": "d"}
        skill = Skill(name=f"skill-{number}", provenance=(f"r{number}/c/2",), status="online", **fields)
        prompts = {**harness.prompts, "director": harness.prompts["director"] + self.text(f"line {number}") + "\n"}
        workflow = harness.workflow.model_copy(update={"skills_shown": harness.workflow.skills_shown + 1})
        return harness.replaced(skills=(*harness.skills[1:], skill), prompts=prompts, workflow=workflow)

    def _gate(self, number: int) -> dict[str, Any]:
        chains = len(self.chains)
        batch = {"chains": chains, "valid": chains - (number == 2), "misses": 1, "problems": [self.text("p")]}
        causes = {"ambiguous": 1} if number == 2 else {}
        probe = {
            "probe": "baseline", "harness_id": "h", "complete": True, "violation": None, "cohort": 3, "valid": 3,
            "validity": 1.0, "c_gen_usd": 0.001, "tokens": 900, "scores": self.scores(number).record(),
        }  # fmt: skip
        edit = {
            "kind": "skill",
            "name": "proposed",
            "op": "add",
            "content": {"intent": self.text("wanted"), "method": "m"},
        }
        proposal = {"evidence": self.text("evidence"), "expected": "harder", "risks": "none", "edits": [edit]}
        verdict = {"accepted": False, "reasons": ["not harder: accuracy 0.750 >= 0.500"]}
        verdict |= {"paired": {"n_chains": 3, "gain": -0.25, "se": 0.1, "z": -2.5}}
        candidate = {**probe, "probe": "candidate-1", "proposal": proposal, "verdict": verdict}
        return {"batch": {**batch, "causes": causes, "n_tasks": chains}, "baseline": probe, "candidates": [candidate]}
