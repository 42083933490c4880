"""The hooks of a client that runs commands when a session starts and ends, as Claude Code does."""

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
    """A command of Slowwave that a client is to run.

    Attributes:
        event: of the client.
        matcher: of the event's occasions; empty: all of them.
        command: of Slowwave.
        options: of that command.
        seconds: that it may take.
    """

    event: str
    matcher: str
    command: str
    options: tuple[str, ...]
    seconds: int


# A session that is resumed has what was recalled for it. At the end of one a client waits little or not at
# all, so the work is done by a process of its own.
HOOKS = (
    Hook("SessionStart", "startup|clear|compact", "recall", (), 30),
    Hook("SessionEnd", "", "capture", ("--detach",), 30),
)


def hooked(text: str | None, launch: Sequence[str], connection: HomeConnection, where: str) -> str:
    """The text of a client's settings with the hooks; the same text if it has them already.

    Args:
        text: of the file; None if there is none.
        launch: words that start `slowwave`.
        connection: which memory they are for.
        where: the file, for errors.

    Raises:
        CommentsError: the file has comments that would be lost.
        SlowwaveError: it cannot be read, or its hooks are of another form.
    """
    given = (text or "").removeprefix(BOM)
    document = _read(given, where)
    wanted = {hook.event: _group(hook, launch, connection) for hook in HOOKS}
    if [group for _, group in _ours(document)] == list(wanted.values()):
        return text or ""
    made = _without(given, where)
    try:
        for event, group in wanted.items():
            there = read(made, "json", where).get("hooks", {})
            number = len(there.get(event, [])) if isinstance(there, Mapping) else 0
            made = json_text.put(made, ("hooks", event, number), group, blank=text is not None)
    except (json_text.PathError, TypeError) as error:
        raise SlowwaveError(f"{where} cannot be changed: {error}. Nothing was changed.") from None
    return (BOM if (text or "").startswith(BOM) else "") + made


def unhooked(text: str, where: str) -> str | None:
    """The text without the hooks of Slowwave; the same text if it has none.

    Returns:
        The text; None if `hooked` made the file and nothing else has come into it.

    Raises:
        CommentsError: the file has comments that would be lost, and such hooks.
        SlowwaveError: it cannot be read.
    """
    if not list(_ours(loosely(text, "json", where))):
        return text
    given = text.removeprefix(BOM)
    _read(given, where)
    return remainder(text, _without(given, where))


def hooked_for(document: Mapping[str, Any]) -> list[tuple[str, HomeConnection]]:
    """The commands of Slowwave that a document's hooks run, and for which memory."""
    return [found for _, group in _ours(document) for one in group["hooks"] if (found := _command(one))]


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
    """The text without any hook of Slowwave."""
    while (found := next(_ours(read(text, "json", where)), None)) is not None:
        (event, number), group = found
        path: tuple[str | int, ...] = ("hooks", event, number)
        if not all(_command(one) for one in group["hooks"]):  # another's hook is in the same group
            inner = next(place for place, one in enumerate(group["hooks"]) if _command(one))
            path = (*path, "hooks", inner)
        text = json_text.taken_out(text, path)
    return text


def _ours(document: Mapping[str, Any]) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
    """Groups of hooks in which a command of Slowwave is, with event and number."""
    events = document.get("hooks")
    for event, groups in events.items() if isinstance(events, Mapping) else ():
        for number, group in enumerate(groups) if isinstance(groups, list) else ():
            hooks = group.get("hooks") if isinstance(group, Mapping) else None
            if isinstance(hooks, list) and any(_command(one) for one in hooks):
                yield (event, number), dict(group)


def _command(hook: object) -> tuple[str, HomeConnection] | None:
    """The command of Slowwave that a hook runs, and for which memory."""
    words = hook.get("command") if isinstance(hook, Mapping) else None
    try:
        split = shlex.split(words) if isinstance(words, str) else []
    except ValueError:
        return None
    found = ((one.command, connection_of(split, one.command)) for one in HOOKS)
    return next(((command, connection) for command, connection in found if connection is not None), None)
