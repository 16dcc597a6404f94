"""The second opinion: math-verify, in a process of its own that may be killed at any time."""

import logging
from collections.abc import Callable

Opinion = Callable[[str, str, int], bool | None]


def load() -> Opinion:
    """The function `(gold, answer, seconds) -> equal`, None when a side reads as nothing. Imports take a second."""
    from math_verify import ExprExtractionConfig, LatexExtractionConfig, StringExtractionConfig, parse, verify

    for name in ("math_verify", "latex2sympy2_extended"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = (LatexExtractionConfig(boxed_match_priority=0), ExprExtractionConfig(), StringExtractionConfig())

    def equal(gold: str, answer: str, seconds: int) -> bool | None:
        shown = answer if "\\boxed" in answer else rf"\boxed{{{answer}}}"
        sides = [
            parse(text, extraction_config=settings, parsing_timeout=seconds, raise_on_error=False)
            for text in (gold if "$" in gold else f"${gold}$", shown)
        ]
        return bool(verify(*sides, timeout_seconds=seconds, raise_on_error=False)) if all(sides) else None

    equal("1", "1", 5)
    return equal
