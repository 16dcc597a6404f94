"""MetaSkill and MetaHarness of the procedural model: new transformations from misses, typed edits from logs."""

import json
from collections import Counter
from typing import Any

from coevolve.agents.replies import MetaHarnessReply
from coevolve.config import ConstraintsConfig
from coevolve.construction.hint import parse_hint
from coevolve.construction.registry import CONSTRUCTIONS
from coevolve.harness import Harness, apply
from coevolve.harness_folder import initial_harness
from coevolve.skills import SkillProposal, admit

CONSTRAINTS = ConstraintsConfig(
    edits=["skill", "prompt", "workflow", "placement"], edits_per_candidate=4, skills=64, skill_chars=2000,
    prompt_chars=6000, question_chars=400, answer_chars=200, steps=10, extends=3, revises=3, verifies=4,
    skills_per_extend=3, skills_shown=32,
)  # fmt: skip


def skill(hint: str, name: str = "a-skill") -> dict[str, str]:
    return {"name": name, "intent": "i", "method": "m", "difficulty_effect": "d", "tool_hint": hint}


def improving(**changes: Any) -> dict[str, Any]:
    harness = initial_harness()
    return {
        "goal": "harder",
        "constraints": CONSTRAINTS.model_dump(mode="json"),
        "harness": harness.model_dump(mode="json"),
        "metrics": {"validity": 0.9, "fallback_rate": 0.1, "question_chars": 250},
        "logs": {"skills": {found.name: {"used": 4, "valid": 4, "failed": 0, "missed": 1} for found in harness.skills}},
        "scores": {"accuracy": {"all": 0.8}},
        "rejections": [],
        **changes,
    }


def miss(hints: list[str], reference: str = "4711") -> dict[str, Any]:
    return {
        "trace": "r1/c/2", "domain": "math", "question": "Take 4711 and 815. What is it?", "reference": reference,
        "attempt": "Answer: 815", "skills_used": [skill(hint, f"s-{place}") for place, hint in enumerate(hints)],
    }  # fmt: skip


def library(harness: Harness) -> list[dict[str, str]]:
    return [{"name": s.name, "tool_hint": s.tool_hint, "method": s.method} for s in harness.skills]


def test_a_miss_becomes_new_admissible_transformations_until_nothing_new_follows(ask):
    harness = initial_harness()
    limits = {"skills": 64, "skill_chars": 2000}
    for turn in range(40):
        payload = {"misses": [miss(["construction: follow_on size=1 op=add"])], "library": library(harness)}
        taught = ask("meta_skill", payload | {"limits": limits}, turn)
        if taught["refused"]:
            break
        text = json.dumps(taught["skills"])
        assert "4711" not in text and "815" not in text
        proposals = [SkillProposal.model_validate(found) for found in taught["skills"]]
        hint = parse_hint(proposals[0].tool_hint, CONSTRUCTIONS)
        assert str(hint) not in {known.tool_hint for known in harness.skills}
        admission = admit(harness.skills, proposals, (f"trace-{turn}",), "online", CONSTRAINTS)
        assert len(admission.admitted) == len(proposals), admission.refused
        harness = harness.with_skills(admission.skills)
    assert 2 <= turn < 39 and taught["refused"]


def test_a_full_library_and_a_raw_seed_are_handled(ask):
    full = {"misses": [miss([])], "library": library(initial_harness()), "limits": {"skills": 6, "skill_chars": 2000}}
    assert ask("meta_skill", full)["refused"] == "the library is full"
    for reference, domain, name in (
        ("12", "math", "follow_on"),
        ("Accra", "science", "letters"),
        ("'a'", "coding", "code_step"),
    ):
        raw = {**miss([], reference), "domain": domain, "question": "What is it?"}
        payload = {"misses": [raw], "library": [], "limits": {"skills": 64, "skill_chars": 2000}}
        hints = [
            parse_hint(ask("meta_skill", payload, seed)["skills"][0]["tool_hint"], CONSTRUCTIONS) for seed in range(9)
        ]
        assert name in {hint.name for hint in hints}


def test_harness_proposals_stay_within_the_constraints_and_never_repeat_a_rejection(ask):
    reasons = [["not harder: accuracy 0.800 >= 0.800"], ["too dear: 1.9 times"], ["less valid: Q 0.5 < 0.9"]]
    kinds: set[tuple[str, str]] = set()
    for seed in range(25):
        rejections: list[dict[str, Any]] = []
        for turn in range(4):
            proposal = MetaHarnessReply.model_validate(ask("meta_harness", improving(rejections=rejections), seed))
            edits = [edit.model_dump(mode="json") for edit in proposal.edits]
            assert edits not in [rejection["edits"] for rejection in rejections]
            assert apply(initial_harness(), proposal.edits, CONSTRAINTS) != initial_harness()
            assert proposal.evidence and proposal.expected and proposal.risks
            kinds |= {(edit.kind, edit.op) for edit in proposal.edits}
            rejections.append({"edits": edits, "reasons": reasons[turn % 3], "probe": {}, "baseline": {}})
    assert {kind for kind, _ in kinds} >= {"skill", "prompt", "workflow"}
    assert {("skill", "add"), ("skill", "revise")} <= kinds


def test_a_proposal_answers_the_reason_of_the_last_rejection(ask):
    def costs(reason: str) -> Counter[str]:
        rejected = {"edits": [], "reasons": [reason], "probe": {}, "baseline": {}}
        edits = [e for seed in range(40) for e in ask("meta_harness", improving(rejections=[rejected]), seed)["edits"]]
        return Counter(f"{edit['kind']}/{edit['name']}" for edit in edits)

    dear, soft = costs("too dear: 1.9 times the baseline's cost"), costs("not harder: accuracy 0.8 >= 0.8")
    assert dear["workflow/extends"] < soft["workflow/extends"]
    assert dear["prompt/extend"] > soft["prompt/extend"]


def test_several_extends_are_verified_once_when_that_saves_cost(ask):
    payload = improving()
    payload["harness"]["workflow"]["extends"] = 3
    rejected = {"edits": [], "reasons": ["too dear: 1.9 times"], "probe": {}, "baseline": {}}
    names = {
        edit["content"]
        for seed in range(20)
        for edit in ask("meta_harness", payload | {"rejections": [rejected]}, seed)["edits"]
        if edit["kind"] == "placement"
    }
    assert names == {"before_finish"}


def test_failing_skills_are_removed_after_a_rejection_for_validity(ask):
    payload = improving()
    payload["logs"]["skills"]["one-number-less"] = {"used": 6, "valid": 1, "failed": 5, "missed": 0}
    rejected = {"edits": [], "reasons": ["less valid: Q 0.5 < 0.9"], "probe": {}, "baseline": {}}
    removed = Counter(
        edit["name"]
        for seed in range(20)
        for edit in ask("meta_harness", payload | {"rejections": [rejected]}, seed)["edits"]
        if edit["op"] == "remove"
    )
    assert set(removed) == {"one-number-less"} and removed["one-number-less"] >= 10


def test_edits_of_a_forbidden_kind_are_not_proposed(ask):
    payload = improving(constraints={**CONSTRAINTS.model_dump(mode="json"), "edits": ["workflow"]})
    for seed in range(10):
        assert {edit["kind"] for edit in ask("meta_harness", payload, seed)["edits"]} == {"workflow"}
