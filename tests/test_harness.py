"""The harness: edits stay inside Gamma, and a folder holds exactly what was saved."""

from pathlib import Path

import pytest

from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.errors import ConstraintViolation, DataError
from coevolve.harness import Harness, HarnessEdit, apply, check_constraints
from coevolve.harness_folder import initial_harness, load_harness, save_harness

CONSTRAINTS = load(compose("experiment=demo"), RunConfig).constraints


@pytest.fixture
def harness() -> Harness:
    return initial_harness()


def edit(kind: str, name: str, op: str, content: object = None) -> HarnessEdit:
    return HarnessEdit.model_validate({"kind": kind, "name": name, "op": op, "content": content})


SKILL = {"intent": "carry", "method": "append", "difficulty_effect": "harder", "tool_hint": ""}


def test_the_initial_harness_lies_within_gamma(harness: Harness) -> None:
    check_constraints(harness, CONSTRAINTS)
    assert len(harness.skills) >= 3


def test_load_save_load_is_identical(harness: Harness, tmp_path: Path) -> None:
    odd = apply(
        harness,
        [
            edit("skill", "odd-text", "add", {**SKILL, "method": "line one\n---\nline: two # ü\u2028x\ttab  "}),
            edit("prompt", "extend", "revise", "\r\n {{ schema }}\n\n  trailing \r"),
        ],
        CONSTRAINTS,
    )
    save_harness(odd, tmp_path / "a")
    again = load_harness(tmp_path / "a")
    assert again == odd
    assert again.id == odd.id
    save_harness(again, tmp_path / "b")
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*"))
    assert files == sorted(path.relative_to(tmp_path / "b") for path in (tmp_path / "b").rglob("*.*"))
    assert all((tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes() for file in files)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(edit("prompt", "verify", "revise", "{{ schema }}"), id="the verify prompt"),
        pytest.param(edit("prompt", "solver", "revise", "{{ schema }}"), id="the solver prompt"),
        pytest.param(edit("prompt", "meta_skill", "revise", "{{ schema }}"), id="a meta prompt"),
        pytest.param(edit("prompt", "extend", "revise", "no placeholder"), id="a prompt without its schema"),
        pytest.param(edit("prompt", "extend", "revise", "{{ schema }} {{ reference }}"), id="an unknown variable"),
        pytest.param(edit("prompt", "extend", "revise", "{{ schema }}{% include 'x' %}"), id="template code"),
        pytest.param(edit("prompt", "extend", "revise", "{{ schema.__class__ }}"), id="attribute access"),
        pytest.param(edit("prompt", "extend", "remove"), id="removing a prompt"),
        pytest.param(edit("workflow", "steps", "revise", 10_000), id="a count above its ceiling"),
        pytest.param(edit("workflow", "question_chars", "revise", 9), id="a ceiling"),
        pytest.param(edit("workflow", "extends", "revise", 0), id="a count below one"),
        pytest.param(edit("placement", "solver", "move", "never"), id="placing the solver"),
        pytest.param(edit("placement", "verify", "move", "never"), id="placing verify nowhere"),
        pytest.param(edit("skill", "../../etc/passwd", "add", SKILL), id="a path as a name"),
        pytest.param(edit("skill", "x", "remove"), id="removing what is not there"),
        pytest.param(edit("skill", "x", "add", {**SKILL, "status": "initial"}), id="a field beyond the four"),
        pytest.param(edit("skill", "x", "add", {**SKILL, "method": "y" * 100_000}), id="a skill of any size"),
    ],
)
def test_an_edit_outside_gamma_is_refused_and_leaves_nothing(harness: Harness, bad: HarnessEdit) -> None:
    before = harness.id
    with pytest.raises(ConstraintViolation):
        apply(harness, [bad], CONSTRAINTS)
    assert initial_harness().id == before


def test_each_kind_of_edit_changes_what_it_names(harness: Harness) -> None:
    changed = apply(
        harness,
        [
            edit("skill", "new-one", "add", SKILL),
            edit("skill", harness.skills[0].name, "remove"),
            edit("workflow", "skills_per_extend", "revise", 2),
            edit("placement", "verify", "move", "before_finish"),
        ],
        CONSTRAINTS,
    )
    assert changed.skill("new-one") is not None
    assert changed.skill(harness.skills[0].name) is None
    assert changed.workflow.skills_per_extend == 2
    assert changed.placements.verify == "before_finish"
    assert harness.workflow.skills_per_extend == 1


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("workflow.yaml", "a: &x [1]\nb: *x\n", "aliases"),
        ("workflow.yaml", "order: [verify]\n", "Field required"),
        ("workflow.yaml", "order: [\n", "line"),
        ("skills/Bad_Name.md", "---\n---\n", "named like"),
        ("skills/fine.md", "no front matter", "front matter"),
        ("prompts/extend.md", None, "missing"),
    ],
)
def test_a_broken_folder_is_one_clear_error(
    harness: Harness, tmp_path: Path, file: str, text: str | None, said: str
) -> None:
    save_harness(harness, tmp_path / "h")
    if text is None:
        (tmp_path / "h" / file).unlink()
    else:
        (tmp_path / "h" / file).write_text(text)
    with pytest.raises(DataError, match=said) as caught:
        load_harness(tmp_path / "h")
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
