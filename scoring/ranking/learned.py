"""Learned terms: boosts from words of past questions (rule 5).

The boost is coefficient · strength · weight · cap. Strength is the share of the query's learnable words that
are learned terms of the memory. The weight of a term falls linearly from 1 to 0 over its life.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

import numpy as np
import polars as pl

from slowwave.scoring.arrays import Floats, Integers
from slowwave.scoring.ranking.words import stem, words
from slowwave.scoring.validation import CAP, COEFFICIENT
from slowwave.scoring.wordlists import words as listed

MIN_LETTERS = 3
TTL = timedelta(days=30)
MAX_MEMORIES = 64  # matched by the learned terms of one query (count)

_LISTS = ("denied_english", "denied_code", "denied_memory")
DENYLIST = frozenset(word for name in _LISTS for word in listed("slowwave.scoring", name))
"""Lower-case words that are never learned: they are in any question, any code, any memory of an assistant.

A word with the stem of one of them is denied, too (rule 5.1).
"""
_DENIED = frozenset(map(stem, DENYLIST)) | DENYLIST


@lru_cache(maxsize=65_536)
def _term(word: str) -> str:
    """Return the stem of a learnable word, else an empty string (rule 5.1)."""
    root = stem(word)
    letters = sum(map(str.isalpha, root))
    return "" if letters < MIN_LETTERS or root in _DENIED or word in _DENIED else root


def learnable(text: str) -> tuple[str, ...]:
    """Return the distinct learnable stems of a text, in order."""
    return tuple(dict.fromkeys(term for word in words(text) if (term := _term(word))))


@dataclass(frozen=True, slots=True)
class Learned:
    """Match of a memory's learned terms with one query.

    Attributes:
        share: strength times weight, in [0, 1].
        terms: matched terms, with their weights in (0, 1].
    """

    share: float
    terms: Mapping[str, float]

    def boost(self, cap: float = CAP, coefficient: float = COEFFICIENT) -> float:
        """Return the score boost: at most `COEFFICIENT` · `CAP`, whatever the arguments."""
        return min(coefficient, COEFFICIENT) * min(max(self.share, 0.0), 1.0) * min(cap, CAP)


class LearnedTerms:
    """Index of live learned terms, by term.

    Terms are stored as sorted columns, because a common one may be a term of thousands of memories.

    Args:
        live: one row a memory and term: ``memory_id``, ``term``, ``expires_at`` (Datetime with a time zone).
            Optional ``until``: moment from which the row has no effect although it has a weight.
        ttl: life of a term.
    """

    def __init__(self, live: pl.DataFrame, ttl: timedelta = TTL) -> None:
        self._ttl = ttl.total_seconds()
        until = "until" if "until" in live.columns else "expires_at"
        rows = (
            live.select(
                "term", "memory_id", expires=_seconds("expires_at"), until=_seconds(until),
            )
            .sort("term", "memory_id", "expires")
            .unique(["term", "memory_id"], keep="last", maintain_order=True)
        )  # fmt: skip
        numbers = rows.select(pl.col("memory_id").unique().sort()).with_row_index("number")
        self._memories: list[str] = numbers["memory_id"].to_list()
        rows = rows.join(numbers, on="memory_id", how="left", maintain_order="left")
        self._number = rows["number"].cast(pl.Int64).to_numpy()
        self._expires, self._until = rows["expires"].to_numpy(), rows["until"].to_numpy()
        sizes = rows.group_by("term", maintain_order=True).len()
        ends = np.cumsum(sizes["len"].to_numpy(), dtype=np.int64).tolist()
        starts = [0, *ends][: len(ends)]
        self._rows = dict(zip(sizes["term"], zip(starts, ends, strict=True), strict=True))

    def __len__(self) -> int:
        """Count the pairs of a memory and a term."""
        return len(self._number)

    def match(self, query: str, now: datetime) -> dict[str, Learned]:
        """Return the memories with the strongest learned terms for a query.

        Denied and expired terms never match.
        """
        query_terms = learnable(query)
        matched = [term for term in query_terms if term in self._rows]
        if not matched:
            return {}
        moment = now.timestamp()
        parts = [self._live(self._rows[term], moment) for term in matched]
        number, weight = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        share = np.bincount(number, weights=weight, minlength=len(self._memories)) / len(query_terms)
        strongest = _strongest(share)
        terms: dict[int, dict[str, float]] = {at: {} for at in strongest.tolist()}
        wanted = np.zeros(len(share), dtype=np.bool_)
        wanted[strongest] = True
        for term, (numbers, weights) in zip(matched, parts, strict=True):
            wanted_rows = wanted[numbers]
            for at, value in zip(numbers[wanted_rows].tolist(), weights[wanted_rows].tolist(), strict=True):
                terms[at][term] = value
        return {self._memories[at]: Learned(float(share[at]), weights) for at, weights in terms.items()}

    def _live(self, rows: tuple[int, int], moment: float) -> tuple[Integers, Floats]:
        """Return memories and weights of one term's effective rows."""
        row_range = slice(*rows)
        weight = np.minimum((self._expires[row_range] - moment) / self._ttl, 1.0)
        kept = (weight > 0) & (self._until[row_range] > moment)
        return self._number[row_range][kept], weight[kept]


def _strongest(share: Floats) -> Integers:
    """Return the places of the greatest shares above 0; equal ones in order."""
    positive = np.flatnonzero(share)
    if len(positive) <= MAX_MEMORIES:
        return positive
    shares = share[positive]
    least = np.partition(shares, -MAX_MEMORIES)[-MAX_MEMORIES]
    above, equal = positive[shares > least], positive[shares == least]
    return np.sort(np.concatenate([above, equal[: MAX_MEMORIES - len(above)]]))


def _seconds(column: str) -> pl.Expr:
    return pl.col(column).dt.epoch("us") / 1e6
