"""Evaluation commands: eval compare, status, report, short-memories. `eval run` is in orchestration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from slowwave.cli.app import Namespace, app, open_namespace, reference
from slowwave.common.pluralize import counted
from slowwave.errors import SlowwaveError
from slowwave.views.section import Column, Columns, Mark, Table, numbers, verdict
from slowwave.views.tables import rich_table, show_parts
from slowwave.views.terminal import Output, bars, out, prints_output

if TYPE_CHECKING:
    from slowwave.evaluation.compare_policies import PolicyComparison
    from slowwave.scoring.evaluation import Comparison
    from slowwave.views.cycle import CycleReport

evaluation = typer.Typer(no_args_is_help=True, help="Measure search quality and compare ranking policies.")
app.add_typer(evaluation, name="eval")

_WIDE = 110  # characters of a terminal that fits all columns
_NO_CYCLE = "No evaluation cycle yet. Run a search, then `slowwave night` and `slowwave eval run`."


@evaluation.command("compare")
@prints_output
def compare(
    second: Annotated[
        str, typer.Argument(help="A policy file, or a name: seeds, 'BM25 alone', 'no MPAB', …")
    ],
    first: Annotated[str, typer.Argument(help="Baseline policy; logged: the returned results.")] = "logged",
    since: Annotated[str, typer.Option("--from", help="First day (UTC) of the searches.")] = "",
    until: Annotated[str, typer.Option("--to", help="Last day; default: today.")] = "",
    days: Annotated[int, typer.Option(min=1, help="Number of days, without --from.")] = 90,
    namespace: Namespace = "",
) -> Output:
    """Compare two ranking policies on logged searches. Nothing in force changes."""
    from dataclasses import asdict
    from datetime import timedelta

    from slowwave.common.arguments import parsed_day
    from slowwave.evaluation.compare_policies import compare_policies

    with open_namespace(namespace) as memory, bars():
        last = parsed_day("--to", until) if until else memory.home.now().date()
        start = parsed_day("--from", since) if since else last - timedelta(days=days - 1)
        done = compare_policies(memory.home, memory.namespace, first, second, since=start, until=last)
    metrics = {
        name: asdict(comparison)
        | {"verdict": comparison.verdict, "queries_needed": comparison.queries_needed}
        for name, comparison in done.by_metric.items()
    }
    return Output(asdict(done) | {"by_metric": metrics}, lambda: _print_comparison(done))


def _print_comparison(done: PolicyComparison) -> None:
    queries = next(iter(done.by_metric.values())).n
    out.print(f"[bold]{escape(done.second)}[/] against [bold]{escape(done.first)}[/]", highlight=False)
    measured = numbers(done.first, done.second, "difference", "95 %", "won/tied/lost")
    columns: Columns = [Column("metric", whole=True), *measured, "verdict"]
    if queries:
        rows = [_comparison_row(name, comparison) for name, comparison in done.by_metric.items()]
        out.print(rich_table(Table(columns, rows)))
    out.print(
        f"[dim]{counted(queries, 'query', 'queries')}, in {done.judged:,} of "
        f"{counted(done.searches, 'search', 'searches')}, {escape(done.since)} to "
        f"{escape(done.until)}; judgments {escape(done.judgment_version[:12])}[/]",
        highlight=False,
    )
    if not queries:
        out.print(
            "No search of these days has a relevant judgment. `slowwave observe` and `slowwave feedback` "
            "create them from use, `slowwave judge` by hand."
        )


def _comparison_row(name: str, comparison: Comparison) -> list[str | Mark]:
    measured: list[str | Mark] = [name, f"{comparison.baseline:.3f}", f"{comparison.candidate:.3f}"]
    if name.startswith("Judged"):  # coverage by judgments, not quality
        return measured
    queries_needed = (
        f"(~{comparison.queries_needed:,} more queries)"
        if comparison.queries_needed and out.width >= _WIDE
        else ""
    )
    return [
        *measured, f"{comparison.difference:+.3f}", f"{comparison.low:+.3f}…{comparison.high:+.3f}",
        f"{comparison.wins}/{comparison.ties}/{comparison.losses}",
        verdict(comparison.verdict, queries_needed),
    ]  # fmt: skip


@evaluation.command("status")
@prints_output
def status(namespace: Namespace = "") -> Output:
    """List evaluation cycles, and what the open one still needs."""
    import json as reader

    from slowwave.evaluation.cycles import counted_in

    with open_namespace(namespace) as memory:
        rows = memory.store.of(memory.namespace).read("evaluation_cycles").sort("number")
    cycles = [
        row | {name: reader.loads(row[name] or "{}") for name in ("summary", "variants")}
        for row in rows.iter_rows(named=True)
    ]

    def show() -> None:
        if not cycles:
            out.print(_NO_CYCLE)
            return
        counts = ("days", "searches", "queries")
        cells = [
            [
                row["cycle_id"],
                f"closed on {row['closed_on']}" if row["closed_on"] else f"open since {row['opened_on']}",
                *(row[name] for name in counts),
                counted_in(row["summary"], row["queries"]),
                _missing(row["summary"]),
            ]
            for row in cycles
        ]
        out.print(
            rich_table(Table([Column("cycle", whole=True), "status", *counts, "counted", "needs"], cells))
        )

    return Output(cycles, show)


def _missing(summary: dict[str, object]) -> str:
    if "queries_missing" not in summary:
        return ""
    queries, days = int(str(summary["queries_missing"])), int(str(summary["days_missing"]))
    return f"{counted(queries, 'more query', 'more queries')}, {counted(days, 'more day')}"


@evaluation.command("report")
@prints_output
def report(
    cycle: Annotated[
        str, typer.Argument(help="NAMESPACE#NUMBER, or a number; default: the last closed cycle.")
    ] = "",
    html: Annotated[
        Path | None, typer.Option(help="Also write an HTML page with charts to this file.")
    ] = None,
    namespace: Namespace = "",
) -> Output:
    """Report an evaluation cycle: every policy beside the served ranking, with verdicts."""
    from slowwave.evaluation.cycles import closed_cycles, cycle_id
    from slowwave.store.frames import quote
    from slowwave.views.cycle import as_data, cycle_report

    with open_namespace(namespace) as memory:
        space = memory.home
        if not cycle:
            closed = closed_cycles(space, memory.namespace)
            number = closed[-1].number if closed else 1
            first = cycle_id(memory.namespace, number)
            if not closed and not space.store.count("evaluation_cycles", f"cycle_id = {quote(first)}"):
                return Output(None, _NO_CYCLE)
        elif cycle.startswith(f"{memory.namespace}#") or "#" not in cycle:
            number = _cycle_number(cycle)
        else:
            raise SlowwaveError(f"Cycle {cycle!r} is of another namespace than {memory.namespace!r}.")
        name = cycle_id(memory.namespace, number)
        done = cycle_report(space.store, name, margin=space.settings.evaluation.margin)
    if html is not None:
        from slowwave.views.cycle_sections import cycle_page

        html.write_text(cycle_page(done), encoding="utf-8")

    def show() -> None:
        print_cycle(done)
        if html is not None:
            out.print(f"Page: [bold]{escape(str(html))}[/]")

    return Output(as_data(done), show)


def print_cycle(report: CycleReport) -> None:
    """Print the report of an evaluation cycle."""
    from slowwave.views.cycle_sections import sections
    from slowwave.views.cycle_text import headline

    title = escape(f"Evaluation of {report.namespace}, cycle {report.number}")
    out.print(f"[bold]{title}[/] {escape(headline(report))}", highlight=False)
    show_parts(sections(report, width=out.width))


@evaluation.command("sparse", hidden=True, deprecated=True)
@evaluation.command("short-memories")
@prints_output
def sparse(
    memory: Annotated[str, typer.Option(help="Check only this short memory.")] = "",
    days: Annotated[int, typer.Option(min=1, help="Days whose searches are counted.")] = 90,
    most: Annotated[
        int, typer.Option(min=0, help="Maximum number of short memories to test, newest first.")
    ] = 50,
    namespace: Namespace = "",
) -> Output:
    """Report what the guaranteed place of short memories adds, and which are not found."""
    from datetime import timedelta

    from slowwave.search.sparse_recall import figures, short_memories

    with open_namespace(namespace) as opened, bars():
        space, name = opened.home, opened.namespace
        memory = memory and reference(opened, "memory", memory)
        today = space.now().date()
        last = [(today - timedelta(days=at)).isoformat() for at in range(days)]
        done = figures(space, last, name).to_dict()
        tested = short_memories(space, name, memory_id=memory, most=most)
    if memory and not tested:
        raise SlowwaveError(f"{memory} is no short, searchable memory of namespace {name!r}.")
    failing = [memory_ for memory_ in tested if memory_.diagnosis != "passes"]

    def show() -> None:
        columns: Columns = [Column("figure", whole=True), Column("value", "number")]
        out.print(
            rich_table(Table(columns, [[figure, _figure_text(value)] for figure, value in done.items()]))
        )
        out.print(
            f"{len(tested):,} short memories were searched with their own questions, "
            f"{len(tested) - len(failing):,} pass.",
            highlight=False,
        )
        if failing or memory:
            rates = numbers("by id", "by search")
            cells = [
                [
                    memory_.memory_id,
                    memory_.questions,
                    f"{memory_.by_id:.2f}",
                    f"{memory_.by_search:.2f}",
                    memory_.diagnosis,
                ]
                for memory_ in (tested if memory else failing)
            ]
            columns = [Column("memory", whole=True), "questions", *rates, "diagnosis"]
            out.print(rich_table(Table(columns, cells)))

    return Output(done | {"asked": len(tested), "memories": [memory_.to_dict() for memory_ in tested]}, show)


def _figure_text(value: float | None) -> str:
    if value is None:
        return "no data"
    return f"{value:,}" if value == int(value) else f"{value:.3f}"


def _cycle_number(text: str) -> int:
    try:
        return int(text.rpartition("#")[2])
    except ValueError:
        raise SlowwaveError(f"{text!r} is no cycle. Give NAMESPACE#NUMBER or a number.") from None
