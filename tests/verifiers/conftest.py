import asyncio
from collections.abc import Iterator

import pytest

from coevolve.config import VerificationConfig
from coevolve.verifiers.base import Verifiers

CONFIG = VerificationConfig(
    allow_unsafe=False,
    quorum=2,
    certificates=["program", "tests", "derivation", "quorum"],
    workers=2,
    checker_seconds=2.5,
    checker_memory_mb=1024,
    case_seconds=3.0,
    suite_seconds=20.0,
    sandbox_memory_mb=512,
    output_bytes=1 << 20,
    sandbox_processes=2,
)


@pytest.fixture(scope="session")
def verifiers() -> Iterator[Verifiers]:
    made = Verifiers(CONFIG)
    asyncio.run(made.warm())
    yield made
    asyncio.run(made.close())
