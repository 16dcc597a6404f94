"""Mathematical answers: typed, exact first, to many digits next; a unit beside the number may be left out."""

from coevolve.verifiers.tools import Tools
from coevolve.verifiers.typed import TypedVerifier


class MathVerifier(TypedVerifier):
    """Verifier of the domain `math`."""

    def __init__(self, tools: Tools) -> None:
        super().__init__("math", tools)
