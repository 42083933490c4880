"""Lists of words that are data: text files in the folder ``words`` of a room, a group of them a line.

Lines that begin with a hash say what a list is for, and are no part of it.
"""

from __future__ import annotations

from importlib.resources import files


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a list, without those that are about it."""
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


def lines(room: str, name: str) -> tuple[str, ...]:
    """The lines of a list.

    Args:
        room: package that has it.
        name: of its file, without the ending.
    """
    return lines_of(files(room).joinpath("words", f"{name}.txt").read_text(encoding="utf-8"))


def words(room: str, name: str) -> tuple[str, ...]:
    """The words of a list, in their order; arguments as of `lines`."""
    return tuple(word for line in lines(room, name) for word in line.split())
