"""Fails when a file has over 300 lines or a function over 60: python scripts/sizes.py."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES, FUNCTION_LINES, SCRIPT_LINES = 300, 60, 30
THIN = "entry("


def too_long(path: Path) -> Iterator[str]:
    """What in `path` is over its limit."""
    text = path.read_text()
    lines = text.count("\n")
    most = SCRIPT_LINES if path.parent.name == "scripts" and THIN in text else FILE_LINES
    if lines > most:
        yield f"{path}: {lines} lines, at most {most}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines, at most {FUNCTION_LINES}"


faults = [
    fault for top in ("src", "scripts", "tests") for path in sorted(Path(top).rglob("*.py")) for fault in too_long(path)
]
print("\n".join(faults) or "sizes: every file and function is within its limit")
sys.exit(bool(faults))
