"""Pluralisation of counts."""

from __future__ import annotations


def counted(number: int, one: str, more: str = "") -> str:
    """Format a number of things: 1 search, 2 searches.

    Args:
        number: Count.
        one: Singular.
        more: Plural, if it is not the singular with an s.
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"
