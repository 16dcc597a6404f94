"""Tables as Markdown, and the sentences that every form of them shares. The same runs give the same bytes."""

from collections.abc import Iterable, Iterator, Sequence

from coevolve.report.grid import Grid, Text, difference_rows, grid
from coevolve.report.runs import TrackedRun
from coevolve.report.tables import Block, Table

WHAT = {
    "table5": "Accuracy (%) of the fixed solver over the rounds; lower is harder. All weighs domains equally.",
    "table6": "Accuracy (%) of the fixed solver under four update schedules on shared seeds; lower is harder.",
    "table7": "Accuracy (%) of the fixed solver on tasks that frozen harnesses make from shared held-out seeds.",
    "table8": "Accuracy (%) and cost of extend, revise and verify in the one round (US dollars per original seed).",
}
OURS = (
    "Ours: estimate [95 % interval]. With one run the interval is Wilson's at the effective sample size, clustered by "
    "chain (costs: Student's over chains); with several seeds it is Student's between runs."
)
PAPERS = "Columns headed paper are the values the paper publishes, DeepSeek-V4-Pro as solver, without any uncertainty."
BOLD = {
    "table5": "Bold: the lowest non-initial value of each column.",
    "table6": "Bold: the lowest non-initial accuracy of each round, ours and the paper's apart.",
    "table7": "Bold: the lowest non-initial accuracy of each round, ours and the paper's apart.",
    "table8": "Bold: the lowest of each round, ours and the paper's apart.",
}
PAIRED = (
    "First minus second on the same chains (Student's; Holm over the pairs of the round). Below zero: first is harder"
)
DIFFERENCE_HEADS = ("comparison", "difference", "95 % interval", "p", "p (Holm)", "n")


def caption(table: Table) -> str:
    """What the table shows and how to read it."""
    return " ".join((WHAT[table.name], OURS, PAPERS, BOLD[table.name]))


def commit_text(run: TrackedRun) -> str:
    """The commit in twelve digits, with its mark when files differed from it."""
    commit, _, dirty = (run.commit or "unknown").partition("-")
    return commit[:12] + (f"-{dirty}" if dirty else "")


def run_line(run: TrackedRun) -> str:
    """Where figures come from: run, arm, seed, code, size, and how far it went."""
    sizes = sum(map(len, run.chains.values()))
    state = "complete" if run.complete else "not finished"
    return (
        f"{run.id}: {run.ablation}, seed {run.seed}, solver {run.solver_model}, commit {commit_text(run)}, "
        f"{sizes} chains, {run.attempts} attempts a task, rounds {run.rounds[0].round} to {run.last_round}, {state}"
    )


def markdown(table: Table) -> str:
    """The whole table as a Markdown page."""
    lines = [f"# Table {table.number}: {table.paper.title}", "", caption(table), ""]
    for block in table.blocks:
        lines += [f"## {block.title}", "", *_markdown_grid(grid(table, block)), "", *_markdown_differences(block)]
        lines += ["Runs:", "", *(f"- `{run.id}`{run_line(run).removeprefix(run.id)}" for run in block.runs), ""]
        lines += [*(f"{note}\n" for note in block.notes)]
    if table.missing:
        lines += [*_markdown_grid(grid(table, None)), "", sentence(table.missing), ""]
    lines += ["Notes on the paper's values:", "", *(f"- {note}" for note in table.paper.notes), ""]
    return "\n".join(lines)


def sentence(text: str) -> str:
    """A message as a sentence."""
    return text[0].upper() + text[1:]


def pipes(heads: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> Iterator[str]:
    """The lines of a Markdown table, its first `texts` columns to the left, numbers to the right."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * texts}{'---:|' * (len(heads) - texts)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _markdown_grid(shown: Grid) -> Iterator[str]:
    heads = ["round", *(f"{head.label}, {below}" for head in shown.headings for below in head.below)]
    return pipes(heads, ([str(round), *map(_markdown_text, texts)] for round, texts in shown.rows), texts=0)


def _markdown_text(text: Text) -> str:
    shown = f"**{text.text}**" if text.bold else text.text
    return f"{shown} {text.interval}".strip()


def _markdown_differences(block: Block) -> list[str]:
    round, rows = difference_rows(block)
    if round is None:
        return []
    return [f"Paired differences at round {round}. {PAIRED} (or cheaper).", "", *pipes(DIFFERENCE_HEADS, rows), ""]
