"""BM25 over the rows of one namespace, which grow and die, with the statistics of the rows that are alive.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the constants
and the inverse document frequency of Lucene and LanceDB: ``idf = ln(1 + (N - df + .5) / (df + .5))`` and
``idf · tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / mean length))``.

What is appended becomes a block of its own; blocks of one size become one, so that there are few of them and
a row is sorted in a few times at most (O'Neil et al., "The Log-Structured Merge-Tree", 1996).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

K1, B = 1.2, 0.75

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Postings:
    """Which rows say a term, and how often; by term, and of one term by row.

    Attributes:
        terms: distinct, ascending, (t,).
        starts: where the rows of each term begin, and the end of the last, (t + 1,).
        rows: (p,).
        counts: times that the row says the term, (p,).
    """

    terms: npt.NDArray[np.int32]
    starts: Ints
    rows: npt.NDArray[np.int32]
    counts: npt.NDArray[np.float32]

    @classmethod
    def of(cls, terms: npt.ArrayLike, rows: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> Postings:
        """From pairs of a term and a row, in any order; without counts each is one time that it is said."""
        key = np.asarray(terms, dtype=np.int64) << 32 | np.asarray(rows, dtype=np.int64)
        if counts is None:
            pairs, times = np.unique(key, return_counts=True)
        else:
            order = np.argsort(key, kind="stable")
            pairs, times = key[order], np.asarray(counts)[order]
        said = (pairs >> 32).astype(np.int32)
        first = np.flatnonzero(np.r_[True, said[1:] != said[:-1]]) if len(said) else np.empty(0, np.int64)
        return cls(
            said[first],
            np.r_[first, len(said)].astype(np.int64),
            (pairs & 0xFFFFFFFF).astype(np.int32),
            times.astype(np.float32),
        )

    def find(self, term: int) -> slice | None:
        """Where a term stands, if it does."""
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or self.terms[at] != term:
            return None
        return slice(int(self.starts[at]), int(self.starts[at + 1]))

    def with_(self, other: Postings) -> Postings:
        """Both as one; no row is in both."""
        return Postings.of(
            np.concatenate([np.repeat(one.terms, np.diff(one.starts)) for one in (self, other)]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.counts, other.counts]),
        )


@dataclass(frozen=True, slots=True)
class WordIndex:
    """What each row says; it is never changed, a longer one is another one.

    Attributes:
        blocks: each of later rows than the one before.
        lengths: terms that each row has, repeated ones counted, (n,).
    """

    blocks: tuple[Postings, ...] = ()
    lengths: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))

    def appended(self, terms: npt.ArrayLike, rows: npt.ArrayLike, count: int) -> WordIndex:
        """With `count` more rows.

        Args:
            terms: that they say, each as often as it is said, (p,).
            rows: of them, from 0 for the first of the new ones, (p,).
            count: rows.
        """
        said = np.asarray(rows, dtype=np.int64)
        lengths = np.bincount(said, minlength=count).astype(np.int32)
        blocks = [*self.blocks, Postings.of(terms, said + len(self.lengths))]
        while len(blocks) > 1 and 2 * len(blocks[-1].rows) >= len(blocks[-2].rows):
            last = blocks.pop()
            blocks[-1] = blocks[-1].with_(last)
        return replace(self, blocks=tuple(blocks), lengths=np.concatenate([self.lengths, lengths]))


class Bm25:
    """What rows score that are alive: the statistics are theirs.

    Args:
        index: what each row says.
        alive: rows that are there, (n,).

    Attributes:
        index: that one.
    """

    def __init__(self, index: WordIndex, alive: Flags) -> None:
        self.index, self._count = index, int(np.count_nonzero(alive))
        self._alive = None if self._count == len(alive) else alive
        mean = float(index.lengths.sum(where=alive, dtype=np.int64)) / max(self._count, 1)
        self._norm = K1 * (1 - B + B * index.lengths / mean) if mean else np.zeros(len(alive))

    def scores(self, terms: Iterable[int], unsaid: int = 0) -> tuple[Floats, float]:
        """Of every row for some terms, (n,); 0 where a row is not alive or says none of them.

        Args:
            terms: of the query; one that comes twice counts twice.
            unsaid: terms of the query beside them, which no row says (count).

        Returns:
            The scores, and their bound: no row exceeds it. It is the sum of the best that any row scores for
            each term alone, and of what the first row to say it would, where none does.
        """
        scores, bound = np.zeros(len(self._norm)), unsaid * idf(self._count, 0) * (K1 + 1)
        for term, said in Counter(terms).items():
            found = [(block, place) for block in self.index.blocks if (place := block.find(term)) is not None]
            if self._alive is not None:
                count = sum(int(np.count_nonzero(self._alive[block.rows[place]])) for block, place in found)
            else:
                count = sum(place.stop - place.start for _, place in found)
            weight = said * idf(self._count, count) * (K1 + 1)
            best = 0.0 if count else 1.0
            for block, place in found:  # no row is in two of them
                rows, times = block.rows[place], block.counts[place]
                share = times / (times + self._norm[rows])
                scores[rows] += weight * share
                best = max(best, float(share.max(where=self._there(rows), initial=0.0)))
            bound += weight * best
        return scores if self._alive is None else np.where(self._alive, scores, 0.0), float(bound)

    def _there(self, rows: npt.NDArray[np.int32]) -> Flags | np.bool_:
        return np.True_ if self._alive is None else self._alive[rows]


def idf(count: float, said: float) -> np.float64:
    """Inverse document frequency of a term that `said` of `count` rows say."""
    return np.float64(np.log1p((count - said + 0.5) / (said + 0.5)))
