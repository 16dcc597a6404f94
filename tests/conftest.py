"""Fixtures shared by the suite."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_is_heeded() -> Iterator[None]:
    """A shell ignores Ctrl-C in what it puts into the background, and everything started there would inherit that."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def shared_data() -> Path:
    """The folder of public items that some tests use; they skip where it is missing."""
    folder = Path(os.environ.get("COEVOLVE_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder} (set COEVOLVE_TEST_DATA)")
    return folder
