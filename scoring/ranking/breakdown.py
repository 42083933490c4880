"""Score breakdown: contributions that sum to a result's score (rule 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Contribution(NamedTuple):
    """One contribution to a score.

    Attributes:
        source: channel or stage.
        field: field of the memory that was matched.
        term: word, phrase, label or count that matched.
        value: amount added to the score; a multiplier enters as the difference that it makes.
    """

    source: str
    field: str
    term: str
    value: float


def split_by_term(
    rows: Sequence[Contribution], source: str, shares: Mapping[str, float]
) -> tuple[Contribution, ...]:
    """Split the contribution of one source over its terms; the sum does not change.

    Args:
        rows: breakdown of one result.
        source: channel whose contribution is split, for instance ``bm25``.
        shares: part of each term in the channel's score, on any scale; an empty mapping changes nothing.
    """
    shares = {term: share for term, share in shares.items() if share > 0}
    total = sum(shares.values())
    parts: list[Contribution] = []
    for row in rows:
        if row.source != source or not shares:
            parts.append(row)
            continue
        best = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
        parts += [row._replace(term=term, value=row.value * share / total) for term, share in best]
    return tuple(parts)
