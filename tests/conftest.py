"""Fixtures shared by the suite."""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture
def shared_data() -> Path:
    """The folder of public items that some tests use; they skip where it is missing."""
    folder = Path(os.environ.get("COEVOLVE_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder} (set COEVOLVE_TEST_DATA)")
    return folder
