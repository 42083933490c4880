"""Import and export commands: import ubi, import jsonl, export."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from slowwave.cli.app import Namespace, app, open_namespace
from slowwave.common.files import atomic_write
from slowwave.common.pluralize import counted
from slowwave.errors import ArgumentError
from slowwave.views.section import most_first
from slowwave.views.tables import print_table
from slowwave.views.terminal import Output, bars, err, out, prints_output, reports_errors, warn

if TYPE_CHECKING:
    from slowwave.evaluation.exchange.importing import Form
    from slowwave.evaluation.exchange.report import LogImportReport
    from slowwave.memory import Memory

imports = typer.Typer(no_args_is_help=True, help="Import conversations, memories, notes and search logs.")
app.add_typer(imports, name="import")

Files = Annotated[list[str], typer.Argument(help="Logs: plain, .gz or .zip; '-' is standard input.")]
Since = Annotated[str, typer.Option("--from", help="Skip searches before this day (YYYY-MM-DD, UTC).")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Read, check and count; write nothing.")]


@imports.command("ubi")
@prints_output
def import_ubi(
    files: Files,
    namespace: Namespace = "",
    source_prefix: Annotated[
        str, typer.Option(help="Prefix of an object's id in the source of its memory.")
    ] = "",
    action: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VERDICT",
            help="Verdict of an action: used, helpful, neutral, unhelpful, shown or skip; repeatable.",
        ),
    ] = None,
    since: Since = "",
    dry_run: DryRun = False,
) -> Output:
    """Import User Behavior Insights: queries and events of a search application."""
    from slowwave.evaluation.exchange.ubi import Ubi, parse_actions

    actions = parse_actions(action or [])
    with open_namespace(namespace) as memory:
        form = Ubi(memory.namespace, source_prefix=source_prefix, actions=actions)
        report = _import(memory, form, files, since=since, dry_run=dry_run)
    return Output(report, lambda: _tell(report))


@imports.command("jsonl")
@prints_output
def import_jsonl(
    files: Files,
    namespace: Namespace = "",
    since: Since = "",
    dry_run: DryRun = False,
) -> Output:
    """Import searches and feedback from JSON lines, as `slowwave export` writes them."""
    from slowwave.evaluation.exchange.jsonl import JsonlForm

    with open_namespace(namespace) as memory:
        form = JsonlForm(
            memory.namespace, lambda project: memory.journal.searches_of(memory.namespace, project)
        )
        report = _import(memory, form, files, since=since, dry_run=dry_run)
    return Output(report, lambda: _tell(report))


@app.command()
@reports_errors
def export(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]|memories TARGET",
            help="Output file ('-': standard output); or `memories` and a file or folder.",
        ),
    ] = None,
    namespace: Namespace = "",
    since: Annotated[str, typer.Option("--from", help="First day (YYYY-MM-DD, UTC).")] = "",
    until: Annotated[str, typer.Option("--to", help="Last day.")] = "",
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="jsonl or ubi; of memories markdown, jsonl, parquet, memory-server or mem0.",
        ),
    ] = "",
    secret: Annotated[
        bool, typer.Option("--secret", help="Include secret memories, and the searches left out for them.")
    ] = False,
) -> None:
    """Export searches and feedback of a namespace as lines, or its memories whole (`memories TARGET`)."""
    file, *more = words or ["-"]
    if file == "memories" and len(more) == 1:
        if since or until:
            raise ArgumentError("--from and --to are for searches and feedback; memories are exported whole.")
        _export_memories(more[0], namespace, form or "markdown", secret=secret)
        return
    if more or file == "memories":
        raise ArgumentError("Give one file, or `memories` and a file or folder.")
    form = form or "jsonl"
    from slowwave.evaluation.exchange.export import export as export_log
    from slowwave.home.visibility import closed_ids

    with open_namespace(namespace) as memory, bars(), written_to(file) as write:
        closed = None if secret else closed_ids(memory.store, memory.namespace)
        report = export_log(
            memory.journal, memory.namespace, write, form=form, first=since, last=until, closed=closed
        )
    summary = (
        f"{counted(report.searches, 'search', 'searches')} and {counted(report.events, 'feedback event')}, "
        f"{counted(report.lines, 'line')}."
    )
    err.print(summary if file == "-" else f"[bold]{escape(file)}[/]: {summary}")
    if report.earlier:
        err.print(
            f"[dim]{report.earlier:,} of the searches are older; feedback of these days is about them.[/]"
        )
    if report.withheld:
        warn(
            f"{counted(report.withheld, 'search', 'searches')} asked for or returned secret memories. They "
            f"and their feedback were left out; --secret includes them."
        )
    if report.left_out:
        warn(
            f"{counted(report.left_out, 'event has', 'events have')} no form in {form} (ignored results, "
            f"outcomes). --format jsonl exports everything."
        )


def _export_memories(target: str, namespace: str, form: str, *, secret: bool) -> None:
    """Export memories to a file or folder; print the counts."""
    from slowwave.imports.own.collect import collect
    from slowwave.imports.own.model import EVENTS
    from slowwave.imports.own.writing import write_export

    with open_namespace(namespace, known=True) as memory, bars():
        collected = collect(memory, secret=secret)
        with _writing(Path(target)):
            write_export(collected.contents, Path(target), form)
    frames = collected.contents.frames
    err.print(
        f"[bold]{escape(target)}[/]: {counted(frames['memories'].height, 'memory', 'memories')}, "
        f"{counted(frames[EVENTS].height, 'event')}, {counted(frames['quarantine'].height, 'refused note')}."
    )
    if collected.withheld:
        warn(
            f"{counted(collected.withheld, 'secret memory', 'secret memories')} left out; --secret includes "
            f"them."
        )
    if collected.searches:
        warn(
            f"{counted(collected.searches, 'search', 'searches')} and all ratings left out: this namespace "
            f"has, or had, something secret, and its words may be in queries. --secret includes them."
        )


@contextmanager
def written_to(file: str) -> Iterator[Callable[[bytes], object]]:
    """Yield a function that writes lines; a file is replaced atomically at the end."""
    if file == "-":
        yield sys.stdout.buffer.write
        sys.stdout.flush()
        return
    path = Path(file)
    if not path.name or path.is_dir():
        raise ArgumentError(f"{file!r} is not the name of a file. Give one, or - for standard output.")
    with _writing(path), atomic_write(path) as lines:
        yield lines.write


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Say which given path cannot be written, and why."""
    try:
        yield
    except OSError as error:
        if error.filename is None or path.parent not in Path(error.filename).parents:
            raise
        raise ArgumentError(f"{path} cannot be written: {error.strerror}. Give another path.") from error


def _import(
    memory: Memory, form: Form, files: Sequence[str], *, since: str, dry_run: bool
) -> LogImportReport:
    from datetime import UTC, datetime

    from slowwave.evaluation.exchange.importing import LogImportOptions, import_logs
    from slowwave.evaluation.exchange.values import parse_day

    def is_memory(memories: Sequence[str]) -> Collection[str]:
        return set(memory.tenant.memories(memories, "memory_id")["memory_id"].to_list())

    options = LogImportOptions(
        namespace=memory.namespace,
        first_day=memory.settings.night.first_day,
        today=datetime.now(UTC).date(),
        since=parse_day(since),
        dry_run=dry_run,
    )
    with bars():
        return import_logs(memory.journal, form, files, options, is_memory)


def _tell(report: LogImportReport) -> None:
    days = (
        report.first_day
        if report.first_day == report.last_day
        else f"{report.first_day} to {report.last_day}"
    )
    rows: list[list[object]] = [
        ["searches", report.searches, ""],
        ["returned results", report.shown, f"{report.objects:,} different"],
        *([f"feedback: {verdict}", count, ""] for verdict, count in most_first(report.verdicts)),
        *([f"no feedback: {name}", count, ""] for name, count in most_first(report.skipped)),
    ]
    notes = [
        ["repeated events", report.repeated, "counted once"],
        ["before the first day", report.left_out, "skipped by --from"],
        ["not returned", report.not_shown, "feedback on results that the search did not return"],
        [
            "unknown results",
            report.unknown,
            "no memory of this namespace (yet); their feedback is kept",
        ],
        ["searches kept", report.kept, "the journal has them with other results; they stay unchanged"],
        ["already imported", report.already, "in the journal already"],
    ]
    rows += [row for row in notes if row[1]]
    rows.append(["to be written" if report.dry_run else "written", report.new, "journal events"])
    print_table(f"History of {days}" if days else "No history", ["what", "count", ""], rows)
    for problem in report.problems:
        warn(str(problem), "Rejected:")
    if report.malformed > len(report.problems):
        warn(counted(report.malformed - len(report.problems), "more line"), "Rejected:")
    if report.dry_run:
        out.print("Nothing was written. Run it again without --dry-run to apply.")
    elif report.new:
        out.print("Next: [bold]slowwave night[/]")
    else:
        out.print("Nothing new: the journal already has everything.")
