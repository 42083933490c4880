"""Titles of notes that bring none: the first words of the text."""

from __future__ import annotations

from functools import lru_cache

_CHARACTERS = 80
"""Longest title of first words (count)."""
_SPACES = 1_000
"""Characters that a line is looked at beyond the length of a title: marks, and spaces in a row (count)."""
_BEGINNING = 2_000  # characters
_MARKS = " #*-\t"
_CUTS = ("…", "...")


def from_first_words(content: str) -> str:
    """The first line that says something, cut at a word with an ellipsis where it is long."""
    line = _first_line(content).strip(_MARKS)
    if len(line) <= _CHARACTERS:
        return line
    return line[:_CHARACTERS].rsplit(" ", 1)[0] + " …"


def is_from_first_words(title: str, content: str) -> bool:
    """Whether a title is no more than the first line of its text, or the beginning of it with an ellipsis.

    A heading is a title that somebody gave.

    Args:
        title: of a note.
        content: of the note, or the beginning of it.
    """
    line = _first_line(content)
    if line.lstrip().startswith("#"):
        return False
    return _is_beginning(title, line[: len(title) + _SPACES])


@lru_cache(maxsize=8_192)
def _is_beginning(title: str, line: str) -> bool:
    whole, cut = _whole(title), is_cut(title)
    said = _plain(whole)
    if not said:
        return False
    if cut and line.startswith(whole):
        return True
    begins = _plain(line)
    return begins == said or (cut and begins.startswith(said))


def is_cut(title: str) -> bool:
    """Whether a title ends in an ellipsis: it is the beginning of something longer."""
    return title.rstrip().endswith(_CUTS)


def _first_line(content: str) -> str:
    for part in (content[:_BEGINNING], content):  # of a long text the first line is seldom beyond that
        lines = part.splitlines()
        found = next((line for line in lines[: len(lines) - (part != content)] if line.strip(_MARKS)), None)
        if found is not None:
            return found
    return ""


def _plain(text: str) -> str:
    return " ".join(_whole(text.strip(_MARKS)).casefold().split())


def _whole(text: str) -> str:
    """A text without an ellipsis at its end."""
    said = text.rstrip()
    mark = next((mark for mark in _CUTS if said.endswith(mark)), None)
    return text if mark is None else said.removesuffix(mark).rstrip()
