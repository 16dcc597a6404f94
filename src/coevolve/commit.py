"""Which commit of this code is running."""

import shutil
import subprocess
from pathlib import Path


def code_commit() -> str:
    """The commit (12 hex digits) of the checkout that tracks this file, with `-dirty` when its files differ from it.

    Empty for an installed package, also one that lies inside somebody else's repository.
    """
    git = shutil.which("git")
    if git is None or not _git(git, "ls-files", "--error-unmatch", "commit.py"):
        return ""
    return _git(git, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")


def _git(git: str, *words: str) -> str:
    command = [git, "-C", str(Path(__file__).parent), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
