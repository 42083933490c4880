"""Everyday commands: init, ingest, save, get, forget.

Searches are in :mod:`slowwave.cli.search`; the save gate is in :mod:`slowwave.cli.gate`, its quarantine in
:mod:`slowwave.cli.quarantine`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from slowwave.cli.app import MemoryId, Namespace, app, creatable_settings, open_namespace, reference
from slowwave.common.pluralize import counted
from slowwave.views.terminal import (
    PLAIN,
    Output,
    bars,
    is_data,
    out,
    print_plain,
    prints_output,
    say,
    warn,
)

if TYPE_CHECKING:
    from slowwave.memory import Memory

LONG = 20_000  # text whose save shows its progress (characters)
QUARANTINED = 3  # exit code of a save that the gate refused


@app.command()
@prints_output
def init(
    path: Annotated[Path | None, typer.Argument(help="Home folder to create; default: ./.slowwave")] = None,
    model: Annotated[str, typer.Option(help="Embedding model of this home.")] = "",
    default: Annotated[
        bool, typer.Option("--default", help="Use this home wherever no other is named or near.")
    ] = False,
) -> Output:
    """Create a home: tables, journal and settings file. The first one becomes the default home."""
    from slowwave.common.home_discovery import default_home, locate_home, remember_default
    from slowwave.home.embedding_model import chosen
    from slowwave.home.workspace import Workspace
    from slowwave.settings import CONFIG_FILE, load
    from slowwave.settings.first_file import write_first

    located = locate_home(default=False)
    home = (path or located.home).expanduser().resolve()
    exists = (home / CONFIG_FILE).exists()
    settings = load(home, **({"embedding": {"model": model}} if model else {}))
    space = Workspace(settings)
    store, journal = space.store, space.journal
    report = {"home": str(home), "tables": len(store.specs), "model": store.identity.model}
    write_first(home, model=chosen(settings))  # a home of an earlier version may have none
    journal.close()
    first = default_home() is None and (located.origin != "variable" or path is not None)
    if default or first:
        remembered = remember_default(home)
        if default and not remembered:
            warn("the default home was not remembered: the configuration folder cannot be written.")
    report["default"] = default_home() == home
    note = "\nIt is the default home: commands elsewhere use it, too." if report["default"] else ""

    name, uses = f"[bold]{escape(str(home))}[/]", f"model {escape(store.identity.model)}"
    if exists:
        return Output(report, f"This home exists already: {name} ({uses}){note}")
    return Output(
        report,
        f"Home ready: {name} ({len(store.specs)} tables, {uses}){note}\n"
        f'Next: [bold]slowwave save "A FACT"[/], or [bold]slowwave ingest FOLDER[/] for notes that you have',
    )


def _folder(path: str) -> Path:
    if not path.strip():
        raise typer.BadParameter("it is empty. Give the path of a folder of notes; '.' is this one.")
    return Path(path)


@app.command()
@prints_output
def ingest(
    path: Annotated[
        Path, typer.Argument(parser=_folder, help="Folder of notes: .md, .markdown, .txt, .jsonl")
    ],
    namespace: Namespace = "",
    name: Annotated[str, typer.Option(help="Name of the vault; default: the folder's name.")] = "",
    delete_missing: Annotated[
        bool,
        typer.Option(
            "--delete-missing", "--retire-missing", help="Forget notes of deleted files, even if very many."
        ),
    ] = False,
    model: Annotated[str, typer.Option(help="Embedding model, if this creates the home; it is stored.")] = "",
) -> Output:
    """Watch a folder of notes and scan it into the journal. The nightly job applies the scan."""
    from datetime import UTC, datetime

    from slowwave.errors import ArgumentError
    from slowwave.home.workspace import Workspace
    from slowwave.lifecycle.quarantine import held_files
    from slowwave.notes.folder import others_remark
    from slowwave.settings import load
    from slowwave.vaults import vault

    settings = creatable_settings(load(None, **({"embedding": {"model": model}} if model else {})))
    if path.expanduser().resolve().is_relative_to(settings.home):
        raise ArgumentError(f"{path} is the home or in it. Give the folder of your notes.")
    space = Workspace(settings, namespace=namespace)
    now = datetime.now(UTC)
    source = vault.watch(
        space.journal, namespace or settings.namespace, path, name=name, as_of=now, principal="command line"
    )
    with bars():
        scan = vault.scan(
            space.journal, source, settings.notes, as_of=now, principal="command line",
            allow_mass_retire=delete_missing,
        )  # fmt: skip
    known = scan.unchanged + scan.changed  # a new vault has no file in quarantine
    refused = held_files(space, namespace=source.namespace, vault=source.name) if known else []
    space.close()

    def show() -> None:
        out.print(
            f"[bold]{escape(source.name)}[/]: {scan.new:,} new, {scan.changed:,} changed, "
            f"{scan.moved:,} moved, {scan.deleted:,} deleted, "
            f"{scan.unreadable:,} unreadable, {scan.unchanged:,} unchanged."
        )
        for warning in scan.warnings:
            warn(warning)
        for line in refused:
            warn(f"In quarantine: {line}")
        if remark := others_remark(scan.others):
            out.print(escape(remark))
        if scan.acts:
            out.print("Next: [bold]slowwave night[/] applies them.")

    return Output(scan, show)


@app.command()
@prints_output
def save(
    content: Annotated[str, typer.Argument(help="Text of the note; '-' reads standard input.")],
    title: Annotated[str, typer.Option(help="Title; default: first heading or words.")] = "",
    key: Annotated[str, typer.Option(help="Your name for the note; saving the key again replaces it.")] = "",
    memory_type: Annotated[str, typer.Option("--type", help="note, fact, decision, constraint, ...")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="A tag; repeatable.")] = None,
    sensitivity: Annotated[
        str, typer.Option(help="public, internal or secret; default: that of the key, or internal.")
    ] = "",
    follows: Annotated[str, typer.Option(help="Key of the previous note of a series.")] = "",
    created_at: Annotated[
        str,
        typer.Option("--date", help="Day or time of an older note (2026-05-03); default: now."),
    ] = "",
    namespace: Namespace = "",
) -> Output:
    """Save one note. It is searchable when the command returns.

    Exit code 0: saved. 3: quarantined by the save gate. 1: nothing was written (empty text, unknown label).
    """
    from slowwave.notes.dates import parsed_moment
    from slowwave.views import gate_text

    labels = _labels(memory_type, tag, sensitivity)
    if created_at:
        labels["created_at"] = parsed_moment("--date", created_at)
    if content == "-":
        content = _standard_input()
    with open_namespace(namespace, create=True) as memory, bars(quiet=len(content) < LONG):
        saved = memory.save(content, title=title, key=key, follows=follows, **labels)
        despite = gate_text.stored_despite(memory.gate_policy, memory.home.now())
    ended = QUARANTINED if saved.status == "quarantined" else 0

    def show() -> None:
        because = ", ".join(saved.reasons)
        if ended:
            same = f" (same as {saved.duplicate_of})" if saved.duplicate_of else ""
            out.print(f"Quarantined [bold]{escape(saved.memory_id)}[/]: {escape(because + same)}")
            for line in gate_text.reason_lines(saved.reasons):
                say(f"  {line}")
            out.print(f"[dim]slowwave quarantine release {escape(saved.memory_id)} accepts it.[/]")
        else:
            verbs = {"merge": "Merged into", "supersede": "supersedes", "related": "is related to"}
            words = escape(verbs.get(saved.outcome, ""))
            undo = f"  [dim](undo: slowwave undo {escape(saved.decision_id or '')})[/]"
            if saved.status == "merged":
                out.print(f"{words} [bold]{escape(saved.other or '')}[/]{undo}")
            elif saved.status == "superseded":
                newer = f"{escape(saved.other or '')}[/], which is newer, supersedes it"
                out.print(f"Saved [bold]{escape(saved.memory_id)}[/]; [bold]{newer}{undo}")
            else:
                relation = f"; it {words} [bold]{escape(saved.other or '')}[/]" if words else ""
                out.print(f"Saved [bold]{escape(saved.memory_id)}[/]{relation}")
            if because:
                advice = f"{despite[0].lower()}{despite[1:]} notes like this: {because}."
                warn(f"{advice} `slowwave gate preview` lists them.")
        for warning in saved.warnings:
            warn(warning)

    return Output(saved, show, code=ended)


def _labels(memory_type: str, tags: list[str] | None, sensitivity: str) -> dict[str, Any]:
    """Return labels of a typed note. An unknown word is refused as a typing error."""
    from slowwave.common.arguments import known_word
    from slowwave.quality.structure import KNOWN_WORDS

    if memory_type:
        known_word("--type", memory_type, KNOWN_WORDS["memory_type"])
    if sensitivity:
        known_word("--sensitivity", sensitivity, KNOWN_WORDS["sensitivity"])
    labels: dict[str, Any] = {"memory_type": memory_type, "tags": tags or [], "source_kind": "manual"}
    return labels | ({"sensitivity": sensitivity} if sensitivity else {})


@app.command()
@prints_output
def get(
    memory_id: MemoryId,
    plain: Annotated[bool, PLAIN] = False,
    namespace: Namespace = "",
) -> Output:
    """Show one memory in full, even if secret."""
    with open_namespace(namespace) as memory:
        return memory_shown(memory, reference(memory, "memory", memory_id), plain=plain)


def memory_shown(memory: Memory, memory_id: str, *, plain: bool = False) -> Output:
    """Return the output that shows one memory in full."""
    from slowwave.lifecycle.browse import WORDS, state_of
    from slowwave.views.scores import outdated_text

    record = memory.get(memory_id)
    if plain:
        from slowwave.views import mcp_text as wording

        return Output(record, lambda: print_plain(wording.record(record)))
    earlier = 0 if is_data() else memory.stats(memory_id).earlier

    def show() -> None:
        say(record.title, "bold")
        state = WORDS["superseded"] if record.outdated_by else state_of(record.status)  # as in a list
        day = f"{record.created_at:%F}"
        say(" · ".join([" + ".join(record.sources), state, record.memory_type, day, *record.tags]), "dim")
        if record.outdated_by:
            say(outdated_text(record.outdated_by, record.newer_title, record.valid_until), "yellow")
        say(record.content)
        if earlier:
            say(f"On an earlier revision: {counted(earlier, 'rating')}.", "dim")

    return Output(record, show)


@app.command()
@prints_output
def forget(
    memory_id: MemoryId,
    namespace: Namespace = "",
) -> Output:
    """Hide a memory from searches. `slowwave unforget` undoes it; `slowwave erase` deletes."""
    from slowwave.home.visibility import HIDDEN, Viewer, may_see
    from slowwave.lifecycle.reading import record_of

    with open_namespace(namespace) as memory:
        memory_id = reference(memory, "memory", memory_id)
        record = record_of(memory.tenant, memory_id)
        title = record.title if may_see(Viewer.REPORT, record.sensitivity, let_in=False) else HIDDEN
        done = memory.forget(memory_id)
        labels = memory.repetitions(memory_id) if done else {}

    status = "Forgotten" if done else "Already forgotten; nothing changed"
    lines = [f"{status}: {escape(title)} [bold]{escape(memory_id)}[/]"]
    lines += [f"Stays, and may say the same: {escape(f'{label} [{name}]')}" for name, label in labels.items()]
    return Output({"memory_id": memory_id, "new": done}, "\n".join(lines))


def _standard_input() -> str:
    """Read standard input.

    Raises:
        ArgumentError: it is not UTF-8.
    """
    from slowwave.errors import ArgumentError

    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise ArgumentError(f"Standard input is not UTF-8 (byte {error.start}). Decode it first.") from None
