"""Learned triggers: words of past questions that should bring a memory to mind (rule 5).

A memory found by one of its learned terms gets coefficient · strength · weight · cap, where strength is the
share of the query's learnable words that are learned terms of it, and the weight of a term falls linearly
from 1 to 0 over its life.
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

LEAST_LETTERS = 3
TTL = timedelta(days=30)
MOST_MEMORIES = 64  # that learned terms of one query bring to mind (count)

_LISTS = ("denied_english", "denied_code", "denied_memory")
DENYLIST = frozenset(word for name in _LISTS for word in listed("slowwave.scoring", name))
"""Words that teach nothing, in lower case: they are in any question, any code, any memory of an assistant.

A word with the stem of one of them is denied, too (rule 5.1).
"""
_DENIED = frozenset(map(stem, DENYLIST)) | DENYLIST


@lru_cache(maxsize=65_536)
def _term(word: str) -> str:
    """What is learned of a word: its stem; empty where nothing may be (rule 5.1)."""
    root = stem(word)
    letters = sum(map(str.isalpha, root))
    return "" if letters < LEAST_LETTERS or root in _DENIED or word in _DENIED else root


def learnable(text: str) -> tuple[str, ...]:
    """The distinct terms that a text could teach, in order: stems of 3 letters or more, no denied word."""
    return tuple(dict.fromkeys(term for word in words(text) if (term := _term(word))))


@dataclass(frozen=True, slots=True)
class Learned:
    """What learned triggers say of a memory for one query.

    Attributes:
        share: strength times weight, in [0, 1].
        terms: the terms that matched, with their weights in (0, 1].
    """

    share: float
    terms: Mapping[str, float]

    def boost(self, cap: float = CAP, coefficient: float = COEFFICIENT) -> float:
        """What it adds to a score: at most `COEFFICIENT` · `CAP`, whatever is asked for."""
        return min(coefficient, COEFFICIENT) * min(max(self.share, 0.0), 1.0) * min(cap, CAP)


class LearnedTerms:
    """Live learned terms of many memories, found by the words of a query.

    They are kept as columns, sorted by term: a common one may be a term of thousands of memories.

    Args:
        live: a row a memory and term: ``memory_id``, ``term``, ``expires_at`` (Datetime with a time zone);
            ``until``, if it is there: the moment from which the row has no effect though it has a weight.
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
        """Number of terms, of all memories."""
        return len(self._number)

    def match(self, query: str, now: datetime) -> dict[str, Learned]:
        """Memories that learned terms bring to mind, the strongest; those of denied or expired terms never.

        Args:
            query: the question.
            now: at which terms have their weight.
        """
        asked = learnable(query)
        known = [term for term in asked if term in self._rows]
        if not known:
            return {}
        moment = now.timestamp()
        parts = [self._live(self._rows[term], moment) for term in known]
        number, weight = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        share = np.bincount(number, weights=weight, minlength=len(self._memories)) / len(asked)
        found = _strongest(share)
        terms: dict[int, dict[str, float]] = {at: {} for at in found.tolist()}
        wanted = np.zeros(len(share), dtype=np.bool_)
        wanted[found] = True
        for term, (numbers, weights) in zip(known, parts, strict=True):
            mine = wanted[numbers]
            for at, value in zip(numbers[mine].tolist(), weights[mine].tolist(), strict=True):
                terms[at][term] = value
        return {self._memories[at]: Learned(float(share[at]), weights) for at, weights in terms.items()}

    def _live(self, rows: tuple[int, int], moment: float) -> tuple[Integers, Floats]:
        """Memories and weights of the rows of one term that have an effect."""
        these = slice(*rows)
        weight = np.minimum((self._expires[these] - moment) / self._ttl, 1.0)
        kept = (weight > 0) & (self._until[these] > moment)
        return self._number[these][kept], weight[kept]


def _strongest(share: Floats) -> Integers:
    """Where there is a share, the greatest; of equal ones the first."""
    found = np.flatnonzero(share)
    if len(found) <= MOST_MEMORIES:
        return found
    there = share[found]
    least = np.partition(there, -MOST_MEMORIES)[-MOST_MEMORIES]
    above, equal = found[there > least], found[there == least]
    return np.sort(np.concatenate([above, equal[: MOST_MEMORIES - len(above)]]))


def _seconds(column: str) -> pl.Expr:
    return pl.col(column).dt.epoch("us") / 1e6
