"""A text as the rules see it: tokens, the template behind them, its words and its n-grams."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from coevolve.overlap.words import CODE_WORDS, COMMANDS, FILLER, NUMBER_WORDS, STARTERS

NAME = "@"
NUMBER = "#"
TOKEN = re.compile(r"\d+(?:[.,]\d+)*|\\?[^\W\d_](?:\w|'(?=[^\W\d_]))*|_\w+|[^\w\s]|_")
SENTENCE_END = frozenset(".!?:;\n)]}")
DROPPED = frozenset(".,;:!?'\"`$~{}|…“”‘’«»¿¡")
SPACING = re.compile(r"\\(?:[,;! ]|quad\b|qquad\b|left\b|right\b|text\b|mathrm\b|textbf\b|mathbf\b|displaystyle\b)")
IDENTIFIER = re.compile(r"_|[a-z][A-Z]|[A-Za-z]\d")
LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
BINDING = re.compile(
    r"\bdef\s+(?P<function>\w+)\s*\((?P<parameters>[^()]{0,400})\)|`(?P<named>\w+)\((?P<taken>[^()]{0,400})\)`"
    r"|\bfor\s+(?P<loop>\w+(?:,\s*\w+)*)\s+in\b|\blambda\s+(?P<short>[\w, ]{1,100}):"
    r"|^[ \t]*(?P<assigned>\w+(?:,\s*\w+)*)\s*(?:[-+*/%]|//|\*\*)?=\s",
    re.MULTILINE,
)
PROGRAM = re.compile(r"\bdef\s+\w+\s*\(|\blambda\b|`\w+\(|\w\(|\]|^[ \t]*\w+\s*=\s", re.MULTILINE)
CHOICE = re.compile(r"^[ \t]*\(?([A-J])[).:][ \t]+(\S.*)$", re.MULTILINE)


def plain(text: str) -> str:
    """Compatibility characters unified, LaTeX spacing and emphasis removed."""
    unified = unicodedata.normalize("NFKC", text).replace("−", "-").replace("’", "'")
    return SPACING.sub(" ", unified) if "\\" in unified else unified


def digest(parts: Sequence[str]) -> bytes:
    """A hash of a token sequence, SHA-256."""
    return hashlib.sha256("\x1f".join(parts).encode()).digest()


class Form:
    """One text prepared for comparison; everything beyond its tokens is computed when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = plain(text)
        self.raw: list[str] = []
        """Tokens in lower case, without punctuation."""
        self.template: list[str] = []
        """The same with names, variables and numbers masked."""
        self.sentences: list[tuple[str, ...]] = []
        """The template, sentence by sentence."""
        self._bound = bound_names(self.text)
        self._read()

    def _read(self) -> None:
        start, sentence = True, list[str]()
        previous, names, end = "", False, 0
        for match in TOKEN.finditer(self.text):
            token = match.group()
            start = start or "\n" in self.text[end : match.start()]
            if start and sentence and previous in ".!?" and previous:
                self.sentences.append(tuple(sentence))
                sentence = []
            end = match.end()
            if token not in DROPPED:
                self.raw.append(token.lower().removesuffix("'s"))
                masked = self._mask(token, start, previous, self.text[end : end + 1])
                if masked != NAME or not names:
                    self.template.append(masked)
                    sentence.append(masked)
                names = masked == NAME
                start = False
            if token in SENTENCE_END:
                start, names = True, False
            previous = token
        if sentence:
            self.sentences.append(tuple(sentence))

    def _mask(self, token: str, start: bool, previous: str, following: str) -> str:
        lower = token.lower().removesuffix("'s")
        if token in self._bound:
            return NAME
        if token[0].isdigit() or lower in NUMBER_WORDS:
            return NUMBER
        if token[0] == "\\" or not (token[0].isalpha() or token[0] == "_"):
            return COMMANDS.get(token, token)
        if lower in CODE_WORDS and (token.islower() or following == "("):
            return lower
        if IDENTIFIER.search(token) or not LATIN.match(token):
            return NAME
        if len(token) == 1:
            return lower if lower in ("a", "i") else NAME
        called = following == "(" and previous != "."
        if called or (token[0].isupper() and not token.isupper() and not (start and lower in STARTERS)):
            return NAME
        return lower

    @cached_property
    def exact(self) -> bytes:
        """Hash of the tokens."""
        return digest(self.raw)

    @cached_property
    def template_hash(self) -> bytes:
        """Hash of the template."""
        return digest(self.template)

    @cached_property
    def sentences_hash(self) -> bytes:
        """Hash of the template's sentences without their order."""
        return digest(["\x1e".join(sentence) for sentence in sorted(self.sentences)])

    @cached_property
    def order_hash(self) -> bytes:
        """Hash of the template's words without their order."""
        return digest(sorted(self.template))

    @cached_property
    def content(self) -> Counter[str]:
        """The template's words that say something: no filler, no masks, no signs; plurals as singulars."""
        return Counter(stem(word) for word in self.template if word[0].isalpha() and word not in FILLER)

    @cached_property
    def bag(self) -> Counter[str]:
        """All words and masks of the template; plurals as singulars."""
        return Counter(stem(word) for word in self.template)

    @cached_property
    def numbers(self) -> Counter[str]:
        """The numbers, number words included, in one spelling; `one` is mostly no number."""
        pairs = zip(["", *self.raw], self.raw, strict=False)
        return Counter(value for before, token in pairs if (value := _number(token)) and not _exponent(before, value))

    @cached_property
    def choices(self) -> dict[str, str]:
        """Lettered choices that the text lists."""
        found = {letter: text.strip() for letter, text in CHOICE.findall(self.text)}
        return found if len(found) > 1 else {}

    def alike(self, other: "Form") -> float:
        """Words, masks and signs in common, as a share of both texts' together."""
        return (self.bag & other.bag).total() / max(1, (self.bag | other.bag).total())

    def grams(self, n: int, masked: bool) -> set[int]:
        """Hashes of the runs of `n` tokens; a shorter text is one run. Equal within one process only."""
        tokens = self.template if masked else self.raw
        return {hash(run) for run in runs(tokens, n)}


def bound_names(text: str) -> frozenset[str]:
    """The names that a program in the text gives to functions, parameters and variables."""
    if not PROGRAM.search(text):
        return frozenset()
    found = (group for match in BINDING.finditer(text) for group in match.groups() if group)
    return frozenset(name for group in found for name in re.findall(r"[^\W\d]\w*", group))


def runs(tokens: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    """Every `n` tokens in a row; all of them where there are fewer."""
    return (tuple(tokens[place : place + n]) for place in range(max(1, len(tokens) - n + 1)))


def stem(word: str) -> str:
    """A word without the commonest English endings, so that `apples` meets `apple`."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _number(token: str) -> str:
    if token[0].isdigit():
        bare = token.replace(",", "")
        return bare.rstrip("0").rstrip(".") if "." in bare else bare.lstrip("0") or "0"
    return NUMBER_WORDS.get(token, "") if token != "one" else ""


def _exponent(before: str, value: str) -> bool:
    """A small power, mostly that of a unit, which may as well be a word (`square metres`)."""
    return before == "^" and value in ("2", "3")
