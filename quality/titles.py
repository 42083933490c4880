"""Titles of notes that bring none: the first words of the text."""

from __future__ import annotations

import re

_CHARACTERS = 80
"""Longest title of first words (count)."""
_SPACES = 1_000
"""Characters that a line is looked at beyond the length of a title: marks, and spaces in a row (count)."""
_MARKS = " #*-\t"
_CUT = re.compile(r"\s*(?:…|\.{3})\s*$")


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
    said, begins = _plain(_CUT.sub("", title)), _plain(line[: len(title) + _SPACES])
    if not said:
        return False
    return begins == said or (is_cut(title) and begins.startswith(said))


def is_cut(title: str) -> bool:
    """Whether a title ends in an ellipsis: it is the beginning of something longer."""
    return _CUT.search(title) is not None


def _first_line(content: str) -> str:
    return next((line for line in content.splitlines() if line.strip(_MARKS)), "")


def _plain(text: str) -> str:
    return " ".join(_CUT.sub("", text.strip(_MARKS)).casefold().split())
