"""Sections in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table as RichTable

from slowwave.common.quoting import printable
from slowwave.views.section import Columns, Mark, Paragraph, Section, Table, text_of
from slowwave.views.terminal import out

_IDS = ("id", "decision")
"""Columns whose cells are copied into the next command: never broken."""
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
    table = Table(columns, rows, left_out=left_out, option=option)
    drawn = rich_table(table, boxed=True)
    drawn.title, drawn.title_justify = escape(title), "left"
    drawn.caption = escape("\n".join(filter(None, [caption, table.more]))) or None
    out.print(drawn)


def show(section: Section) -> None:
    """A section: its title and note in a line, and its parts below it."""
    if section.title:
        note = f"  [dim]{escape(section.note)}[/]" if section.note else ""
        out.print(f"[bold]{escape(section.title)}[/]{note}", highlight=False)
    for part in section.parts:
        if isinstance(part, Section):
            show(part)
        elif isinstance(part, Table):
            out.print(rich_table(part), highlight=False)
        elif isinstance(part, Paragraph) and part.text:
            out.print(escape(part.text), style=_STYLES.get(part.mark), highlight=False)


def rich_table(table: Table, *, boxed: bool = False) -> RichTable:
    """A table for people; `boxed`: with lines around its cells."""
    drawn = RichTable(caption_justify="left")
    if not boxed:
        drawn = RichTable(
            box=None, pad_edge=False, header_style="dim", caption=table.more or None, caption_justify="left"
        )
    for column in table.headings:
        number = column.kind == "number"
        drawn.add_column(
            escape(column.name),
            justify="right" if number else "left",
            no_wrap=column.whole or (column.name in _IDS if boxed else number),
            overflow="ellipsis" if column.cut else "fold",
            min_width=len(column.name) if number and not boxed else column.least,
            max_width=column.most,
        )
    for row in table.rows:
        drawn.add_row(*map(cell, row))
    return drawn


def cell(value: object) -> str:
    """A cell in Rich's markup."""
    if not isinstance(value, Mark):
        return escape(printable(text_of(value), keep="\n"))
    text = escape(printable(value.text, keep="\n"))
    style = _STYLES.get(value.mark)
    shown = f"[{style}]{text}[/]" if style else text
    return f"{shown} [dim]{escape(printable(value.note))}[/]" if value.note else shown
