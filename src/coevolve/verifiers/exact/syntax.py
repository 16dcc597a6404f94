"""A small parser of mathematical expressions in the one notation of `notation`: text to a tree, nothing evaluated.

Trees are nested tuples: ("num", Number) ("sym", name) ("const", name) ("neg", x) ("add", a, b) ("sub", a, b)
("mul", a, b) ("div", a, b) ("pow", a, b) ("root", n, x) ("fun", name, args...) ("log", base, x)
("range", kind, variable, low, high, body) for sums, products and integrals.
"""

from fractions import Fraction

from coevolve.verifiers.exact import numbers
from coevolve.verifiers.exact.commands import Commands
from coevolve.verifiers.exact.tokens import CONSTANTS, Token, Tree, Unreadable, number, tokens


def parse(text: str, sign: int = 1) -> Tree:
    """The tree of `text`; `sign` chooses the branch of every plus-minus. Raises Unreadable."""
    reader = _Reader(tokens(text), sign)
    tree = reader.sum()
    if reader.peek() is not None:
        raise Unreadable(f"unexpected {reader.peek()!r}")
    return tree


class _Reader(Commands):
    """Recursive descent over tokens; depth is bounded by the nesting cap of the notation."""

    def __init__(self, items: list[Token], sign: int) -> None:
        super().__init__(items)
        self.sign = sign

    def sum(self) -> Tree:
        tree = self.term()
        while (operator := self.peek()) is not None:
            if operator in ("+", "-") and self.kind() == "op":
                self.take()
                tree = ("add" if operator == "+" else "sub", tree, self.term())
            elif operator in ("pm", "mp") and self.kind() == "cmd":
                self.take()
                plus = (operator == "pm") == (self.sign > 0)
                tree = ("add" if plus else "sub", tree, self.term())
            else:
                break
        return tree

    def term(self) -> Tree:
        tree = self.signed()
        while True:
            operator, kind = self.peek(), self.kind()
            if operator in ("*", "/") or (kind == "cmd" and operator in ("cdot", "times")):
                self.take()
                right = self.signed()
                tree = ("div" if operator == "/" else "mul", tree, right)
            elif self.starts_factor():
                tree = ("mul", tree, self.power())
            else:
                return tree

    def signed(self) -> Tree:
        operator = self.peek()
        if operator in ("+", "-") and self.kind() == "op":
            self.take()
            inner = self.signed()
            return ("neg", inner) if operator == "-" else inner
        if operator in ("pm", "mp") and self.kind() == "cmd":
            self.take()
            inner = self.signed()
            return inner if (operator == "pm") == (self.sign > 0) else ("neg", inner)
        return self.power()

    def starts_factor(self) -> bool:
        """Whether a factor can follow without a sign between."""
        text, kind = self.peek(), self.kind()
        if kind == "num":
            return self.items[self.place - 1].kind != "num"
        if kind == "letter" or (kind == "op" and text in ("(", "[")):
            return True
        if text == "|":
            return self.bars == 0
        return (kind == "cmd" and text not in ("pm", "mp", "cdot", "times", "rfloor", "rceil", "}", "|", "circ")) or (
            text == "{" and kind == "op"
        )

    def power(self) -> Tree:
        base_at = self.place
        tree = self.postfix(self.atom())
        if self.peek() == "^" and self.kind() == "op":
            self.take()
            if self.kind() == "cmd" and self.peek() == "circ":
                self.take()
                return ("mul", tree, ("div", ("const", "pi"), number(180)))
            tree = ("pow", tree, self.exponent())
            tree = self.postfix(tree)
            if self.peek() == "^" and self.items[base_at].text != "(":
                raise Unreadable("double power")
        return tree

    def exponent(self) -> Tree:
        if self.peek() == "{":
            return self.group()
        if self.peek() in ("-", "+") and self.kind() == "op":
            negative = self.take() == "-"
            inner = self.exponent()
            return ("neg", inner) if negative else inner
        tree = self.postfix(self.atom())
        if self.peek() == "^":
            self.take()
            tree = ("pow", tree, self.exponent())
        return tree

    def postfix(self, tree: Tree) -> Tree:
        while self.peek() == "!" and self.kind() == "op":
            self.take()
            if self.peek() == "!":
                self.take()
                tree = ("fun", "double_factorial", tree)
            else:
                tree = ("fun", "factorial", tree)
        return tree

    def group(self) -> Tree:
        self.take("{")
        bars, self.bars = self.bars, 0
        tree = self.sum()
        self.bars = bars
        self.take("}")
        return tree

    def atom(self) -> Tree:
        text, kind = self.peek(), self.kind()
        if kind == "num":
            return self.number()
        if kind == "letter":
            return self.letter()
        if kind == "cmd":
            return self.command()
        if text == "{":
            return self.group()
        if text == "(" or (text == "[" and kind == "op"):
            self.take()
            bars, self.bars = self.bars, 0
            tree = self.sum()
            self.bars = bars
            self.take(")" if text == "(" else "]")
            return tree
        if text == "|" and kind == "op":
            self.take()
            self.bars += 1
            tree = self.sum()
            self.bars -= 1
            self.take("|")
            return ("fun", "abs", tree)
        raise Unreadable(f"unexpected {text!r}")

    def number(self) -> Tree:
        written = self.take()
        if len(written) > numbers.DIGITS:
            raise Unreadable("a number too long")
        if self.peek() == "_":
            self.take()
            return in_base(written, self.plain_index())
        if self.peek() == "overline" and "." in written:
            return self.repeating(written)
        value = numbers.parse(written)
        if value is None:
            raise Unreadable(f"number {written[:20]}")
        if self.peek() == "frac" and value.form == "integer":
            mixed = self.mixed(value)
            if mixed is not None:
                return mixed
        return ("num", value)

    def mixed(self, whole: numbers.Number) -> Tree | None:
        """`2\\frac{1}{3}` is a mixed number when both parts are plain integers."""
        start = self.place
        fraction = self.command()
        if fraction[0] == "div" and fraction[1][0] == fraction[2][0] == "num":
            top, bottom = fraction[1][1], fraction[2][1]
            if top.form == bottom.form == "integer" and 0 < top.value < bottom.value:
                return ("num", numbers.Number(whole.value + top.value / bottom.value, "fraction"))
        self.place = start
        return None

    def repeating(self, written: str) -> Tree:
        self.take("overline")
        self.take("{")
        digits = self.take()
        self.take("}")
        if not digits.isdigit() or len(digits) > 60:
            raise Unreadable("repeating part")
        head = numbers.parse(written)
        if head is None:
            raise Unreadable("repeating decimal")
        places = len(written.partition(".")[2])
        tail = Fraction(int(digits), (10 ** len(digits) - 1) * 10**places)
        return ("num", numbers.Number(head.value + tail, "fraction"))

    def letter(self) -> Tree:
        name = self.take()
        if self.peek() == "_":
            self.take()
            name = f"{name}_{self.subscript()}"
        while self.peek() == "'":
            self.take()
            name += "'"
        return ("const", CONSTANTS[name]) if name in CONSTANTS else ("sym", name)

    def subscript(self) -> str:
        """A subscript as part of a name; one that computes is not read."""
        if self.peek() != "{":
            return self.take()
        self.take()
        parts = []
        while self.peek() not in ("}", None):
            if self.peek() in ("{", "^", "+", "-", "*", "/", "("):
                raise Unreadable("a computed index")
            parts.append(self.take())
        self.take("}")
        return "".join(parts)

    def plain_index(self) -> int:
        text = self.subscript()
        if not text.isdigit() or len(text) > 2:
            raise Unreadable("a base that is no number")
        return int(text)


def in_base(written: str, base: int) -> Tree:
    """A whole number written in another base. Raises Unreadable."""
    if not written.isalnum() or not 2 <= base <= 36:
        raise Unreadable("a number in another base")
    try:
        return number(int(written, base))
    except ValueError:
        raise Unreadable(f"{written} in base {base}") from None
