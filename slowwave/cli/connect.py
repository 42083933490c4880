"""Connecting assistants on this machine, and what their hooks run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave.cli.app import Namespace, app, opened, required_settings
from slowwave.views.terminal import Output, out, prints_output, reports_errors, say, warn

if TYPE_CHECKING:
    from slowwave.connect.clients import Client
    from slowwave.connect.entries import HomeConnection
    from slowwave.connect.plan import FileChange
    from slowwave.memory import Memory

Principal = Annotated[str, typer.Option(help="Who acts; default: the client's name.")]


@app.command()
@prints_output
def connect(
    client: Annotated[str, typer.Argument(help="Name of the client; none: list them.")] = "",
    name: Annotated[str, typer.Option(help="Name of the server in the client's file.")] = "memory",
    principal: Principal = "",
    project: Annotated[
        bool, typer.Option("--project", help="Only for the project in this folder, by the file it has there.")
    ] = False,
    file: Annotated[Path | None, typer.Option(help="Another configuration file of that client.")] = None,
    hooks: Annotated[
        bool, typer.Option("--hooks", help="Also recall when a session starts, and capture when it ends.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change; write nothing.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take out what this command wrote.")] = False,
    namespace: Namespace = "",
) -> Output:
    """Connect an assistant: write Slowwave into its configuration file, or list which could be.

    What others wrote in that file stays as it is.
    """
    if not client:
        return _list()
    from slowwave.common.arguments import known_word
    from slowwave.connect import plan
    from slowwave.connect.clients import BY_NAME, places_here

    chosen = BY_NAME[known_word("CLIENT", client, BY_NAME)]
    if hooks:
        plan.wants_hooks(chosen, file)
    where = plan.targets(chosen, places_here(), Path.cwd(), project=project, file=file, hooks=hooks or remove)
    plan.checked_name(name)
    if remove:
        changes = [plan.removal(chosen, target, name) for target in where]
    else:
        connection, launch = _connection(chosen, namespace, principal)
        changes = [plan.addition(chosen, target, name, launch, connection) for target in where]
        _tell_missing(chosen)
    if not dry_run:
        for change in changes:
            change.write()
    rows = [
        {"what": one.what, "file": str(one.file), "change": one.change, "diff": one.diff} for one in changes
    ]
    return Output(
        {"client": chosen.name, "dry_run": dry_run, "changes": rows},
        lambda: _print_changes(chosen, changes, dry_run=dry_run),
    )


@app.command(hidden=True)
@reports_errors
def recall(namespace: Namespace = "", principal: Principal = "") -> None:
    """What an assistant should know when a session starts; for its hook, which hands on what is printed."""
    from slowwave.home.heartbeat import note_recall
    from slowwave.views.terminal import print_plain

    with _opened(namespace, principal) as memory:
        text = memory.wakeup().text
        note_recall(memory.settings.home, memory.namespace, memory.principal, memory.home.now())
    if text:  # where nothing is remembered yet, nothing is said
        print_plain(text)


@app.command()
@prints_output
def capture(
    detach: Annotated[
        bool, typer.Option("--detach", help="Work in the background: the client does not wait.")
    ] = False,
    namespace: Namespace = "",
    principal: Principal = "",
) -> Output:
    """Keep what a person said of lasting worth in a session that ended; for the hook of a client.

    Reads the hook's JSON on standard input. Everything goes through the save gate.
    """
    import sys

    from slowwave.connect.capture import capture as keep
    from slowwave.connect.capture import session_of
    from slowwave.home.heartbeat import note_capture

    given = sys.stdin.buffer.read().decode(errors="replace")
    session = session_of(given)
    if detach:
        from slowwave.connect.background import again
        from slowwave.settings.home_discovery import find_home

        again(given, find_home())  # without the settings, which take their time to load: nobody waits
        return Output()
    with _opened(namespace, principal) as memory:
        done = keep(memory, session)
        if done.messages:  # of a session without a word nothing is learned about whether capture works
            now, held = memory.home.now(), len(done.saved)
            note_capture(memory.settings.home, memory.namespace, memory.principal, now, saved=held)

    def show() -> None:
        refused = sum(one.status == "quarantined" for one in done.saved)
        say(
            f"Session {session.id}: {done.messages:,} messages, {len(done.saved):,} statements for the gate "
            f"({refused:,} quarantined), {done.known:,} known already."
        )

    return Output(done, show)


def _opened(namespace: str, principal: str) -> Memory:
    """The memory of a hook."""
    return opened(required_settings(), namespace, principal or "assistant")


def _connection(client: Client, namespace: str, principal: str) -> tuple[HomeConnection, tuple[str, ...]]:
    """The memory to connect, and how the server is started; both have to be there."""
    from slowwave.cli.mcp import require_sdk
    from slowwave.connect import plan
    from slowwave.connect.command import launch

    settings = required_settings()
    require_sdk()
    wanted = plan.checked(settings.home, namespace or settings.namespace, principal or client.name)
    return wanted, launch()


def _tell_missing(client: Client) -> None:
    from slowwave.connect import look
    from slowwave.connect.clients import places_here

    if not look.is_here(client, places_here()):
        warn(f"{client.title} was not found on this machine; it reads the file once it is there.", "Note:")


def _print_changes(client: Client, changes: list[FileChange], *, dry_run: bool) -> None:
    for one in changes:
        if dry_run and one.diff:
            out.print(one.diff, markup=False, highlight=False, soft_wrap=True)
        elif one.change != "nothing":
            out.print(one.said(client), markup=False, highlight=False, soft_wrap=True)
    if all(one.change == "nothing" for one in changes):
        out.print(f"{client.title} was not connected: there is nothing to take out.", markup=False)
    elif dry_run:
        out.print("Nothing was written: leave out --dry-run to do it.", markup=False)
    elif any(one.diff for one in changes):
        out.print(f"Restart {client.title}, so that it reads the file again.", markup=False)


def _list() -> Output:
    from slowwave.connect import look
    from slowwave.connect.clients import places_here
    from slowwave.settings.home_discovery import find_home
    from slowwave.views.tables import print_table

    places = places_here()
    found = look.all_clients(places, Path.cwd())

    def show() -> None:
        rows = [[one.client.name, "yes" if one.here else "no", one.told(places)] for one in found]
        caption = f"slowwave connect CLIENT connects one to {look.short(find_home(), places)}."
        print_table("Clients", ["client", "here", "connected to, by which file"], rows, caption=caption)

    return Output({"clients": [one.to_dict() for one in found]}, show)
