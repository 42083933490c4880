"""Import commands for other assistants' data: import chatgpt, claude, claude-code, codex and others."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave.cli.app import Namespace, home_settings, open_namespace
from slowwave.cli.exchange import DryRun, imports
from slowwave.imports.registry import SOURCES, ImportForm
from slowwave.views.terminal import Output, bars, out, prints_output, warn

if TYPE_CHECKING:
    from slowwave.imports.report import NoteImportReport
    from slowwave.memory import Memory

_OPTIONS: dict[str, tuple[object, object]] = {
    "assistant": (
        Annotated[
            bool,
            typer.Option("--assistant", help="Also import the assistant's messages; they may be wrong."),
        ],
        False,
    ),
    "user": (Annotated[str, typer.Option("--user", help="Only memories of this user_id.")], ""),
    "since": (
        Annotated[str, typer.Option("--since", help="Only items of this day or later (YYYY-MM-DD, UTC).")],
        "",
    ),
}
"""Options that only some sources have: annotation and default."""


def _command(form: ImportForm) -> Callable[..., Output]:
    """Return the command that imports exports of one form."""

    def run(namespace: str, dry_run: bool, **options_: Any) -> Output:  # noqa: ANN401 - what the form has
        from slowwave.common.arguments import parsed_day
        from slowwave.imports.run_import import ImportOptions, run_import
        from slowwave.scoring.days import day_start

        since = options_.pop("since", "")
        first = day_start(parsed_day("--since", since).isoformat()) if since else None
        place = options_.pop(form.place) or os.environ.get(form.variable) or form.default
        reader = form.load()
        with _opened(namespace, dry_run=dry_run) as memory, bars():
            source = reader(form.name, place, memory.home.now(), memory.settings.notes.max_bytes, **options_)
            report = run_import(memory, source, ImportOptions(since=first, dry_run=dry_run))
        return Output(report, lambda: _tell(report))

    place = typer.Argument(help=form.place_help, show_default=form.default or True)
    options: list[tuple[str, object, object]] = [
        (form.place, Annotated[str, place], "" if form.default else Parameter.empty),
        *((name, *_OPTIONS[name]) for name in form.options),
        ("namespace", Namespace, ""),
        ("dry_run", DryRun, False),
    ]
    run.__name__, run.__doc__ = form.name, form.about
    run.__signature__ = Signature([  # type: ignore[attr-defined]
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, kind, default in options
    ])  # fmt: skip
    return run


for _form in SOURCES:
    imports.command(_form.name)(prints_output(_command(_form)))


@imports.command("bulk")
@prints_output
def import_bulk(
    files: Annotated[list[str], typer.Argument(help=".parquet or .jsonl(.gz): paths, patterns, s3://…")],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="PART=COLUMN",
            help="Column of a part: text, key, title, date, tags, type, context or sensitivity.",
        ),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Prefix of the keys, one per data set.")] = "bulk",
    namespace: Namespace = "",
    dry_run: DryRun = False,
) -> Output:
    """Import very many notes from Parquet or JSON lines. An interrupted import continues."""
    from slowwave.imports.bulk import fields_of, take_rows
    from slowwave.imports.bulk.files import inputs

    fields, input_files = fields_of(columns or []), inputs(files)
    with _opened(namespace, dry_run=dry_run) as memory, bars():
        report = take_rows(memory, input_files, fields, name=name, dry_run=dry_run)
    return Output(report, lambda: _tell(report))


@contextmanager
def _opened(namespace: str, *, dry_run: bool) -> Iterator[Memory]:
    """Open the namespace. A dry run without a home uses a temporary one."""
    settings = home_settings()
    if not dry_run or settings.home.is_dir():
        with open_namespace(namespace, create=True) as memory:
            yield memory
        return
    from slowwave.memory import Memory
    from slowwave.settings import load

    with tempfile.TemporaryDirectory(prefix="slowwave-") as folder:
        nowhere = load(Path(folder) / "home")
        with Memory(nowhere, namespace=namespace or nowhere.namespace, principal="command line") as memory:
            yield memory


def _tell(report: NoteImportReport) -> None:
    from slowwave.views.import_report import sections
    from slowwave.views.tables import show

    for section in sections(report):
        show(section)
    for problem in report.problems:
        warn(f"{problem.place}: {problem.why}", "Rejected:")
    if report.unread > len(report.problems):
        warn(f"{report.unread - len(report.problems):,} more records", "Rejected:")
    new = sum(report.new.values())
    if report.dry_run and new:
        out.print("Nothing was written. Run it again without --dry-run to apply.")
    elif not new:
        out.print("Nothing new: nothing was changed.")
    else:
        out.print("Next: [bold]slowwave search WORDS[/], or [bold]slowwave night[/]")
