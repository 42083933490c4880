"""Partitions of many vectors, so that the nearest to one are found without a look at all of them (IVF).

Jégou, Douze and Schmid, "Product Quantization for Nearest Neighbor Search" (2011), without the quantization:
vectors are told apart by the nearest of some centres (k-means of directions, Dhillon and Modha, 2001; in two
steps, so that it costs the root), and of a query those partitions are visited whose centres are nearest. How
many, is measured of questions that people asked, or of ones that are made up of the vectors. What is visited
is compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int32]

PER_ROOT, ROWS = 16, 50
"""Partitions by the root of the rows, and rows that each has at least on average. Many small ones reach the
same recall with fewer rows than few large ones; with fewer than `ROWS` it takes longer to get to them."""
SAMPLE = 48
"""Rows per partition of which the centres are made (count)."""
ROUNDS, MOVES, AROUND = 6, 2, 8
"""Of k-means, and of rows to the nearest of all centres in so many coarse cells (counts)."""
AT_ONCE = 8_192
"""Rows that are compared with all centres together (count)."""
QUERIES = 384
"""Of which recall is measured (count)."""
ASKED = 192
"""Questions that people asked, of which and of more recall is measured; of fewer on ones that are made up."""
RECALL_AT = 10
FEWEST_PROBES = 8
BETWEEN = 4
"""Rows that a question which is made up lies between (count): between two it finds its answers sooner than
those of people do, between four a little later (docs/benchmarks/scale.md)."""


@dataclass(frozen=True, slots=True)
class Partitions:
    """Which rows are in which partition.

    Attributes:
        centres: of length 1, (p, dimension).
        starts: where the rows of each begin in `order`, and the end of the last, (p + 1,).
        order: rows, partition by partition and ascending in each, (n,).
        place: where each row is in `order`, (n,).
        probes: partitions that a query visits (count).
        recall: recall@10 against exact search with so many.
    """

    centres: Matrix
    starts: npt.NDArray[np.int64]
    order: Numbers
    place: Numbers
    probes: int
    recall: float

    def nearest(self, vector: Matrix) -> Iterator[Sequence[tuple[int, int]]]:
        """Where in `order` the nearest partitions begin and end, as many as are visited; then twice as many.

        Each comes once; those that are given together are in no order of nearness.
        """
        near = np.vecdot(self.centres, vector)  # in one thread: threads wait for one another
        left, count = np.arange(len(near)), self.probes
        while len(left):
            split = len(left) - min(count, len(left))
            order = np.argpartition(near[left], split)
            chosen = np.sort(left[order[split:]])
            yield list(zip(self.starts[chosen].tolist(), self.starts[chosen + 1].tolist(), strict=True))
            left, count = left[order[:split]], count + count


def count_for(rows: int) -> int:
    """How many partitions so many rows are parted into."""
    return max(1, min(rows // ROWS, int(PER_ROOT * np.sqrt(rows))))


def way_of(parted_from: int, wanted_recall: float, asked: Matrix) -> str:
    """In what way vectors are parted: what was parted in another one is parted anew.

    Args:
        parted_from: rows from which they are (count).
        wanted_recall: see `parted`.
        asked: see `parted`; who has asked enough for the first time has another way.
    """
    return repr((parted_from, wanted_recall, PER_ROOT, ROWS, BETWEEN, len(asked) >= ASKED))


def parted(
    vectors: Matrix, wanted_recall: float, seed: int = 0, *, count: int = 0, asked: Matrix | None = None
) -> Partitions:
    """Part vectors of length 1, (n, dimension), and find out how many partitions have to be visited.

    Args:
        vectors: the rows.
        wanted_recall: share of the ten nearest that has to be found.
        seed: of what is drawn.
        count: of partitions, about; 0 stands for `count_for`.
        asked: questions of people, of length 1, (q, dimension): recall is measured of them, if they are
            `ASKED` at least.
    """
    random = np.random.default_rng(seed)
    centres, mine = _cells(vectors, count or count_for(len(vectors)), random)
    order = np.argsort(mine, kind="stable").astype(np.int32)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    starts = np.cumsum([0, *np.bincount(mine, minlength=len(centres))]).astype(np.int64)
    if asked is None or len(asked) < ASKED:
        queries = _made_up(vectors, random)
    else:
        queries = asked[random.permutation(len(asked))[:QUERIES]]
        wanted_recall = _with_chance(wanted_recall, len(queries) * RECALL_AT)
    probes, recall = probes_for(_ranks(vectors, centres, mine, queries), wanted_recall)
    return Partitions(centres, starts, order, place, min(probes, len(centres)), recall)


def probes_for(ranks: npt.NDArray[np.int64], wanted: float) -> tuple[int, float]:
    """Fewest partitions to visit, and the recall that they give.

    Args:
        ranks: of each true neighbour of each query, the place of its partition among those nearest to the
            query, from 0 on.
        wanted: share of neighbours that has to be found.
    """
    flat = np.sort(ranks.ravel())
    if not len(flat):
        return FEWEST_PROBES, 1.0
    need = int(np.ceil(wanted * len(flat))) - 1
    probes = max(FEWEST_PROBES, int(flat[max(need, 0)]) + 1)
    return probes, float(np.mean(flat < probes))


def _cells(vectors: Matrix, count: int, random: np.random.Generator) -> tuple[Matrix, npt.NDArray[np.int64]]:
    """About so many centres, and the number of that of each row.

    Few coarse cells are made, and centres in each; then rows move to the nearest centre of the cells around
    them, and centres to the middle of their rows.
    """
    coarse = _centres(vectors, max(1, round(np.sqrt(count))), random)
    around = _around(vectors, coarse)
    centres: list[Matrix] = []
    for cell in range(len(coarse)):
        rows = np.flatnonzero(around[:, 0] == cell)
        share = round(len(rows) * count / len(vectors))
        centres.append(_centres(vectors[rows], max(1, share), random) if len(rows) else coarse[[cell]])
    starts = np.cumsum([0, *map(len, centres)])
    made = np.concatenate(centres)
    mine = _moved(vectors, made, starts, around)
    for _ in range(MOVES):
        made = _middles(vectors, mine, made)
        mine = _moved(vectors, made, starts, around)
    return made, mine


def _around(vectors: Matrix, coarse: Matrix) -> npt.NDArray[np.int64]:
    """Numbers of the nearest coarse cells of each row, the nearest first, (n, at most `AROUND`)."""
    turned = np.ascontiguousarray(coarse.T)
    found = []
    for at in range(0, len(vectors), AT_ONCE):
        near = vectors[at : at + AT_ONCE] @ turned
        found.append(np.argsort(-near, axis=1, kind="stable")[:, :AROUND])
    return np.concatenate(found)


def _moved(
    vectors: Matrix, centres: Matrix, starts: npt.NDArray[np.int64], around: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Number of the nearest centre of each row, of those of the cells around it."""
    best = np.full(len(vectors), -np.inf, dtype=np.float32)
    mine = np.zeros(len(vectors), dtype=np.int64)
    for cell in range(len(starts) - 1):
        turned = np.ascontiguousarray(centres[starts[cell] : starts[cell + 1]].T)
        for rows in _slices(np.flatnonzero((around == cell).any(axis=1))):
            near = vectors[rows] @ turned
            place = np.argmax(near, axis=1)
            reached = near[np.arange(len(rows)), place]
            nearer = reached > best[rows]
            best[rows[nearer]], mine[rows[nearer]] = reached[nearer], starts[cell] + place[nearer]
    return mine


def _slices(rows: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    return [rows[at : at + AT_ONCE] for at in range(0, len(rows), AT_ONCE)]


def _middles(rows: Matrix, mine: npt.NDArray[np.int64], centres: Matrix) -> Matrix:
    """The mean direction of the rows of each centre; that of no row stays."""
    order = np.argsort(mine, kind="stable")
    there, first = np.unique(mine[order], return_index=True)
    ends = np.append(first[1:], len(order))
    made = centres.copy()
    for number, start, end in zip(there.tolist(), first.tolist(), ends.tolist(), strict=True):
        total = rows[order[start:end]].sum(axis=0)
        made[number] = total / max(float(np.linalg.norm(total)), 1e-12)
    return made


def _centres(vectors: Matrix, count: int, random: np.random.Generator) -> Matrix:
    size = min(len(vectors), count * SAMPLE)
    rows = vectors[np.sort(random.choice(len(vectors), size, replace=False))]
    centres = rows[random.choice(size, min(count, size), replace=False)]
    for _ in range(ROUNDS):
        centres = _middles(rows, _nearest(rows, centres), centres)
    return np.ascontiguousarray(centres, dtype=np.float32)


def _nearest(rows: Matrix, centres: Matrix) -> npt.NDArray[np.int64]:
    turned = np.ascontiguousarray(centres.T)
    parts = [
        np.argmax(rows[at : at + AT_ONCE] @ turned, axis=1) for at in range(0, len(rows), AT_ONCE)
    ]  # fmt: skip
    return np.concatenate(parts)


def _with_chance(wanted: float, neighbours: int) -> float:
    """The recall that a sample of so many neighbours has to have for that of others to be as wanted."""
    return min(1.0, wanted + float(np.sqrt(wanted * (1 - wanted) / neighbours)))


def _made_up(vectors: Matrix, random: np.random.Generator) -> Matrix:
    """Questions that are each between `BETWEEN` rows.

    A question lies further from its answers than they from one another: of rows themselves a few partitions
    would do.
    """
    made: Matrix = vectors[random.choice(len(vectors), (min(QUERIES, len(vectors)), BETWEEN))].sum(axis=1)
    return made


def _ranks(
    vectors: Matrix, centres: Matrix, mine: npt.NDArray[np.int64], queries: Matrix
) -> npt.NDArray[np.int64]:
    """See `probes_for`."""
    count = len(queries)
    best_at = np.full((count, RECALL_AT), -1, dtype=np.int64)
    best = np.full((count, RECALL_AT), -np.inf, dtype=np.float32)
    for at in range(0, len(vectors), AT_ONCE):
        near = vectors[at : at + AT_ONCE] @ queries.T
        both = np.concatenate([best, near.T], axis=1)
        names = np.concatenate(
            [best_at, np.broadcast_to(np.arange(at, at + len(near)), (count, len(near)))], axis=1
        )
        top = np.argpartition(-both, RECALL_AT - 1, axis=1)[:, :RECALL_AT]
        best, best_at = np.take_along_axis(both, top, 1), np.take_along_axis(names, top, 1)
    order = np.argsort(-(queries @ centres.T), axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(len(centres)), order.shape), 1)
    which, column = np.nonzero(best_at >= 0)
    return np.asarray(rank[which, mine[best_at[which, column]]])
