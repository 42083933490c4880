"""An evaluation cycle in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from slowwave.views.section import Column, Table
from slowwave.views.tables import rich_table
from slowwave.views.terminal import out

if TYPE_CHECKING:
    from slowwave.views.cycle import CycleReport

_QUERIES = 5  # of a list
_WIDE = 110  # characters of a terminal that has room for every column


def print_cycle(report: CycleReport) -> None:
    """Print what a cycle found: the rankings, the channels, and what is other than in the cycle before."""
    from slowwave.views import cycle_tables as tables
    from slowwave.views import cycle_wording as words

    title = escape(f"Evaluation of {report.namespace}, cycle {report.number}")
    out.print(f"[bold]{title}[/] {escape(words.headline(report))}", highlight=False)
    if told := words.unfinished(report):
        out.print(f"[yellow]{escape(told)}[/]", highlight=False)
    out.print(words.outcome(report), highlight=False, markup=False)
    if report.variants:
        more = ("difference_ends", "counts", "p") if out.width >= _WIDE else ()
        columns = ("ranking", "mean", "judged", "difference", *more, "verdict", "needed")
        out.print(rich_table(tables.variants(report, columns)))
    if not report.channels.is_empty():
        shown = tables.channels(report, ("channel", "results", "covered", "exclusive", "ecr"))
        out.print(rich_table(shown))
    for name, told in words.plain_rows(report.judges, "judge "):
        out.print(f"{escape(name)} {escape(told)}", highlight=False)
    for line in words.since(report):
        out.print(line, highlight=False, markup=False)
    if not report.scores.is_empty():
        out.print(rich_table(_worst(report)))


def _worst(report: CycleReport) -> Table:
    from slowwave.views import cycle_wording as words
    from slowwave.views.cycle import MAIN
    from slowwave.views.cycle_tables import logged

    room = max(20, out.width - len(words.TITLE) - 3)
    rows = []
    for query, value in logged(report).head(_QUERIES).select("query", MAIN).iter_rows():
        text = " ".join((query or "").split())
        rows.append([text if len(text) <= room else text[: room - 2] + " …", words.number(value)])
    return Table([Column("worst queries", whole=True, cut=True), Column(words.TITLE, "number")], rows)
