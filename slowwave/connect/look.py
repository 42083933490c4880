"""Detection of clients on this machine, and of their connections."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from slowwave.connect import documents, files, hooks
from slowwave.connect.clients import CLIENTS, Client, Places, file_of
from slowwave.connect.entries import HomeConnection
from slowwave.errors import SlowwaveError


@dataclass(frozen=True, slots=True)
class Link:
    """A file with its connections.

    Attributes:
        file: path.
        servers: the connections in it, by name.
        hooks: commands of its hooks, with their connections.
        fault: why it is unreadable; empty if it is readable or missing.
    """

    file: Path
    servers: dict[str, HomeConnection]
    hooks: tuple[tuple[str, HomeConnection], ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class FoundClient:
    """A client with its connections.

    Attributes:
        client: its data.
        here: whether it is on this machine.
        links: its file first, then other files with connections.
    """

    client: Client
    here: bool
    links: tuple[Link, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        rows = [
            {
                "file": str(link.file),
                "servers": {name: asdict(connection) for name, connection in link.servers.items()},
                "hooks": [command for command, _ in link.hooks],
                "fault": link.fault,
            }
            for link in self.links
        ]
        connected = any(link.servers for link in self.links)
        name, title = self.client.name, self.client.title
        return {"client": name, "title": title, "here": self.here, "connected": connected, "files": rows}

    def connection_text(self, places: Places) -> str:
        """Return the connections as text, a line per connection and per file."""
        lines = []
        for link in self.links:
            for name, connection in link.servers.items():
                lines.append(
                    f"{name}: namespace {connection.namespace} of {short(Path(connection.home), places)}"
                )
            if link.hooks:
                lines.append(f"hooks: {' and '.join(sorted({command for command, _ in link.hooks}))}")
            if link.fault:
                lines.append("unreadable; connect it to see the error")
            elif not link.servers and not link.hooks:
                lines.append("-")
            lines.append(f"  {short(link.file, places)}")
        return "\n".join(lines)


def all_clients(places: Places, folder: Path) -> list[FoundClient]:
    """Return every client that Slowwave supports.

    Args:
        places: of the user.
        folder: of the project, which is checked, too.
    """
    return [_detect(client, places, folder) for client in CLIENTS]


def is_here(client: Client, places: Places) -> bool:
    """Whether a client is on this machine: its file, one of its folders, or its command."""
    paths = (file_of(client, places), *map(places.path, client.folders))
    search = places.variables.get("PATH")
    return any(path.exists() for path in paths) or any(
        shutil.which(command, path=search) for command in client.commands
    )


def short(path: Path, places: Places) -> str:
    """Return a path with ``~`` for the user's folder."""
    return f"~/{path.relative_to(places.home)}" if path.is_relative_to(places.home) else str(path)


def _detect(client: Client, places: Places, folder: Path) -> FoundClient:
    own = _link(client, file_of(client, places))
    others = [_link(client, folder / client.project)] if client.project else []
    if client.hooks is not None:
        others += [_hooks(places.path(client.hooks.file)), _hooks(folder / client.hooks.project)]
    links = {own.file: own}
    for link in others:
        if link.servers or link.hooks:
            links.setdefault(link.file, link)
    return FoundClient(client, is_here(client, places), tuple(links.values()))


def _link(client: Client, file: Path) -> Link:
    try:
        document = documents.loosely(files.text_of(file), client.form, str(file))
    except SlowwaveError as error:
        return Link(file, {}, fault=str(error))
    return Link(file, documents.connections(document, client))


def _hooks(file: Path) -> Link:
    try:
        document = documents.loosely(files.text_of(file), "json", str(file))
    except SlowwaveError as error:
        return Link(file, {}, fault=str(error))
    return Link(file, {}, hooks=tuple(hooks.hooked_for(document)))
