"""What is written into a client's file: how the server is started, and whose memory it opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from slowwave.connect.clients import Client

PROGRAM = "slowwave"
MODULE = ("-m", PROGRAM)


@dataclass(frozen=True, slots=True)
class HomeConnection:
    """Whose memory an entry opens.

    Attributes:
        home: folder of the memory.
        namespace: the tenant.
        principal: who acts.
    """

    home: str
    namespace: str
    principal: str

    def words(self, launch: Sequence[str], command: str, *more: str) -> tuple[str, ...]:
        """The words that start a command for it.

        Args:
            launch: words that start `slowwave` itself.
            command: of it.
            more: options of that command.
        """
        whose = ("--namespace", self.namespace, "--principal", self.principal)
        return (*launch, "--home", self.home, command, *whose, *more)


def entry_of(client: Client, launch: Sequence[str], connection: HomeConnection) -> dict[str, Any]:
    """The entry of a server in a client's file."""
    program, *arguments = connection.words(launch, "mcp")
    return {**client.more, "command": program, "args": arguments}


def connection_in(entry: object) -> HomeConnection | None:
    """Whose memory an entry opens; None of an entry that is not of the form of `entry_of`."""
    if not isinstance(entry, Mapping):
        return None
    command, arguments = entry.get("command"), entry.get("args")
    if not isinstance(command, str) or not isinstance(arguments, list):
        return None
    words = [command, *arguments]
    return connection_of(words, "mcp") if all(isinstance(word, str) for word in words) else None


def connection_of(words: Sequence[str], command: str) -> HomeConnection | None:
    """Whose memory words open that start a command; None of words that are not of `HomeConnection.words`."""
    rest = _after_program(words)
    if len(rest) < 7 or rest[0] != "--home" or rest[2] != command:
        return None
    if (rest[3], rest[5]) != ("--namespace", "--principal"):
        return None
    return HomeConnection(rest[1], rest[4], rest[6])


def _after_program(words: Sequence[str]) -> list[str]:
    """The words after those that start `slowwave`; none if they start something else."""
    if not words:
        return []
    if _stem(words[0]) == PROGRAM:
        return list(words[1:])
    return list(words[3:]) if tuple(words[1:3]) == MODULE else []


def _stem(path: str) -> str:
    """The name of a program, with the separators and endings of any system."""
    name = PureWindowsPath(PurePosixPath(path).name).name
    return name.removesuffix(".exe").removesuffix(".EXE")
