"""What `slowwave connect` changes: which files, from which text to which, and the words for it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from slowwave.connect import documents, files, hooks
from slowwave.connect.clients import Client, Places, file_of
from slowwave.connect.entries import HomeConnection
from slowwave.errors import ArgumentError
from slowwave.quality.structure import NAMESPACE

What = Literal["server", "hooks"]
Kind = Literal["added", "changed", "already", "removed", "nothing"]
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


_SERVER_SAID: dict[Kind, str] = {
    "added": "connected", "changed": "now connected", "already": "already connected",
    "removed": "no longer connected", "nothing": "not connected",
}  # fmt: skip
_HOOKS_SAID: dict[Kind, str] = {
    "added": "for recall and capture added", "changed": "for recall and capture changed",
    "already": "for recall and capture are there already", "removed": "taken out",
    "nothing": "are not there",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """A file, and what of Slowwave is in it."""

    what: What
    file: Path


@dataclass(frozen=True, slots=True)
class FileChange:
    """What becomes of one file.

    Attributes:
        what: of Slowwave is in it.
        file: its path.
        change: what is done.
        before: its text; None if it is not there.
        after: the text that it gets; None if it goes.
        connection: that it has afterwards, if any.
    """

    what: What
    file: Path
    change: Kind
    before: str | None
    after: str | None
    connection: HomeConnection | None = None

    @property
    def diff(self) -> str:
        """Both texts, line by line; empty if they are the same."""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        return "\n".join(difflib.unified_diff(old, new, str(self.file), str(self.file), lineterm=""))

    def write(self) -> None:
        """Do it.

        Raises:
            SlowwaveError: the file was changed meanwhile, or cannot be written.
        """
        if self.before != self.after:
            files.replace(self.file, self.before, self.after)

    def said(self, client: Client) -> str:
        """What was done, in a line."""
        if self.what == "hooks":
            return f"Hooks {_HOOKS_SAID[self.change]}: {self.file}"
        whose = ""
        if self.connection is not None:
            whose = f" to namespace {self.connection.namespace} of {self.connection.home}"
        return f"{client.title} is {_SERVER_SAID[self.change]}{whose}: {self.file}"


def targets(
    client: Client, places: Places, folder: Path, *, project: bool, file: Path | None, hooks: bool
) -> list[Target]:
    """The files that a command is about.

    Args:
        client: to connect.
        places: of whoever runs the command.
        folder: of the project.
        project: the file of that folder.
        file: another file in place of the client's.
        hooks: also the file of the hooks, where the client has them.

    Raises:
        ArgumentError: the client has no such file.
    """
    if project and file is not None:
        raise ArgumentError("Give --project or --file, not both: each names the file.")
    if project and not client.project:
        raise ArgumentError(
            f"{client.title} has no file for a project: leave out --project, to connect it for all."
        )
    own = file.expanduser().absolute() if file else file_of(client, places)
    found = [Target("server", folder / client.project if project else own)]
    if hooks and client.hooks is not None and file is None:
        beside = folder / client.hooks.project if project else places.path(client.hooks.file)
        found.append(Target("hooks", beside))
    return found


def wants_hooks(client: Client, file: Path | None) -> None:
    """See that a client can have hooks.

    Raises:
        ArgumentError: it has none that Slowwave knows, or another file is named.
    """
    if client.hooks is None:
        raise ArgumentError(f"{client.title} has no hooks that Slowwave knows: leave out --hooks.")
    if file is not None:
        raise ArgumentError("--hooks go into a file of their own: leave out --file.")


def checked_name(name: str) -> str:
    """The name of a server.

    Raises:
        ArgumentError: no client would take it.
    """
    if not _NAME.fullmatch(name):
        raise ArgumentError(f"--name {name!r}: give letters, digits, '_' and '-', at most 64 of them.")
    return name


def checked(home: Path, namespace: str, principal: str) -> HomeConnection:
    """A connection that the server will start with.

    Raises:
        ArgumentError: the namespace is none, or the principal would be taken for an option.
    """
    if not re.fullmatch(NAMESPACE, namespace):
        raise ArgumentError(
            f"--namespace {namespace!r}: begin with a letter or digit, then letters, digits, '_', '-', '.' "
            f"and '/'."
        )
    if not principal.strip() or principal.startswith("-"):
        raise ArgumentError(f"--principal {principal!r}: give a name that does not begin with '-'.")
    return HomeConnection(str(home), namespace, principal)


def addition(
    client: Client, target: Target, name: str, launch: Sequence[str], connection: HomeConnection
) -> FileChange:
    """What connecting does to a file.

    Raises:
        SlowwaveError: it cannot be changed; says why and what to do.
    """
    before = files.text_of(target.file)
    where = str(target.file)
    if target.what == "hooks":
        after = hooks.hooked(before, launch, connection, where)
        was = bool(hooks.hooked_for(documents.loosely(before, "json", where)))
    else:
        after = documents.connected(before, client, name, launch, connection, where)
        was = name in documents.servers_in(documents.loosely(before, client.form, where), client)
    change: Kind = "already" if after == before else "changed" if was else "added"
    return FileChange(target.what, target.file, change, before, after, connection)


def removal(client: Client, target: Target, name: str) -> FileChange:
    """What taking out does to a file.

    Raises:
        SlowwaveError: it cannot be changed; says why and what to do.
    """
    before = files.text_of(target.file)
    if before is None:
        return FileChange(target.what, target.file, "nothing", None, None)
    where = str(target.file)
    if target.what == "hooks":
        after = hooks.unhooked(before, where)
    else:
        after = documents.disconnected(before, client, name, where)
    return FileChange(target.what, target.file, "nothing" if after == before else "removed", before, after)
