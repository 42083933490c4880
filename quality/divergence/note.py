"""A note as the guard reads it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ComparedNote:
    """A note as the guard reads it.

    Attributes:
        title: may be empty.
        source: path or key, which tells look-alikes apart; empty where it has none.
        content: its text.
    """

    title: str
    source: str
    content: str
