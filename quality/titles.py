"""Titles from the first words of a text, for notes without one."""

from __future__ import annotations

from functools import lru_cache

_CHARACTERS = 80
"""Maximum length of such a title (characters)."""
_SPACES = 1_000
"""Characters checked beyond the length of a title, for marks and repeated spaces (count)."""
_BEGINNING = 2_000  # characters
_MARKS = " #*-\t"
_CUTS = ("…", "...")
_CUT = " …"  # as a title is cut here


def from_first_words(content: str) -> str:
    """Return the first non-empty line, cut at a word with an ellipsis if long."""
    line = _first_line(content).strip(_MARKS)
    if len(line) <= _CHARACTERS:
        return line
    return line[:_CHARACTERS].rsplit(" ", 1)[0] + _CUT


def is_from_first_words(title: str, content: str) -> bool:
    """Whether a title is only the first line of its text, possibly cut.

    A heading counts as a title set by a person.

    Args:
        title: of a note.
        content: content of the note, or its beginning.
    """
    whole = title.removesuffix(_CUT)
    if whole != title and whole[:1].isalnum() and content.startswith(whole) and whole.isprintable():
        return True  # as `from_first_words` makes them: most are
    line = _first_line(content)
    if line.lstrip().startswith("#"):
        return False
    return _is_beginning(title, line[: len(title) + _SPACES])


@lru_cache(maxsize=8_192)
def _is_beginning(title: str, line: str) -> bool:
    whole, cut = _whole(title), is_cut(title)
    plain_title = _plain(whole)
    if not plain_title:
        return bool(whole) and line.lstrip().startswith(whole)
    if cut and line.startswith(whole):
        return True
    begins = _plain(line)
    return begins == plain_title or (cut and begins.startswith(plain_title))


def is_cut(title: str) -> bool:
    """Whether a title ends in an ellipsis."""
    return title.rstrip().endswith(_CUTS)


def _first_line(content: str) -> str:
    for part in (content[:_BEGINNING], content):  # the first line is seldom beyond that
        lines = part.splitlines()
        first = next((line for line in lines[: len(lines) - (part != content)] if line.strip(_MARKS)), None)
        if first is not None:
            return first
    return ""


def _plain(text: str) -> str:
    return " ".join(_whole(text.strip(_MARKS)).casefold().rstrip(".!").split())


def _whole(text: str) -> str:
    """Remove an ellipsis from the end of a text."""
    trimmed = text.rstrip()
    mark = next((mark for mark in _CUTS if trimmed.endswith(mark)), None)
    return text if mark is None else trimmed.removesuffix(mark).rstrip()
