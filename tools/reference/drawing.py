"""Pictures as SVG: boxes, lines and words that can be read on a light and on a dark page.

They are plain text that comes out the same on every machine: no fonts are measured, nothing is drawn by a
program of the system.
"""

from __future__ import annotations

from html import escape

COLOURS = ("#2f6f9f", "#3d8b4f", "#a8622d", "#7a56a8", "#a33f5b", "#4d7a7a")
"""Of the frames of groups, in turn: dark enough beside white and light enough beside black."""
STYLE = """
.page { fill: #ffffff } .box { fill: #ffffff; stroke-width: 1.4 } .lane { fill-opacity: .07 }
.line { fill: none; stroke-opacity: .75; stroke-width: 1.3 } .dim { fill: #5b6470 }
text { fill: #1b1f24; font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
.head { font-weight: 600 } .middle { text-anchor: middle } .end { text-anchor: end }
@media (prefers-color-scheme: dark) {
  .page { fill: #14171b } .box { fill: #1d2228 } text { fill: #e6e9ec } .dim { fill: #9aa4af }
  .lane { fill-opacity: .16 }
}
"""


class GraphDrawing:
    """What was drawn, in the order in which it was.

    Args:
        width: of the picture (pixels).
        height: of it.
        title: what it shows, for who cannot see it.
        about: the same in a sentence or two.
    """

    def __init__(self, width: int, height: int, title: str, about: str) -> None:
        self._lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(about)}</desc>",
            f"<style>{STYLE}</style>",
            f'<rect class="page" width="{width}" height="{height}" rx="8"/>',
        ]

    def rect(
        self, x: float, y: float, width: float, height: float, *, kind: str, colour: str = "", round_: int = 5
    ) -> None:
        """A rectangle; a lane is filled with its colour, a box has a frame of it."""
        paint = f' {"fill" if kind == "lane" else "stroke"}="{colour}"' if colour else ""
        self._lines.append(
            f'<rect class="{kind}"{paint} x="{_of(x)}" y="{_of(y)}" width="{_of(width)}" '
            f'height="{_of(height)}" rx="{round_}"/>'
        )

    def text(self, x: float, y: float, words: str, kind: str = "", colour: str = "") -> None:
        """Words whose line stands at y."""
        paint = f' style="fill: {colour}"' if colour else ""
        named = f' class="{kind}"' if kind else ""
        self._lines.append(f'<text{named}{paint} x="{_of(x)}" y="{_of(y)}">{escape(words)}</text>')

    def path(self, steps: str, colour: str) -> None:
        """A line along SVG's own steps."""
        self._lines.append(f'<path class="line" stroke="{colour}" d="{steps}"/>')

    def dot(self, x: float, y: float, colour: str) -> None:
        """A filled circle."""
        self._lines.append(f'<circle cx="{_of(x)}" cy="{_of(y)}" r="5" fill="{colour}"/>')

    def done(self) -> str:
        """The file."""
        return "\n".join([*self._lines, "</svg>"])


def _of(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def halves(name: str, most: int = 13) -> list[str]:
    """A name in one line, or in two that break after an underscore."""
    if len(name) <= most or "_" not in name:
        return [name]
    cuts = [at + 1 for at, letter in enumerate(name) if letter == "_"]
    best = min(cuts, key=lambda at: abs(2 * at - len(name)))
    return [name[:best], name[best:]]
