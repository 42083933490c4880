"""Sections of reports as data: paragraphs, tables and pictures.

A report is built once; renderers are `tables` (Rich), `html` (one page, Jinja2) and `markdown` (Dagster's
UI). Parts for only one of them are marked (`Only`). `data` has the JSON form.
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
"""Width that fits everything (characters)."""
Kind = Literal["", "number", "text", "id"]


class Mark(NamedTuple):
    """Cell with a meaning, which a renderer colours.

    Attributes:
        text: of the cell.
        mark: its meaning, such as better or worse; empty: none.
        note: faint text behind it.
        hover: text that a page shows when the pointer is over it, such as an absolute time.
    """

    text: str
    mark: str = ""
    note: str = ""
    hover: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a table.

    Attributes:
        name: its heading; empty: none.
        kind: numbers are right-aligned; a text may be long; an id is copied.
        whole: cells are never wrapped.
        cut: cells that do not fit end in an ellipsis; else they wrap.
        least: minimum width (characters).
        most: maximum width (characters).
    """

    name: str
    kind: Kind = ""
    whole: bool = False
    cut: bool = False
    least: int | None = None
    most: int | None = None


def numbers(*names: str) -> list[Column]:
    """Return columns of numbers."""
    return [Column(name, "number") for name in names]


Columns = Sequence[Column | str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings.

    Attributes:
        columns: a bare name is a column of numbers if all its cells are numbers, else of no kind.
        rows: cells: texts, plain values (see `text_of`) or `Mark`.
        left_out: rows that are not shown (count).
        option: the option that shows more of them.
    """

    columns: Columns
    rows: Sequence[Sequence[object]]
    left_out: int = 0
    option: str = ""

    @classmethod
    def of(cls, frame: pl.DataFrame, most: int) -> Table:
        """Return the first `most` rows of a frame."""
        return cls(frame.columns, frame.head(most).rows(), left_out=max(frame.height - most, 0))

    @property
    def headings(self) -> list[Column]:
        """The columns, each with its kind."""
        return [
            Column(column, "number" if self._numeric(at) else "") if isinstance(column, str) else column
            for at, column in enumerate(self.columns)
        ]

    @property
    def more(self) -> str:
        """Note about rows left out, or ""."""
        how = f" ({self.option})" if self.option else ""
        return f"and {self.left_out:,} more{how}" if self.left_out else ""

    def _numeric(self, at: int) -> bool:
        return bool(self.rows) and all(isinstance(row[at], int | float) for row in self.rows)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text; `mark` is its style: faint, or waits for a person."""

    text: str
    mark: Literal["", "faint", "waits"] = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """Picture for pages.

    Attributes:
        draw: returns an SVG or a PNG; called only by a renderer that shows pictures.
        alt: alternative text.
    """

    draw: Callable[[], bytes]
    alt: str

    @property
    def address(self) -> str:
        """Data URI of the picture, drawn at each access.

        Raises:
            ValueError: the bytes are neither SVG nor PNG.
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
    """Drawing of characters for the terminal."""

    draw: Callable[[], RenderableType]


@dataclass(frozen=True, slots=True)
class Expandable:
    """Parts shown when their line is opened; `figure` is before the line."""

    line: str
    parts: Sequence[Part]
    figure: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Title, note and parts."""

    title: str
    parts: Sequence[Part]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Only:
    """Parts for one renderer: the terminal, or a page."""

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
    """Return the cell of a comparison's verdict."""
    return Mark(name, "undecided" if name == "insufficient evidence" else name, note)


def text_of(value: object) -> str:
    """Return a plain value as text; lists with commas, None as ""."""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Sort counts, greatest first, then by name."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
