"""The commands that measure: eval compare, report, status; `eval run` is the night's (orchestration)."""

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

evaluation = typer.Typer(no_args_is_help=True, help="How good the memory is, and what would make it better.")
app.add_typer(evaluation, name="eval")

_WIDE = 110  # characters of a terminal that has room for everything
_NO_CYCLE = "No cycle has been opened. It takes a search, `slowwave night` and `slowwave eval run`."


@evaluation.command("compare")
@prints_output
def compare(
    second: Annotated[
        str, typer.Argument(help="A policy file, or a name: seeds, 'BM25 alone', 'no MPAB', …")
    ],
    first: Annotated[
        str, typer.Argument(help="What it is compared with; logged is what was shown.")
    ] = "logged",
    since: Annotated[str, typer.Option("--from", help="First day (UTC) of the searches.")] = "",
    until: Annotated[str, typer.Option("--to", help="Last day; default: today.")] = "",
    days: Annotated[int, typer.Option(min=1, help="Days, where no first one is given.")] = 90,
    namespace: Namespace = "",
) -> Output:
    """Try another ranking on what past searches considered; nothing in force is changed."""
    from dataclasses import asdict
    from datetime import timedelta

    from slowwave.common.arguments import parsed_day
    from slowwave.evaluation.compare_policies import compare_policies

    with open_namespace(namespace) as memory, bars():
        last = parsed_day("--to", until) if until else memory.home.now().date()
        start = parsed_day("--from", since) if since else last - timedelta(days=days - 1)
        done = compare_policies(memory.home, memory.namespace, first, second, since=start, until=last)
    found = {
        name: asdict(one) | {"verdict": one.verdict, "queries_needed": one.queries_needed}
        for name, one in done.by_metric.items()
    }
    return Output(asdict(done) | {"by_metric": found}, lambda: _print_trial(done))


def _print_trial(done: PolicyComparison) -> None:
    queries = next(iter(done.by_metric.values())).n
    out.print(f"[bold]{escape(done.second)}[/] against [bold]{escape(done.first)}[/]", highlight=False)
    measured = numbers(done.first, done.second, "difference", "95 %", "won/tied/lost")
    columns: Columns = [Column("metric", whole=True), *measured, "verdict"]
    if queries:
        rows = [_compared(name, one) for name, one in done.by_metric.items()]
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
            "make them from use, `slowwave judge` by hand."
        )


def _compared(name: str, one: Comparison) -> list[str | Mark]:
    measured: list[str | Mark] = [name, f"{one.baseline:.3f}", f"{one.candidate:.3f}"]
    if name.startswith("Judged"):  # tells how much of it is known, not how good it is
        return measured
    lacking = f"(~{one.queries_needed:,} more queries)" if one.queries_needed and out.width >= _WIDE else ""
    return [
        *measured, f"{one.difference:+.3f}", f"{one.low:+.3f}…{one.high:+.3f}",
        f"{one.wins}/{one.ties}/{one.losses}", verdict(one.verdict, lacking),
    ]  # fmt: skip


@evaluation.command("status")
@prints_output
def status(namespace: Namespace = "") -> Output:
    """The cycles of a namespace: the closed ones, and what the open one still needs."""
    import json as reader

    from slowwave.evaluation.cycles import counted_in

    with open_namespace(namespace) as memory:
        rows = memory.store.of(memory.namespace).read("evaluation_cycles").sort("number")
    found = [
        row | {name: reader.loads(row[name] or "{}") for name in ("summary", "variants")}
        for row in rows.iter_rows(named=True)
    ]

    def show() -> None:
        if not found:
            out.print(_NO_CYCLE)
            return
        counts = ("days", "searches", "queries")
        cells = [
            [
                row["cycle_id"],
                f"closed on {row['closed_on']}" if row["closed_on"] else f"open since {row['opened_on']}",
                *(row[name] for name in counts),
                counted_in(row["summary"], row["queries"]),
                _lacking(row["summary"]),
            ]
            for row in found
        ]
        out.print(
            rich_table(Table([Column("cycle", whole=True), "status", *counts, "counted", "needs"], cells))
        )

    return Output(found, show)


def _lacking(summary: dict[str, object]) -> str:
    if "queries_missing" not in summary:
        return ""
    queries, days = int(str(summary["queries_missing"])), int(str(summary["days_missing"]))
    return f"{counted(queries, 'more query', 'more queries')}, {counted(days, 'more day')}"


@evaluation.command("report")
@prints_output
def report(
    cycle: Annotated[
        str, typer.Argument(help="NAMESPACE#NUMBER, or a number; default: the last that closed.")
    ] = "",
    html: Annotated[Path | None, typer.Option(help="Also write one page with pictures to this file.")] = None,
    namespace: Namespace = "",
) -> Output:
    """What a cycle found: every ranking that was tried beside what was shown, with verdicts."""
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
    """Print what a cycle found."""
    from slowwave.views.cycle_sections import sections
    from slowwave.views.cycle_text import headline

    title = escape(f"Evaluation of {report.namespace}, cycle {report.number}")
    out.print(f"[bold]{title}[/] {escape(headline(report))}", highlight=False)
    show_parts(sections(report, width=out.width))


@evaluation.command("sparse")
@prints_output
def sparse(
    memory: Annotated[str, typer.Option(help="Look at this short memory alone.")] = "",
    days: Annotated[int, typer.Option(min=1, help="Days whose searches are counted.")] = 90,
    most: Annotated[int, typer.Option(min=0, help="Short memories to ask for, the newest.")] = 50,
    namespace: Namespace = "",
) -> Output:
    """What the place that short memories are guaranteed is worth, and which of them are not found."""
    from datetime import timedelta

    from slowwave.search.sparse_recall import figures, short_memories

    with open_namespace(namespace) as opened, bars():
        space, name = opened.home, opened.namespace
        memory = memory and reference(opened, "memory", memory)
        today = space.now().date()
        last = [(today - timedelta(days=at)).isoformat() for at in range(days)]
        done = figures(space, last, name).to_dict()
        asked = short_memories(space, name, memory_id=memory, most=most)
    if memory and not asked:
        raise SlowwaveError(f"{memory} is no short memory of namespace {name!r} that a search may show.")
    failing = [one for one in asked if one.diagnosis != "passes"]

    def show() -> None:
        columns: Columns = [Column("figure", whole=True), Column("value", "number")]
        out.print(rich_table(Table(columns, [[figure, _told(value)] for figure, value in done.items()])))
        out.print(
            f"{len(asked):,} short memories were asked for by their own questions, "
            f"{len(asked) - len(failing):,} pass.",
            highlight=False,
        )
        if failing or memory:
            rates = numbers("by id", "by search")
            cells = [
                [one.memory_id, one.questions, f"{one.by_id:.2f}", f"{one.by_search:.2f}", one.diagnosis]
                for one in (asked if memory else failing)
            ]
            columns = [Column("memory", whole=True), "questions", *rates, "diagnosis"]
            out.print(rich_table(Table(columns, cells)))

    return Output(done | {"asked": len(asked), "memories": [one.to_dict() for one in asked]}, show)


def _told(value: float | None) -> str:
    if value is None:
        return "nothing to tell it by"
    return f"{value:,}" if value == int(value) else f"{value:.3f}"


def _cycle_number(text: str) -> int:
    try:
        return int(text.rpartition("#")[2])
    except ValueError:
        raise SlowwaveError(f"{text!r} is no cycle. Write NAMESPACE#NUMBER or a number.") from None
