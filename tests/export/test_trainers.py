"""The trainers' own loaders take our files, and one step of each trains on them (make test-train)."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.export.conftest import configured

from coevolve.build import compose, load
from coevolve.export.job import export
from coevolve.llm.weights import locate
from coevolve.training.config import TrainConfig

pytestmark = pytest.mark.train
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@pytest.fixture(scope="module")
def student(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random Qwen2 with a byte-level tokenizer, saved as a folder."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("student")
    special = ["<|user|>", "<|assistant|>", "<|system|>", "<|end|>", "<|pad|>"]
    vocabulary = {letter: n for n, letter in enumerate(sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()))}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens(special)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|end|>", pad_token="<|pad|>", chat_template=TEMPLATE
    )
    tokenizer.save_pretrained(folder)
    shape = transformers.Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    transformers.AutoModelForCausalLM.from_config(shape).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def exports(runs: Path, benchmarks: Path, student: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("exports")
    any_rate = ("format.pass_rate_above=-1", "format.pass_rate_below=2", "mix=even", "validation=0.5")
    for name in ("sft", "grpo"):
        words = (f"format={name}", *any_rate, f"student.tokenizer={student}", "student.total_tokens=4096")
        export(configured(runs, benchmarks, folder / name, *words), print)
    return {name: folder / name for name in ("sft", "grpo")}


def test_tokens_are_counted_with_the_students_own_tokenizer(exports: dict[str, Path], student: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(student)
    for line in (exports["sft"] / "jsonl" / "train.jsonl").read_text().splitlines():
        row = json.loads(line)
        whole = tokenizer.apply_chat_template(row["messages"], tokenize=False)
        assert row["total_tokens"] == len(tokenizer(whole)["input_ids"])
        assert 0 < row["prompt_tokens"] < row["total_tokens"]


def test_verl_loads_the_rl_file(exports: dict[str, Path], student: Path) -> None:
    pytest.importorskip("verl")
    from omegaconf import OmegaConf
    from transformers import AutoTokenizer
    from verl.utils.dataset.rl_dataset import RLHFDataset

    config = OmegaConf.create({"max_prompt_length": 3072, "truncation": "error", "prompt_key": "prompt"})
    files = [str(exports["grpo"] / "verl" / f"rl_{split}.parquet") for split in ("train", "validation")]
    data = RLHFDataset(data_files=files, tokenizer=AutoTokenizer.from_pretrained(student), config=config)
    assert len(data) > 0
    first = data[0]
    assert first["data_source"].startswith("coevolve/")
    assert json.loads(first["reward_model"]["ground_truth"])["draft"]["question"]
    assert first["extra_info"]["harness_id"]


def test_verl_loads_the_sft_file(exports: dict[str, Path], student: Path) -> None:
    pytest.importorskip("verl")
    from omegaconf import OmegaConf
    from transformers import AutoTokenizer
    from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset

    config = OmegaConf.create({"max_length": 4096, "truncation": "error", "pad_mode": "no_padding"})
    tokenizer = AutoTokenizer.from_pretrained(student)
    data = MultiTurnSFTDataset([str(exports["sft"] / "verl" / "sft_train.parquet")], tokenizer, config)
    assert len(data) > 0
    first = data[0]
    assert 0 < int(first["loss_mask"].sum()) < len(first["input_ids"])


@pytest.mark.parametrize("recipe", ["sft_35b", "sft_27b", "grpo_4b"])
def test_verl_knows_every_key_of_our_recipes(recipe: str) -> None:
    verl = pytest.importorskip("verl")
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir

    recipe_arguments = load(compose(f"training={recipe}", "data=x", "out=o", config_name="train"), TrainConfig)
    name = "ppo_trainer" if recipe == "grpo_4b" else "sft_trainer_engine"
    folder = Path(next(iter(verl.__path__))) / "trainer" / "config"
    words = [
        f"{key}={json.dumps(value) if not isinstance(value, str) else value}"
        for key, value in recipe_arguments.training.flat.items()
    ]
    with initialize_config_dir(str(folder), version_base=None):
        composed = hydra_compose(name, overrides=words)
    assert composed is not None


@pytest.mark.parametrize(("recipe", "data"), [("sft_tiny", "sft"), ("grpo_tiny", "grpo")])
def test_trl_trains_on_it(recipe: str, data: str, exports: dict[str, Path], student: Path, tmp_path: Path) -> None:
    pytest.importorskip("trl")
    script = Path(__file__).resolve().parents[2] / "scripts" / "train.py"
    steps = "training.arguments.max_steps=1"
    words = [f"training={recipe}", f"data={exports[data]}", f"model={student}", f"out={tmp_path / 'out'}", steps]
    environment: dict[str, Any] = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, str(script), *words], capture_output=True, text=True, check=False, timeout=600, env=environment
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert list((tmp_path / "out").glob("*.safetensors"))


def test_weights_go_to_a_folder_and_back(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    numpy = pytest.importorskip("numpy")
    script = Path(__file__).resolve().parents[2] / "scripts" / "convert.py"
    folder, back = tmp_path / "folder", tmp_path / "back.gguf"
    for words in ([f"out={folder}", "model=smollm2-135m-instruct"], [f"out={back}", f"model={folder}", "type=f16"]):
        done = subprocess.run([sys.executable, str(script), *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    first, second = (
        {
            tensor.name: gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            for tensor in gguf.GGUFReader(path).tensors
        }
        for path in (locate("smollm2-135m-instruct", None), back)
    )
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        numpy.testing.assert_allclose(second[name], tensor, rtol=1e-3, atol=1e-4, err_msg=name)


def test_weights_of_another_form_are_one_line(student: Path, tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    script = Path(__file__).resolve().parents[2] / "scripts" / "convert.py"
    words = [f"model={student}", f"out={tmp_path / 'x.gguf'}"]
    done = subprocess.run([sys.executable, str(script), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "give the GGUF it began as" in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())
