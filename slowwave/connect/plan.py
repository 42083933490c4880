"""Changes of `slowwave connect`: files, old and new texts, and messages."""

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


_SERVER_STATUS: dict[Kind, str] = {
    "added": "connected", "changed": "now connected", "already": "already connected",
    "removed": "no longer connected", "nothing": "not connected",
}  # fmt: skip
_HOOKS_STATUS: dict[Kind, str] = {
    "added": "for recall and capture added", "changed": "for recall and capture changed",
    "already": "for recall and capture exist already", "removed": "removed",
    "nothing": "do not exist",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """A file, and the part of Slowwave in it."""

    what: What
    file: Path


@dataclass(frozen=True, slots=True)
class FileChange:
    """Change of one file.

    Attributes:
        what: the part of Slowwave in it.
        file: its path.
        change: kind of change.
        before: its text; None if it is missing.
        after: its new text; None removes it.
        connection: in the new text, if any.
    """

    what: What
    file: Path
    change: Kind
    before: str | None
    after: str | None
    connection: HomeConnection | None = None

    @property
    def diff(self) -> str:
        """Unified diff of both texts; empty if they are equal."""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        return "\n".join(difflib.unified_diff(old, new, str(self.file), str(self.file), lineterm=""))

    def write(self) -> None:
        """Write the change.

        Raises:
            SlowwaveError: another program has changed the file, or it cannot be written.
        """
        if self.before != self.after:
            files.replace(self.file, self.before, self.after)

    def message(self, client: Client) -> str:
        """Return what was done, in a line."""
        if self.what == "hooks":
            return f"Hooks {_HOOKS_STATUS[self.change]}: {self.file}"
        connection_text = ""
        if self.connection is not None:
            connection_text = f" to namespace {self.connection.namespace} of {self.connection.home}"
        return f"{client.title} is {_SERVER_STATUS[self.change]}{connection_text}: {self.file}"


def targets(
    client: Client, places: Places, folder: Path, *, project: bool, file: Path | None, hooks: bool
) -> list[Target]:
    """Return the files of a command.

    Args:
        client: to connect.
        places: of the user.
        folder: of the project.
        project: use the file of that folder.
        file: another file instead of the client's.
        hooks: also the file of the hooks, if the client has them.

    Raises:
        ArgumentError: the client has no such file.
    """
    if project and file is not None:
        raise ArgumentError("Give either --project or --file, not both.")
    if project and not client.project:
        raise ArgumentError(
            f"{client.title} has no project file. Leave out --project to connect it for all projects."
        )
    own = file.expanduser().absolute() if file else file_of(client, places)
    target_list = [Target("server", folder / client.project if project else own)]
    if hooks and client.hooks is not None and file is None:
        hooks_file = folder / client.hooks.project if project else places.path(client.hooks.file)
        target_list.append(Target("hooks", hooks_file))
    return target_list


def wants_hooks(client: Client, file: Path | None) -> None:
    """Require that a client supports hooks.

    Raises:
        ArgumentError: it does not, or another file is given.
    """
    if client.hooks is None:
        raise ArgumentError(f"{client.title} has no hooks that Slowwave supports. Leave out --hooks.")
    if file is not None:
        raise ArgumentError("--hooks and --file exclude each other: hooks have a file of their own.")


def checked_name(name: str) -> str:
    """Validate the name of a server.

    Raises:
        ArgumentError: no client would accept it.
    """
    if not _NAME.fullmatch(name):
        raise ArgumentError(f"--name {name!r}: give letters, digits, '_' and '-', at most 64 of them.")
    return name


def checked(home: Path, namespace: str, principal: str) -> HomeConnection:
    """Validate a connection.

    Raises:
        ArgumentError: invalid namespace, or a principal that looks like an option.
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
    """Return the change that connects a file.

    Raises:
        SlowwaveError: it cannot be changed; the message says why and what to do.
    """
    before = files.text_of(target.file)
    where = str(target.file)
    if target.what == "hooks":
        after = hooks.hooked(before, launch, connection, where)
        existed = bool(hooks.hooked_for(documents.loosely(before, "json", where)))
    else:
        after = documents.connected(before, client, name, launch, connection, where)
        existed = name in documents.servers_in(documents.loosely(before, client.form, where), client)
    change: Kind = "already" if after == before else "changed" if existed else "added"
    return FileChange(target.what, target.file, change, before, after, connection)


def removal(client: Client, target: Target, name: str) -> FileChange:
    """Return the change that disconnects a file.

    Raises:
        SlowwaveError: it cannot be changed; the message says why and what to do.
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
