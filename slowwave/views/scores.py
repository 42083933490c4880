"""What a score is made of, in words and as the lengths of a bar: the same in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from slowwave.scoring.ranking import Contribution

MEANING: Final[Mapping[str, str]] = {
    "vector": "meaning", "bm25": "words", "title": "title", "trigger": "trigger phrase",
    "mpab": "its other chunks", "neighbour": "the turn beside it", "rerank": "cross-encoder",
    "effectiveness": "how it served (.5: nobody said)", "learned": "learned", "key": "similar searches",
    "confidence": "confidence", "negative_feedback": "not useful", "clamp": "held to [0, 1]",
}  # fmt: skip
"""Sources of contributions, in the words of a legend."""


def by_source(contributions: Iterable[Contribution]) -> dict[str, float]:
    """What each source adds to a score, in the order of the rows; sources that add nothing are left out."""
    sums: dict[str, float] = {}
    for row in contributions:
        sums[row.source] = sums.get(row.source, 0.0) + row.value
    return {source: value for source, value in sums.items() if value}
