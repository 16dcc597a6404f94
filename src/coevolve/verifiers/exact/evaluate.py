"""Values of expression trees: exact fractions wherever possible, else numbers of many digits. Always bounded."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from mpmath import mp  # type: ignore[import-untyped]

from coevolve.verifiers.exact import arithmetic
from coevolve.verifiers.exact.arithmetic import TooLarge, Undefined, Value
from coevolve.verifiers.exact.tokens import Tree

TERMS = 2_000
STEPS = 20_000

OPERATIONS: dict[str, Callable[..., Value]] = {
    "neg": lambda a: -a,
    "add": arithmetic.add,
    "sub": lambda a, b: arithmetic.add(a, -b),
    "mul": arithmetic.multiply,
    "div": arithmetic.divide,
    "pow": arithmetic.power,
    "root": arithmetic.root,
}


class Evaluator:
    """Evaluates trees at one assignment of symbols; `common_log` reads a bare `log` in base ten."""

    def __init__(self, symbols: Mapping[str, Fraction], common_log: bool = False) -> None:
        self.symbols = dict(symbols)
        self.common_log = common_log
        self.steps = 0

    def value(self, tree: Tree) -> Value:
        """The value. Raises Undefined, TooLarge or NeedsDigits."""
        self.steps += 1
        if self.steps > STEPS:
            raise TooLarge
        kind = tree[0]
        if kind == "num":
            return tree[1].value
        if kind == "sym":
            return self.symbols[tree[1]]
        if kind == "const":
            return self._constant(tree[1])
        if kind == "range":
            return self._range(*tree[1:])
        if kind == "log":
            return self._log(self.value(tree[2]), self.value(tree[1]))
        if kind == "fun":
            return self._function(tree[1], [self.value(item) for item in tree[2:]])
        return OPERATIONS[kind](*(self.value(item) for item in tree[1:]))

    def _constant(self, name: str) -> Value:
        if name == "inf":
            raise Undefined
        return {"pi": mp.pi, "e": mp.e, "i": mp.mpc(0, 1)}[name] * 1

    def _function(self, name: str, args: list[Value]) -> Value:
        if name in ("ln", "log", "lg"):
            base = Fraction(10) if name == "lg" or (name == "log" and self.common_log) else None
            return self._log(args[0], base)
        if name in arithmetic.FUNCTION:
            return arithmetic.finite(arithmetic.FUNCTION[name](arithmetic.moderate(args[0])))
        if name == "exp":
            return arithmetic.power(mp.e * 1, args[0])
        return arithmetic.plain_function(name, args)

    def _log(self, value: Value, base: Value | None) -> Value:
        top = arithmetic.logarithm(value)
        return top if base is None else arithmetic.divide(top, arithmetic.logarithm(base))

    def _range(self, kind: str, variable: str, low: Tree, high: Tree, body: Tree) -> Value:
        first, last = self.value(low), self.value(high)
        if kind == "int":
            return self._integral(variable, first, last, body)
        if not (arithmetic.whole(first) and arithmetic.whole(last)) or last - first > TERMS:
            raise TooLarge
        total: Value = Fraction(0 if kind == "sum" else 1)
        outer = self.symbols.get(variable)
        for index in range(int(first), int(last) + 1):
            self.symbols[variable] = Fraction(index)
            total = (arithmetic.add if kind == "sum" else arithmetic.multiply)(total, self.value(body))
        self._restore(variable, outer)
        return total

    def _integral(self, variable: str, low: Value, high: Value, body: Tree) -> Value:
        outer = self.symbols.get(variable)

        def at(point: Any) -> Any:
            self.symbols[variable] = point
            return arithmetic.to_mp(self.value(body))

        result, error = mp.quad(at, [arithmetic.to_mp(low), arithmetic.to_mp(high)], error=True, maxdegree=7)
        self._restore(variable, outer)
        if error > mp.mpf(10) ** (-mp.dps // 2):
            raise TooLarge
        return arithmetic.finite(result)

    def _restore(self, variable: str, outer: Fraction | None) -> None:
        if outer is None:
            self.symbols.pop(variable, None)
        else:
            self.symbols[variable] = outer
