"""BM25 index of one namespace, with the statistics of its live rows.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the constants
and the inverse document frequency of Lucene and LanceDB: ``idf = ln(1 + (N - df + .5) / (df + .5))`` and
``idf · tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / mean length))``.

Appended rows form a block. Blocks of similar size are merged, so there are few blocks and each row is sorted
a few times at most (O'Neil et al., "The Log-Structured Merge-Tree", 1996).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Flags, Floats, Integers

K1, B = 1.2, 0.75

_NONE = np.iinfo(np.int32).max

MAX_PEAKS = 65_536
"""Maximum terms of a block whose best rows are cached (count)."""

COMMON = 2_048
"""Rows of a term from which its best rows are computed ahead, because that takes long (count)."""

MIN_RARITY = 0.8
"""Least sum of the rarities of shared terms of two related texts; 1 is that of a term of one row."""
LEAST_RARE = 0.5  # rarity below which a term is common
FEWEST = 100  # rows from which rarity is counted; in fewer ones every word would be common (count)
COMMON_PIECE = 1 / 8
"""Share of the rows beyond which a piece of a word counts nothing, if they are more than `COMMON`."""

Lengths = npt.NDArray[np.unsignedinteger]


@dataclass(frozen=True, slots=True)
class Postings:
    """Postings: the rows that contain each term, with counts.

    Sorted by term, then by row.

    Attributes:
        terms: distinct, ascending, (t,).
        starts: first posting of each term, and p at the end, (t + 1,).
        rows: row of each posting, (p,).
        counts: times that the row contains the term, (p,).
        peaks: cache of `peak`, by term.
    """

    terms: npt.NDArray[np.int32]
    starts: Integers
    rows: npt.NDArray[np.int32]
    counts: npt.NDArray[np.float32]
    peaks: dict[int, npt.NDArray[np.int32]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, terms: npt.ArrayLike, rows: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> Postings:
        """Build postings from pairs of a term and a row, in any order.

        Without counts, each pair counts once.
        """
        key = np.asarray(terms, dtype=np.int64) << 32 | np.asarray(rows, dtype=np.int64)
        if counts is None:
            pairs, times = np.unique(key, return_counts=True)
        else:
            order = np.argsort(key, kind="stable")
            pairs, times = key[order], np.asarray(counts)[order]
        sorted_terms = (pairs >> 32).astype(np.int32)
        first = (
            np.flatnonzero(np.r_[True, sorted_terms[1:] != sorted_terms[:-1]])
            if len(sorted_terms)
            else np.empty(0, np.int64)
        )
        return cls(
            sorted_terms[first],
            np.r_[first, len(sorted_terms)].astype(np.int64),
            (pairs & 0xFFFFFFFF).astype(np.int32),
            times.astype(np.float32),
        )

    def find(self, term: int) -> slice | None:
        """Return the postings of a term as a slice; None where no row contains it."""
        at = int(np.searchsorted(self.terms, np.int32(term)))  # of another type, all terms would be cast
        if at == len(self.terms) or self.terms[at] != term:
            return None
        return slice(int(self.starts[at]), int(self.starts[at + 1]))

    def peak(self, term: int, place: slice, lengths: Lengths) -> npt.NDArray[np.int32]:
        """Return a handful of rows that have the term's best score for any mean length.

        No other row is both shorter and contains the term more often.

        Args:
            term: id of the term.
            place: postings of the term.
            lengths: terms of every row.
        """
        if (cached := self.peaks.get(term)) is not None:
            return cached
        rows, times = self.rows[place], self.counts[place].astype(np.int32)
        own = lengths.take(rows).astype(np.int32)
        shortest = np.full(int(times.max(initial=0)) + 1, _NONE, dtype=np.int32)
        np.minimum.at(shortest, times, own)
        of_more = np.minimum.accumulate(np.append(shortest[1:], _NONE)[::-1])[::-1]
        at = np.flatnonzero(own == np.where(shortest < of_more, shortest, -1)[times])
        _, first = np.unique(times[at], return_index=True)
        best_rows = rows[at[first]]
        if len(self.peaks) >= MAX_PEAKS:
            self.peaks.clear()
        self.peaks[term] = best_rows
        return best_rows

    def find_peaks(self, lengths: Lengths) -> None:
        """Compute the `peak` of every common term."""
        for at in np.flatnonzero(np.diff(self.starts) >= COMMON).tolist():
            self.peak(int(self.terms[at]), slice(int(self.starts[at]), int(self.starts[at + 1])), lengths)

    def times(self, place: slice, rows: Integers) -> npt.NDArray[np.float32]:
        """Return the counts of a term in some rows; 0 where a row does not contain it."""
        term_rows = self.rows[place]
        at = np.minimum(np.searchsorted(term_rows, rows.astype(np.int32)), len(term_rows) - 1)
        return np.where(term_rows[at] == rows, self.counts[place][at], np.float32(0))

    def with_(self, other: Postings) -> Postings:
        """Merge with postings of other rows."""
        return Postings.of(
            np.concatenate([np.repeat(part.terms, np.diff(part.starts)) for part in (self, other)]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.counts, other.counts]),
        )


@dataclass(frozen=True, slots=True)
class WordIndex:
    """Immutable term index of all rows; appending returns a new index.

    Attributes:
        blocks: postings, each of later rows than the previous one.
        lengths: terms of each row, repeats counted, (n,); the smallest integer type, because scoring reads it
            often.
    """

    blocks: tuple[Postings, ...] = ()
    lengths: Lengths = field(default_factory=lambda: np.empty(0, np.uint8))

    def appended(self, terms: npt.ArrayLike, rows: npt.ArrayLike, count: int) -> WordIndex:
        """Return the index with `count` more rows.

        Args:
            terms: of the new rows, repeats included, (p,).
            rows: row of each term, from 0 for the first new row, (p,).
            count: new rows.
        """
        row_numbers = np.asarray(rows, dtype=np.int64)
        lengths = np.bincount(row_numbers, minlength=count)
        lengths = lengths.astype(np.min_scalar_type(lengths.max(initial=0)))
        blocks = [*self.blocks, Postings.of(terms, row_numbers + len(self.lengths))]
        while len(blocks) > 1 and 2 * len(blocks[-1].rows) >= len(blocks[-2].rows):
            last = blocks.pop()
            blocks[-1] = blocks[-1].with_(last)
        return replace(self, blocks=tuple(blocks), lengths=np.concatenate([self.lengths, lengths]))


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """Query term with its postings, weight and best possible share.

    Attributes:
        places: its postings, by block; no row is in two of them.
        weight: factor of its share in a row's score.
        best: share of the row that scores best for it; 1 where no row contains it.
    """

    places: tuple[tuple[Postings, slice], ...]
    weight: float
    best: float

    @property
    def most(self) -> float:
        """Return the maximum score of a row for this term."""
        return self.weight * self.best

    @property
    def rows(self) -> int:
        """Count the rows that contain the term, dead ones included."""
        return sum(place.stop - place.start for _, place in self.places)


class _TermStatistics(NamedTuple):
    """Statistics of a term in the live rows; without a best share, no live row contains it."""

    places: tuple[tuple[Postings, slice], ...]
    idf: np.float64
    best: float | None
    rows: int


class Bm25:
    """BM25 scorer of the live rows of an index.

    Args:
        index: terms of all rows.
        alive: whether each row is live, (n,).
    """

    def __init__(self, index: WordIndex, alive: Flags) -> None:
        self.index, self._count = index, int(np.count_nonzero(alive))
        self._alive = None if self._count == len(alive) else alive
        self._dead = np.flatnonzero(~alive) if self._alive is not None else np.empty(0, np.int64)
        self._mean = float(index.lengths.sum(where=alive, dtype=np.int64)) / max(self._count, 1)
        self._terms: dict[int, _TermStatistics] = {}

    @property
    def all_alive(self) -> bool:
        """Whether every row is live."""
        return self._alive is None

    def scores(
        self, terms: Iterable[int], unsaid: int = 0, pieces: Container[int] = ()
    ) -> tuple[Floats, float]:
        """Score every row for the terms of a query, (n,); 0 for a dead row and without a match.

        Args:
            terms: of the query, repeats counted.
            unsaid: terms of the query that no row contains (count).
            pieces: terms that are pieces of words.

        Returns:
            The scores, and a bound that no row exceeds: the sum of the best score of any row for each term
            alone. A term that no row contains adds the score that the first row with it would have; a piece
            of a word adds nothing then. A piece in very many rows is left out: it takes long and says little.
        """
        query_terms, bound = self.said(terms, unsaid, pieces)
        places = [(term.weight, block, place) for term in query_terms for block, place in term.places]
        if not places:
            return np.zeros(len(self.index.lengths)), bound
        rows = np.concatenate([block.rows[place] for _, block, place in places])
        times = np.concatenate([block.counts[place] for _, block, place in places])
        weights = np.repeat(
            [weight for weight, *_ in places], [place.stop - place.start for *_, place in places]
        )
        scores = np.bincount(rows, weights * self.shares(rows, times), len(self.index.lengths)).astype(
            np.float64
        )
        if self._alive is not None:
            scores[self._dead] = 0.0
        return scores, bound

    def said(
        self, terms: Iterable[int], unsaid: int = 0, pieces: Container[int] = ()
    ) -> tuple[list[QueryTerm], float]:
        """Return the distinct terms of a query in order, and the bound of `scores`.

        Pieces of words that no row contains, or very many, are left out.
        """
        query_terms, bound = [], unsaid * idf(self._count, 0) * (K1 + 1)
        for term, often in Counter(terms).items():
            places, rarity, best, count = self._statistics(term)
            if term in pieces and not 0 < count <= max(COMMON, self._count * COMMON_PIECE):
                continue
            best = 1.0 if best is None else best
            query_terms.append(QueryTerm(places, often * rarity * (K1 + 1), best))
            bound += query_terms[-1].most
        return query_terms, float(bound)

    def shared(self, terms: Iterable[int]) -> tuple[Integers, Floats]:
        """Return rows that share rare terms with a text, and the sums of their rarities.

        The rarity of a term in n of N live rows is 1 - ln n / ln N. Common terms, whose rarity is below
        `LEAST_RARE`, count nothing. Rows are ascending, dead ones included.

        Args:
            terms: Of the text.
        """
        count = max(self._count, FEWEST)
        rows: list[npt.NDArray[np.int32]] = [np.empty(0, np.int32)]
        rarities = [np.empty(0)]
        for term in set(terms):
            places = self._places(term)
            stored = sum(place.stop - place.start for _, place in places)
            if stored - len(self._dead) > math.sqrt(count):  # common, however many of them are dead
                continue
            containing = stored - sum(self._dead_in(block, place) for block, place in places)
            rarity = 1 - math.log(max(containing, 1)) / math.log(count)
            if rarity >= LEAST_RARE:
                found = [block.rows[place] for block, place in places]
                rows += found
                rarities += [np.full(len(one), rarity) for one in found]
        every, at = np.unique(np.concatenate(rows), return_inverse=True)
        return every.astype(np.int64), np.bincount(at, np.concatenate(rarities), len(every)).astype(
            np.float64
        )

    def _places(self, term: int) -> tuple[tuple[Postings, slice], ...]:
        """Return the postings of a term, by block."""
        blocks = ((block, block.find(term)) for block in self.index.blocks)
        return tuple((block, place) for block, place in blocks if place is not None)

    def _statistics(self, term: int) -> _TermStatistics:
        """Return the postings of a term, its idf and its best share, cached."""
        known = self._terms.get(term)
        if known is None:
            places = self._places(term)
            count = sum(place.stop - place.start - self._dead_in(block, place) for block, place in places)
            best = max((self._best(term, *match) for match in places), default=0.0) if count else None
            if len(self._terms) >= MAX_PEAKS:
                self._terms.clear()
            known = self._terms[term] = _TermStatistics(places, idf(self._count, count), best, count)
        return known

    def shares(self, rows: npt.NDArray[np.integer], times: npt.NDArray[np.float32]) -> Floats:
        """Return the saturated term frequency ``tf / (tf + norm)`` of each row, (r,)."""
        if not self._mean:
            return np.zeros(len(rows))
        norm = K1 * (1 - B + B * self.index.lengths[rows] / self._mean)
        shares: Floats = times / (times + norm)
        return shares

    def rough_shares(
        self, rows: npt.NDArray[np.integer], times: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Return `shares` in single precision, in a third of the time."""
        norm = self.index.lengths.take(rows).astype(np.float32)
        norm *= np.float32(K1 * B / (self._mean or 1.0))
        norm += np.float32(K1 * (1 - B))
        norm += times
        return np.divide(times, norm, out=norm)

    def _dead_in(self, block: Postings, place: slice) -> int:
        """Count the dead rows that contain a term."""
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


def idf(count: float, containing: float) -> np.float64:
    """Return the inverse document frequency of a term that `said` of `count` rows contain."""
    return np.float64(np.log1p((count - containing + 0.5) / (containing + 0.5)))
