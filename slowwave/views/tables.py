"""Terminal rendering of sections (Rich)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from slowwave.common.quoting import printable
from slowwave.views.section import (
    Column,
    Columns,
    Drawing,
    Mark,
    Only,
    Paragraph,
    Part,
    Section,
    Table,
    text_of,
)
from slowwave.views.terminal import out

_IDS = ("id", "decision")
"""Columns whose cells are copied into commands: never wrapped."""
_CUT = 16  # minimum width of a column that may be cut (characters)
_STYLES = {
    "better": "green3", "worse": "orange_red1", "equivalent": "dodger_blue2", "undecided": "dim",
    "open": "green", "closed": "red", "insufficient": "yellow", "waits": "yellow", "faint": "dim",
    "implicit": "sky_blue2", "quick": "orange1", "detailed": "green3",
    "used": "dodger_blue2", "ignored": "orange1", "cited": "green3", "plain": "white",
}  # fmt: skip
"""Rich styles of marks."""


def print_table(
    title: str,
    columns: Columns,
    rows: Sequence[Sequence[object]],
    *,
    caption: str = "",
    left_out: int = 0,
    option: str = "",
) -> None:
    """Print a table with lines around its cells; see `slowwave.views.section.Table`."""
    print_boxed(title, Table(columns, rows, left_out=left_out, option=option), caption)


def print_boxed(title: str, table: Table, caption: str = "") -> None:
    """Print a table with lines around its cells, below its title."""
    drawn = rich_table(table, boxed=True)
    drawn.caption = None
    if title:
        out.print(title, style="table.title", markup=False, highlight=False)
    out.print(drawn)
    for line in filter(None, [caption, table.more]):
        out.print(line, style="table.caption", markup=False, highlight=False)


def print_card(rows: Sequence[tuple[str, object]]) -> None:
    """Print names and texts, one or more lines each."""
    out.print(_grid([[(name, cell(text)) for name, text in rows]]))


def show(section: Section) -> None:
    """Print a section: title and note in a line, and its parts below."""
    if section.title:
        note = f"  [dim]{escape(section.note)}[/]" if section.note else ""
        out.print(f"[bold]{escape(section.title)}[/]{note}", highlight=False)
    show_parts(section.parts)


def show_parts(parts: Iterable[Part], *, apart: bool = False) -> None:
    """Print parts one below the other; `apart`: with an empty line before each section."""
    for part in parts:
        if isinstance(part, Section):
            if apart:
                out.print()
            show(part)
        elif isinstance(part, Table):
            out.print(rich_table(part), highlight=False)
        elif isinstance(part, Paragraph) and part.text:
            out.print(escape(part.text), style=_STYLES.get(part.mark), highlight=False)
        elif isinstance(part, Drawing):
            out.print(part.draw())
        elif isinstance(part, Only) and part.place == "terminal":
            show_parts(part.parts, apart=apart)


def rich_table(table: Table, *, boxed: bool = False) -> RichTable:
    """Return a table without broken words. If the columns do not fit, it is a card per row.

    Args:
        table: the data.
        boxed: draw lines around its cells, if they fit.
    """
    room = out.width
    short = [""] * len(table.columns)  # a row may have fewer cells
    cells = [[*map(cell, row), *short[len(row) :]] for row in table.rows]
    columns = [_fit(heading, [row[at] for row in cells], boxed) for at, heading in enumerate(table.headings)]
    widths = _widths(columns, room - 3 * len(columns) - 1) if boxed else None
    if widths is None:
        boxed, widths = False, _widths(columns, room - 2 * len(columns) + 2)
    if widths is None:
        names = [fit.column.name for fit in columns]
        drawn = _grid([list(zip(names, row, strict=True)) for row in cells])
        drawn.caption = table.more or None
        return drawn
    drawn = RichTable(caption_justify="left")
    if not boxed:
        drawn = RichTable(
            box=None, pad_edge=False, header_style="dim", caption=table.more or None, caption_justify="left"
        )
    for fit, column_width in zip(columns, widths, strict=True):
        drawn.add_column(
            escape(fit.column.name),
            justify="right" if fit.column.kind == "number" else "left",
            no_wrap=fit.whole,
            overflow="ellipsis" if fit.column.cut else "fold",
            width=column_width,
        )
    for row in cells:
        drawn.add_row(*row)
    return drawn


class _Fit(NamedTuple):
    """Column with its minimum width (longest word) and preferred width (longest line), in characters."""

    column: Column
    whole: bool
    least: int
    most: int


def _fit(column: Column, cells: Sequence[str], boxed: bool) -> _Fit:
    number = column.kind == "number"
    whole = column.whole or column.kind == "id" or column.name in _IDS or (number and not boxed)
    texts = [Text.from_markup(text_) for text_ in cells]
    words = [cell_len(word) for text in texts for word in text.plain.split()]
    lines = [cell_len(line) for text in texts for line in text.plain.splitlines()]
    heading = max(map(cell_len, column.name.split()), default=0)
    most = max([*lines, cell_len(column.name), column.least or 0])
    most = min(most, column.most) if column.most else most
    if column.cut:
        least = max(heading, min(column.least or _CUT, most))
    else:
        least = max([*(lines if whole else words), heading, column.least or 0])
    return _Fit(column, whole, least, max(most, least))


def _widths(columns: Sequence[_Fit], room: int) -> list[int] | None:
    """Return the width of each column in characters; None if they do not fit.

    Each gets its longest word. The remaining space is shared evenly, up to the preferred widths.
    """
    widths = [fit.least for fit in columns]
    spare = room - sum(widths)
    if spare < 0:
        return None
    while spare and (hungry := [at for at, fit in enumerate(columns) if widths[at] < fit.most]):
        share = max(spare // len(hungry), 1)
        for at in hungry:
            extra = min(share, columns[at].most - widths[at], spare)
            widths[at] += extra
            spare -= extra
    return widths


def _grid(cards: Sequence[Sequence[tuple[str, str]]]) -> RichTable:
    """Return a line for every name with a text, and an empty line between cards."""
    grid = RichTable(box=None, show_header=False, pad_edge=False, caption_justify="left")
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for number, card in enumerate(cards):
        if number:
            grid.add_row("", "")
        for name, text in card:
            if text:
                grid.add_row(escape(name), text)
    return grid


def cell(value: object) -> str:
    """Return a cell in Rich's markup."""
    if not isinstance(value, Mark):
        return escape(printable(text_of(value), keep="\n"))
    text = escape(printable(value.text, keep="\n"))
    style = _STYLES.get(value.mark)
    shown = f"[{style}]{text}[/]" if style else text
    return f"{shown} [dim]{escape(printable(value.note))}[/]" if value.note else shown
