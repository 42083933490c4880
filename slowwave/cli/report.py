"""The reports: how the memory serves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from slowwave.cli.app import Namespace, app, open_namespace
from slowwave.cli.blocks import bar, spark, squeezed
from slowwave.views.section import Column, Mark, Paragraph, Section, Table, numbers
from slowwave.views.tables import show
from slowwave.views.terminal import Output, err, out, prints_output

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from slowwave.views.feedback import FeedbackReport

reports = typer.Typer(no_args_is_help=True, help="How the memory serves, in numbers and pictures.")
app.add_typer(reports, name="report")

TIERS = {"implicit": "answers looked at", "quick": "results rated", "detailed": "projects ended"}
_SIDE = 24  # characters of a bar, and room for what stands beside it
_CHART = 60
_WIDE = 96  # characters of a terminal that has room for ids


@reports.command("feedback")
@prints_output
def feedback(
    days: Annotated[int, typer.Option(min=1, help="Days (UTC) to count, today with them.")] = 30,
    as_of: Annotated[str, typer.Option(help="A past day to end with: the report of its end.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-k", min=1, help="Rows of each list of memories.")] = 5,
    html: Annotated[
        Path | None, typer.Option(help="Also write one page with pictures and tables to this file.")
    ] = None,
    namespace: Namespace = "",
) -> Output:
    """Is it getting better; acts of feedback, what answers used, how effective memories are, which fade.

    Counted is what nights have taken in; what waits for one is named.
    """
    from datetime import UTC, datetime

    from slowwave.common.arguments import parsed_day
    from slowwave.scoring.days import MICROSECOND, day_end
    from slowwave.views.feedback import feedback_report

    now = datetime.now(UTC)
    if as_of:
        now = min(now, day_end(parsed_day("--as-of", as_of)) - MICROSECOND)
    with open_namespace(namespace, known=True) as memory:
        done = feedback_report(memory.home, memory.namespace, days=days, as_of=now, limit=limit)
    if html is not None:
        from slowwave.views.page import feedback_page

        html.write_text(feedback_page(done), encoding="utf-8")

    def show() -> None:
        _print_head(done)
        _print_trend(done)
        if not done.acts.is_empty():
            _print_acts(done)
        if not done.verdicts.is_empty():
            _print_rates(done)
        _print_distributions(done)
        _print_lists(done)
        if html is not None:
            err.print(f"Written to [bold]{escape(str(html))}[/].", highlight=False, soft_wrap=True)

    return Output(done.to_dict(), show)


def _print_head(done: FeedbackReport) -> None:
    from slowwave.views import wording

    out.print(
        f"[bold]Feedback of namespace {escape(done.namespace)}[/], {escape(wording.period(done))}",
        highlight=False,
    )
    show(Section("", [Paragraph(wording.summary(done)), Paragraph(wording.waiting(done), "waits")]))
    if done.acts.is_empty() and not done.rated:
        out.print(
            "No feedback has been taken in. `slowwave feedback` and `slowwave observe` give some, "
            "`slowwave night` takes it in."
        )


def _print_trend(done: FeedbackReport) -> None:
    from slowwave.views import trend

    out.print()
    show(trend.section(done.trend, width=out.width))


def _print_acts(done: FeedbackReport) -> None:
    import polars as pl

    total = int(done.acts["acts"].sum())
    rows: list[list[object]] = []
    for tier in [*TIERS, *sorted(set(done.acts["tier"]) - set(TIERS))]:
        mine = done.acts.filter(pl.col("tier") == tier)
        if mine.is_empty():
            continue
        by_day = dict(mine.group_by("day").agg(pl.col("acts").sum()).iter_rows())
        line = _spark([by_day.get(day, 0) for day in done.days])
        acts = sum(by_day.values())
        mark = tier if tier in TIERS else "plain"
        rows.append([
            Mark(tier, mark), Mark(line, mark), acts, _percent(acts / total), max(by_day.values()),
        ])  # fmt: skip
        verdicts = mine.group_by("verdict").agg(pl.col("acts").sum()).sort("acts", "verdict", descending=True)
        said = " · ".join(f"{name} {count:,}" for name, count in verdicts.iter_rows())
        rows.append(["", Mark(said if tier != "implicit" else TIERS[tier], "faint")])
    counts = numbers("acts", "share", "most a day")
    table = Table([Column("tier", whole=True), Column("", whole=True), *counts], rows)
    out.print()
    show(Section(f"Acts of feedback ({total:,})", [table]))


def _print_rates(done: FeedbackReport) -> None:
    from slowwave.views import wording

    rows: list[list[object]] = []
    for row in done.rates.iter_rows(named=True):
        if row["rate"] is not None:
            what, interval = row["what"], f"{_percent(row['low'])} – {_percent(row['high'])}"
            length = Mark(bar(row["rate"], _width()), what)
            rows.append([Mark(what, what), length, _percent(row["rate"]), interval, row["count"]])
    if done.rates["of"][0] and len(done.days) > 1:
        line = Mark(_used_by_day(done), "used")
        rows.append([Mark("used", "used"), line, "", Mark("by day, 0 – 100 %", "faint")])
    counts = numbers("share", "95 %", "memories")
    table = Table([Column("", whole=True), Column("", whole=True), *counts], rows)
    out.print()
    show(Section("Shown memories in answers", [table], wording.judged(done)))


def _used_by_day(done: FeedbackReport) -> str:
    used = dict(done.verdicts.select("day", "used").iter_rows())
    ignored = dict(done.verdicts.select("day", "ignored").iter_rows())
    shares = []
    for run in squeezed(done.days, _width()):
        took = sum(used.get(day, 0) for day in run)
        told = took + sum(ignored.get(day, 0) for day in run)
        shares.append(took / told if told else None)
    return _wide(spark(shares, 1.0), len(done.days))


def _print_distributions(done: FeedbackReport) -> None:
    from rich.table import Table

    from slowwave.common.plurals import counted

    strong = int(done.strength["memories"].sum())
    parts = (
        (f"Effectiveness ({counted(done.rated, 'memory', 'memories')})", done.effectiveness, "dodger_blue2"),
        (f"Strength now ({counted(strong, 'memory', 'memories')})", done.strength, "green3"),
    )
    side_by_side = Table.grid(padding=(0, 4))
    shown = [(title, frame, style) for title, frame, style in parts if frame["memories"].sum()]
    if shown:
        side_by_side.add_row(*(f"[bold]{title}[/]" for title, _, _ in shown))
        side_by_side.add_row(*(_histogram(frame, style) for _, frame, style in shown))
        out.print()
        out.print(side_by_side)


def _histogram(frame: pl.DataFrame, style: str) -> RenderableType:
    from rich.table import Table

    most = max(frame["memories"])
    lines = Table.grid(padding=(0, 1))
    lines.add_column(justify="right", style="dim")
    for value, count in frame.iter_rows():
        label = f"{value:.0f}" if value in (0, 1) else f"{value:.1f}".removeprefix("0")
        lines.add_row(label, f"[{style}]{bar(count / most, _SIDE)}[/] {count:,}" if count else "")
    return lines


def _print_lists(done: FeedbackReport) -> None:
    from slowwave.views import wording

    for one in wording.listings(done, ids=out.width >= _WIDE):
        out.print()
        show(one)


# -- pieces ----------------------------------------------------------------------------------------


def _width() -> int:
    """Characters of a chart."""
    return max(10, min(_CHART, out.width - 44))


def _cell(days: int) -> int:
    """Characters of a day in a chart."""
    return max(1, min(3, _width() // days))


def _spark(values: Sequence[float]) -> str:
    return _wide(spark([sum(run) / len(run) for run in squeezed(values, _width())]), len(values))


def _wide(line: str, days: int) -> str:
    return "".join(character * _cell(days) for character in line)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
