"""Sections in the terminal."""

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
"""Columns whose cells are copied into the next command: never broken."""
_CUT = 16  # characters of a column whose texts may end in an ellipsis, at least
_STYLES = {
    "better": "green3", "worse": "orange_red1", "equivalent": "dodger_blue2", "undecided": "dim",
    "open": "green", "closed": "red", "insufficient": "yellow", "waits": "yellow", "faint": "dim",
    "implicit": "sky_blue2", "quick": "orange1", "detailed": "green3",
    "used": "dodger_blue2", "ignored": "orange1", "cited": "green3", "plain": "white",
}  # fmt: skip
"""How marks look."""


def print_table(
    title: str,
    columns: Columns,
    rows: Sequence[Sequence[object]],
    *,
    caption: str = "",
    left_out: int = 0,
    option: str = "",
) -> None:
    """A table of its own, with lines around its cells; see `slowwave.views.section.Table`."""
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
    """Names and texts, a line or more each."""
    out.print(_grid([[(name, cell(text)) for name, text in rows]]))


def show(section: Section) -> None:
    """A section: its title and note in a line, and its parts below it."""
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


def rich_table(table: Table, *, boxed: bool = False, width: int | None = None) -> RichTable:
    """A table for people in which no word is broken: where its columns have no room, a card for each row.

    Args:
        table: what it says.
        boxed: with lines around its cells, where they have room.
        width: characters that there are (count); None: those of the terminal.
    """
    room = out.width if width is None else width
    short = [""] * len(table.columns)  # a row may end early
    cells = [[*map(cell, row), *short[len(row) :]] for row in table.rows]
    columns = [_fit(one, [row[at] for row in cells], boxed) for at, one in enumerate(table.headings)]
    widths = _widths(columns, room - 3 * len(columns) - 1) if boxed else None
    if boxed and widths is None:
        boxed, widths = False, _widths(columns, room - 2 * len(columns) + 2)
    elif not boxed:
        widths = _widths(columns, room - 2 * len(columns) + 2)
    if widths is None:
        names = [one.column.name for one in columns]
        drawn = _grid([list(zip(names, row, strict=True)) for row in cells])
        drawn.caption = table.more or None
        return drawn
    drawn = RichTable(caption_justify="left")
    if not boxed:
        drawn = RichTable(
            box=None, pad_edge=False, header_style="dim", caption=table.more or None, caption_justify="left"
        )
    for one, given in zip(columns, widths, strict=True):
        drawn.add_column(
            escape(one.column.name),
            justify="right" if one.column.kind == "number" else "left",
            no_wrap=one.whole,
            overflow="ellipsis" if one.column.cut else "fold",
            width=given,
        )
    for row in cells:
        drawn.add_row(*row)
    return drawn


class _Fit(NamedTuple):
    """A column, and the room that it needs (characters): for its longest word, and for its longest line."""

    column: Column
    whole: bool
    least: int
    most: int


def _fit(column: Column, cells: Sequence[str], boxed: bool) -> _Fit:
    number = column.kind == "number"
    whole = column.whole or column.kind == "id" or column.name in _IDS or (number and not boxed)
    texts = [Text.from_markup(one) for one in cells]
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
    """Characters of each column: all that it wants, or at least its longest word; None: they do not fit.

    What is over after the longest words goes to the columns evenly, as far as they want it.
    """
    widths = [one.least for one in columns]
    over = room - sum(widths)
    if over < 0:
        return None
    while over and (hungry := [at for at, one in enumerate(columns) if widths[at] < one.most]):
        share = max(over // len(hungry), 1)
        for at in hungry:
            given = min(share, columns[at].most - widths[at], over)
            widths[at] += given
            over -= given
    return widths


def _grid(cards: Sequence[Sequence[tuple[str, str]]]) -> RichTable:
    """A line for every name that has a text, and an empty one between cards."""
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
    """A cell in Rich's markup."""
    if not isinstance(value, Mark):
        return escape(printable(text_of(value), keep="\n"))
    text = escape(printable(value.text, keep="\n"))
    style = _STYLES.get(value.mark)
    shown = f"[{style}]{text}[/]" if style else text
    return f"{shown} [dim]{escape(printable(value.note))}[/]" if value.note else shown
