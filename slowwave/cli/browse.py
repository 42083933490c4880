"""Browsing, and memories out and in again: list, import memories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave.cli.app import Limit, Namespace, app, open_namespace
from slowwave.cli.exchange import DryRun, imports
from slowwave.common.pluralize import counted
from slowwave.views.moments import since as ago
from slowwave.views.tables import print_table
from slowwave.views.terminal import Output, bars, out, prints_output, say, warn

if TYPE_CHECKING:
    from slowwave.imports.own.restore import MemoryImportReport


@app.command("list")
@prints_output
def list_memories(
    memory_type: Annotated[str, typer.Option("--type", help="Only of this type.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag; repeatable.")] = None,
    source: Annotated[str, typer.Option(help="Only keys or vault paths that begin so.")] = "",
    since: Annotated[str, typer.Option("--from", help="First day (YYYY-MM-DD, UTC).")] = "",
    until: Annotated[str, typer.Option("--to", help="Last day.")] = "",
    date: Annotated[
        str, typer.Option(help="What --from and --to bound: changed, or created (the note's own date).")
    ] = "changed",
    state: Annotated[
        str,
        typer.Option(
            help="current, merged, outdated (with a newer value), forgotten, quarantined, stored (all "
            "but quarantined) or all."
        ),
    ] = "current",
    sort: Annotated[str, typer.Option(help="updated, created, title, type or source.")] = "updated",
    reverse: Annotated[bool, typer.Option("--reverse", help="Turn the order around.")] = False,
    limit: Limit = 50,
    page: Annotated[int, typer.Option(min=1, help="Page of this many rows.")] = 1,
    namespace: Namespace = "",
) -> Output:
    """List memories by type, tag, source, date and state, newest change first."""
    from slowwave.home.id_resolution import short_ids
    from slowwave.lifecycle.browse import DATES, WORDS, BrowseOptions, browse, label_hint
    from slowwave.lifecycle.newer_values import with_newer_values

    options = BrowseOptions(
        state, memory_type, tuple(tag or ()), source, since, until, date, sort=sort, reverse=reverse,
        limit=limit, skip=(page - 1) * limit,
    )  # fmt: skip
    with open_namespace(namespace, known=True) as memory:
        rows, total = browse(memory.tenant, options)
        rows = with_newer_values(memory.tenant, rows)
        names = [row[name] for row in rows for name in ("memory_id", "outdated_by") if row[name]]
        short = short_ids(memory.tenant, "memory", names)
        now = memory.home.now()
        hint = "" if rows else label_hint(memory.home, memory.namespace, memory_type, tag or ())

    def show() -> None:
        if not rows:
            say(hint or "No memory matches." if page == 1 else f"No page {page:,}: {total:,} match.")
            return
        cells = [
            [short[row["memory_id"]], row["title"] or "", row["memory_type"] or "",
             WORDS["superseded"] if row["outdated_by"] else WORDS.get(row["state"], row["state"]),
             ", ".join(row["tags"] or ()), ago(row[DATES[date]], now)]
            for row in rows
        ]  # fmt: skip
        columns = ["id", "title", "type", "state", "tags", date]
        print_table(f"Memories: {total:,}", columns, cells)
        for row in rows:
            if newer := row["outdated_by"]:
                from slowwave.views.scores import outdated_text

                text = outdated_text(short[newer], row["newer_title"], row["valid_until"])
                say(f"{short[row['memory_id']]}: {text}", "dim")
        if total > page * limit:
            say(f"--page {page + 1} shows the next {limit:,}.", "dim")

    return Output({"total": total, "page": page, "memories": rows}, show)


@imports.command("memories")
@prints_output
def import_memories(
    path: Annotated[str, typer.Argument(help="Folder or .jsonl of `slowwave export memories`.")],
    namespace: Namespace = "",
    dry_run: DryRun = False,
) -> Output:
    """Import memories as `slowwave export memories` wrote them: ids, versions, states and ratings."""
    from slowwave.imports.own.model import schemas
    from slowwave.imports.own.restore import restore
    from slowwave.imports.own.writing import read_export

    with open_namespace(namespace, create=True) as memory, bars():
        contents, edited = read_export(Path(path).expanduser(), schemas(memory.store.specs))
        report = restore(memory, contents, dry_run=dry_run)
    report.edited = len(edited)
    return Output(report, lambda: _tell(report))


def _tell(report: MemoryImportReport) -> None:
    rows = [
        ["memories", report.memories, "to be written" if report.dry_run else "written"],
        ["events", report.events, "versions, searches and ratings"],
        ["already here", report.already, "unchanged"],
        ["changed here", report.kept, "they stay as they are here"],
        ["erased here", report.erased, "they stay away"],
    ]
    print_table("Memories", ["what", "count", ""], [row for row in rows if row[1]])
    if report.edited:
        warn(
            f"{counted(report.edited, 'file')} of the folder changed since the export. The export's own "
            f"text was read; `slowwave import markdown` reads the files."
        )
    if report.dry_run:
        out.print("Nothing was written. Run it again without --dry-run to apply.")
    else:
        out.print("Next: [bold]slowwave night[/] computes what follows from the ratings.")
