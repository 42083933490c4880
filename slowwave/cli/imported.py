"""The commands that take in what a person has elsewhere: import chatgpt, claude, claude-code, codex, ..."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave.cli.app import Json, Namespace, home_settings, open_namespace
from slowwave.cli.exchange import DryRun, imports
from slowwave.views.terminal import bars, out, print_json, reports_errors, warn

if TYPE_CHECKING:
    from slowwave.imports.model import Source
    from slowwave.imports.report import ImportReport
    from slowwave.memory import Memory

Day = Annotated[str, typer.Option("--since", help="Only what is of this day or later (YYYY-MM-DD, UTC).")]
Assistant = Annotated[
    bool,
    typer.Option("--assistant", help="Also what the assistant said: it may be wrong, so it is left out."),
]


@imports.command("chatgpt")
@reports_errors
def import_chatgpt(
    file: Annotated[str, typer.Argument(help="The .zip of the export, or its conversations.json.")],
    assistant: Assistant = False,
    since: Day = "",
    namespace: Namespace = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take in what you wrote to ChatGPT, from its data export."""

    def source(memory: Memory) -> Source:
        from slowwave.imports.chatgpt import ChatGpt

        return ChatGpt(file, memory.home.now(), assistant)

    _run(source, namespace, since=since, dry_run=dry_run, json=json)


@imports.command("claude")
@reports_errors
def import_claude(
    file: Annotated[str, typer.Argument(help="The .zip of the export, or its conversations.json.")],
    assistant: Assistant = False,
    since: Day = "",
    namespace: Namespace = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take in what you wrote to Claude, what it remembers, and the documents of projects."""

    def source(memory: Memory) -> Source:
        from slowwave.imports.claude import Claude

        return Claude(file, memory.home.now(), assistant)

    _run(source, namespace, since=since, dry_run=dry_run, json=json)


@imports.command("claude-code")
@reports_errors
def import_claude_code(
    folder: Annotated[str, typer.Argument(help="Folder or session file.", show_default="~/.claude")] = "",
    assistant: Assistant = False,
    since: Day = "",
    namespace: Namespace = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take in what you wrote in sessions of Claude Code, and its memory files."""
    place = folder or os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude"

    def source(memory: Memory) -> Source:
        from slowwave.imports.coding import ClaudeCode

        return ClaudeCode(place, memory.home.now(), assistant)

    _run(source, namespace, since=since, dry_run=dry_run, json=json)


@imports.command("codex")
@reports_errors
def import_codex(
    folder: Annotated[str, typer.Argument(help="Folder or rollout file.", show_default="~/.codex")] = "",
    assistant: Assistant = False,
    since: Day = "",
    namespace: Namespace = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take in what you wrote in sessions of Codex, and its memory files."""
    place = folder or os.environ.get("CODEX_HOME") or "~/.codex"

    def source(memory: Memory) -> Source:
        from slowwave.imports.coding import Codex

        return Codex(place, memory.home.now(), assistant)

    _run(source, namespace, since=since, dry_run=dry_run, json=json)


@imports.command("mem0")
@reports_errors
def import_mem0(
    file: Annotated[str, typer.Argument(help="What get_all() returned, as JSON or JSON lines.")],
    user: Annotated[str, typer.Option("--user", help="Only memories of this user_id.")] = "",
    since: Day = "",
    namespace: Namespace = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take in the memories of mem0."""
    users: set[str] = set()

    def source(memory: Memory) -> Source:
        from slowwave.imports.memories import Mem0

        return Mem0(file, memory.home.now(), user, users)

    def notes() -> list[str]:
        told = (
            f"The file has memories of {len(users):,} users, and all go into one namespace. --user takes "
            f"those of one; the first are {', '.join(sorted(users)[:3])}."
        )
        return [told] if len(users) > 1 else []

    _run(source, namespace, since=since, dry_run=dry_run, json=json, notes=notes)


@imports.command("basic-memory")
@reports_errors
def import_basic_memory(
    folder: Annotated[str, typer.Argument(help="The project's folder.")],
    since: Day = "",
    namespace: Namespace = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take in the notes of Basic Memory, with their observations and relations."""

    def source(memory: Memory) -> Source:
        from slowwave.imports.markdown import BasicMemory

        return BasicMemory(folder, memory.home.now(), memory.settings.notes.max_bytes)

    _run(source, namespace, since=since, dry_run=dry_run, json=json)


@imports.command("markdown")
@reports_errors
def import_markdown(
    folder: Annotated[str, typer.Argument(help="Folder of notes, also a vault of Obsidian.")],
    since: Day = "",
    namespace: Namespace = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take in a folder of notes once; `slowwave ingest` follows it instead, and is what most people want."""

    def source(memory: Memory) -> Source:
        from slowwave.imports.markdown import Markdown

        return Markdown(folder, memory.home.now(), memory.settings.notes.max_bytes)

    def notes() -> list[str]:
        return [f"To follow the folder from now on: slowwave ingest {folder}"]

    _run(source, namespace, since=since, dry_run=dry_run, json=json, notes=notes)


@imports.command("memory-server")
@reports_errors
def import_memory_server(
    file: Annotated[str, typer.Argument(help="Its memory.jsonl.")],
    namespace: Namespace = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take in the entities of the reference memory server of the Model Context Protocol."""

    def source(memory: Memory) -> Source:
        from slowwave.imports.memories import MemoryServer

        return MemoryServer(file, memory.home.now())

    _run(source, namespace, since="", dry_run=dry_run, json=json)


@imports.command("bulk")
@reports_errors
def import_bulk(
    files: Annotated[list[str], typer.Argument(help=".parquet or .jsonl(.gz): paths, patterns, s3://…")],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="PART=COLUMN",
            help="Which column is the text, key, title, date, tags, type, context or sensitivity.",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", help="What stands before the keys; one for each set of data.")
    ] = "bulk",
    namespace: Namespace = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take in very many notes from Parquet or JSON lines; what was stopped goes on where it was."""
    from slowwave.imports.bulk import fields_of, take_rows
    from slowwave.imports.bulk.files import inputs

    fields, found = fields_of(columns or []), inputs(files)
    with _opened(namespace, dry_run=dry_run) as memory, bars(quiet=json):
        report = take_rows(memory, found, fields, name=name, dry_run=dry_run)
    if json:
        print_json(report)
    else:
        _tell(report)


def _run(
    source: Callable[[Memory], Source],
    namespace: str,
    *,
    since: str,
    dry_run: bool,
    json: bool,
    notes: Callable[[], list[str]] = list,
) -> None:
    from slowwave.common.arguments import parsed_day
    from slowwave.imports.taking import Options, take_in
    from slowwave.scoring.days import day_start

    first = day_start(parsed_day("--since", since).isoformat()) if since else None
    with _opened(namespace, dry_run=dry_run) as memory, bars(quiet=json):
        report = take_in(memory, source(memory), Options(since=first, dry_run=dry_run))
    report.notes += notes()
    if json:
        print_json(report)
    else:
        _tell(report)


@contextmanager
def _opened(namespace: str, *, dry_run: bool) -> Iterator[Memory]:
    """The namespace. A preview where there is no home yet looks at one that goes away again."""
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


def _tell(report: ImportReport) -> None:
    from slowwave.views.imported import sections
    from slowwave.views.tables import show

    for section in sections(report):
        show(section)
    for problem in report.problems:
        warn(f"{problem.place}: {problem.why}", "Not taken:")
    if report.unread > len(report.problems):
        warn(f"{report.unread - len(report.problems):,} more records", "Not taken:")
    new = sum(report.new.values())
    if report.dry_run and new:
        out.print("Nothing was written. Without --dry-run it would be.")
    elif not new:
        out.print("Nothing new: nothing was changed.")
    else:
        out.print("Next: [bold]slowwave search WORDS[/], or [bold]slowwave night[/]")
