"""What people are shown, as data: sections of paragraphs, tables and pictures.

A report says here once what it has to say; renderers put it where people are: `tables` (Rich), `html` (one
page, Jinja2), `markdown` (Dagster's page). Parts for only one of them are marked (`Only`). Programs get the
data behind it (`data`).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

ANY: Final = 1_000
"""Characters of a place that has room for everything."""
Kind = Literal["", "number", "text", "id"]


class Mark(NamedTuple):
    """A cell that means something: a renderer colours it.

    Attributes:
        text: of the cell.
        mark: what it means, for instance better or worse; empty: nothing.
        note: what stands faintly behind the text.
    """

    text: str
    mark: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        name: its heading; empty: none.
        kind: numbers are set to the right; a text may be long; an id is copied.
        whole: its cells are never broken into lines.
        cut: what has no room ends in an ellipsis; else it goes on in the next line.
        least: width (characters).
        most: width (characters).
    """

    name: str
    kind: Kind = ""
    whole: bool = False
    cut: bool = False
    least: int | None = None
    most: int | None = None


def numbers(*names: str) -> list[Column]:
    """Columns of numbers."""
    return [Column(name, "number") for name in names]


Columns = Sequence[Column | str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings.

    Attributes:
        columns: a bare name is a column of no kind; where all its cells are numbers it is one of numbers.
        rows: cells: texts, plain values (see `text_of`) or `Mark`.
        left_out: how many rows more there are (count).
        option: the option that shows more of them.
    """

    columns: Columns
    rows: Sequence[Sequence[object]]
    left_out: int = 0
    option: str = ""

    @classmethod
    def of(cls, frame: pl.DataFrame, most: int) -> Table:
        """The first `most` rows of a frame."""
        return cls(frame.columns, frame.head(most).rows(), left_out=max(frame.height - most, 0))

    @property
    def headings(self) -> list[Column]:
        """The columns, each with its kind."""
        given = [Column(one) if isinstance(one, str) else one for one in self.columns]
        return [
            Column(one.name, "number") if isinstance(self.columns[at], str) and self._numeric(at) else one
            for at, one in enumerate(given)
        ]

    @property
    def more(self) -> str:
        """What to say of the rows that are left out; empty: none are."""
        how = f" ({self.option})" if self.option else ""
        return f"and {self.left_out:,} more{how}" if self.left_out else ""

    def _numeric(self, at: int) -> bool:
        return bool(self.rows) and all(isinstance(row[at], int | float) for row in self.rows)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text of its own; `mark` is how it is meant: faint, or waits for somebody."""

    text: str
    mark: Literal["", "faint", "waits"] = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture for pages.

    Attributes:
        draw: Returns an SVG or a PNG; called only by a renderer that shows pictures.
        alt: Text for those who cannot see it.
    """

    draw: Callable[[], bytes]
    alt: str

    @property
    def address(self) -> str:
        """A data URI of the picture, drawn anew.

        Raises:
            ValueError: the bytes are neither of the two.
        """
        image = self.draw()
        if image.startswith(b"\x89PNG\r\n\x1a\n"):
            kind = "png"
        elif b"<svg" in image[:1_000]:
            kind = "svg+xml"
        else:
            raise ValueError(f"{self.alt}: {image[:16]!r}… is neither an SVG nor a PNG")
        return f"data:image/{kind};base64,{base64.b64encode(image).decode()}"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing of characters for the terminal."""

    draw: Callable[[], RenderableType]


@dataclass(frozen=True, slots=True)
class Expandable:
    """Parts that are shown when their line is opened; `figure` stands before it."""

    line: str
    parts: Sequence[Part]
    figure: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A title, what to know of it, and what it is about."""

    title: str
    parts: Sequence[Part]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Only:
    """Parts for one place: the terminal, or a page."""

    place: Literal["terminal", "page"]
    parts: Sequence[Part]


def in_terminal(*parts: Part) -> Only:
    """Mark parts that only the terminal shows."""
    return Only("terminal", parts)


def on_page(*parts: Part) -> Only:
    """Mark parts that only a page shows."""
    return Only("page", parts)


Part = Section | Table | Paragraph | Picture | Drawing | Expandable | Only


def verdict(name: str, note: str = "") -> Mark:
    """A verdict of a comparison, as a cell."""
    return Mark(name, "undecided" if name == "insufficient evidence" else name, note)


def text_of(value: object) -> str:
    """A plain value as people read it; a list with commas, nothing of nothing."""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Names and their counts, the greatest first, of equals by name."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
