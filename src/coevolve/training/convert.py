"""Weights between their two forms: a GGUF file that llama.cpp serves, a model folder that trainers and vLLM read.

Both need transformers and gguf (extra `train`). A folder becomes GGUF by way of the file that its training began with:
tokenizer, chat template and sizes are that file's, the tensors are the folder's.
"""

import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from coevolve.errors import ConfigError, DataError, MissingExtra
from coevolve.llm.weights import CATALOG, locate
from coevolve.training.config import ConvertConfig

SUFFIX = ".gguf"
NAMES_OF_FORM = (
    "quantization_config",
    "_name_or_path",
    "transformers_version",
    "architectures",
    "dtype",
    "torch_dtype",
)
"""What a configuration says of the file it was read from, not of the model."""
ROTATED = {"llama": True, "qwen2": False, "qwen3": False}
"""Architecture -> whether llama.cpp keeps query and key rows in another order than transformers does."""


def convert(config: ConvertConfig, say: Callable[[str], None]) -> None:
    """Write `out`, whole or not at all. Raises UserError for weights that are absent or of another form."""
    if missing := [name for name in ("gguf", "torch", "transformers") if find_spec(name) is None]:
        raise MissingExtra(f"converting weights needs {', '.join(missing)}: pip install 'coevolve[train]'")
    out = Path(config.out)
    if out.exists():
        raise ConfigError(f"out={out}: it is there already; give another name")
    writing = out.with_name(f".{out.name}.writing")
    writing.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == SUFFIX:
        like = _gguf(config.like, "like")
        to_gguf(Path(config.model), like, writing, config.type)
        cure = f"python scripts/evaluate.py solver=embedded solver.path={out} …"
    else:
        to_folder(_gguf(config.model, "model"), writing)
        cure = f"python scripts/train.py model={out} …"
    writing.rename(out)
    say(f"converted: {out}; next: {cure}")


def _gguf(named: str, key: str) -> Path:
    path = Path(named).expanduser()
    if path.is_file() or path.suffix == SUFFIX:
        return locate("", str(path))
    if named not in {weights.name for weights in CATALOG}:
        known = ", ".join(weights.name for weights in CATALOG)
        raise ConfigError(f"{key}={named}: no GGUF file and no pinned weights; known: {known}")
    return locate(named, None)


def to_folder(gguf: Path, folder: Path) -> None:
    """Config, tokenizer with its chat template, and float32 weights.

    transformers reads GGUF but refuses to save what it has read, so the weights go through a fresh model of its form.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    read = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    settings = {name: value for name, value in read.config.to_dict().items() if name not in NAMES_OF_FORM}
    fresh = AutoModelForCausalLM.from_config(type(read.config)(**settings), dtype=torch.float32)
    fresh.load_state_dict(read.state_dict(), strict=True)
    fresh.save_pretrained(folder)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)


def to_gguf(folder: Path, like: Path, out: Path, kind: str) -> None:
    """The folder's tensors in the form of `like`. Raises DataError where they are not of that model's form."""
    import gguf

    read = gguf.GGUFReader(like)
    architecture = str(_value(read, "general.architecture"))
    if architecture not in ROTATED:
        raise ConfigError(f"like={like}: {architecture} is converted by llama.cpp's convert_hf_to_gguf.py, not here")
    shapes = {tensor.name: tuple(int(size) for size in reversed(tensor.shape)) for tensor in read.tensors}
    stored = gguf.GGMLQuantizationType[kind.upper()]
    writer = gguf.GGUFWriter(out, architecture)
    for field in read.fields.values():
        if not field.name.startswith("GGUF.") and field.name not in {"general.architecture", "general.file_type"}:
            inner = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(field.name, field.contents(), field.types[0], inner)
    writer.add_file_type(gguf.LlamaFileType[f"MOSTLY_{kind.upper()}"])
    for name, tensor in _named(folder, read, architecture):
        if shapes.pop(name, None) != tensor.shape:
            raise DataError(
                f"model={folder}: {name} of shape {tensor.shape} is not in {like}; give the GGUF it began as"
            )
        if tensor.ndim == 1:
            writer.add_tensor(name, tensor)
        else:
            writer.add_tensor(name, gguf.quants.quantize(tensor, stored), raw_dtype=stored)
    if shapes:
        raise DataError(f"model={folder}: it lacks {', '.join(sorted(shapes)[:3])}, which {like} has")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _named(folder: Path, read: Any, architecture: str) -> Iterator[tuple[str, Any]]:
    """Each tensor of the folder as float32, by llama.cpp's name and in its order of rows."""
    import gguf
    import torch
    from transformers import AutoModelForCausalLM

    try:
        described = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    except (OSError, ValueError) as error:
        raise DataError(f"model={folder}: no model folder ({str(error).splitlines()[0]})") from error
    blocks = int(_value(read, f"{architecture}.block_count"))
    heads = int(_value(read, f"{architecture}.attention.head_count"))
    groups = int(_value(read, f"{architecture}.attention.head_count_kv"))
    names = gguf.get_tensor_name_map({arch: key for key, arch in gguf.MODEL_ARCH_NAMES.items()}[architecture], blocks)
    for hf_name, weight in model.state_dict().items():
        if described.get("tie_word_embeddings") and hf_name == "lm_head.weight":
            continue
        name = names.get_name(hf_name, try_suffixes=(".weight", ".bias"))
        if name is None:
            raise DataError(f"model={folder}: llama.cpp knows no {hf_name} in {architecture}")
        tensor = weight.float().numpy()
        if ROTATED[architecture] and (turned := {"attn_q": heads, "attn_k": groups}.get(name.split(".")[-2])):
            tensor = tensor.reshape(turned, 2, -1, *tensor.shape[1:]).swapaxes(1, 2).reshape(tensor.shape)
        yield name, tensor


def _value(read: Any, name: str) -> Any:
    return read.fields[name].contents()
