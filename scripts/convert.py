"""Weights from a GGUF file to a folder that trains, and back: model=… out=<folder or file.gguf> [like=<GGUF>]."""

from coevolve.interrupts import loading

with loading():
    from coevolve.build import entry
    from coevolve.training.config import ConvertConfig
    from coevolve.training.convert import convert


def main(config: ConvertConfig) -> int:
    """Convert once."""
    convert(config, print)
    return 0


if __name__ == "__main__":
    entry(main, ConvertConfig, "convert")
