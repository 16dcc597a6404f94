"""One notation for answers: LaTeX, Unicode and plain text brought to the same characters, within size caps."""

import re
import unicodedata

CHARS = 2000
NESTING = 30
RADICALS = 10


class Refused(Exception):
    """The text is over a cap or holds what no answer holds; it is not read further."""


SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱ", "0123456789+-ni")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋ₙ", "0123456789+-n")
VULGAR = re.compile("[¼½¾⅐-⅞]")

CHARACTERS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ",
    "∙": r"\cdot ", "•": r"\cdot ", "÷": "/", "∕": "/", "⁄": "/", "√": r"\sqrt ", "∛": r"\sqrt[3]",
    "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ", "⩽": r"\le ", "⩾": r"\ge ", "≠": r"\ne ", "∪": r"\cup ",
    "∩": r"\cap ", "∈": r"\in ", "∅": r"\emptyset ", "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}",
    "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "°": r"^\circ ", "º": r"^\circ ", "±": r"\pm ", "∓": r"\mp ",
    "≈": r"\approx ", "→": r"\to ", "′": "'", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ",
    "∖": r"\setminus ", "∨": r" \text{or} ", "∧": r" \text{and} ", "ℓ": "l", "ħ": r"\hbar ", "∫": r"\int ",
    "∑": r"\sum ", "∏": r"\prod ", "“": '"', "”": '"', "‘": "'", "’": "'", "…": r"\ldots ", "⟨": r"\langle ",
    "⟩": r"\rangle ", "∣": "|",
}  # fmt: skip
GREEK = {
    letter: f"\\{name} "
    for letter, name in zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩϕϵµϑ",
        (
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi "
            "psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega phi epsilon mu theta"
        ).split(),
        strict=True,
    )
}

GROUPING = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:(?:\\,|\\;|\\:|\\ |\\!|~|[ \u2009\u202f\u00a0']|\s*\{,\s*\}\s*|,\\!\s*)\d{3})+)"
    r"(?![\d/]|\s*/)"
)
SYNONYMS = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\(?:left|right|bigl|bigr|Bigl|Bigr|biggl|biggr|big|Big|bigg|Bigg)(?![a-zA-Z])\s*\.?", ""),
        (r"\\(?:displaystyle|textstyle|limits|nolimits|mathstrut|thinspace|enspace|hfill|nobreak)(?![a-zA-Z])", " "),
        (r"(?<!\\)\\(?:,|;|:|!| |quad(?![a-zA-Z])|qquad(?![a-zA-Z]))|~", " "),
        (r"\\[dtc]frac(?![a-zA-Z])", r"\\frac"),
        (r"\\[dt]binom(?![a-zA-Z])", r"\\binom"),
        (r"\\(?:leq|leqslant|leqq)(?![a-zA-Z])|<=", r"\\le "),
        (r"\\(?:geq|geqslant|geqq)(?![a-zA-Z])|>=", r"\\ge "),
        (r"\\(?:neq|not\s*=)|!=(?!=)", r"\\ne "),
        (r"\\lt(?![a-zA-Z])", "<"),
        (r"\\gt(?![a-zA-Z])", ">"),
        (r"\\(?:varnothing|O)(?![a-zA-Z])", r"\\emptyset "),
        (r"\\(?:degree|degrees)(?![a-zA-Z])|\^\s*\{?\s*\\circ\s*\}?", r"^\\circ "),
        (r"\\(?:lvert|rvert|vert|mid)(?![a-zA-Z])", "|"),
        (r"\\(?:Bbb|mathbf|mathbb)\s*\{?\s*([RZNQC])\s*\}?", r"\\mathbb{\1}"),
        (r"\\(?:div)(?![a-zA-Z])", "/"),
        (r"\\(?:ast|star|bullet)(?![a-zA-Z])", r"\\cdot "),
        (r"\\(?:backslash)(?![a-zA-Z])", r"\\setminus "),
        (r"\\(?:dots|cdots|ldots|dotsc|dotsb|hdots)(?![a-zA-Z])|\.\.\.", r"\\ldots "),
        (r"\\var(epsilon|phi|theta|rho|sigma|pi)(?![a-zA-Z])", r"\\\1"),
        (r"\\(?:rightarrow|longrightarrow|to|Rightarrow|implies)(?![a-zA-Z])", r"\\to "),
        (r"\\(?:simeq|approxeq|sim)(?![a-zA-Z])", r"\\approx "),
        (r"\\(?:operatorname\*?|mathop|mathit|mathsf|mathcal|boldsymbol|bm|vec|hat|bar|tilde)\s*\{([^{}]*)\}", r"\1"),
        (r"\A\s*\\text\s*\{[^{}]*\b(?:is|are|equals)\s*:?\s*\}", ""),
        (r"\A\s*\\(?:text|mathrm)\s*\{\s*([^{}a-zA-Z]*\d[^{}]*)\}\s*\Z", r"\1"),
        (r"\\(?:textnormal|textbf|textit|textrm|textsf|texttt|mbox|hbox|emph)\s*(?=\{)", r"\\text"),
        (r"\\(?:angle|measuredangle|triangle)(?![a-zA-Z])\s*", ""),
        (r"\*\*", "^"),
        (r"(?<=\d)\s*[xX*]\s*(?=10\s*\^)", r" \\times "),
    )
]
DELIMITERS = re.compile(r"(?<!\\)\\[()\[\]]")
CODE = re.compile(
    r"__|\.\s*_|\bimport\b|\beval\b|\bexec\b|(?<!\\)\blambda\b|['\"]\s*\)|;\s*\w+\s|\\(?:input|include|write|def|let|catcode)\b"
)
HEAVY = re.compile(
    r"\^\s*[({]?\s*[-+]?\d*\s*\^|\d{4,}\s*!|!\s*!|\^\s*[({]?\s*[-+]?\d{4,}|\\(?:int|sum|prod|lim)(?![a-zA-Z])"
)
"""What a computer algebra system may never come back from; such answers get no second opinion."""


def clean(text: str) -> str:
    """The text in the one notation. Raises Refused over a cap, for code and for number towers."""
    if len(text) > CHARS:
        raise Refused(f"over {CHARS} characters")
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cc") or c in "\n\t")
    if depth(text) > NESTING:
        raise Refused(f"nested over {NESTING} levels")
    text = _characters(_unmarked(text.strip()))
    text = GROUPING.sub(lambda found: re.sub(r"[^\d]", "", found.group(1)), text)
    text = re.sub(r"(?<=\d)\{,\}(?=\d{3})|(?<=\d),\\!\s*(?=\d{3})", "", text)
    text = DELIMITERS.sub(" ", _dollars(text))
    for pattern, replacement in SYNONYMS:
        text = pattern.sub(replacement, text)
    if CODE.search(text):
        raise Refused("code, not an answer")
    if text.count(r"\sqrt") + text.count("sqrt(") > RADICALS:
        raise Refused(f"over {RADICALS} radicals")
    return _trimmed(text)


def depth(text: str) -> int:
    """Deepest nesting of brackets of any kind."""
    deepest = level = 0
    for letter in text:
        level += (letter in "([{") - (letter in ")]}")
        deepest = max(deepest, level)
    return deepest


def _characters(text: str) -> str:
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱ]+", lambda m: "^{" + m.group().translate(SUPERSCRIPTS) + "}", text)
    text = re.sub("[₀₁₂₃₄₅₆₇₈₉₊₋ₙ]+", lambda m: "_{" + m.group().translate(SUBSCRIPTS) + "}", text)
    text = VULGAR.sub(_vulgar, text)
    for letter, plain in (CHARACTERS | GREEK).items():
        if letter in text:
            text = text.replace(letter, plain)
    return unicodedata.normalize("NFKC", text)


def _vulgar(found: "re.Match[str]") -> str:
    top, _, bottom = unicodedata.normalize("NFKC", found.group()).partition("⁄")
    return rf"\frac{{{top}}}{{{bottom}}}"


def _dollars(text: str) -> str:
    """Math delimiters away; a lone dollar before a number is money and becomes a unit word after it."""
    text = text.replace("$$", " ")
    if len(re.findall(r"(?<!\\)\$", text)) % 2:
        text = re.sub(r"(?<!\\)\$", r"\\$", text, count=1)
    text = re.sub(r"(?<!\\)\$", " ", text)
    money = re.compile(r"(?P<sign>[-+]?)\s*(?:\\\$|(?P<other>[€£]))\s*(?P<amount>[-+]?[\d.,{}]*\d)")
    names = {"€": "euros", "£": "pounds", None: "dollars"}
    text = money.sub(lambda m: rf"{m['sign']}{m['amount']}\text{{ {names[m['other']]}}}", text)
    return re.sub(r"(?<=\d)\s*€", r"\\text{ euros}", re.sub(r"(?<=\d)\s*\\\$", r"\\text{ dollars}", text))


def _trimmed(text: str) -> str:
    while True:
        shorter = _unmarked(re.sub(r"(?:\\\\|[.,;\s])+\Z", "", text).strip())
        if shorter == text:
            return text
        text = shorter


def _unmarked(text: str) -> str:
    """Without Markdown's marks around the whole."""
    for mark in ("**", "`"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)].strip()
    return text


def words(text: str) -> str:
    """Text wrappers opened: `\\text{odd}` is `odd`; spaces squeezed."""
    for _ in range(6):
        opened = re.sub(
            r"\\(?:text|textbf|textit|textrm|textsf|texttt|mathrm|mbox|hbox|emph|bf|rm|it)\s*\{([^{}]*)\}",
            r" \1 ",
            text,
        )
        if opened == text:
            break
        text = opened
    return re.sub(r"\s+", " ", text).strip()
