"""The command `connect`, and the commands that client hooks run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave.cli.app import Namespace, app, opened, required_settings
from slowwave.views.terminal import Output, out, prints_output, reports_errors, say, warn

_NAMED = 3  # lines of a transcript in a remark (count)

if TYPE_CHECKING:
    from slowwave.connect.clients import Client
    from slowwave.connect.entries import HomeConnection
    from slowwave.connect.plan import FileChange
    from slowwave.memory import Memory

Principal = Annotated[str, typer.Option(help="User recorded with events; default: the client's name.")]


@app.command()
@prints_output
def connect(
    client: Annotated[str, typer.Argument(help="Name of the client; without one, list all.")] = "",
    name: Annotated[str, typer.Option(help="Name of the server in the client's file.")] = "memory",
    principal: Principal = "",
    project: Annotated[
        bool,
        typer.Option("--project", help="Only for the project in this folder, in its configuration file."),
    ] = False,
    file: Annotated[Path | None, typer.Option(help="Another configuration file of the client.")] = None,
    hooks: Annotated[
        bool,
        typer.Option("--hooks", help="Also install hooks: recall at session start, capture at session end."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change; write nothing.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove what this command wrote.")] = False,
    namespace: Namespace = "",
) -> Output:
    """Add Slowwave to an assistant's configuration file, or list the assistants found.

    Other entries of that file stay unchanged.
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
        _warn_if_missing(chosen)
    if not dry_run:
        for change in changes:
            change.write()
    rows = [
        {"what": change_.what, "file": str(change_.file), "change": change_.change, "diff": change_.diff}
        for change_ in changes
    ]
    return Output(
        {"client": chosen.name, "dry_run": dry_run, "changes": rows},
        lambda: _print_changes(chosen, changes, dry_run=dry_run),
    )


@app.command(hidden=True)
@reports_errors
def recall(
    session: Annotated[
        str, typer.Option(help="Id of the session that gets it; default: session_id of the hook's JSON.")
    ] = "",
    namespace: Namespace = "",
    principal: Principal = "",
) -> None:
    """Print the wake-up packet; the session-start hook of a client runs this.

    It also tells the assistant its session, so that its searches leave out what the packet has.
    """
    from slowwave.home.heartbeat import note_recall
    from slowwave.views.mcp_text import session_line
    from slowwave.views.terminal import print_plain

    session = session.strip()
    with _opened(namespace, principal) as memory:
        text = memory.wakeup(session=session).text
        note_recall(memory.settings.home, memory.namespace, memory.principal, memory.home.now())
    if text:  # an empty memory prints nothing
        print_plain("\n".join(filter(None, (text, session_line(session)))))


@app.command()
@prints_output
def capture(
    detach: Annotated[
        bool, typer.Option("--detach", help="Work in the background: the client does not wait.")
    ] = False,
    namespace: Namespace = "",
    principal: Principal = "",
) -> Output:
    """Save lasting statements of a session that ended; the hook of a client runs this.

    Reads the hook's JSON from standard input. Every statement goes through the save gate.
    """
    import sys

    from slowwave.common.pluralize import counted
    from slowwave.connect.capture import capture as keep
    from slowwave.connect.capture import session_of
    from slowwave.home.heartbeat import note_capture

    payload = sys.stdin.buffer.read().decode(errors="replace")
    session = session_of(payload)
    if detach:
        from slowwave.common.home_discovery import find_home
        from slowwave.connect.background import again

        again(payload, find_home())  # before the settings are loaded, so that the client waits less
        return Output()
    with _opened(namespace, principal) as memory:
        done = keep(memory, session)
        if done.messages:  # an empty session does not show whether capture works
            now, saved_count = memory.home.now(), len(done.saved)
            note_capture(memory.settings.home, memory.namespace, memory.principal, now, saved=saved_count)

    def show() -> None:
        refused = sum(saved.status == "quarantined" for saved in done.saved)
        say(
            f"Session {session.place}: {done.messages:,} messages, {len(done.saved):,} statements for the "
            f"gate ({refused:,} quarantined), {done.known:,} already saved."
        )
        for remarks, kind in ((done.broken, "left out"), (done.replaced, "mended")):
            if remarks:
                more = f" and {len(remarks) - _NAMED:,} more" if len(remarks) > _NAMED else ""
                named = "; ".join(remarks[:_NAMED])
                say(f"Transcript, {kind} {counted(len(remarks), 'part')}: {named}{more}.")

    return Output(done, show)


def _opened(namespace: str, principal: str) -> Memory:
    """Open the namespace of a hook."""
    return opened(required_settings(), namespace, principal or "assistant")


def _connection(client: Client, namespace: str, principal: str) -> tuple[HomeConnection, tuple[str, ...]]:
    """Return the home to connect and the server's launch command; both have to exist."""
    from slowwave.cli.mcp import require_sdk
    from slowwave.connect import plan
    from slowwave.connect.command import launch

    settings = required_settings()
    require_sdk()
    wanted = plan.checked(settings.home, namespace or settings.namespace, principal or client.name)
    return wanted, launch()


def _warn_if_missing(client: Client) -> None:
    from slowwave.connect import look
    from slowwave.connect.clients import places_here

    if not look.is_here(client, places_here()):
        warn(f"{client.title} was not found on this machine. It will read the file once installed.", "Note:")


def _print_changes(client: Client, changes: list[FileChange], *, dry_run: bool) -> None:
    for file_change in changes:
        if dry_run and file_change.diff:
            out.print(file_change.diff, markup=False, highlight=False, soft_wrap=True)
        elif file_change.change != "nothing":
            out.print(file_change.message(client), markup=False, highlight=False, soft_wrap=True)
    if all(file_change.change == "nothing" for file_change in changes):
        out.print(f"{client.title} was not connected: there is nothing to remove.", markup=False)
    elif dry_run:
        out.print("Nothing was written. Run it again without --dry-run to apply.", markup=False)
    elif any(file_change.diff for file_change in changes):
        out.print(f"Restart {client.title} to load the new configuration.", markup=False)


def _list() -> Output:
    from slowwave.common.home_discovery import find_home
    from slowwave.connect import look
    from slowwave.connect.clients import places_here
    from slowwave.views.tables import print_table

    places = places_here()
    connections = look.all_clients(places, Path.cwd())

    def show() -> None:
        rows = [
            [connection.client.name, "yes" if connection.here else "no", connection.connection_text(places)]
            for connection in connections
        ]
        caption = f"slowwave connect CLIENT connects it to {look.short(find_home(), places)}."
        print_table("Clients", ["client", "here", "connected to, by which file"], rows, caption=caption)

    return Output({"clients": [connection.to_dict() for connection in connections]}, show)
