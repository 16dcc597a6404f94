"""Tables of benchmark scores as Markdown, LaTeX and CSV. The same evaluations give the same bytes."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from coevolve.report.downstream import Downstream, ScoreBlock
from coevolve.report.downstream_grid import (
    BOLD,
    DIFFERENCE_HEADS,
    OURS,
    PAIRED,
    PAPERS,
    WHAT,
    ScoreGrid,
    Shown,
    caption,
    per_cent,
    points,
    score_difference_rows,
    score_grid,
    sources,
)
from coevolve.report.latex import SPECIAL
from coevolve.report.markdown import pipes, sentence
from coevolve.report.scores import Row

CELLS = """table block student_of_paper row label column value low high bootstrap_low bootstrap_high displayed gain best
interval_over n_problems n_attempts n_trainings evaluations paper_value paper_gain""".split()
DIFFERENCES = """table block column first second value low high interval_over n_problems n_trainings p p_holm
evaluations""".split()
ARROWS = {"↑": "$\\uparrow$", "↓": "$\\downarrow$"}


def score_markdown(table: Downstream) -> str:
    """The whole table as a Markdown page."""
    lines = [f"# {table.heading}: {table.title}", "", caption(table), ""]
    for block in table.blocks:
        lines += [f"## {block.title}", "", *_markdown_grid(score_grid(table, block)), "", *_differences(block)]
        lines += ["Evaluations:", "", *(f"- `{line.replace(': ', '`: ', 1)}" for line in sources(block)), ""]
        lines += [f"{note}\n" for note in block.notes]
    if table.missing:
        shown = score_grid(table, None)
        lines += [*([*_markdown_grid(shown), ""] if shown.rows else []), sentence(table.missing), ""]
    if table.paper:
        lines += ["Notes on the paper's values:", "", *(f"- {note}" for note in table.paper.notes), ""]
    return "\n".join(lines)


def _markdown_grid(shown: ScoreGrid) -> Iterator[str]:
    heads = ["", *(f"{head.label}, {below}" for head in shown.headings for below in head.below)]
    return pipes(heads, ([label, *map(_markdown_cell, cells)] for label, cells in shown.rows))


def _markdown_cell(cell: Shown) -> str:
    value = f"**{cell.value}**" if cell.bold else cell.value
    return " ".join(text for text in (value, cell.gain, cell.beside) if text)


def _differences(block: ScoreBlock) -> list[str]:
    rows = score_difference_rows(block)
    if not rows:
        return []
    return [f"Paired differences. {PAIRED}", "", *pipes(DIFFERENCE_HEADS, rows, texts=2), ""]


def score_latex(table: Downstream) -> str:
    """A table environment for each block."""
    parts = [_latex_block(table, block) for block in table.blocks or (None,)]
    return "% Needs \\usepackage{booktabs}; the figures behind it are in the CSV of the same name.\n" + "\n".join(parts)


def _latex_block(table: Downstream, block: ScoreBlock | None) -> str:
    shown = score_grid(table, block)
    heads = "".join(f" & \\multicolumn{{{len(h.below)}}}{{c}}{{{_escaped(h.label)}}}" for h in shown.headings)
    below = "".join(f" & {text}" for head in shown.headings for text in head.below)
    said = [f"{OURS} {PAPERS}" if table.paper else OURS]
    said += _provenance(block) if block else [f"{sentence(table.missing or '')}."]
    lines = [
        "\\begin{table*}",
        "\\centering\\scriptsize",
        f"\\caption{{{_escaped(f'{table.title}. {WHAT[table.name]} {BOLD}')}}}",
        f"\\begin{{tabular}}{{l{''.join('l' + 'r' * (len(head.below) - 1) for head in shown.headings)}}}",
        "\\toprule",
        f"{heads} \\\\",
        f"{below} \\\\",
        "\\midrule",
        *(f"{_escaped(label)} & {' & '.join(map(_latex_cell, cells))} \\\\" for label, cells in shown.rows),
        "\\bottomrule",
        "\\end{tabular}",
        *(f"\\par\\smallskip\\raggedright\\tiny {_escaped(line)}" for line in said),
        "\\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _provenance(block: ScoreBlock) -> list[str]:
    return [" ".join((f"{block.title}.", *block.notes)), f"Evaluations: {'; '.join(sources(block))}."]


def _latex_cell(cell: Shown) -> str:
    value = f"\\textbf{{{_escaped(cell.value)}}}" if cell.bold else _escaped(cell.value)
    gain = f"\\textsuperscript{{{_escaped(cell.gain)}}}" if cell.gain else ""
    return f"{value}{gain} {_escaped(cell.beside)}".strip()


def _escaped(text: str) -> str:
    return "".join({**SPECIAL, **ARROWS}.get(mark, mark) for mark in text)


def score_sheet(table: Downstream) -> str:
    """Every cell with both intervals, n and its evaluations; the paper's value in columns of its own."""
    blocks: Sequence[ScoreBlock | None] = table.blocks or (None,)
    return _sheet(CELLS, [row for block in blocks for row in _cells(table, block)])


def _cells(table: Downstream, block: ScoreBlock | None) -> Iterator[dict[str, Any]]:
    paper = table.paper
    rows = block.rows if block else [Row(key, label, {}) for key, label in paper.labels.items()] if paper else []
    columns = block.columns if block else paper.columns if paper else {}
    for row in rows:
        for column in columns:
            plain: dict[str, Any] = {"table": table.name, "row": row.key, "label": row.label, "column": column}
            plain |= {"block": block.title if block else "", **_own(row, column)}
            if paper and row.key in paper.values:
                gain = paper.gain(row.key, column)
                plain["student_of_paper"] = paper.student
                plain["paper_value"] = per_cent(paper.values[row.key][column])
                plain["paper_gain"] = None if gain is None else points(gain)
            yield plain


def _own(row: Row, column: str) -> dict[str, Any]:
    score = row.cells.get(column)
    if score is None:
        return {}
    found = score.estimate
    ends = found.bootstrap or (None, None)
    shares = {"value": found.value, "low": found.low, "high": found.high}
    return {
        **{name: f"{share * 100:.6g}" for name, share in shares.items()},
        **{f"bootstrap_{name}": _hundredfold(end) for name, end in zip(("low", "high"), ends, strict=True)},
        "displayed": per_cent(score.tenths),
        "gain": None if score.gain is None else points(score.gain),
        "best": score.best,
        "interval_over": "trainings" if found.unit == "run" else "problems",
        "n_problems": found.n_chains,
        "n_attempts": found.n_attempts,
        "n_trainings": found.n_runs,
        "evaluations": " ".join(score.evaluations),
    }


def _hundredfold(share: float | None) -> str | None:
    return None if share is None else f"{share * 100:.6g}"


def score_differences_sheet(tables: Sequence[Downstream]) -> str:
    """Paired differences of every table, in points: trained less untrained."""
    rows = []
    for table in tables:
        for block in table.blocks:
            for found in block.differences:
                estimate = found.difference.estimate
                shares = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
                holm = found.difference.p_holm
                rows.append(
                    {
                        **{name: f"{share * 100:.6g}" for name, share in shares.items()},
                        "table": table.name,
                        "block": block.title,
                        "column": found.column,
                        "first": found.difference.first,
                        "second": found.difference.second,
                        "interval_over": "trainings" if estimate.unit == "run" else "problems",
                        "n_problems": estimate.n_chains,
                        "n_trainings": estimate.n_runs,
                        "p": f"{found.difference.p:.4g}",
                        "p_holm": None if holm is None else f"{holm:.4g}",
                        "evaluations": " ".join(found.difference.runs),
                    }
                )
    return _sheet(DIFFERENCES, rows)


def _sheet(fields: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()
