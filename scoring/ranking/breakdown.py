"""The breakdown of a score: rows that sum to it, one for every term that had a part in it (rule 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Contribution(NamedTuple):
    """One row of a breakdown.

    Attributes:
        source: the channel or the stage.
        field: what of the memory it looked at.
        term: the word, phrase, label or count that did it.
        value: what it adds to the score; a multiplier enters as the difference that it makes.
    """

    source: str
    field: str
    term: str
    value: float


def split_by_term(
    rows: Sequence[Contribution], source: str, shares: Mapping[str, float]
) -> tuple[Contribution, ...]:
    """The rows, with the one of a source split over its terms; the sum stays what it was.

    Args:
        rows: a breakdown.
        source: the channel whose row is to be split, for instance ``bm25``.
        shares: each term's part of the channel's score, on any scale; none leaves the row as it is.
    """
    shares = {term: share for term, share in shares.items() if share > 0}
    total = sum(shares.values())
    found: list[Contribution] = []
    for row in rows:
        if row.source != source or not shares:
            found.append(row)
            continue
        best = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
        found += [row._replace(term=term, value=row.value * share / total) for term, share in best]
    return tuple(found)
