"""Counts of things in words."""

from __future__ import annotations


def counted(number: int, one: str, more: str = "") -> str:
    """A number of things: 1 search, 2 searches.

    Args:
        number: of them (count).
        one: the word for one.
        more: the word for several, where it is not the one with an s.
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"
