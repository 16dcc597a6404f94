"""Finding the declared answer in a reply: the last balanced box, else the last answer line; never the last number."""

import re

from coevolve.verifiers import sources

BOX = re.compile(r"\\(?:boxed|fbox)\s*(?=\{)|\\(?:boxed|fbox)(?![a-zA-Z{])\s*")
BETWEEN_BOXES = re.compile(r"(?:\s|\$|\\[,;:!]|\\quad|\\text\{\s*(?:and|or)\s*\}|,|;|and|or)*\Z")
DECLARED = re.compile(
    r"(?:####|(?:\*\*|__)?\b(?:final\s+)?answer\b(?:\*\*|__)?\s*(?:is\b\s*:?|:|=)(?:\*\*|__)?)[ \t]*(.*)", re.IGNORECASE
)
NEXT_SENTENCE = re.compile(r"(?<=[^\s.])\.\s+(?=[A-Z])")
FENCE = re.compile(r"```[ \t]*([\w+-]*)[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
CODE_START = re.compile(r"^(?:def |class |import |from \S+ import |@|async def )", re.MULTILINE)

REPLY_CHARS = 200_000
BOXES_IN_BOXES = 5


def answer(reply: str) -> str | None:
    """The declared answer, or None. Boxes side by side are one list; an unclosed last box declares nothing."""
    text = reply[-REPLY_CHARS:]
    if BOX.search(text):
        return boxed(text)
    lines = text.splitlines()
    for place in range(len(lines) - 1, -1, -1):
        found = list(DECLARED.finditer(lines[place]))
        if not found:
            continue
        said = _tidy(found[-1].group(1))
        if not said and place + 1 < len(lines):
            said = _tidy(next((line for line in lines[place + 1 :] if line.strip()), ""))
        return said or None
    return None


def boxed(text: str, depth: int = 0) -> str | None:
    """Content of the last box, or of the last row of adjacent boxes joined by commas; None if unclosed or empty."""
    if depth > BOXES_IN_BOXES:
        return None
    spans: list[tuple[int, int, str]] = []
    position = 0
    while found := BOX.search(text, position):
        closed = _group(text, found.end())
        if closed is None:
            return None
        spans.append((found.start(), closed[0], closed[1]))
        position = closed[0]
    row: list[str] = []
    after = len(text)
    for start, end, content in reversed(spans):
        if row and not BETWEEN_BOXES.match(text, end, after):
            break
        row.insert(0, content)
        after = start
    inner = [boxed(part, depth + 1) if BOX.search(part) else part for part in row]
    if not inner or not all(part and part.strip() for part in inner):
        return None
    return ", ".join(part.strip() for part in inner if part)


def _group(text: str, start: int) -> tuple[int, str] | None:
    """End and content of the braces that open at `start`, or of the bare word there."""
    if start < len(text) and text[start] != "{":
        word = re.match(r"[^\s${}\\,;]+", text[start:])
        return (start + word.end(), word.group()) if word else None
    depth = 0
    position = start
    while position < len(text):
        letter = text[position]
        if letter == "\\":
            position += 2
            continue
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return position + 1, text[start + 1 : position]
        position += 1
    return None


def _tidy(said: str) -> str:
    said = NEXT_SENTENCE.split(said.strip(), maxsplit=1)[0].strip()
    for mark in ("**", "__", "`"):
        if len(said) > 2 * len(mark) and said.startswith(mark) and said.rstrip(".").endswith(mark):
            said = said.rstrip(".")[len(mark) : -len(mark)].strip()
    return said.removesuffix("**").strip()


def code(reply: str, name: str | None) -> str | None:
    """The program in a reply: the last fenced block that defines `name`, else the last block, else bare code."""
    blocks: list[str] = [body for _, body in FENCE.findall(reply[-REPLY_CHARS:]) if body.strip()]
    for body in reversed(blocks):
        if name is None or re.search(rf"\b(?:def|class)\s+{re.escape(name)}\b|\b{re.escape(name)}\s*=", body):
            return body
    if blocks:
        return blocks[-1]
    start = CODE_START.search(reply)
    if start:
        return _parsable(reply[start.start() :])
    return reply if name is None and _parses(reply) and not reply.strip().isidentifier() else None


def _parsable(text: str) -> str | None:
    """The longest run of whole lines from the start that is Python; None when even one line is not."""
    lines = text.splitlines()
    for count in range(len(lines), max(0, len(lines) - 60), -1):
        body = "\n".join(lines[:count])
        if _parses(body):
            return body + "\n"
    return None


def _parses(text: str) -> bool:
    return bool(text.strip()) and sources.tree(text) is not None
