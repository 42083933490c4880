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

from slowwave.scoring.arrays import Flags, Floats, Integers

K1, B = 1.2, 0.75

_NONE = np.iinfo(np.int32).max

MOST_PEAKS = 65_536
"""Terms of a block whose best rows are kept (count)."""

COMMON = 2_048
"""Rows of a term whose best rows are found beforehand: of one that more say it takes a while (count)."""

Lengths = npt.NDArray[np.unsignedinteger]


@dataclass(frozen=True, slots=True)
class Postings:
    """Which rows say a term, and how often; by term, and of one term by row.

    Attributes:
        terms: distinct, ascending, (t,).
        starts: where the rows of each term begin, and the end of the last, (t + 1,).
        rows: (p,).
        counts: times that the row says the term, (p,).
        peaks: what `peak` has found, by term.
    """

    terms: npt.NDArray[np.int32]
    starts: Integers
    rows: npt.NDArray[np.int32]
    counts: npt.NDArray[np.float32]
    peaks: dict[int, npt.NDArray[np.int32]] = field(default_factory=dict, repr=False, compare=False)

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
        at = int(np.searchsorted(self.terms, np.int32(term)))  # of another type, all terms would be cast
        if at == len(self.terms) or self.terms[at] != term:
            return None
        return slice(int(self.starts[at]), int(self.starts[at + 1]))

    def peak(self, term: int, place: slice, lengths: Lengths) -> npt.NDArray[np.int32]:
        """Rows of a term of which one scores best for it, whatever the mean length is: a handful.

        They are those that no other exceeds in being short and in saying it often.

        Args:
            term: the term.
            place: where it stands.
            lengths: of every row.
        """
        if (known := self.peaks.get(term)) is not None:
            return known
        rows, times = self.rows[place], self.counts[place].astype(np.int32)
        own = lengths.take(rows).astype(np.int32)
        shortest = np.full(int(times.max(initial=0)) + 1, _NONE, dtype=np.int32)
        np.minimum.at(shortest, times, own)
        of_more = np.minimum.accumulate(np.append(shortest[1:], _NONE)[::-1])[::-1]
        at = np.flatnonzero(own == np.where(shortest < of_more, shortest, -1)[times])
        _, first = np.unique(times[at], return_index=True)
        found = rows[at[first]]
        if len(self.peaks) >= MOST_PEAKS:
            self.peaks.clear()
        self.peaks[term] = found
        return found

    def find_peaks(self, lengths: Lengths) -> None:
        """Find the `peak` of every common term."""
        for at in np.flatnonzero(np.diff(self.starts) >= COMMON).tolist():
            self.peak(int(self.terms[at]), slice(int(self.starts[at]), int(self.starts[at + 1])), lengths)

    def times(self, place: slice, rows: Integers) -> npt.NDArray[np.float32]:
        """How often some rows say the term that stands at a place."""
        theirs = self.rows[place]
        at = np.minimum(np.searchsorted(theirs, rows.astype(np.int32)), len(theirs) - 1)
        return np.where(theirs[at] == rows, self.counts[place][at], np.float32(0))

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
        lengths: terms that each row has, repeated ones counted, (n,); in few bytes, for they are looked up
            for every row that says a word.
    """

    blocks: tuple[Postings, ...] = ()
    lengths: Lengths = field(default_factory=lambda: np.empty(0, np.uint8))

    def appended(self, terms: npt.ArrayLike, rows: npt.ArrayLike, count: int) -> WordIndex:
        """With `count` more rows.

        Args:
            terms: that they say, each as often as it is said, (p,).
            rows: of them, from 0 for the first of the new ones, (p,).
            count: rows.
        """
        said = np.asarray(rows, dtype=np.int64)
        lengths = np.bincount(said, minlength=count)
        lengths = lengths.astype(np.min_scalar_type(lengths.max(initial=0)))
        blocks = [*self.blocks, Postings.of(terms, said + len(self.lengths))]
        while len(blocks) > 1 and 2 * len(blocks[-1].rows) >= len(blocks[-2].rows):
            last = blocks.pop()
            blocks[-1] = blocks[-1].with_(last)
        return replace(self, blocks=tuple(blocks), lengths=np.concatenate([self.lengths, lengths]))


@dataclass(frozen=True, slots=True)
class Said:
    """A term of a query, as some rows say it.

    Attributes:
        places: where it stands, by block; no row is in two of them.
        weight: what its share of a row is multiplied with.
        best: share of the row that scores best for it; 1 where none says it.
    """

    places: tuple[tuple[Postings, slice], ...]
    weight: float
    best: float

    @property
    def most(self) -> float:
        """What no row exceeds for it."""
        return self.weight * self.best

    @property
    def rows(self) -> int:
        """How many say it, also those that are not alive."""
        return sum(place.stop - place.start for _, place in self.places)


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
        self._dead = np.flatnonzero(~alive) if self._alive is not None else np.empty(0, np.int64)
        self._mean = float(index.lengths.sum(where=alive, dtype=np.int64)) / max(self._count, 1)

    @property
    def all_alive(self) -> bool:
        """Whether every row is."""
        return self._alive is None

    def scores(self, terms: Iterable[int], unsaid: int = 0) -> tuple[Floats, float]:
        """Of every row for some terms, (n,); 0 where a row is not alive or says none of them.

        Args:
            terms: of the query; one that comes twice counts twice.
            unsaid: terms of the query beside them, which no row says (count).

        Returns:
            The scores, and their bound: no row exceeds it. It is the sum of the best that any row scores for
            each term alone, and of what the first row to say it would, where none does.
        """
        said, bound = self.said(terms, unsaid)
        scores = np.zeros(len(self.index.lengths))
        for one in said:
            for block, place in one.places:
                rows = block.rows[place]
                scores[rows] += one.weight * self.shares(rows, block.counts[place])
        return scores if self._alive is None else np.where(self._alive, scores, 0.0), bound

    def said(self, terms: Iterable[int], unsaid: int = 0) -> tuple[list[Said], float]:
        """The terms of a query, each once and in their order, and the bound; see `scores`."""
        found, bound = [], unsaid * idf(self._count, 0) * (K1 + 1)
        for term, often in Counter(terms).items():
            blocks = ((block, block.find(term)) for block in self.index.blocks)
            places = tuple((block, place) for block, place in blocks if place is not None)
            count = sum(place.stop - place.start - self._dead_in(block, place) for block, place in places)
            best = max((self._best(term, *one) for one in places), default=0.0) if count else 1.0
            found.append(Said(places, often * idf(self._count, count) * (K1 + 1), best))
            bound += found[-1].most
        return found, float(bound)

    def shares(self, rows: npt.NDArray[np.integer], times: npt.NDArray[np.float32]) -> Floats:
        """Of some rows for a term that they say so often: what its weight is multiplied with."""
        if not self._mean:
            return np.zeros(len(rows))
        norm = K1 * (1 - B + B * self.index.lengths[rows] / self._mean)
        shares: Floats = times / (times + norm)
        return shares

    def rough_shares(
        self, rows: npt.NDArray[np.integer], times: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """`shares` in single precision, in a third of the time."""
        norm = self.index.lengths.take(rows).astype(np.float32)
        norm *= np.float32(K1 * B / (self._mean or 1.0))
        norm += np.float32(K1 * (1 - B))
        norm += times
        return np.divide(times, norm, out=norm)

    def _dead_in(self, block: Postings, place: slice) -> int:
        """How many rows that are not alive say a term."""
        if self._alive is None:
            return 0
        if len(self._dead) < (place.stop - place.start) // 8:
            return int(np.count_nonzero(block.times(place, self._dead)))
        return int(np.count_nonzero(~self._alive[block.rows[place]]))

    def _best(self, term: int, block: Postings, place: slice) -> float:
        rows = block.peak(term, place, self.index.lengths)
        if self._alive is None or self._alive[rows].all():
            return float(self.shares(rows, block.times(place, rows.astype(np.int64))).max(initial=0.0))
        rows = block.rows[place]
        shares = self.shares(rows, block.counts[place])
        return float(shares.max(where=self._alive[rows], initial=0.0))


def idf(count: float, said: float) -> np.float64:
    """Inverse document frequency of a term that `said` of `count` rows say."""
    return np.float64(np.log1p((count - said + 0.5) / (said + 0.5)))
