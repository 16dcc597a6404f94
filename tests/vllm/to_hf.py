"""A GGUF file as a model folder that vLLM serves: python to_hf.py FILE.gguf FOLDER, with transformers and gguf.

transformers reads GGUF but refuses to save what it has read, so the weights go through a fresh model of the same form.
"""

import sys
from pathlib import Path

DROPPED = ("quantization_config", "_name_or_path", "transformers_version", "architectures", "dtype", "torch_dtype")


def convert(gguf: Path, folder: Path) -> None:
    """Write config, tokenizer with its chat template, and float32 weights; whole or not at all."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    read = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    settings = {name: value for name, value in read.config.to_dict().items() if name not in DROPPED}
    fresh = AutoModelForCausalLM.from_config(type(read.config)(**settings), dtype=torch.float32)
    fresh.load_state_dict(read.state_dict(), strict=True)
    writing = folder.with_name(f".{folder.name}.writing")
    fresh.save_pretrained(writing)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(writing)
    writing.rename(folder)


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
