"""A run says which code made it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coevolve import commit


def said(folder: Path) -> str:
    command = [sys.executable, "-c", "from commit import code_commit; print(code_commit())"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@t")
    subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, check=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_the_commit_is_that_of_the_checkout_which_tracks_the_code(tmp_path: Path) -> None:
    copy = Path(shutil.copy(commit.__file__, tmp_path / "commit.py"))
    git(tmp_path, "init")
    assert said(tmp_path) == "", "installed into somebody else's repository"
    git(tmp_path, "add", "commit.py")
    git(tmp_path, "commit", "-m", "x")
    clean = said(tmp_path)
    assert len(clean) == 12
    assert int(clean, 16) >= 0
    copy.write_text(copy.read_text() + "\n")
    assert said(tmp_path) == f"{clean}-dirty"
