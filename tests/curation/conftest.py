"""Small curations: a configuration as the command line gives it, and records to feed it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coevolve.build import compose, load
from coevolve.curate import curate
from coevolve.curation.curated import AUDIT, EVOLUTION, HELD_OUT
from coevolve.curation.settings import CurateConfig


def addition(number: int, **more: Any) -> dict[str, Any]:
    """A sum that shares no wording with its siblings beyond the template."""
    things = ("pears", "coins", "stamps", "shells", "cards", "beads", "books", "plums", "rings", "masks")
    places = ("box", "jar", "drawer", "garden", "wagon", "cellar", "basket", "attic", "barn", "tin")
    thing, place = things[number % 10], places[number // 10 % 10]
    question = f"The {place} number {number} holds {number} {thing} and {number + 3} old {thing}. How many in all?"
    return {"id": f"m{number}", "domain": "math", "question": question, "answer": str(2 * number + 3), **more}


def written(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


class Desk:
    """Runs curations in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def config(self, *overrides: str) -> CurateConfig:
        given = {word.partition("=")[0] for word in overrides}
        rest = [word for word in ("benchmarks=[]", f"out={self.folder / 'out'}") if word.partition("=")[0] not in given]
        return load(compose(*overrides, *rest, config_name="curate"), CurateConfig)

    def curate(self, *overrides: str) -> Path:
        config = self.config(*overrides)
        curate(config)
        return Path(str(config.out))

    def ids(self, out: Path) -> set[str]:
        return {row["id"] for name in (EVOLUTION, HELD_OUT) for row in rows(out / name)}

    def audit(self, out: Path, **wanted: str) -> list[dict[str, Any]]:
        return [row for row in rows(out / AUDIT) if all(row[name] == value for name, value in wanted.items())]


@pytest.fixture(scope="session")
def curated_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fifteen sums, curated: for tests that copy it."""
    folder = tmp_path_factory.mktemp("curated")
    seeds = written(folder / "s.jsonl", *(addition(number) for number in range(15)))
    return Desk(folder).curate(f"seeds={seeds}")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def sums() -> Callable[[int], list[dict[str, Any]]]:
    return lambda count: [addition(number) for number in range(count)]
