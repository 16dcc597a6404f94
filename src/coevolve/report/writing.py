"""Everything that scripts/report.py writes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from coevolve.errors import ConfigError, boundary
from coevolve.report import credit, diagnostics, downstream_writing
from coevolve.report.downstream import build_downstream
from coevolve.report.evaluations import find_evaluations
from coevolve.report.figures import write_figures
from coevolve.report.latex import latex
from coevolve.report.markdown import markdown, run_line
from coevolve.report.page import write_page
from coevolve.report.picture import write_picture
from coevolve.report.runs import below, find_runs, places
from coevolve.report.settings import ReportConfig
from coevolve.report.sheets import cells_sheet, differences_sheet, runs_sheet
from coevolve.report.tables import Table, build_tables
from coevolve.tracking.reading import versions


def report(config: ReportConfig) -> Iterator[str]:
    """Write tables, figures, diagnostics and, if asked, the page; yields what to tell the user.

    Raises ConfigError, DataError.
    """
    words = [config.runs] if isinstance(config.runs, str) else config.runs
    outputs = Path(config.outputs)
    found = find_evaluations(words, outputs)
    others = [word for word in words if word not in found.places or _holds_runs(word, outputs)]
    runs = find_runs(others, outputs, config.tracking)
    yield from (run_line(run) for run in runs)
    yield from _passed_over(others, outputs)
    yield from downstream_writing.lines_of(found)
    out = Path(config.out)
    with boundary(ConfigError, f"out={config.out}: cannot be written"):
        out.mkdir(parents=True, exist_ok=True)
        (out / "runs.csv").write_text(runs_sheet(runs), encoding="utf-8")
    tables = build_tables(runs)
    written = [out / "runs.csv", *write_tables(tables, out), *write_figures(tables, out)]
    written += [*diagnostics.write(runs, out), *credit.write(runs, out)]
    scores = build_downstream(found.evaluations)
    written += downstream_writing.write(scores, out)
    if config.html:
        page = out / "report.html"
        write_page(runs, page)
        written.append(page)
    yield from (table.missing for table in tables if table.missing)
    yield from downstream_writing.missing(scores)
    yield from dict.fromkeys(note for table in tables for block in table.blocks for note in block.notes)
    yield from dict.fromkeys(note for table in scores for block in table.blocks for note in block.notes)
    yield f"written: {len(written)} files below {out}"


def _passed_over(words: Sequence[str], outputs: Path) -> Iterator[str]:
    """Runs that have no archived round yet, or ended before the first."""
    for word in words:
        found = next((folder for folder in places(word, outputs) if folder.is_dir()), None)
        for folder in below(found) if found else ():
            if not versions(folder):
                yield f"left out: {folder}, which has no archived round yet"


def _holds_runs(word: str, outputs: Path) -> bool:
    """Whether a word that names a folder of evaluations names runs too."""
    return any(True for folder in (Path(word), outputs / word) if folder.is_dir() for _ in below(folder))


def write_tables(tables: Sequence[Table], out: Path) -> list[Path]:
    """Each table as Markdown, LaTeX, CSV and pictures; differences.csv beside them. Returns the paths."""
    texts = {"differences.csv": differences_sheet(tables)}
    for table in tables:
        forms = {"md": markdown, "tex": latex, "csv": cells_sheet}
        texts |= {f"{table.name}.{ending}": form(table) for ending, form in forms.items()}
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
    return [*(out / name for name in texts), *(path for table in tables for path in write_picture(table, out))]
