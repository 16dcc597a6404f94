"""Python text read as a tree, quietly and within what the parser can bear."""

import ast
import warnings

UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def tree(text: str) -> ast.Module | None:
    """The syntax tree of a program; None when the text is none. Warnings about the text are nobody's business here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except UNPARSABLE:
            return None
