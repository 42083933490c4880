"""Note as input of the divergence guard."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ComparedNote:
    """Note as input of the divergence guard.

    Attributes:
        title: may be empty.
        source: path or key, which distinguishes similar notes; may be empty.
    """

    title: str
    source: str
    content: str
