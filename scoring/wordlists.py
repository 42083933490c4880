"""Word lists as data: text files in a package's folder ``words``, one group a line.

Lines that begin with a hash are comments.
"""

from __future__ import annotations

from importlib.resources import files


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of a list without its comments."""
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


def lines(room: str, name: str) -> tuple[str, ...]:
    """Return the lines of a list file.

    Args:
        room: package of the list.
        name: file name without extension.
    """
    return lines_of(files(room).joinpath("words", f"{name}.txt").read_text(encoding="utf-8"))


def words(room: str, name: str) -> tuple[str, ...]:
    """Return the words of a list in order; arguments as `lines`."""
    return tuple(word for line in lines(room, name) for word in line.split())
