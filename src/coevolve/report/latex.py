"""Tables as LaTeX, for a document that loads booktabs."""

from collections.abc import Iterator, Sequence

from coevolve.report.grid import Text, grid
from coevolve.report.markdown import BOLD, OURS, PAPERS, WHAT, run_line, sentence
from coevolve.report.tables import Block, Table

SPECIAL = {
    **{mark: f"\\{mark}" for mark in "&%$#{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "_": "\\_",
    "<": "$<$",
    ">": "$>$",
    "∞": "$\\infty$",
    "−": "$-$",
    "–": "--",
    "·": "$\\cdot$",
    **{mark: f"$_{digit}$" for digit, mark in enumerate("₀₁₂₃₄₅₆₇₈₉")},
}


def latex(table: Table) -> str:
    """A table environment for each block."""
    parts = [_latex_block(table, block) for block in table.blocks or (None,)]
    return "% Needs \\usepackage{booktabs}; the figures behind it are in the CSV of the same name.\n" + "\n".join(parts)


def _latex_block(table: Table, block: Block | None) -> str:
    shown = grid(table, block)
    widths = [len(head.below) for head in shown.headings]
    heads = " & ".join(f"\\multicolumn{{{len(h.below)}}}{{c}}{{{_escaped(h.label)}}}" for h in shown.headings)
    below = " & ".join(_escaped(text) for head in shown.headings for text in head.below)
    below_it = [f"{OURS} {PAPERS}", *(_provenance(block) if block else [f"{sentence(table.missing or '')}."])]
    lines = [
        "\\begin{table*}",
        "\\centering\\scriptsize",
        f"\\caption{{{_escaped(f'{table.paper.title}. {WHAT[table.name]} {BOLD[table.name]}')}}}",
        f"\\begin{{tabular}}{{r{''.join('l' + 'r' * (width - 1) for width in widths)}}}",
        "\\toprule",
        f"& {heads} \\\\",
        " ".join(_rules(widths)),
        f"$r$ & {below} \\\\",
        "\\midrule",
        *(f"{round} & {' & '.join(map(_latex_text, texts))} \\\\" for round, texts in shown.rows),
        "\\bottomrule",
        "\\end{tabular}",
        *(f"\\par\\smallskip\\raggedright\\tiny {_escaped(line)}" for line in below_it),
        "\\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _provenance(block: Block) -> list[str]:
    runs = "; ".join(run_line(run) for run in block.runs)
    return [" ".join((f"{block.title}.", *block.notes)), f"Runs: {runs}."]


def _rules(widths: Sequence[int]) -> Iterator[str]:
    left = 2
    for width in widths:
        yield f"\\cmidrule(lr){{{left}-{left + width - 1}}}"
        left += width


def _latex_text(text: Text) -> str:
    shown = f"\\textbf{{{_escaped(text.text)}}}" if text.bold else _escaped(text.text)
    return f"{shown} {_escaped(text.interval)}".strip()


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(mark, mark) for mark in text)
