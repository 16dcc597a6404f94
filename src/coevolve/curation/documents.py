"""Source passages from documents: Markdown, plain text and the text of PDFs, cut at blank lines."""

import importlib
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from coevolve.curation.records import Unusable
from coevolve.errors import MissingExtra, ToolError, boundary

PROSE, PDF = (".md", ".markdown", ".txt", ".text"), (".pdf",)
FENCES = ("```", "~~~")


class Passage(NamedTuple):
    """A stretch of a document; `line` is where it starts (in a PDF, its page)."""

    line: int
    text: str


def document_passages(path: Path, passage_chars: int) -> Iterator[Passage]:
    """Passages of a document of at most `passage_chars` characters. Raises Unusable for one that cannot be read."""
    if path.suffix.lower() in PDF:
        yield from _pages(path, passage_chars)
        return
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from grouped(_blocks(enumerate(file, 1)), passage_chars)
    except UnicodeDecodeError as error:
        raise Unusable("not_utf8", f"byte {error.start} is not UTF-8; save the file as UTF-8") from error
    except OSError as error:
        raise Unusable("unreadable_file", f"it cannot be read ({error.strerror})") from error


def text_passages(line: int, text: str, passage_chars: int) -> Iterator[Passage]:
    """Passages of a text that stands in one record at `line`."""
    blocks = _blocks((line, row) for row in io.StringIO(text))
    return grouped(blocks, passage_chars)


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[Passage]:
    """Runs of lines without a blank one; a fenced block stays whole."""
    start, held, fence = 0, list[str](), ""
    for number, line in lines:
        bare = line.strip()
        if fence:
            fence = "" if bare == fence else fence
        elif bare.startswith(FENCES):
            fence = bare[:3]
        if bare or fence:
            start = start if held else number
            held.append(line.rstrip())
        elif held:
            yield Passage(start, "\n".join(held))
            held = []
    if held:
        yield Passage(start, "\n".join(held))


def grouped(blocks: Iterable[Passage], passage_chars: int) -> Iterator[Passage]:
    """Neighbouring blocks put together while they fit; a longer block is cut at spaces."""
    start, held = 0, ""
    for line, text in blocks:
        if held and len(held) + 2 + len(text) > passage_chars:
            yield Passage(start, held)
            held = ""
        start, held = (start, f"{held}\n\n{text}") if held else (line, text)
        while len(held) > passage_chars:
            cut = held.rfind(" ", 1, passage_chars)
            cut = passage_chars if cut < 0 else cut
            yield Passage(start, held[:cut].rstrip())
            held = held[cut:].lstrip()
    if held:
        yield Passage(start, held)


def _pages(path: Path, passage_chars: int) -> Iterator[Passage]:
    try:
        pypdf = importlib.import_module("pypdf")
    except ModuleNotFoundError as error:
        raise MissingExtra(f"{path}: PDFs need the package pypdf: pip install 'coevolve[pdf]'") from error
    found = False
    try:
        with boundary(_Broken, str(path)), pypdf.PdfReader(path) as reader:
            for number, page in enumerate(reader.pages, 1):
                for passage in text_passages(number, page.extract_text() or "", passage_chars):
                    found = True
                    yield passage
    except _Broken as error:
        raise Unusable("unreadable_file", f"no PDF that can be read ({str(error).splitlines()[0][:200]})") from error
    if not found:
        raise Unusable("no_text", "the PDF holds no text (scanned pages?); run it through text recognition first")


class _Broken(ToolError):
    """A PDF that its library cannot read."""
