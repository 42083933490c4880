"""Parts of a score as text and bar lengths, for terminal and page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from slowwave.common.pluralize import counted
from slowwave.scoring.ranking import Contribution

MEANING: Final[Mapping[str, str]] = {
    "vector": "meaning", "bm25": "words", "title": "title", "time": "time asked for",
    "trigger": "trigger phrase", "mpab": "its other chunks", "neighbour": "the turn beside it",
    "rerank": "cross-encoder", "effectiveness": "effectiveness (0.5: no ratings)", "learned": "learned",
    "key": "similar searches", "confidence": "confidence", "negative_feedback": "not useful",
    "outdated": "newer value", "clamp": "limited to [0, 1]",
}  # fmt: skip
"""Legend of the sources of contributions."""


def by_source(contributions: Iterable[Contribution]) -> dict[str, float]:
    """Sum contributions by source, in order; zero sums are left out."""
    sums: dict[str, float] = {}
    for row in contributions:
        sums[row.source] = sums.get(row.source, 0.0) + row.value
    return {source: value for source, value in sums.items() if value}


def outdated_text(memory_id: str, title: str, until: datetime | None) -> str:
    """Return until when a value held and where the newer one is; empty without a newer one.

    Args:
        memory_id: Memory with the newer value, possibly shortened.
        title: Its title.
        until: Moment from which the newer value holds.
    """
    if not memory_id:
        return ""
    day = f", until {until.day} {until:%B %Y}" if until else ""
    return f"outdated{day}: see {' '.join(title.split())} ({memory_id})"


def contradiction_text(memory_id: str, title: str) -> str:
    """Return that another result contradicts this one.

    Args:
        memory_id: Of the other result, possibly shortened.
        title: Its title.
    """
    return f"contradicts: {' '.join(title.split())} ({memory_id})"


def others_say_it(count: int) -> str:
    """Return how many memories say the same as a result."""
    return f"{counted(count, 'other says', 'others say')} the same"
