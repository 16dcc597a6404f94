"""Seeds that runs have evolved are recognised, and others are let through."""

import json
from pathlib import Path

import pytest

from coevolve.archive import write_tasks
from coevolve.curation.apart import Apart
from coevolve.errors import DataError
from coevolve.tasks import Answer, Certificate, Domain, Task


def task(chain: str, question: str, number: int = 0, domain: Domain = "math") -> Task:
    return Task(
        id=f"{chain}@{number}" if number else chain,
        chain=chain,
        domain=domain,
        round=number,
        question=question,
        answer=Answer(type="integer", value="1"),
        certificate=Certificate(kind="source"),
        source="test",
        license="CC0-1.0",
    )


def archived(run: Path, versions: list[list[Task]], continues: Path | None = None) -> Path:
    for number, tasks in enumerate(versions):
        folder = run / "archive" / f"v{number:03d}"
        folder.mkdir(parents=True)
        write_tasks(folder / "tasks.jsonl", tuple(tasks))
        evaluations = {"from_version": str(continues)} if continues and number == 0 else {}
        (folder / "version.json").write_text(json.dumps({"harness_id": "h", "evaluations": evaluations}))
    (run / "config.yaml").touch()
    return run


ROPES = "A rope of 12 m is cut into 3 equal pieces. How long is each piece, in metres?"


@pytest.fixture
def apart(tmp_path: Path) -> Apart:
    evolved = task("a", "A rope is cut thrice, then once more. How many pieces are there?", 1)
    return Apart([str(archived(tmp_path / "run", [[task("a", ROPES)], [evolved]]))])


@pytest.mark.parametrize(
    ("seed", "why"),
    [
        pytest.param(task("a", "Another question altogether?"), "is a chain that was evolved", id="its chain"),
        pytest.param(task("b", ROPES.upper().replace(" ", "  ")), "the same question as a", id="its text"),
        pytest.param(
            task("b", ROPES.replace("12", "45.5").replace("3", "9")), "the same text as a with other", id="its pattern"
        ),
        pytest.param(task("b", ROPES.replace("rope", "cord")), "nearly the same text as a", id="nearly its text"),
        pytest.param(
            task("b", "A rope is cut thrice, then once more. How many pieces are there?"),
            "the same question as a@1",
            id="a task evolved from it",
        ),
    ],
)
def test_what_a_run_has_met_is_not_apart(apart: Apart, seed: Task, why: str) -> None:
    assert why in (apart.clash(seed) or "")


@pytest.mark.parametrize(
    "seed",
    [
        task("b", "What is the next prime after 31?"),
        task("b", "A rope has 12 knots. How many stretches lie between its knots?"),
        task("b", ROPES.replace("rope", "cord"), domain="science"),
    ],
)
def test_other_questions_are_apart(apart: Apart, seed: Task) -> None:
    assert apart.clash(seed) is None


def test_what_an_earlier_run_of_the_same_chains_met_counts_too(tmp_path: Path) -> None:
    first = archived(tmp_path / "first", [[task("a", ROPES)], [task("a", "Harder?", 1)]])
    second = archived(tmp_path / "second", [[task("a", "Harder?", 1)]], first / "archive" / "v001")
    found = Apart([str(second)])
    assert found.clash(task("b", ROPES)) == "the same question as a, which was evolved"


def test_a_single_version_can_be_given(tmp_path: Path) -> None:
    run = archived(tmp_path / "run", [[task("a", ROPES)]])
    assert Apart([str(run / "archive" / "v000")]).clash(task("b", ROPES))


def test_a_folder_without_versions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="neither a run folder"):
        Apart([str(tmp_path)])
