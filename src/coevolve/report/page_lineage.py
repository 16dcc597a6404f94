"""The lineage of every chain: seed -> task at each round, how each was made, judged and attempted.

Records are plain JSON, one a chain, packed into text islands that a page unpacks when somebody opens the chain. Texts
of attempts and of Verify's votes live in the run's journal; where that is gone, the counts remain.
"""

import base64
import json
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import ValidationError

from coevolve.agents.replies import VerifyReply
from coevolve.errors import DataError, UnparsableReply, boundary
from coevolve.evaluation.outcomes import TaskScore
from coevolve.llm.replies import extract_object
from coevolve.report.runs import TrackedRun, read_lines
from coevolve.synthesis.verification import OWN_ATTEMPT
from coevolve.tasks import Task


class Detail(NamedTuple):
    """How much of each text a page keeps, in characters; 0 leaves attempts and votes out."""

    text: int
    attempt: int


@dataclass(slots=True)
class Work:
    """What happened to one chain in one round of production."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    votes: dict[int, dict[int, dict[str, Any]]] = field(default_factory=dict)
    """Step -> member of the ensemble -> its reply."""
    own: dict[int, str] = field(default_factory=dict)
    """Step -> the generating model's own attempt."""
    admitted: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    outcome: Mapping[str, Any] = field(default_factory=dict)
    """The chain event: valid, missed, problems, cause."""
    attempts: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Number -> a reporting attempt's text, and whether it was cut at the token limit."""


Works = defaultdict[tuple[int, str], Work]


def lineages(run: TrackedRun, detail: Detail) -> list[dict[str, Any]]:
    """One record a chain in the order of the seeds, {chain, domain, source, license, rounds}. Raises DataError."""
    works: Works = defaultdict(Work)
    rounds = {found.round for found in run.rounds}
    with boundary(DataError, f"{run.folder}/events.jsonl: a record lacks what every run writes"):
        _read_events(run, works, rounds)
    if detail.attempt:
        with boundary(DataError, f"{run.folder}/journal: a record lacks what every run writes"):
            _read_journal(run, works, rounds, detail)
    chains: dict[str, dict[str, Any]] = {}
    before: dict[str, Task] = {}
    for found in run.rounds:
        scores = {score.chain: score for score in found.scores.tasks}
        for task in found.tasks():
            head = {"chain": task.chain, "domain": task.domain, "source": task.source, "license": task.license}
            record = chains.setdefault(task.chain, {**head, "rounds": []})
            work = works.get((found.round, task.chain), Work())
            record["rounds"].append(
                _round(found.round, task, before.get(task.chain), scores.get(task.chain), work, detail)
            )
            before[task.chain] = task
    return list(chains.values())


def pack(record: Mapping[str, Any]) -> str:
    """A record as base64 of zlib-compressed JSON: short, and free of anything that HTML could take for markup."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode()


def clipped(text: str, most: int) -> str:
    """`text`, or its beginning and end with what was left out said in between."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:] if half else ''}"


def _read_events(run: TrackedRun, works: Works, rounds: set[int]) -> None:
    for event in read_lines(run.folder / "events.jsonl", '"phase":"generation"', '"probe":""'):
        number, chain, data = event["scope"]["round"], event["chain"], event["data"]
        if not chain or number not in rounds:
            continue
        work = works[number, chain]
        if event["kind"] == "step":
            work.steps.append({"step": event["step"], **data})
        elif event["kind"] == "chain":
            work.outcome = data
        elif event["kind"] == "admission":
            work.admitted += data["admitted"]
            work.refused |= data["refused"]


def _read_journal(run: TrackedRun, works: Works, rounds: set[int], detail: Detail) -> None:
    for number in sorted(rounds):
        path = run.folder / "journal" / f"r{number:03d}.jsonl"
        for record in read_lines(path, f'"call": "r{number}/reporting//', "/solver/"):
            row, reply = record["row"], record["reply"]
            cut = {"cut": True} if reply["finish"] == "length" else {}
            text = {"text": clipped(reply["text"], detail.attempt), **cut}
            works[number, row["chain"]].attempts[row["attempt"]] = text
        for record in read_lines(path, f'"call": "r{number}/generation//', "/verify/"):
            row, text = record["row"], record["reply"]["text"]
            if row["role"] != "verify":
                continue
            work = works[number, row["chain"]]
            if row["attempt"] >= OWN_ATTEMPT:
                work.own[row["step"]] = clipped(text, detail.attempt)
            else:
                work.votes.setdefault(row["step"], {})[row["attempt"] // 2] = _vote(text, row["model"], detail)


def _vote(text: str, model: str, detail: Detail) -> dict[str, Any]:
    """One reply of Verify's ensemble; its text as it is where it does not parse."""
    try:
        reply = VerifyReply.model_validate(extract_object(text))
    except (UnparsableReply, ValidationError):
        return {"model": model, "unparsed": clipped(text, detail.attempt)}
    return {
        "model": model,
        "well_posed": reply.well_posed,
        "answer": clipped(reply.answer, detail.attempt),
        "reasoning": clipped(reply.reasoning, detail.attempt),
        "problems": [clipped(problem, detail.attempt) for problem in reply.problems],
    }


def _round(
    number: int, task: Task, before: Task | None, score: TaskScore | None, work: Work, detail: Detail
) -> dict[str, Any]:
    """One chain in one round; what a retained task already said is not said again."""
    record: dict[str, Any] = {"round": number, "new": before is None or before.id != task.id, "id": task.id}
    if score is not None:
        record |= {"correct": score.correct, "n": score.attempts}
        record |= {name: value for name in ("truncated", "unparsed", "unknown") if (value := getattr(score, name))}
    if record["new"]:
        record |= _texts(task, detail)
        record["skills"] = list(task.skills[len(before.skills) if before else 0 :])
    if work.steps:
        record["steps"] = sorted(work.steps, key=lambda step: step["step"])
    if work.outcome:
        record |= {key: work.outcome[key] for key in ("valid", "missed", "problems", "cause") if work.outcome.get(key)}
    if work.votes:
        record["verdicts"] = [
            {"step": step, "votes": [votes[member] for member in sorted(votes)], "own": work.own.get(step)}
            for step, votes in sorted(work.votes.items())
        ]
    if work.attempts:
        record["attempts"] = [work.attempts[number] for number in sorted(work.attempts)]
    if work.admitted or work.refused:
        record |= {"admitted": work.admitted, "refused": work.refused}
    return record


def _texts(task: Task, detail: Detail) -> dict[str, Any]:
    answer = task.answer
    texts = {
        "question": clipped(task.question, detail.text),
        "answer": clipped(answer.value, detail.text),
        "solution": clipped(task.solution, detail.text),
        "program": clipped(task.program or "", detail.text),
        "tests": clipped(_tests(task), detail.text),
    }
    facts = {
        "type": answer.type,
        "unit": answer.unit,
        "tolerance": answer.tolerance.model_dump(exclude_none=True) if answer.tolerance else None,
        "choices": dict(answer.choices) if answer.choices else None,
        "aliases": list(answer.aliases),
        "certificate": f"{task.certificate.kind}: {task.certificate.detail}".rstrip(": "),
        "harness": task.harness_id,
    }
    return {key: value for key, value in {**texts, **facts}.items() if value}


def _tests(task: Task) -> str:
    """A coding task's tests as a person reads them."""
    if task.tests is None:
        return ""
    parts = [task.tests.setup, task.tests.code, task.tests.call or ""]
    cases: Sequence[Any] = task.tests.cases
    parts += [case if isinstance(case, str) else json.dumps(case, ensure_ascii=False) for case in cases]
    return "\n".join(part for part in parts if part)
