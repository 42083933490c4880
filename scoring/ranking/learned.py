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

import polars as pl

from scoring.ranking.denylist import DENYLIST
from scoring.ranking.words import stem, words

LEAST_LETTERS = 3
COEFFICIENT = 0.7
CAP = 0.15
TTL = timedelta(days=30)
MOST_MEMORIES = 64  # that learned terms of one query bring to mind (count)

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
        """What it adds to a score."""
        return coefficient * self.share * cap


class LearnedTerms:
    """Live learned terms of many memories, found by the words of a query.

    Args:
        live: a row a memory and term: ``memory_id``, ``term``, ``expires_at`` (Datetime with a time zone).
        ttl: life of a term.
    """

    def __init__(self, live: pl.DataFrame, ttl: timedelta = TTL) -> None:
        self._ttl = ttl.total_seconds()
        rows = live.select("term", "memory_id", expires=pl.col("expires_at").dt.epoch("us") / 1e6)
        grouped = rows.group_by("term").agg("memory_id", "expires")
        self._by_term: dict[str, tuple[list[str], list[float]]] = {
            term: (memories, expires) for term, memories, expires in grouped.iter_rows()
        }
        self._size = rows.height

    def __len__(self) -> int:
        """Number of terms, of all memories."""
        return self._size

    def match(self, query: str, now: datetime) -> dict[str, Learned]:
        """Memories that learned terms bring to mind, the strongest; those of denied or expired terms never.

        Args:
            query: the question.
            now: at which terms have their weight.
        """
        asked = learnable(query)
        moment = now.timestamp()
        found: dict[str, dict[str, float]] = {}
        for term in asked:
            memories, expires = self._by_term.get(term, ((), ()))
            for memory, end in zip(memories, expires, strict=True):
                weight = min((end - moment) / self._ttl, 1.0)
                if weight > 0:
                    found.setdefault(memory, {})[term] = weight
        learned = {
            memory: Learned(sum(weights.values()) / len(asked), weights) for memory, weights in found.items()
        }
        if len(learned) <= MOST_MEMORIES:
            return learned
        best = sorted(learned, key=lambda memory: (-learned[memory].share, memory))
        return {memory: learned[memory] for memory in best[:MOST_MEMORIES]}
