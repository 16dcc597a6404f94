"""Acquisition by the procedural model: from what a source says, and from nothing else (I17)."""

import pytest

LIMITS = {"skills": 64, "skill_chars": 2000}


def passage(name, text):
    return {"id": name, "kind": "passage", "text": text}


def seed(name, question, reference="4", domain="math", solution=""):
    shown = {"question": question, "reference": reference, "solution": solution}
    return {"id": name, "kind": "seed", "domain": domain, **shown}


def payload(*sources, library=(), **limits):
    return {"sources": list(sources), "library": list(library), "limits": {**LIMITS, **limits}}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("The remainder on division by 7 repeats.", "construction: constraint size=1"),
        ("Take 12 per cent of the result.", "construction: percentage size=2"),
        ("Undo the last operation first.", "construction: inversion size=1"),
        ("Convert 120 kilometres into miles.", "construction: unit_change size=3"),
    ],
)
def test_a_passage_names_a_transformation_and_its_grade(ask, text, hint):
    (skill,) = ask("acquisition", payload(passage("p#1", text)))["skills"]
    assert (skill["tool_hint"], skill["sources"]) == (hint, ["p#1"])


def test_a_seed_without_a_clue_shows_what_it_could_have_come_from(ask):
    skills = ask("acquisition", payload(seed("c", "What is len('ab') * 2?", "4", "coding")))["skills"]
    assert [skill["tool_hint"] for skill in skills] == ["construction: code_step size=1"]


def test_sources_that_show_the_same_share_one_skill(ask):
    sources = [passage(f"p#{n}", "Take a remainder of 3.") for n in range(3)]
    (skill,) = ask("acquisition", payload(*sources))["skills"]
    assert skill["sources"] == ["p#0", "p#1", "p#2"]


def test_what_the_library_has_is_not_proposed_again(ask):
    known = {"name": "a", "tool_hint": "construction: constraint size=1", "method": "m"}
    reply = ask("acquisition", payload(passage("p", "Take a remainder of 3."), library=[known]))
    assert reply["skills"] == [] and "lacks" in reply["refused"]


def test_no_text_of_a_source_is_quoted(ask):
    reply = ask("acquisition", payload(passage("p", "Take the quokka remainder of 9137 after that.")))
    written = " ".join(skill[name] for skill in reply["skills"] for name in skill if name != "sources")
    assert reply["skills"] and "quokka" not in written and "9137" not in written


def test_a_full_library_and_the_size_of_a_skill_are_heeded(ask):
    source = passage("p", "Take a remainder of 3.")
    assert ask("acquisition", payload(source, skills=0))["skills"] == []
    assert ask("acquisition", payload(source, skill_chars=40))["skills"] == []
