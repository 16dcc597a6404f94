"""The procedural model answers every role's schema from prompt, payload and seed alone, and exactly."""

import asyncio
import json
from collections import Counter
from typing import Any

import pytest

from coevolve.construction.hint import parse_hint
from coevolve.construction.numbers import number_of
from coevolve.construction.registry import CONSTRUCTIONS
from coevolve.errors import CallFailed
from coevolve.harness import Harness
from coevolve.harness_folder import initial_harness
from coevolve.llm.base import ChatRequest, Message, Sampling
from coevolve.procedural.model import ROLES, ProceduralModel
from coevolve.skills import Skill
from coevolve.tasks import Answer, Draft, Tests

LIMITS = {"question_chars": 400, "answer_chars": 200}
BAGS = Draft(question="Ann has 3 bags of 4 nuts. How many nuts has she?", answer=Answer(type="integer", value="12"))
FORCE = Draft(
    question="A net force gives a 3 kg cart 4 m/s^2. What is the force in newtons?",
    answer=Answer(type="quantity", value="12", unit="N"),
)
STONE = Draft(
    question="What does this Python expression evaluate to?\n\n'stone'[::-1]",
    answer=Answer(type="code_output", value="'enots'"),
    tests=Tests(kind="call_output", call="'stone'[::-1]"),
)


def skill(hint: str, name: str = "a-skill") -> dict[str, str]:
    return {"name": name, "intent": "i", "method": "m", "difficulty_effect": "d", "tool_hint": hint}


def fields(harness: Harness) -> list[dict[str, str]]:
    kept = ("name", "intent", "method", "difficulty_effect", "tool_hint")
    return [{name: getattr(found, name) for name in kept} for found in harness.skills]


def director(draft: Draft | None = None, *, task: Draft = BAGS, domain: str = "math", **changes: Any) -> dict[str, Any]:
    """A Director's payload; `changes` replace parts of state, workflow, placements, limits or whole fields."""
    harness = initial_harness()

    def summary(found: Draft) -> dict[str, Any]:
        return {"question": found.question, "answer_type": found.answer.type, "unit": found.answer.unit}

    payload: dict[str, Any] = {
        "domain": domain,
        "task": summary(task),
        "draft": summary(draft) if draft else None,
        "draft_state": {"verified": False, "valid": None, "problems": [], "missed": False},
        "history": [],
        "skills": fields(harness),
        "workflow": harness.workflow.model_dump(mode="json"),
        "placements": {"verify": "after_each_extend", "revise": "after_failed_verify"},
        "limits": {"steps_left": 6, "extends_left": 2, "revises_left": 1, "verifies_left": 3},
    }
    for name, value in changes.items():
        payload[name] = {**payload[name], **value} if isinstance(payload[name], dict) else value
    return payload


def writing(source: Draft, skills: list[dict[str, str]], domain: str = "math", **more: Any) -> dict[str, Any]:
    plain = source.model_dump(mode="json", exclude_none=True)
    return {"domain": domain, "source": plain, "skills": skills, "limits": LIMITS, **more}


def test_the_initial_skills_name_constructions_for_every_domain():
    found = [parse_hint(skill.tool_hint, CONSTRUCTIONS) for skill in initial_harness().skills]
    assert 6 <= len(found) <= 9 and all(hint.size == 1 for hint in found)
    domains = {domain for hint in found for domain in CONSTRUCTIONS[hint.name].domains}
    assert domains == {"math", "coding", "science"}


def test_equal_requests_get_equal_replies_and_another_seed_may_differ(ask):
    payload = director()
    assert ask("director", payload, 1) == ask("director", payload, 1)
    assert len({json.dumps(ask("director", payload, seed)) for seed in range(20)}) > 1


def test_a_reply_over_its_token_limit_is_cut_and_says_so(reply):
    whole = reply("extend", writing(BAGS, [skill("construction: follow_on")]))
    cut = reply("extend", writing(BAGS, [skill("construction: follow_on")]), max_tokens=10)
    assert (whole.finish, cut.finish) == ("stop", "length")
    assert cut.text == whole.text[:40] and cut.usage.tokens_out == 10
    assert whole.usage.tokens_in > 0 and whole.model == "procedural"


def test_a_request_without_payload_or_with_an_unknown_role_fails_as_a_call():
    sampling = Sampling(0.0, 100, 0)
    for role, text in (("director", "no JSON"), ("director", "[1]"), ("poet", "{}")):
        with pytest.raises(CallFailed):
            asyncio.run(ProceduralModel().chat(ChatRequest((Message("user", text),), sampling, None, role)))


def test_a_repair_turn_is_answered_from_the_payload_before_it():
    payload = json.dumps(director())
    turns = (Message("user", payload), Message("assistant", "{"), Message("user", "That reply does not fit."))
    answer = asyncio.run(ProceduralModel().chat(ChatRequest(turns, Sampling(0.0, 999, 0), None, "director")))
    assert json.loads(answer.text)["action"] == "extend"


def test_the_director_extends_then_verifies_then_finishes(ask):
    assert ask("director", director())["action"] == "extend"
    done = [{"action": "extend", "outcome": "drafted with a-skill"}]
    assert ask("director", director(BAGS, history=done))["action"] == "verify"
    valid = {"verified": True, "valid": True}
    ended = director(BAGS, draft_state=valid, limits={"extends_left": 0})
    assert ask("director", ended)["action"] == "finish"
    assert ask("director", director(BAGS, draft_state=valid))["action"] == "extend"


def test_placements_decide_when_the_director_verifies_and_revises(ask):
    done = [{"action": "extend", "outcome": "drafted"}]
    late = director(BAGS, history=done, placements={"verify": "before_finish"})
    assert ask("director", late)["action"] == "extend"
    early = director(BAGS, history=done, placements={"revise": "before_verify"})
    assert ask("director", early)["action"] == "revise"
    failed = {"verified": True, "valid": False, "problems": ["nothing is asked"]}
    assert ask("director", director(BAGS, draft_state=failed))["action"] == "revise"
    never = director(BAGS, draft_state=failed, placements={"revise": "never"}, limits={"extends_left": 0})
    assert ask("director", never)["action"] == "finish"


def test_the_order_of_the_workflow_lets_two_extends_go_before_a_verification(ask):
    done = [{"action": "extend", "outcome": "drafted"}]
    twice = director(BAGS, history=done, workflow={"order": ["extend", "extend", "verify"]})
    assert ask("director", twice)["action"] == "extend"
    twice["history"] = done * 2
    assert ask("director", twice)["action"] == "verify"


def test_the_director_picks_only_skills_that_suit_and_as_many_as_the_workflow_allows(ask):
    for task, domain in ((BAGS, "math"), (FORCE, "science"), (STONE, "coding")):
        chosen = Counter()
        for seed in range(30):
            payload = director(task=task, domain=domain, workflow={"skills_per_extend": 3})
            names = ask("director", payload, seed)["skills"]
            assert 1 <= len(names) <= 3
            chosen.update(names)
        for name in chosen:
            hint = parse_hint(initial_harness().skill(name).tool_hint, CONSTRUCTIONS)
            assert domain in CONSTRUCTIONS[hint.name].domains
    assert ask("director", director(skills=[skill("construction: code_step")]))["action"] == "finish"
    assert ask("director", director(skills=[skill("draw a picture")]))["action"] == "finish"


def test_the_director_gives_up_after_fruitless_extends(ask):
    stuck = [{"action": "extend", "outcome": "no change"}] * 2
    assert ask("director", director(history=stuck))["action"] == "finish"


def test_after_a_miss_the_director_turns_to_the_newest_suitable_skill(ask):
    skills = [*director()["skills"], skill("construction: constraint size=3", "newest")]
    missed = {"verified": True, "valid": True, "missed": True}
    for seed in range(10):
        assert ask("director", director(BAGS, skills=skills, draft_state=missed), seed)["skills"] == ["newest"]


def test_extend_applies_the_chosen_skills_in_turn_and_leaves_out_what_does_not_apply(ask):
    chosen = [
        skill("construction: follow_on size=2 op=mul style=terse", "times"),
        skill("construction: code_step size=1", "code"),
        skill("no tool", "none"),
        skill("construction: follow_on size=1 op=add style=terse", "plus"),
    ]
    done = ask("extend", writing(BAGS, chosen))
    assert done["skills_used"] == ["times", "plus"]
    assert done["question"].count("Then ") == 2 and done["answer"]["type"] == "integer"


def test_extend_answers_with_the_source_where_nothing_applies_or_nothing_fits(ask):
    for skills, limits in (([], LIMITS), ([skill("construction: follow_on")], {**LIMITS, "question_chars": 50})):
        same = ask("extend", writing(BAGS, skills) | {"limits": limits})
        assert same["question"] == BAGS.question and same["skills_used"] == []


def test_the_extend_prompt_can_ask_for_terse_wording(ask):
    payload = writing(BAGS, [skill("construction: follow_on op=add")])
    plain = ask("extend", payload, prompt="Extend it.")
    terse = ask("extend", payload, prompt="Extend it. Word every added step tersely.")
    assert len(terse["question"]) < len(plain["question"])


def test_twelve_extends_through_the_model_stay_exact_and_short(ask):
    skills = {
        "math": [skill("construction: follow_on size=2 style=terse"), skill("construction: sharpen size=3")],
        "science": [skill("construction: formula_chain size=1 style=terse"), skill("construction: tighten")],
        "coding": [skill("construction: code_step size=2 style=terse"), skill("construction: sharpen size=3")],
    }
    for domain, start in (("math", BAGS), ("science", FORCE), ("coding", STONE)):
        draft, changed = start, 0
        for seed in range(12):
            done = ask("extend", writing(draft, skills[domain], domain), seed)
            changed += bool(done["skills_used"])
            draft = Draft.model_validate({**done, "skills_used": ()})
            assert len(draft.question) <= 400
            if draft.program and done["skills_used"]:
                output: list[str] = []
                exec(draft.program, {"print": lambda value, *unit, into=output: into.append(str(value))})
                same = output[-1] == draft.answer.value or number_of(output[-1]) == number_of(draft.answer.value)
                assert same, draft
        assert changed >= 5


def test_revise_redoes_the_draft_from_its_source_and_shortens_one_that_is_too_long(ask):
    chosen = [skill("construction: follow_on size=3 op=add", "plus"), skill("construction: second_unknown", "two")]
    bad = ask("extend", writing(BAGS, chosen))
    draft = {**bad, "solution": ""}
    for problems in (["nothing is asked"], ["the question has 900 characters, more than 400"]):
        mended = ask("revise", writing(BAGS, chosen, draft=draft, problems=problems))
        assert mended["question"].startswith(BAGS.question) and mended["question"] != bad["question"]
        assert mended["skills_used"]
    polished = ask("revise", writing(BAGS, chosen, draft=draft, problems=[]))
    assert len(polished["question"]) < len(bad["question"]) and polished["answer"] == bad["answer"]
    assert polished["skills_used"] == ["plus", "two"]


def test_revise_answers_with_the_source_where_no_skill_can_mend(ask):
    same = ask("revise", writing(BAGS, [], draft=BAGS.model_dump(mode="json"), problems=["nothing is asked"]))
    assert same["question"] == BAGS.question and same["skills_used"] == []


@pytest.mark.parametrize(
    ("question", "kind", "unit", "problem"),
    [
        ("", "integer", None, "empty"),
        ("Ann has three nuts and Bob five nuts.", "integer", None, "nothing is asked"),
        ("How many nuts has {{ name }}?", "integer", None, "placeholder"),
        ("What is the area shown in the figure above?", "integer", None, "not there"),
        ("Then add 7. What is it?", "integer", None, "does not ask for"),
        ("A cart needs a force. Work in J over 3 m?", "quantity", "N", "asks for J"),
    ],
)
def test_verify_names_structural_faults(ask, question: str, kind: str, unit: str | None, problem: str):
    found = ask("verify", {"domain": "math", "question": question, "answer_type": kind, "unit": unit})
    assert not found["well_posed"] and any(problem in text for text in found["problems"])


def test_verify_abstains_except_where_the_text_alone_gives_the_answer(ask):
    told = ask("verify", {"domain": "math", "question": BAGS.question, "answer_type": "integer"})
    assert told["well_posed"] and told["answer"] == ""
    plain = "What is 5 + 3 * 2? Then add 7. If that is even, halve it; else multiply by 2 and add 3."
    derived = ask("verify", {"domain": "math", "question": plain, "answer_type": "integer"})
    assert derived["answer"] == "9" == str((5 + 3 * 2 + 7) // 2)


def test_verify_finds_no_fault_in_what_extend_wrote(ask):
    for domain, start in (("math", BAGS), ("science", FORCE), ("coding", STONE)):
        for seed in range(20):
            picked = ask("director", director(task=start, domain=domain), seed)["skills"]
            chosen = [found for found in director()["skills"] if found["name"] in picked]
            done = ask("extend", writing(start, chosen, domain), seed)
            payload = {"domain": domain, "question": done["question"], "answer_type": done["answer"]["type"]}
            assert ask("verify", payload | {"unit": done["answer"].get("unit")})["well_posed"], done["question"]


def test_removing_a_skill_or_changing_the_workflow_changes_what_the_model_does(ask):
    harness = initial_harness()
    for task, domain, name in ((STONE, "coding", "one-more-operation"), (FORCE, "science", "one-more-sum")):
        seen = {n for s in range(30) for n in ask("director", director(task=task, domain=domain), s)["skills"]}
        less = [found for found in fields(harness) if found["name"] != name]
        after = {
            n for s in range(30) for n in ask("director", director(task=task, domain=domain, skills=less), s)["skills"]
        }
        assert name in seen and name not in after
    one = ask("director", director())["skills"]
    three = ask("director", director(workflow={"skills_per_extend": 3}))["skills"]
    assert len(one) == 1 and len(three) == 3


def test_the_model_plays_exactly_the_roles_that_have_a_reply_form():
    assert set(ROLES) == {"director", "extend", "revise", "verify", "meta_skill", "meta_harness", "acquisition"}
    assert ProceduralModel().name == "procedural"
    asyncio.run(ProceduralModel().close())


def test_skills_of_the_initial_harness_have_plain_status_and_no_provenance():
    assert all(isinstance(s, Skill) and s.status == "initial" and not s.provenance for s in initial_harness().skills)
