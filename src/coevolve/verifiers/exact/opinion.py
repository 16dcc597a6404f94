"""The second opinion: math-verify, in a process of its own that may be killed at any time."""

import logging

from latex2sympy2_extended import NormalizationConfig
from math_verify import ExprExtractionConfig, LatexExtractionConfig, StringExtractionConfig, parse, verify

for name in ("math_verify", "latex2sympy2_extended"):
    logging.getLogger(name).setLevel(logging.CRITICAL)


def equal(gold: str, answer: str, seconds: int) -> bool | None:
    """Whether math-verify holds the answers equal (its own settings); None when it reads either side as nothing."""
    boxes = LatexExtractionConfig(boxed_match_priority=0, normalization_config=NormalizationConfig(units=False))
    settings = (boxes, ExprExtractionConfig(), StringExtractionConfig())
    sides = [
        parse(text, extraction_config=settings, parsing_timeout=seconds, raise_on_error=False)
        for text in (_dressed(gold), answer if "\\boxed" in answer else rf"\boxed{{{answer}}}")
    ]
    if not all(sides):
        return None
    return bool(verify(sides[0], sides[1], timeout_seconds=seconds, raise_on_error=False))


def _dressed(text: str) -> str:
    return text if "$" in text else f"${text}$"
