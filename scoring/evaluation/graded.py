"""Rankings with a grade on every result: the arrays that all metrics read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

UNJUDGED = float("nan")


@dataclass(frozen=True, slots=True)
class GradedRankings:
    """n queries, each with the grades of its first `depth` results.

    Attributes:
        query_ids: n ids.
        grades: (n, depth) grade by rank; NaN where the result is unjudged or there is none.
        ideal: (n, depth) the highest positive grades of the whole judgment list, best first, then 0.
        relevant: (n,) documents of the judgment list with a grade above 0.
        retrieved: (n,) results in the first `depth`.
    """

    query_ids: list[str]
    grades: Floats
    ideal: Floats
    relevant: Ints
    retrieved: Ints


def grade(
    rankings: Mapping[str, Sequence[str]], qrels: Mapping[str, Mapping[str, int]], depth: int
) -> GradedRankings:
    """Look up the grade of each result, for the queries of `qrels` with a relevant document, in that order.

    A query without a ranking has no results. A document that is ranked twice stays at its first rank and
    those behind the repetition move up, as if the run named it once (trec_eval refuses such a run).
    """
    counted = [query for query, judged in qrels.items() if any(value > 0 for value in judged.values())]
    results: list[list[float]] = []
    best: list[list[float]] = []
    for query in counted:
        judged = qrels[query]
        ranked = islice(dict.fromkeys(rankings.get(query, ())), depth)
        results.append([judged.get(one, UNJUDGED) for one in ranked])
        best.append(sorted((value for value in judged.values() if value > 0), reverse=True))
    return GradedRankings(
        query_ids=counted,
        grades=_table(results, depth, UNJUDGED),
        ideal=_table([values[:depth] for values in best], depth, 0.0),
        relevant=np.array([len(values) for values in best], dtype=np.int64),
        retrieved=np.array([len(values) for values in results], dtype=np.int64),
    )


def _table(rows: list[list[float]], width: int, fill: float) -> Floats:
    """Rows of different lengths as one array, filled up on the right."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    table = np.full((len(rows), width), fill)
    table[np.arange(width) < lengths[:, None]] = list(chain.from_iterable(rows))
    return table
