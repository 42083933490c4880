"""SVG plots: style, colours and rendering.

The same drawing gives the same bytes. Every plot has its own light background, so it is legible on light and
dark pages. The colours are those of Okabe and Ito (2008), distinct for the colour-blind. Matplotlib is
imported when the first plot is drawn.
"""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from slowwave.errors import SlowwaveError
from slowwave.views.moments import MONTHS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 7.6, 2.7  # inches of 96 pixels, as a browser draws 72 points
INK, FAINT, GRID, PAPER = "#33373d", "#6b7280", "#e5e7eb", "#ffffff"
BLUE, SKY, GREEN, ORANGE, RED, PINK, GREY = (
    "#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#9ca3af",
)  # fmt: skip
STYLE: Mapping[str, Any] = {
    "svg.fonttype": "none",  # text stays text: a tenth of the size, and readable by screen readers
    "svg.hashsalt": "slowwave",  # ids inside the document are deterministic
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],  # part of Matplotlib, so the layout is the same everywhere
    "font.size": 9.0,
    "text.color": INK,
    "axes.edgecolor": GREY,
    "axes.labelcolor": FAINT,
    "axes.titlecolor": INK,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": GREY,
    "xtick.labelcolor": FAINT,
    "ytick.color": GREY,
    "ytick.labelcolor": FAINT,
    "ytick.left": False,
    "legend.frameon": False,
    "legend.handlelength": 0.9,
    "legend.handleheight": 0.9,
    "legend.columnspacing": 1.4,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
}
_DECIMALS = re.compile(rb"(\d\.\d)\d{4,}(?![\d<])")  # coordinates, not texts: a tenth of a point suffices
_STYLING = threading.Lock()  # a style is global to Matplotlib while it is used


def picture(title: str, draw: Callable[[Figure], None], height: float = HEIGHT) -> bytes:
    """Draw on a figure with `draw`; return the SVG."""
    with _styled() as new_figure:
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        around = ConstrainedLayoutEngine(w_pad=0.09, h_pad=0.09, hspace=0.06)
        figure = new_figure(figsize=(WIDTH, height), layout=around)
        draw(figure)
        document = io.BytesIO()
        metadata_ = {"Title": title, "Date": None, "Creator": None}
        figure.savefig(document, format="svg", metadata=metadata_)
    return _DECIMALS.sub(rb"\1", document.getvalue())


def nothing(title: str, why: str = "Nothing on these days.") -> bytes:
    """Return an SVG that says that there is no data, without importing Matplotlib."""
    width, height = WIDTH * 72, 0.8 * 72
    texts = escape(title), escape(why)
    return f"""<?xml version="1.0" encoding="utf-8" standalone="no"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}pt" height="{height:g}pt" \
viewBox="0 0 {width:g} {height:g}" version="1.1">
 <title>{texts[0]}</title>
 <rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>
 <text x="8.2" y="19" style="font: bold 10px 'DejaVu Sans', sans-serif; fill: {INK}">{texts[0]}</text>
 <text x="8.2" y="40" style="font: 9px 'DejaVu Sans', sans-serif; fill: {FAINT}">{texts[1]}</text>
</svg>
""".encode()


@contextmanager
def _styled() -> Iterator[Callable[..., Figure]]:
    """Apply the plot style to Matplotlib's defaults, one thread at a time."""
    try:
        from matplotlib import style
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SlowwaveError(f"{error}. Pictures need it: pip install '.[plots]' in its folder.") from None
    with _STYLING, style.context(["default", dict(STYLE)]):
        yield Figure


def legend(axes: Axes, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Put the legend on the line of the title, at the right."""
    axes.legend(
        handles, labels, loc="lower right", bbox_to_anchor=(1.01, 0.99), ncols=len(labels), borderaxespad=0,
        fontsize=8.5,
    )  # fmt: skip


def dated(days: Iterable[date]) -> list[str]:
    """Label days in order; the year is below the first day of it."""
    labels, year = [], 0
    for day in days:
        labels.append(f"{day.day} {MONTHS[day.month - 1]}" + (f"\n{day.year}" if day.year != year else ""))
        year = day.year
    return labels


def few_ticks(axes: Axes, count: int, *, whole: bool) -> None:
    """Limit the ticks of the vertical axis; `whole`: only at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(count, integer=whole, min_n_ticks=1))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")


def tenths(axes: Axes, values: Sequence[float], numbers: Sequence[int], colours: Sequence[str]) -> None:
    """Draw the bars of a distribution (`slowwave.views.counts.distribution`)."""
    bars = axes.bar(values, numbers, width=0.085, color=colours)
    axes.bar_label(bars, [f"{number:,}" if number else "" for number in numbers], padding=2, fontsize=8)
    labels = [f"{value:.1f}".removeprefix("0") if value % 1 else f"{value:.0f}" for value in values]
    axes.set_xticks(values, labels)
    axes.set_xlim(-0.06, 1.06)
    axes.set_ylim(0, max(numbers) * 1.14)
    few_ticks(axes, 5, whole=True)
