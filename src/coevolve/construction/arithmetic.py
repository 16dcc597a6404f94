"""Questions that are nothing but a piece of arithmetic: exact evaluation and masking of one number in it."""

import ast
import re
from collections.abc import Iterator
from fractions import Fraction

QUESTION = re.compile(
    r"(?P<ask>What is|What does|Calculate|Compute:?|Evaluate:?|Find|Work out)\s+(?P<sum>[-+*/().\d\s×÷−]+?)"
    r"(?:\s+equal)?\s*[=?.\s]*\Z"
)
SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-"})
LONGEST = 200


def arithmetic_in(question: str) -> str | None:
    """The arithmetic expression that the whole question asks for, or None."""
    found = QUESTION.match(question.strip())
    if found is None or len(found["sum"]) > LONGEST:
        return None
    text = found["sum"].translate(SIGNS).strip()
    return text if re.search(r"\d", text) and evaluated(text) is not None else None


def evaluated(text: str) -> Fraction | None:
    """The exact value of numbers joined by + - * / and brackets, or None."""
    try:
        return _value(ast.parse(text, mode="eval").body, text)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr, text: str) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Fraction(ast.get_source_segment(text, node) or "")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _value(node.operand, text)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, text), _value(node.right, text)
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
    raise ValueError(f"not plain arithmetic: {ast.dump(node)[:60]}")


def masks(text: str, value: Fraction) -> Iterator[tuple[str, str]]:
    """(expression with n in place of one number, that number), where the number is the only one that gives `value`."""
    for found in re.finditer(r"(?<![\d.])\d+(?![\d.])", text):
        head, rest = text[: found.start()], text[found.end() :]
        at = [evaluated(f"{head}({n}){rest}") for n in (0, 1, 2)]
        if None in at:
            continue
        zero, one, two = (number or Fraction(0) for number in at)
        slope = one - zero
        if slope != 0 and two - one == slope and zero + slope * int(found[0]) == value:
            yield f"{head}n{rest}", found[0]
