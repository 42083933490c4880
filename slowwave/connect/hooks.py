"""Hooks of a client: commands at session start and end, as in Claude Code."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slowwave.connect import json_text
from slowwave.connect.documents import BOM, CommentsError, loosely, read, remainder
from slowwave.connect.entries import HomeConnection, connection_of
from slowwave.errors import SlowwaveError


@dataclass(frozen=True, slots=True)
class Hook:
    """Command of Slowwave that a client runs.

    Attributes:
        event: of the client.
        matcher: of the event's occasions; empty: all.
        command: of Slowwave.
        options: of that command.
        seconds: its time-out.
    """

    event: str
    matcher: str
    command: str
    options: tuple[str, ...]
    seconds: int


# A resumed session has its recalled memories already. At the end of a session a client hardly waits, so
# capture runs in a process of its own.
HOOKS = (
    Hook("SessionStart", "startup|clear|compact", "recall", (), 30),
    Hook("SessionEnd", "", "capture", ("--detach",), 30),
)


def hooked(text: str | None, launch: Sequence[str], connection: HomeConnection, where: str) -> str:
    """Return the settings of a client with the hooks; unchanged if it has them.

    Args:
        text: of the file; None if there is none.
        launch: command that starts `slowwave`.
        connection: home, namespace and principal.
        where: the file, for errors.

    Raises:
        CommentsError: the file has comments that would be lost.
        SlowwaveError: it is invalid, or its hooks have another form.
    """
    content = (text or "").removeprefix(BOM)
    document = _read(content, where)
    wanted = {hook.event: _group(hook, launch, connection) for hook in HOOKS}
    if [group for _, group in _ours(document)] == list(wanted.values()):
        return text or ""
    new_text = _without(content, where)
    try:
        for event, group in wanted.items():
            existing = read(new_text, "json", where).get("hooks", {})
            number = len(existing.get(event, [])) if isinstance(existing, Mapping) else 0
            new_text = json_text.put(new_text, ("hooks", event, number), group, blank=text is not None)
    except (json_text.PathError, TypeError) as error:
        raise SlowwaveError(f"Cannot change {where}: {error}. Nothing was changed.") from None
    return (BOM if (text or "").startswith(BOM) else "") + new_text


def unhooked(text: str, where: str) -> str | None:
    """Return the text without Slowwave's hooks; unchanged if it has none.

    Returns:
        The text; None if `hooked` created the file and it has nothing else.

    Raises:
        CommentsError: the file has comments that would be lost, and such hooks.
        SlowwaveError: it is invalid.
    """
    if not list(_ours(loosely(text, "json", where))):
        return text
    content = text.removeprefix(BOM)
    _read(content, where)
    return remainder(text, _without(content, where))


def hooked_for(document: Mapping[str, Any]) -> list[tuple[str, HomeConnection]]:
    """Return Slowwave's commands in a document's hooks, with their connections."""
    return [parsed for _, group in _ours(document) for hook in group["hooks"] if (parsed := _command(hook))]


def _read(text: str, where: str) -> dict[str, Any]:
    try:
        return read(text, "json", where)
    except CommentsError as error:
        raise CommentsError(
            f"{error} The section on hooks of docs/how-to/connect-an-assistant.md shows what to write."
        ) from None


def _group(hook: Hook, launch: Sequence[str], connection: HomeConnection) -> dict[str, Any]:
    command = shlex.join(connection.words(launch, hook.command, *hook.options))
    group: dict[str, Any] = {"matcher": hook.matcher} if hook.matcher else {}
    return group | {"hooks": [{"type": "command", "command": command, "timeout": hook.seconds}]}


def _without(text: str, where: str) -> str:
    """Return the text without any hook of Slowwave."""
    while (first := next(_ours(read(text, "json", where)), None)) is not None:
        (event, number), group = first
        path: tuple[str | int, ...] = ("hooks", event, number)
        if not all(_command(hook) for hook in group["hooks"]):  # another program's hook is in the group
            inner = next(place for place, hook in enumerate(group["hooks"]) if _command(hook))
            path = (*path, "hooks", inner)
        text = json_text.taken_out(text, path)
    return text


def _ours(document: Mapping[str, Any]) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
    """Yield groups with a hook of Slowwave: (event, number) and group."""
    events = document.get("hooks")
    for event, groups in events.items() if isinstance(events, Mapping) else ():
        for number, group in enumerate(groups) if isinstance(groups, list) else ():
            hooks = group.get("hooks") if isinstance(group, Mapping) else None
            if isinstance(hooks, list) and any(_command(hook) for hook in hooks):
                yield (event, number), dict(group)


def _command(hook: object) -> tuple[str, HomeConnection] | None:
    """Return Slowwave's command of a hook, with its connection; None for others."""
    words = hook.get("command") if isinstance(hook, Mapping) else None
    try:
        split = shlex.split(words) if isinstance(words, str) else []
    except ValueError:
        return None
    candidates = ((known_hook.command, connection_of(split, known_hook.command)) for known_hook in HOOKS)
    return next(((command, connection) for command, connection in candidates if connection is not None), None)
