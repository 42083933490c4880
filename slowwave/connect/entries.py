"""Entries of a client's file: launch command of the server, home and namespace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from slowwave.connect.clients import Client

PROGRAM = "slowwave"
MODULE = ("-m", PROGRAM)


@dataclass(frozen=True, slots=True)
class HomeConnection:
    """Home, namespace and principal of an entry.

    Attributes:
        home: its folder.
        namespace: the tenant.
        principal: user of its events.
    """

    home: str
    namespace: str
    principal: str

    def words(self, launch: Sequence[str], command: str, *more: str) -> tuple[str, ...]:
        """Return the words of a command for this connection.

        Args:
            launch: command that starts `slowwave`.
            command: of it.
            more: options of that command.
        """
        options = ("--namespace", self.namespace, "--principal", self.principal)
        return (*launch, "--home", self.home, command, *options, *more)


def entry_of(client: Client, launch: Sequence[str], connection: HomeConnection) -> dict[str, Any]:
    """Return the entry of a server for a client's file."""
    program, *arguments = connection.words(launch, "mcp")
    return {**client.more, "command": program, "args": arguments}


def connection_in(entry: object) -> HomeConnection | None:
    """Parse the connection of an entry; None if `entry_of` did not write it."""
    match entry:
        case {"command": str(program), "args": [*words]} if all(isinstance(word, str) for word in words):
            return connection_of([program, *words], "mcp")
    return None


def connection_of(words: Sequence[str], command: str) -> HomeConnection | None:
    """Parse the connection of a command; None if it is not of `HomeConnection.words`."""
    match _after_program(words):
        case ["--home", home, name, "--namespace", space, "--principal", principal, *_] if name == command:
            return HomeConnection(home, space, principal)
    return None


def _after_program(words: Sequence[str]) -> Sequence[str]:
    """Return the words after those that start `slowwave`; none for another program."""
    if words and _stem(words[0]) == PROGRAM:
        return words[1:]
    return words[3:] if tuple(words[1:3]) == MODULE else ()


def _stem(path: str) -> str:
    """Return the name of a program, for the separators and endings of any system."""
    name = PureWindowsPath(PurePosixPath(path).name).name
    return name.removesuffix(".exe").removesuffix(".EXE")
