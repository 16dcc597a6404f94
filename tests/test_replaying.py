"""A replay's configuration: the recorded run's, changed by what is typed beside it, and by nothing else."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.errors import ConfigError, DataError
from coevolve.identity import config_hash, fixed_hash
from coevolve.replaying import as_recorded, asks_replay, replay_note

RECORDED = ("experiment=machinery", "rounds=2", "seeds.per_domain=3", "gate.cost_cap='1.25'", "name=first", "seed=5")


def plain(*words: str) -> dict[str, Any]:
    return load(compose(*words), RunConfig).model_dump(mode="json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "first" / "journal").mkdir(parents=True)
    (tmp_path / "first" / "journal" / "r000.jsonl").touch()
    (tmp_path / "first" / "config.yaml").write_text(yaml.safe_dump(plain(*RECORDED)))
    return tmp_path / "first"


def replayed(folder: Path, *words: str) -> RunConfig:
    typed = ("models=replay", f"replay.path={folder}", *words)
    return RunConfig.model_validate(as_recorded(plain(*typed), plain(), typed))


def test_alone_it_is_the_recorded_run_under_a_name_of_its_own(folder: Path) -> None:
    found, recorded = replayed(folder), load(compose(*RECORDED), RunConfig)
    assert found.name == "replay-of-first"
    assert found.replay.path == str(folder)
    same = {"name": None, "replay": None}
    assert found.model_copy(update=same) == recorded.model_copy(update=same)
    assert config_hash(found) == config_hash(recorded)
    assert fixed_hash(found, "") == fixed_hash(recorded, "")


def test_the_same_words_again_change_nothing_and_others_are_heeded(folder: Path) -> None:
    assert config_hash(replayed(folder, *RECORDED)) == config_hash(load(compose(*RECORDED), RunConfig))
    found = replayed(folder, "gate.cost_cap='2.0'", "rounds=8", "ablation=online", "domain=math", "name=second")
    assert (found.gate.cost_cap, found.rounds, found.ablation.name, found.name) == ("2.0", 8, "online", "second")
    assert found.domain.include == ["math"]
    assert (found.seed, found.seeds.per_domain) == (5, 3)


def test_a_value_typed_as_it_is_by_default_is_heeded_too(folder: Path) -> None:
    assert replayed(folder).seed == 5
    assert replayed(folder, "seed=0").seed == 0
    assert replayed(folder, "gate=paper").gate.cost_cap == "1.5"


def test_models_and_solver_are_always_the_recorded_ones(folder: Path) -> None:
    found = replayed(folder, "solver=embedded_smol")
    assert (found.models.name, found.solver.name) == ("procedural", "scripted")


def test_half_a_command_or_no_recording_is_one_line(folder: Path) -> None:
    assert not asks_replay(plain())
    for words in (("models=replay",), (f"replay.path={folder}",)):
        typed = plain(*words)
        assert asks_replay(typed)
        with pytest.raises(ConfigError, match="models=replay"):
            as_recorded(typed, plain(), words)
    with pytest.raises(DataError, match="no recording there"):
        replayed(folder / "journal")


def test_a_recording_of_other_code_is_told(folder: Path) -> None:
    assert replay_note("run", "abc") == "replaying run: no model is called"
    (folder / "summary.json").write_text('{"commit": "def"}')
    assert "recorded by the code of def, this is abc" in replay_note(str(folder), "abc")
