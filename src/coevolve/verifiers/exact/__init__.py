"""Answer equivalence without evaluation of text: own notation, exact numbers, high precision. No pydantic, no sympy."""
