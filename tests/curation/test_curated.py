"""What a curated folder is for: a run starts from it, held-out seeds stay sealed, no benchmark text gets anywhere."""

import json
import shutil
import sqlite3

import pytest

from coevolve.build import compose, load, run_folder
from coevolve.config import RunConfig
from coevolve.curation.curated import EVOLUTION, HELD_OUT, MANIFEST, READS
from coevolve.curation.held_out import open_sealed, readings
from coevolve.errors import ConfigError, DataError
from coevolve.export.config import ExportConfig
from coevolve.export.job import export
from coevolve.run import main as evolve
from coevolve.tracking.later import track

CANARY = "zxcanary"


def lines(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def run(tmp_path, curated, *overrides):
    """A small run without weights from a curated folder; its folder."""
    words = ("domain=math", "models=procedural", "solver=scripted", "seeds=curated", f"seeds.path={curated}")
    small = ("rounds=1", "seeds.per_domain=2", "seeds.screen.enabled=false", "live=false", f"outputs={tmp_path}")
    config = load(compose(*words, *small, "tracking=off", *overrides), RunConfig)
    assert evolve(config) == 0
    return run_folder(config)


@pytest.fixture
def curated(curated_once, tmp_path):
    return shutil.copytree(curated_once, tmp_path / "curated")


def test_a_run_starts_from_the_evolution_side_and_its_first_harness(curated, tmp_path):
    folder = run(tmp_path, curated)
    manifest = json.loads((curated / MANIFEST).read_text())
    version = json.loads((folder / "archive" / "v000" / "version.json").read_text())
    chains = {row["chain"] for row in rows(folder / "archive" / "v000" / "tasks.jsonl")}
    assert len(chains) == 2 and chains <= {row["id"] for row in rows(curated / EVOLUTION)}
    assert version["harness_id"] == manifest["harness_id"]
    summary = json.loads((folder / "summary.json").read_text())
    for place in (version["evaluations"]["seeds"], summary["seeds"]):
        assert (place["curated"], place["benchmarks"]) == (manifest["folder_hash"], manifest["registry"]["hash"])
        assert place["dropped"] == "read 0.00%, duplicate 0.00%, overlap 0.00%, verify 0.00%"
    assert not (curated / READS).exists()


def test_what_curation_cost_is_carried_into_the_total_and_nowhere_else(curated, tmp_path):
    folder = run(tmp_path, curated)
    paid = json.loads((curated / "cost.json").read_text())
    record = json.loads((folder / "archive" / "v000" / "version.json").read_text())
    cells = {(cell["phase"], cell["role"]): cell for cell in record["costs"]["cells"]}
    assert paid["calls"] > 0 and paid["microusd"] > 0
    assert cells["initialisation", "acquisition"]["calls"] == paid["calls"]
    assert cells["initialisation", "acquisition"]["microusd"] == paid["microusd"]
    (first, second) = json.loads((folder / "summary.json").read_text())["rounds"]
    assert first["total_usd"] == pytest.approx(paid["microusd"] / 1e6 / first["n_tasks"])
    assert second["total_usd"] > first["total_usd"] and second["c_gen_usd"] < second["total_usd"]


def test_taken_up_again_in_round_0_a_run_carries_that_cost_once(curated, tmp_path):
    folder = run(tmp_path, curated, "rounds=0")
    once = (folder / "ledger.jsonl").read_text().count('"acquisition"')
    shutil.rmtree(folder / "archive")  # as a kill before the first version leaves it
    assert run(tmp_path, curated, "rounds=0") == folder
    assert (folder / "ledger.jsonl").read_text().count('"acquisition"') == once > 0


def test_a_first_harness_outside_the_constraints_is_one_line(curated, tmp_path):
    with pytest.raises(ConfigError, match="5; give wider ones"):
        run(tmp_path, curated, "constraints.skills=5")


def test_the_shipped_harness_can_be_taken_instead(curated, tmp_path):
    folder = run(tmp_path, curated, "seeds.harness=shipped", "rounds=0")
    version = json.loads((folder / "archive" / "v000" / "version.json").read_text())
    assert version["harness_id"] != json.loads((curated / MANIFEST).read_text())["harness_id"]


def test_held_out_seeds_are_read_by_transfer_and_reporting_alone_and_each_time_is_counted(curated):
    tasks = open_sealed(curated, reader="transfer", run="outputs/transfer/a")
    assert {task.id for task in tasks} == {row["id"] for row in rows(curated / HELD_OUT)} and len(tasks) == 3
    open_sealed(curated, reader="report")
    assert [(line.reader, line.run, line.seeds) for line in readings(curated)] == [
        ("transfer", "outputs/transfer/a", 3), ("report", "", 3)
    ]  # fmt: skip
    with pytest.raises(DataError, match="transfer and report alone, not for 'evolve'"):
        open_sealed(curated, reader="evolve")
    assert len(readings(curated)) == 2


def test_the_sealed_file_is_no_seeds_file(curated, desk):
    with pytest.raises(DataError, match=r"\.sealed are not read"):
        desk.curate(f"seeds={curated / HELD_OUT}", f"out={curated.parent / 'again'}")


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (EVOLUTION, "changed since it was curated"),
        ("ledger.jsonl", "changed"),
        ("h0/workflow.yaml", "manifest.json says"),
    ],
)
def test_a_changed_folder_is_refused_by_name(curated, tmp_path, file, said):
    path = curated / file
    path.write_text(path.read_text().replace("extends: 1", "extends: 2") + ("" if "h0" in file else "\n"))
    with pytest.raises(DataError, match=said):
        run(tmp_path, curated)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (("seeds.path=null",), r"seeds\.path"),
        (("seeds=bundled", "seeds.harness=curated"), "seeds.harness=curated needs seeds=curated"),
    ],
)
def test_a_wrong_configuration_is_one_line(tmp_path, overrides, said):
    with pytest.raises(DataError, match=said):
        run(tmp_path, tmp_path, *overrides)


def test_a_folder_that_is_not_curated_is_named(tmp_path):
    with pytest.raises(DataError, match="no curated folder"):
        run(tmp_path, tmp_path / "nothing")


def test_canaries_in_benchmark_items_reach_nothing(desk, sums, tmp_path):
    text = "A {0}{1} trader sells {2} lamps for 6 coins each and pays 9 for the stall. What is left?"
    items = [
        {
            "id": f"b{n}",
            "question": text.format(CANARY, n, n + 4),
            "answer": f"{CANARY}answer{n}",
            "solution": f"{CANARY}solution{n}",
        }
        for n in range(4)
    ]
    copies = [{**item, "id": f"copy{n}", "domain": "math", "answer": str(n)} for n, item in enumerate(items)]
    notes = tmp_path / "notes.md"
    notes.write_text("Take 12 per cent of a result.\n\n" + items[0]["question"] + "\n", encoding="utf-8")
    seeds, bench = lines(tmp_path / "s.jsonl", *sums(12), *copies), lines(tmp_path / "bench.jsonl", *items)
    # passages of 200 characters: the clean paragraph stays apart from the one that repeats an item
    words = (f"seeds=[{seeds},{notes}]", f"benchmarks={bench}", "seeds.passage_chars=200")
    curated = desk.curate(*words)
    assert len(desk.audit(curated, step="overlap")) == 5
    folder = run(tmp_path / "runs", curated, "rounds=2", "ablation=full")
    track(folder, str(tmp_path / "mlflow"))
    words = (f"runs={folder}", f"benchmarks={bench}", f"out={tmp_path / 'export'}", "files=[jsonl]", "mix=math")
    export(load(compose(*words, "validation=0", config_name="export"), ExportConfig), lambda line: None)
    assert any((tmp_path / "mlflow").iterdir()) and any((tmp_path / "export").iterdir())
    assert (folder / "journal").is_dir() and any((curated / "journal").iterdir())  # the prompts are in there
    places = (curated, folder, tmp_path / "mlflow", tmp_path / "export")
    assert found(CANARY, *places) == [] and found("trader sells", *places) == []
    assert found("old pears", folder, curated) != []


def found(text, *folders):
    """The files that hold `text`, in any case."""
    places = []
    for path in (path for folder in folders for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes().lower()
        if path.suffix == ".db":
            with sqlite3.connect(path) as database:
                content += "\n".join(database.iterdump()).lower().encode()
        places += [str(path)] if text.lower().encode() in content else []
    return places
