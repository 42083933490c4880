"""What is written into a client's file: how the server is started, and whose memory it opens."""

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
    match entry:
        case {"command": str(program), "args": [*words]} if all(isinstance(word, str) for word in words):
            return connection_of([program, *words], "mcp")
    return None


def connection_of(words: Sequence[str], command: str) -> HomeConnection | None:
    """Whose memory words open that start a command; None of words that are not of `HomeConnection.words`."""
    match _after_program(words):
        case ["--home", home, name, "--namespace", space, "--principal", principal, *_] if name == command:
            return HomeConnection(home, space, principal)
    return None


def _after_program(words: Sequence[str]) -> Sequence[str]:
    """The words after those that start `slowwave`; none if they start something else."""
    if words and _stem(words[0]) == PROGRAM:
        return words[1:]
    return words[3:] if tuple(words[1:3]) == MODULE else ()


def _stem(path: str) -> str:
    """The name of a program, with the separators and endings of any system."""
    name = PureWindowsPath(PurePosixPath(path).name).name
    return name.removesuffix(".exe").removesuffix(".EXE")
