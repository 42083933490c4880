"""The commands of the day: init, ingest, save, get, forget, checkpoint, settings, doctor, reembed.

Those that find are in :mod:`slowwave.cli.find`, those about what may enter in :mod:`slowwave.cli.gate`
and :mod:`slowwave.cli.review`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from slowwave.views.tables import print_table
from slowwave.views.terminal import JSON, PLAIN, bars, out, print_json, print_plain, reports_errors, warn

app = typer.Typer(
    name="slowwave",
    help="A memory for AI assistants that gets better from being used, and can prove it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
checkpoints = typer.Typer(no_args_is_help=True, help="Named, restorable states of every table.")
app.add_typer(checkpoints, name="checkpoint")

Namespace = Annotated[
    str, typer.Option("--namespace", "-n", help="Namespace (tenant); default: the setting `namespace`.")
]
Json = Annotated[bool, JSON]
QUARANTINED = 4  # exit code of a save that the gate did not let in


@app.callback()
@reports_errors
def common(
    context: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option(help="Home folder; default: SLOWWAVE_HOME, else the nearest .slowwave upwards."),
    ] = None,
) -> None:
    """Set the home folder for the command; what it writes is as private as that folder."""
    from slowwave.common.permissions import private_files
    from slowwave.settings.finding import find_home

    if home is not None:
        import os

        os.environ["SLOWWAVE_HOME"] = str(home.expanduser().resolve())
    context.with_resource(private_files(find_home()))


def home_settings() -> Any:  # noqa: ANN401 - Settings, imported late
    """The settings of the home that the command is about."""
    from slowwave.settings import load

    return load()


def open_namespace(namespace: str, *, create: bool = False, known: bool = False) -> Any:  # noqa: ANN401
    """A namespace of that home (a Memory, imported late).

    Args:
        namespace: its name; empty: that of the settings.
        create: the home too, if there is none.
        known: refuse a namespace in which nothing was saved, where others are.
    """
    from slowwave.memory import Memory
    from slowwave.settings import require_home

    settings = home_settings()
    if not create:
        require_home(settings)
    memory = Memory(settings, namespace=namespace or settings.namespace, principal="command line")
    if known:
        from slowwave.errors import SlowwaveError
        from slowwave.search.nothing import refuse_unknown

        try:
            refuse_unknown(memory._space, memory.namespace)
        except SlowwaveError:
            memory.close()
            raise
    return memory


@app.command()
@reports_errors
def init(
    path: Annotated[Path | None, typer.Argument(help="Home folder to make; default: ./.slowwave")] = None,
    model: Annotated[str, typer.Option(help="Embedding model of this home.")] = "",
    json: Json = False,
) -> None:
    """Make a home: tables, journal and a settings file."""
    from slowwave.common.permissions import make_home
    from slowwave.home.workspace import Workspace
    from slowwave.settings import CONFIG_FILE, load
    from slowwave.settings.finding import HOME_FOLDER, find_home

    home = (path or (find_home() if not path else Path(HOME_FOLDER))).expanduser().resolve()
    make_home(home)
    config = home / CONFIG_FILE
    if not config.exists():
        chosen = f'[embedding]\nmodel = "{model}"\n' if model else ""
        config.write_text(
            "# Settings of this home. `slowwave settings` lists all of them with what they mean.\n" + chosen
        )
    space = Workspace(load(home))
    store, journal = space.store, space.journal
    report = {"home": str(home), "tables": len(store.specs), "model": store.identity.model}
    journal.close()
    if json:
        print_json(report)
        return
    out.print(f"Home ready: [bold]{home}[/] ({len(store.specs)} tables, model {store.identity.model})")
    out.print("Next: [bold]slowwave ingest FOLDER[/], then [bold]slowwave night[/]")


@app.command()
@reports_errors
def ingest(
    path: Annotated[Path, typer.Argument(help="Folder of notes: .md, .markdown, .txt, .jsonl")],
    namespace: Namespace = "",
    name: Annotated[str, typer.Option(help="Name of the vault; default: the folder's name.")] = "",
    retire_missing: Annotated[
        bool, typer.Option(help="Retire notes that are gone, even if they are very many.")
    ] = False,
    json: Json = False,
) -> None:
    """Watch a folder of notes and put its present state into the journal; the night takes it in."""
    from datetime import UTC, datetime

    from slowwave.home.workspace import Workspace
    from slowwave.vaults import vault

    settings = home_settings()
    space = Workspace(settings)
    now = datetime.now(UTC)
    source = vault.watch(
        space.journal, namespace or settings.namespace, path, name=name, as_of=now, principal="command line"
    )
    with bars(quiet=json):
        scan = vault.scan(
            space.journal, source, settings.notes, as_of=now, principal="command line",
            allow_mass_retire=retire_missing,
        )  # fmt: skip
    space.close()
    if json:
        print_json(scan)
        return
    out.print(
        f"[bold]{source.name}[/]: {scan.new:,} new, {scan.changed:,} changed, {scan.deleted:,} deleted, "
        f"{scan.unreadable:,} unreadable, {scan.unchanged:,} unchanged."
    )
    for warning in scan.warnings:
        warn(warning)
    if scan.acts:
        out.print("Next: [bold]slowwave night[/] takes them in.")


@app.command()
@reports_errors
def save(
    content: Annotated[str, typer.Argument(help="Text of the note; '-' reads standard input.")],
    title: Annotated[str, typer.Option(help="Title; default: first heading or words.")] = "",
    key: Annotated[str, typer.Option(help="Your name for it; saving the key again replaces it.")] = "",
    memory_type: Annotated[str, typer.Option("--type", help="note, fact, decision, constraint, ...")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be given several times.")] = None,
    sensitivity: Annotated[
        str, typer.Option(help="public, internal or secret; default: what the key had, or internal.")
    ] = "",
    follows: Annotated[str, typer.Option(help="Key of the note that this one comes after.")] = "",
    namespace: Namespace = "",
    json: Json = False,
) -> None:
    """Save one note; it is searchable when the command returns.

    Ends with 0 when it was saved, with 4 when the gate put it into quarantine, with 1 when nothing was
    written: an empty text, a label that is not known.
    """
    from slowwave.views import gate_wording

    labels = _labels(memory_type, tag, sensitivity)
    if content == "-":
        content = _standard_input()
    with open_namespace(namespace, create=True) as memory:
        saved = memory.save(content, title=title, key=key, follows=follows, **labels)
        begins = memory._space.gate_policy.enforces_from
    ended = QUARANTINED if saved.status == "quarantined" else 0
    if json:
        print_json(saved)
        raise typer.Exit(ended)
    because = ", ".join(saved.reasons)
    if ended:
        same = f" (same as {saved.duplicate_of})" if saved.duplicate_of else ""
        out.print(f"Quarantined [bold]{saved.memory_id}[/]: {because}{same}")
        for line in gate_wording.told(saved.reasons):
            out.print(f"  {line}", markup=False, highlight=False)
        out.print(f"[dim]slowwave quarantine release {saved.memory_id} lets it in all the same.[/]")
    else:
        said = {"merge": "Merged into", "supersede": "supersedes", "related": "is related to"}
        words = said.get(saved.outcome, "")
        undo = f"  [dim](undo: slowwave undo {saved.decision_id})[/]"
        if saved.status == "merged":
            out.print(f"{words} [bold]{saved.other}[/]{undo}")
        elif saved.status == "superseded":
            newer = f"{saved.other}[/], which is newer, says otherwise"
            out.print(f"Saved [bold]{saved.memory_id}[/]; [bold]{newer}{undo}")
        else:
            told = f"; it {words} [bold]{saved.other}[/]" if words else ""
            out.print(f"Saved [bold]{saved.memory_id}[/]{told}")
        if because:
            when = f"from {begins:%F} on" if begins else "once it enforces"
            warn(
                f"the gate only warns yet; {when} it refuses notes like this: {because}. "
                f"`slowwave gate would-refuse` lists them."
            )
    for warning in saved.warnings:
        warn(warning)
    raise typer.Exit(ended)


def _labels(memory_type: str, tags: list[str] | None, sensitivity: str) -> dict[str, Any]:
    """Labels of a note that a person types: a word that is none of them is a slip, and nothing is written."""
    from slowwave.common.arguments import known_word
    from slowwave.quality.structure import KNOWN_WORDS

    if memory_type:
        known_word("--type", memory_type, KNOWN_WORDS["memory_type"])
    if sensitivity:
        known_word("--sensitivity", sensitivity, KNOWN_WORDS["sensitivity"])
    labels: dict[str, Any] = {"memory_type": memory_type, "tags": tags or [], "source_kind": "manual"}
    return labels | ({"sensitivity": sensitivity} if sensitivity else {})


@app.command()
@reports_errors
def get(
    memory_id: Annotated[str, typer.Argument(help="Id, from save or search.")],
    plain: Annotated[bool, PLAIN] = False,
    namespace: Namespace = "",
    json: Json = False,
) -> None:
    """Show one memory, whole, also a secret one: it is named."""
    with open_namespace(namespace) as memory:
        record = memory.get(memory_id)
        earlier = 0 if json or plain else memory.stats(memory_id).earlier
    if json:
        print_json(record)
        return
    if plain:
        from slowwave.views import mcp_wording as wording

        print_plain(wording.record(record))
        return
    out.print(record.title, style="bold", markup=False, highlight=False)
    labels = f"{' + '.join(record.sources)} · {record.status} · {record.memory_type}"
    out.print(labels, style="dim", markup=False, highlight=False)
    out.print(record.content, markup=False, highlight=False)
    if earlier:
        told = f"Earned by an earlier text: {earlier:,} vote{'' if earlier == 1 else 's'}."
        out.print(told, style="dim", markup=False, highlight=False)


@app.command()
@reports_errors
def forget(
    memory_id: Annotated[str, typer.Argument(help="Id, from save or search.")],
    namespace: Namespace = "",
) -> None:
    """Take a memory out of every search; its text stays in the history (`slowwave erase` leaves nothing)."""
    with open_namespace(namespace) as memory:
        done = memory.forget(memory_id)
    said = "Forgotten" if done else "It was forgotten already, and nothing changed"
    out.print(f"{said}: [bold]{memory_id}[/]")


@app.command()
@reports_errors
def settings(json: Json = False) -> None:
    """What is in force, and where each value comes from."""
    from slowwave.settings import in_force

    rows = in_force(home_settings())
    if json:
        print_json({row.name: {"value": row.shown, "origin": row.origin} for row in rows})
        return
    cells = [[row.name, str(row.shown), row.origin, row.description] for row in rows]
    print_table("Settings in force", ["setting", "value", "from", "meaning"], cells)


@app.command()
@reports_errors
def doctor(
    repair: Annotated[bool, typer.Option(help="Mend what can be mended.")] = False,
    json: Json = False,
) -> None:
    """Check the installation, the store, the indexes, the journal and the model."""
    from slowwave.upkeep.doctor import examine

    findings = examine(home_settings(), repair=repair)
    healthy = all(finding.ok for finding in findings)
    if json:
        print_json({"healthy": healthy, "findings": findings})
    else:
        cells = [["ok" if f.ok else "PROBLEM", f.subject, f.message, f.advice] for f in findings]
        print_table("Doctor", ["", "what", "found", "what to do"], cells)
    raise typer.Exit(0 if healthy else 1)


@app.command()
@reports_errors
def reembed(
    model: Annotated[str, typer.Option(help="Name of the new embedding model.")],
    json: Json = False,
) -> None:
    """Move the memory to another embedding model: a new table beside the old one, then a switch."""
    from slowwave.upkeep.reembed import reembed as run

    with bars(quiet=json):
        report = run(home_settings(), model)
    if json:
        print_json(report)
        return
    out.print(f"{report['chunks']:,} chunks now have vectors of [bold]{model}[/].")
    out.print(f'Set it for good: embedding.model = "{model}" is in {report["config"]}.')


@checkpoints.command("create")
@reports_errors
def checkpoint_create(name: str, json: Json = False) -> None:
    """Tag the present state of every table."""
    from datetime import UTC, datetime

    from slowwave.store.checkpoints import create_checkpoint

    space = _space()
    with space.writing():  # or one table would be as it is before a save, and another as after it
        made = create_checkpoint(space.store, name, datetime.now(UTC))
    if json:
        print_json({"name": made.name, "tables": dict(made.tables)})
    else:
        out.print(f"Checkpoint [bold]{made.name}[/] of {len(made.tables)} tables.")


@checkpoints.command("list")
@reports_errors
def checkpoint_list(json: Json = False) -> None:
    """List the checkpoints, oldest first."""
    from slowwave.store.checkpoints import list_checkpoints

    found = list_checkpoints(_store())
    if json:
        print_json(
            [{"name": one.name, "created_at": one.created_at, "tables": dict(one.tables)} for one in found]
        )
    elif not found:
        out.print("No checkpoints.")
    else:
        print_table(
            "Checkpoints", ["name", "created"], [[one.name, f"{one.created_at:%F %T}"] for one in found]
        )


@checkpoints.command("restore")
@reports_errors
def checkpoint_restore(name: str, json: Json = False) -> None:
    """Bring every table back to a checkpoint; the journal keeps all acts since."""
    from slowwave.upkeep.restoring import restore

    done = restore(_space(), name)
    if json:
        print_json({"name": done.name, "tables": dict(done.tables)})
    else:
        out.print(
            f"All tables are as at [bold]{done.name}[/]. `slowwave night` takes in again what came since."
        )


@checkpoints.command("delete")
@reports_errors
def checkpoint_delete(name: str) -> None:
    """Remove a checkpoint, so that its files may be freed."""
    from slowwave.store.checkpoints import delete_checkpoint

    space = _space()
    with space.writing():
        delete_checkpoint(space.store, name)
    out.print(f"Checkpoint [bold]{name}[/] is gone.")


def _standard_input() -> str:
    """What is on standard input.

    Raises:
        ArgumentError: it is not UTF-8.
    """
    from slowwave.errors import ArgumentError

    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise ArgumentError(f"Standard input is not UTF-8 (byte {error.start}). Decode it first.") from None


def _store() -> Any:  # noqa: ANN401 - Store, imported late
    return _space().store


def _space() -> Any:  # noqa: ANN401 - Workspace, imported late
    from slowwave.home.workspace import Workspace
    from slowwave.settings import require_home

    return Workspace(require_home(home_settings()))
