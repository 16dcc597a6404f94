"""How named things are read: fractions, roots, functions with their loose arguments, sums and integrals."""

from abc import ABC, abstractmethod

from coevolve.verifiers.exact.tokens import CONSTANTS, FUNCTIONS, GREEK, RANGES, Cursor, Token, Tree, Unreadable, number

CLOSING = {"lfloor": ("rfloor", "floor"), "lceil": ("rceil", "ceil"), "|": ("|", "abs")}
INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan", "sinh": "arcsinh", "cosh": "arccosh", "tanh": "arctanh"}


class Commands(Cursor, ABC):
    """The half of the reader that knows names."""

    @abstractmethod
    def sum(self) -> Tree:
        """A sum of terms."""

    @abstractmethod
    def term(self) -> Tree:
        """A product."""

    @abstractmethod
    def signed(self) -> Tree:
        """A factor with its sign."""

    @abstractmethod
    def power(self) -> Tree:
        """A factor with its exponent."""

    @abstractmethod
    def exponent(self) -> Tree:
        """What follows a caret."""

    @abstractmethod
    def group(self) -> Tree:
        """A sum in braces."""

    @abstractmethod
    def atom(self) -> Tree:
        """The smallest whole."""

    @abstractmethod
    def starts_factor(self) -> bool:
        """Whether a factor can follow."""

    @abstractmethod
    def subscript(self) -> str:
        """A subscript as text."""

    def command(self) -> Tree:
        """What a name introduces. Raises Unreadable for names that no answer needs."""
        name = self.take()
        if name in ("frac", "binom"):
            top, bottom = self.tex_argument(), self.tex_argument()
            return ("div", top, bottom) if name == "frac" else ("fun", "binom", top, bottom)
        if name in ("sqrt", "cbrt"):
            return self.root(3 if name == "cbrt" else 2)
        if name in CLOSING:
            inner = self.sum()
            self.take(CLOSING[name][0])
            return ("fun", CLOSING[name][1], inner)
        if name == "overline":
            return self.conjugate()
        if name in RANGES:
            return self.range(name)
        return self.function(name) if name in FUNCTIONS else self.symbol(name)

    def symbol(self, name: str) -> Tree:
        """A constant or a Greek letter with its index."""
        if name in CONSTANTS:
            return ("const", CONSTANTS[name])
        if name not in GREEK:
            raise Unreadable(f"\\{name}")
        if self.peek() == "_":
            self.take()
            name = f"{name}_{self.subscript()}"
        return ("sym", name)

    def conjugate(self) -> Tree:
        """A bar over a number; over letters it may mean a segment, a mean or a conjugate, and is not read."""
        start = self.place
        tree = ("fun", "conj", self.group())
        if any(item.kind == "letter" and item.text not in CONSTANTS for item in self.items[start : self.place]):
            raise Unreadable("a bar over letters")
        return tree

    def tex_argument(self) -> Tree:
        """One argument as TeX takes it: a group, one digit or one letter."""
        if self.peek() == "{":
            return self.group()
        if self.kind() == "num":
            written, start = self.items[self.place].text, self.items[self.place].start
            if len(written) == 1 or not written.isdigit():
                return ("num", self._number(self.take()))
            self.items[self.place] = Token("num", written[1:], start + 1)
            return ("num", self._number(written[0]))
        return self.atom()

    @staticmethod
    def _number(written: str) -> object:
        if not written.isdigit():
            raise Unreadable("an argument without braces")
        return number(int(written))[1]

    def root(self, degree: int) -> Tree:
        """A square or other root; without braces it covers one number, letter or bracket."""
        index: Tree = number(degree)
        if self.peek() == "[":
            self.take()
            index = self.sum()
            self.take("]")
        inner = self.group() if self.peek() == "{" else self.atom()
        return ("root", index, inner)

    def function(self, name: str) -> Tree:
        """A function; without brackets it covers the factors that follow, up to a sign or another function."""
        base: Tree | None = None
        power: Tree | None = None
        while self.peek() in ("_", "^") and self.kind() == "op":
            if self.take() == "^":
                power = self.exponent()
            elif name == "log":
                base = self.group() if self.peek() == "{" else self.tex_argument()
            else:
                raise Unreadable(f"{name} with an index")
        if power is not None and power == ("neg", number(1)) and name in INVERSES:
            name, power = INVERSES[name], None
        args = self.arguments()
        if name == "log":
            if base is None and len(args) == 2:
                args, base = args[:1], args[1]
            tree: Tree = ("log", base, *args) if base is not None else ("fun", "log", *args)
        else:
            tree = ("fun", name, *args)
        if len(args) > 1 and name not in ("gcd", "lcm", "max", "min", "log"):
            raise Unreadable(f"{name} of several arguments")
        return ("pow", tree, power) if power is not None else tree

    def arguments(self) -> list[Tree]:
        """Bracketed arguments, or one loose product."""
        if self.peek() == "(" and self.kind() == "op":
            self.take()
            bars, self.bars = self.bars, 0
            args = [self.sum()]
            while self.peek() == ",":
                self.take()
                args.append(self.sum())
            self.bars = bars
            self.take(")")
            return args
        if self.peek() == "{" and self.kind() == "op":
            return [self.group()]
        tree = self.signed() if self.peek() in ("-", "+") else self.power()
        while self.starts_factor() and not (self.kind() == "cmd" and self.peek() in FUNCTIONS | RANGES):
            tree = ("mul", tree, self.power())
        return [tree]

    def range(self, kind: str) -> Tree:
        """A sum, product or integral with both bounds."""
        low: Tree | None = None
        high: Tree | None = None
        variable = ""
        while self.peek() in ("_", "^"):
            if self.take() == "^":
                high = self.group() if self.peek() == "{" else self.tex_argument()
            elif kind == "int":
                low = self.group() if self.peek() == "{" else self.tex_argument()
            else:
                self.take("{")
                variable = self.take()
                self.take_equals()
                low = self.sum()
                self.take("}")
        if low is None or high is None:
            raise Unreadable(f"{kind} without bounds")
        if kind == "int":
            body, variable = self.integrand()
        else:
            body = self.term()
        return ("range", kind, variable, low, high, body)

    def take_equals(self) -> None:
        """The sign between a running index and its start."""
        self.take("=")

    def integrand(self) -> tuple[Tree, str]:
        """The body of an integral up to its `dx`."""
        level = 0
        for place in range(self.place, len(self.items) - 1):
            text = self.items[place].text
            level += (text in "([{") - (text in ")]}") if len(text) == 1 else 0
            if level == 0 and text == "d" and self.items[place + 1].kind == "letter" and place > self.place:
                rest, self.items = self.items[place:], self.items[:place]
                body = self.sum()
                if self.place != place:
                    raise Unreadable("integrand")
                self.items += rest
                self.place = place + 2
                return body, rest[1].text
        raise Unreadable("integral without differential")
