"""A finished run whose files were damaged is not called complete."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coevolve.archive import Archive
from coevolve.errors import DataError
from coevolve.summary import check_whole, lengths_and_losses

REPOSITORY = Path(__file__).resolve().parents[1]


def evolve(folder: Path) -> subprocess.CompletedProcess[str]:
    words = ("experiment=machinery", "domain=math", "rounds=1", "seeds.per_domain=2", "ablation=task_only")
    command = [sys.executable, "scripts/evolve.py", *words, "tracking=off", f"outputs={folder}", "name=run"]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=240)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outputs")
    done = evolve(folder)
    assert done.returncode == 0, done.stderr
    assert "by round: question characters" in done.stdout
    return folder / "run"


def damaged(finished: Path, folder: Path, name: str, text: str) -> Path:
    run = shutil.copytree(finished, folder / "run")
    (run / name).write_text(text)
    return run


def test_an_undamaged_run_is_whole(finished: Path) -> None:
    check_whole(finished, Archive(finished / "archive", None))


@pytest.mark.parametrize("name", ["ledger.jsonl", "archive/v001/tasks.jsonl"])
@pytest.mark.parametrize("damage", ["lines lost", "a line cut"])
def test_a_damaged_file_is_named_with_the_cure(finished: Path, tmp_path: Path, name: str, damage: str) -> None:
    lines = (finished / name).read_text().splitlines(keepends=True)
    kept = lines[:1] if damage == "lines lost" else [*lines[:-1], lines[-1][:20]]
    run = damaged(finished, tmp_path, name, "".join(kept))
    with pytest.raises(DataError, match=name.rpartition("/")[2]):
        check_whole(run, Archive(run / "archive", None))


def test_the_same_command_says_so_in_one_line(finished: Path, tmp_path: Path) -> None:
    damaged(finished, tmp_path, "ledger.jsonl", "{}\n")
    done = evolve(tmp_path)
    assert done.returncode == 2
    assert "complete" not in done.stdout
    assert "doctor.py" in done.stderr
    assert done.stderr.strip().count("\n") == 0


def test_length_truncation_and_parse_failures_are_said_by_round() -> None:
    rows = [
        {"question_chars": 60.4, "truncated": 0.0, "unparsed": 0.05},
        {"question_chars": 81.0, "truncated": 0.1, "unparsed": 0.0},
    ]
    assert lengths_and_losses(rows) == "by round: question characters 60 81 | truncated 0% 10% | unparsed 5% 0%"
