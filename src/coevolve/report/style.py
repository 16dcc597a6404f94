"""How every picture looks: colours that colour-blind readers tell apart, marks and dashes besides colour, and the same
bytes for the same figures.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS: Mapping[str, Any] = {
    "svg.hashsalt": "coevolve",
    "svg.fonttype": "path",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.2,
    "figure.dpi": 100,
}
PIXELS_PER_INCH = 200


class Look(NamedTuple):
    """How one line is drawn; colours from Okabe and Ito's set."""

    color: str
    marker: str
    dashes: str | tuple[int, tuple[int, ...]]


ARM_LOOKS: Mapping[str, Look] = {
    "task_only": Look("#555555", "s", "--"),
    "online": Look("#E69F00", "^", "-."),
    "post_task": Look("#009E73", "D", ":"),
    "full": Look("#0072B2", "o", "-"),
}
HARNESS_LOOKS = (
    Look("#555555", "s", "--"),
    Look("#0072B2", "o", "-"),
    Look("#D55E00", "^", "-."),
    Look("#009E73", "D", ":"),
    Look("#CC79A7", "v", (0, (3, 1, 1, 1))),
)
PAPER_LOOK = Look("#999999", "x", "--")


@contextmanager
def styled() -> Iterator[None]:
    """Matplotlib with these settings inside the block, its own again after it."""
    import matplotlib

    with matplotlib.rc_context(cast(Any, SETTINGS)):
        yield


def save(figure: "Figure", stem: Path) -> list[Path]:
    """Write `stem`.svg and `stem`.png without dates or versions, so that the same figure is the same file.

    The canvases are asked directly: Figure.savefig draws everything once more to find out what it already knows.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    paths = [stem.with_suffix(".svg"), stem.with_suffix(".png")]
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once, for both files
    svg: Any = FigureCanvasSVG(figure)
    svg.print_svg(paths[0], metadata={"Date": None, "Creator": None})
    figure.set_dpi(PIXELS_PER_INCH)
    png: Any = FigureCanvasAgg(figure)
    png.print_png(paths[1], metadata={"Software": None})
    return paths
