import asyncio
from collections.abc import Iterator

import pytest

from coevolve.config import VerificationConfig
from coevolve.sandbox.sandbox import Sandbox

LIMITS = VerificationConfig(
    allow_unsafe=False,
    quorum=2,
    certificates=["program", "tests"],
    workers=1,
    checker_seconds=2.5,
    checker_memory_mb=1024,
    case_seconds=3.0,
    suite_seconds=10.0,
    sandbox_memory_mb=512,
    output_bytes=1 << 20,
    sandbox_processes=2,
)


@pytest.fixture(scope="session")
def limits() -> VerificationConfig:
    return LIMITS


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    made = Sandbox(LIMITS)
    yield made
    asyncio.run(made.close())
