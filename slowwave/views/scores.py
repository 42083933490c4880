"""Parts of a score as text and bar lengths, for terminal and page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from slowwave.common.pluralize import counted
from slowwave.scoring.ranking import Contribution

MEANING: Final[Mapping[str, str]] = {
    "vector": "meaning", "bm25": "words", "title": "title", "trigger": "trigger phrase",
    "mpab": "its other chunks", "neighbour": "the turn beside it", "rerank": "cross-encoder",
    "effectiveness": "effectiveness (0.5: no ratings)", "learned": "learned", "key": "similar searches",
    "confidence": "confidence", "negative_feedback": "not useful", "clamp": "limited to [0, 1]",
}  # fmt: skip
"""Legend of the sources of contributions."""


def by_source(contributions: Iterable[Contribution]) -> dict[str, float]:
    """Sum contributions by source, in order; zero sums are left out."""
    sums: dict[str, float] = {}
    for row in contributions:
        sums[row.source] = sums.get(row.source, 0.0) + row.value
    return {source: value for source, value in sums.items() if value}


def others_say_it(count: int) -> str:
    """Return how many memories say the same as a result."""
    return f"{counted(count, 'other says', 'others say')} the same"
