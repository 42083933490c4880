"""An evaluation cycle in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.views.terminal import out

if TYPE_CHECKING:
    from rich.table import Table

    from slowwave.views.cycle import CycleReport

COLOURS = {
    "better": "green3", "worse": "orange_red1", "equivalent": "dodger_blue2", "insufficient evidence": "dim",
}  # fmt: skip
_QUERIES = 5  # of a list
_WIDE = 110  # characters of a terminal that has room for every column


def print_cycle(report: CycleReport) -> None:
    """Print what a cycle found: the rankings, the channels, and what is other than in the cycle before."""
    from rich.markup import escape

    from slowwave.views import cycle_wording as words

    title = escape(f"Evaluation of {report.namespace}, cycle {report.number}")
    out.print(f"[bold]{title}[/] {words.headline(report)}", highlight=False)
    if told := words.unfinished(report):
        out.print(f"[yellow]{told}[/]", highlight=False)
    out.print(words.outcome(report), highlight=False)
    if report.variants:
        out.print(_variants(report))
    if not report.channels.is_empty():
        out.print(_channels(report))
    for name, told in words.plain_rows(report.judges, "judge "):
        out.print(f"{escape(name)} {escape(told)}", highlight=False)
    for line in words.since(report):
        out.print(line, highlight=False)
    if not report.scores.is_empty():
        out.print(_worst(report))


def _variants(report: CycleReport) -> Table:
    from rich.markup import escape
    from rich.table import Table

    from slowwave.views import cycle_wording as words
    from slowwave.views.cycle import MAIN

    wide = out.width >= _WIDE
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("ranking", overflow="fold", min_width=12)
    more = ("95 %", "won/tied/lost", "p") if wide else ()
    for name in (words.TITLE, "judged@10", "difference", *more):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict")
    table.add_column("needed", justify="right")
    for one in report.variants:
        name = escape(one.name) + (" [dim](baseline)[/]" if one.role == "baseline" else "")
        row = [name, words.number(one.means[MAIN].mean), words.number(one.judged)]
        found = one.against.get(MAIN)
        if found is not None:
            row.append(words.number(found.difference, signed=True))
            if wide:
                row += [
                    words.interval(found, signed=True), f"{found.wins:,}/{found.ties:,}/{found.losses:,}",
                    words.probability(found.p_value),
                ]  # fmt: skip
            row += [f"[{COLOURS[found.verdict]}]{found.verdict}[/]", words.needed(one)]
        table.add_row(*row)
    return table


def _channels(report: CycleReport) -> Table:
    from rich.markup import escape
    from rich.table import Table

    from slowwave.views import cycle_wording as words

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("channel")
    for name in ("results", "covered", "exclusive", "ECR"):
        table.add_column(name, justify="right")
    columns = ("channel", "results", "covered", "exclusive", "ecr")
    for channel, *values in report.channels.select(columns).iter_rows():
        table.add_row(escape(channel), *map(words.shown, values))
    return table


def _worst(report: CycleReport) -> Table:
    import polars as pl
    from rich.markup import escape
    from rich.table import Table

    from slowwave.views import cycle_wording as words
    from slowwave.views.cycle import LOGGED, MAIN

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("worst queries", no_wrap=True, overflow="ellipsis")
    table.add_column(words.TITLE, justify="right", no_wrap=True, min_width=7)
    logged = report.scores.filter(pl.col("variant") == LOGGED).sort(MAIN, "query_id").head(_QUERIES)
    for query, value in logged.select("query", MAIN).iter_rows():
        text = " ".join((query or "").split())
        room = max(20, out.width - len(words.TITLE) - 3)
        text = text if len(text) <= room else text[: room - 2] + " …"
        table.add_row(escape(text), words.number(value))
    return table
