"""diagnostics.md and diagnostics.csv: how sure the gate was, what the paper does not report, and what it cost."""

from collections.abc import Sequence
from pathlib import Path

from coevolve.report.gate_noise import gate_sections
from coevolve.report.money import cost_section, matched_section
from coevolve.report.runs import TrackedRun
from coevolve.report.sections import Section, page, sheet
from coevolve.report.yields import frozen_section, solver_section, yield_section

LEAD = (
    "Computed from run folders alone. Brackets hold 95 % intervals; n has a column of its own. No run made any use of "
    "what stands here."
)


def sections(runs: Sequence[TrackedRun]) -> list[Section]:
    """Every diagnostic, in the order of the page. Raises DataError."""
    return [
        *gate_sections(runs),
        yield_section(runs),
        cost_section(runs),
        matched_section(runs),
        frozen_section(runs),
        solver_section(runs),
    ]


def write(runs: Sequence[TrackedRun], out: Path) -> list[Path]:
    """Write both files into `out` and return their paths. Raises DataError."""
    found = sections(runs)
    texts = {"diagnostics.md": page("Diagnostics", LEAD, found), "diagnostics.csv": sheet(found)}
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
    return [out / name for name in texts]
