"""Inverted-file partitions of vectors, for approximate nearest-neighbour search (IVF).

Jégou, Douze and Schmid, "Product Quantization for Nearest Neighbor Search" (2011), without quantization.
Vectors are assigned to the nearest centre (spherical k-means, Dhillon and Modha, 2001; in two levels, so that
it costs the root). A query visits the partitions with the nearest centres. Their number is measured on past
queries of users, or on synthetic ones. Visited vectors are compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int32]

PER_ROOT, ROWS = 16, 50
"""Partitions per root of the rows, and minimum average rows of one. Many small partitions reach the same
recall with fewer rows than few large ones; below `ROWS` visiting them takes longer."""
SAMPLE = 48
"""Sampled rows per partition for k-means (count)."""
ROUNDS, MOVES, AROUND = 6, 2, 8
"""Iterations of k-means, reassignments, and coarse cells around a row that are considered (counts)."""
AT_ONCE = 8_192
"""Rows compared with all centres at a time (count)."""
QUERIES = 384
"""Queries that recall is measured on (count)."""
ASKED = 192
"""Minimum past queries of users to measure recall on; with fewer, synthetic ones are used (count)."""
RECALL_AT = 10
MIN_PROBES = 8
BETWEEN = 4
"""Rows that a synthetic query is the mean of (count). With two it needs fewer probes than users' queries,
with four a few more (docs/benchmarks/scale.md)."""


@dataclass(frozen=True, slots=True)
class Partitions:
    """Assignment of rows to partitions.

    Attributes:
        centres: Unit vectors, (p, dimension).
        starts: Start of each partition in `order`, and the end of the last, (p + 1,).
        order: Rows by partition, ascending in each, (n,).
        place: Position of each row in `order`, (n,).
        probes: Partitions that a query visits (count).
        recall: Recall@10 against exact search with that many.
    """

    centres: Matrix
    starts: npt.NDArray[np.int64]
    order: Numbers
    place: Numbers
    probes: int
    recall: float

    def nearest(self, vector: Matrix) -> Iterator[Sequence[tuple[int, int]]]:
        """Yield start and end in `order` of the nearest partitions, step by step.

        The first step has `probes` partitions, each further one twice as many. Each partition comes once;
        those of one step are not sorted by nearness.
        """
        near = np.vecdot(self.centres, vector)  # in one thread: threads wait for one another
        remaining, count = np.arange(len(near)), self.probes
        while len(remaining):
            split = len(remaining) - min(count, len(remaining))
            order = np.argpartition(near[remaining], split)
            visited = np.sort(remaining[order[split:]])
            yield list(zip(self.starts[visited].tolist(), self.starts[visited + 1].tolist(), strict=True))
            remaining, count = remaining[order[:split]], count + count


def count_for(rows: int) -> int:
    """Return the number of partitions for so many rows."""
    return max(1, min(rows // ROWS, int(PER_ROOT * np.sqrt(rows))))


def way_of(parted_from: int, wanted_recall: float, queries: Matrix) -> str:
    """Return the key of the partitioning parameters; another key means repartitioning.

    Args:
        parted_from: Minimum rows to partition (count).
        wanted_recall: See `parted`.
        queries: See `parted`; reaching `ASKED` past queries changes the key.
    """
    return repr((parted_from, wanted_recall, PER_ROOT, ROWS, BETWEEN, len(queries) >= ASKED))


def parted(
    vectors: Matrix, wanted_recall: float, seed: int = 0, *, count: int = 0, asked: Matrix | None = None
) -> Partitions:
    """Partition unit vectors, (n, dimension), and measure the number of probes.

    Args:
        vectors: The rows.
        wanted_recall: Share of the ten nearest that must be found.
        seed: Random seed.
        count: Approximate number of partitions; 0 is `count_for`.
        asked: Unit vectors of users' past queries, (q, dimension). Recall is measured on them if there are at
            least `ASKED`.
    """
    random = np.random.default_rng(seed)
    centres, cells = _cells(vectors, count or count_for(len(vectors)), random)
    order = np.argsort(cells, kind="stable").astype(np.int32)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    starts = np.cumsum([0, *np.bincount(cells, minlength=len(centres))]).astype(np.int64)
    if asked is None or len(asked) < ASKED:
        queries = _synthetic_queries(vectors, random)
    else:
        queries = asked[random.permutation(len(asked))[:QUERIES]]
        wanted_recall = _with_margin(wanted_recall, len(queries) * RECALL_AT)
    probes, recall = probes_for(_ranks(vectors, centres, cells, queries), wanted_recall)
    return Partitions(centres, starts, order, place, min(probes, len(centres)), recall)


def probes_for(ranks: npt.NDArray[np.int64], wanted: float) -> tuple[int, float]:
    """Return the fewest partitions to visit, and their recall.

    Args:
        ranks: For each true neighbour of each query, the rank of its partition by nearness to the query, from
            0.
        wanted: Share of neighbours that must be found.
    """
    flat = np.sort(ranks.ravel())
    if not len(flat):
        return MIN_PROBES, 1.0
    need = int(np.ceil(wanted * len(flat))) - 1
    probes = max(MIN_PROBES, int(flat[max(need, 0)]) + 1)
    return probes, float(np.mean(flat < probes))


def _cells(vectors: Matrix, count: int, random: np.random.Generator) -> tuple[Matrix, npt.NDArray[np.int64]]:
    """Return about `count` centres, and the centre number of each row.

    A few coarse cells are computed first, then centres in each. Then rows move to the nearest centre of the
    cells around them, and centres to the mean of their rows.
    """
    coarse = _centres(vectors, max(1, round(np.sqrt(count))), random)
    around = _around(vectors, coarse)
    centres: list[Matrix] = []
    for cell in range(len(coarse)):
        rows = np.flatnonzero(around[:, 0] == cell)
        share = round(len(rows) * count / len(vectors))
        centres.append(_centres(vectors[rows], max(1, share), random) if len(rows) else coarse[[cell]])
    starts = np.cumsum([0, *map(len, centres)])
    means = np.concatenate(centres)
    cells = _moved(vectors, means, starts, around)
    for _ in range(MOVES):
        means = _middles(vectors, cells, means)
        cells = _moved(vectors, means, starts, around)
    return means, cells


def _around(vectors: Matrix, coarse: Matrix) -> npt.NDArray[np.int64]:
    """Return the nearest coarse cells of each row, nearest first, (n, at most `AROUND`)."""
    turned = np.ascontiguousarray(coarse.T)
    parts = []
    for at in range(0, len(vectors), AT_ONCE):
        near = vectors[at : at + AT_ONCE] @ turned
        parts.append(np.argsort(-near, axis=1, kind="stable")[:, :AROUND])
    return np.concatenate(parts)


def _moved(
    vectors: Matrix, centres: Matrix, starts: npt.NDArray[np.int64], around: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the nearest centre of each row among the cells around it."""
    best = np.full(len(vectors), -np.inf, dtype=np.float32)
    nearest = np.zeros(len(vectors), dtype=np.int64)
    for cell in range(len(starts) - 1):
        turned = np.ascontiguousarray(centres[starts[cell] : starts[cell + 1]].T)
        for rows in _slices(np.flatnonzero((around == cell).any(axis=1))):
            near = vectors[rows] @ turned
            place = np.argmax(near, axis=1)
            reached = near[np.arange(len(rows)), place]
            nearer = reached > best[rows]
            best[rows[nearer]], nearest[rows[nearer]] = reached[nearer], starts[cell] + place[nearer]
    return nearest


def _slices(rows: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    return [rows[at : at + AT_ONCE] for at in range(0, len(rows), AT_ONCE)]


def _middles(rows: Matrix, cells: npt.NDArray[np.int64], centres: Matrix) -> Matrix:
    """Return the mean direction of each centre's rows; a centre without rows stays."""
    order = np.argsort(cells, kind="stable")
    used, first = np.unique(cells[order], return_index=True)
    ends = np.append(first[1:], len(order))
    means = centres.copy()
    for number, start, end in zip(used.tolist(), first.tolist(), ends.tolist(), strict=True):
        total = rows[order[start:end]].sum(axis=0)
        means[number] = total / max(float(np.linalg.norm(total)), 1e-12)
    return means


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


def _with_margin(wanted: float, neighbours: int) -> float:
    """Return the sample recall needed to expect the wanted recall of other queries."""
    return min(1.0, wanted + float(np.sqrt(wanted * (1 - wanted) / neighbours)))


def _synthetic_queries(vectors: Matrix, random: np.random.Generator) -> Matrix:
    """Return synthetic queries, each the sum of `BETWEEN` rows.

    A real query lies further from its answers than they from one another. Rows themselves as queries would
    need too few partitions.
    """
    sums: Matrix = vectors[random.choice(len(vectors), (min(QUERIES, len(vectors)), BETWEEN))].sum(axis=1)
    return sums


def _ranks(
    vectors: Matrix, centres: Matrix, cells: npt.NDArray[np.int64], queries: Matrix
) -> npt.NDArray[np.int64]:
    """Compute the ranks for `probes_for`."""
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
    return np.asarray(rank[which, cells[best_at[which, column]]])
