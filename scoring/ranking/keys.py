"""Search keys: a question that is like past ones is led to what those led to (rule 7).

A past search is a key to the memories that were taken from it. A new query near some keys lifts those
memories, by how near they are and by how often who looked took them: a memory that was shown and not taken is
lifted less, and one that stood in front earns nothing by that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from slowwave.scoring.ranking.candidates import Floats, Integers

FEWEST_QUERIES = 50
"""Logged queries from which the threshold follows from them (count)."""


@dataclass(frozen=True, slots=True)
class KeyPolicy:
    """How keys lift.

    Attributes:
        weight: most that they add to a score.
        prior: looks without taking that every memory starts with, as near as its nearest key.
        nearest: searches that a query is compared with at most, the nearest (count).
        quantile: of the cosines between different queries of the namespace, above which two ask the same.
    """

    weight: float = 0.4
    prior: float = 1.0
    nearest: int = 50
    quantile: float = 0.995

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise ValueError(f"weight = {self.weight} is not in 0 … 1")
        if not self.prior > 0:
            raise ValueError(f"prior = {self.prior} is not above 0")
        if self.nearest < 1:
            raise ValueError(f"nearest = {self.nearest} is not 1 or more")
        if not 0 < self.quantile < 1:
            raise ValueError(f"quantile = {self.quantile} is not between 0 and 1")


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """n past searches of a namespace, and what was shown in each of the memories that have a key.

    Attributes:
        vectors: of the queries, of length 1, (n, dimension).
        starts: where the rows of each search begin, and p at the end, (n + 1,).
        memory: number of the memory, (p,).
        taken: evidence that it was what was looked for, in [0, 1], (p,); 0 where it was only shown.
        examined: chance that its rank was looked at, in [0, 1], (p,).
    """

    vectors: npt.NDArray[np.float32]
    starts: Integers
    memory: Integers
    taken: Floats
    examined: Floats

    def __post_init__(self) -> None:
        if len(self.starts) != len(self.vectors) + 1 or self.starts[-1] != len(self.memory):
            raise ValueError(
                f"{len(self.starts)} starts for {len(self.vectors)} searches, {len(self.memory)} rows"
            )
        if not len(self.memory) == len(self.taken) == len(self.examined):
            raise ValueError(
                f"{len(self.memory)} memories, {len(self.taken)} taken, {len(self.examined)} examined"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Lifts:
    """What keys add for one query.

    Attributes:
        memory: numbers of memories that are lifted, ascending, (m,).
        lift: what is added to their scores, above 0, (m,).
        search: past searches that the query is near to, the nearest first, (k,).
        near: how near, in (0, 1], (k,).
    """

    memory: Integers
    lift: Floats
    search: Integers
    near: Floats


def nearness(cosine: npt.NDArray[np.floating], threshold: float) -> Floats:
    """``max(0, (cosine - threshold) / (1 - threshold))``, at most 1 (rule 7.2); shape of `cosine`."""
    near: Floats = np.clip((np.asarray(cosine, dtype=np.float64) - threshold) / (1 - threshold), 0.0, 1.0)
    return near


def threshold_of(
    vectors: npt.NDArray[np.float32], low: float, high: float, otherwise: float, quantile: float = 0.995
) -> float:
    """The cosine above which two queries ask the same, a high quantile of those of different ones (rule 7.2).

    Args:
        vectors: of the distinct logged queries of a namespace, of length 1, (n, dimension).
        low: least threshold that the model allows.
        high: greatest.
        otherwise: threshold until there are `FEWEST_QUERIES`.
        quantile: see `KeyPolicy`.
    """
    if len(vectors) < FEWEST_QUERIES:
        return otherwise
    cosines = vectors @ vectors.T
    pairs = cosines[np.triu_indices(len(vectors), k=1)]
    return min(max(float(np.quantile(pairs, quantile)), low), high)


def lifts(keys: Keys, cosines: npt.NDArray[np.floating], threshold: float, policy: KeyPolicy) -> Lifts:
    """What past searches add to the score of each memory (rule 7.3).

    ``weight · max W · Σ W·taken ÷ (Σ W·examined + prior · max W)``, the fraction with its max W at most 1; W
    is the nearness of the query to a search, and max W that to the nearest search from which the memory was
    taken.

    Args:
        keys: past searches.
        cosines: of the query with each of them, (n,).
        threshold: see `nearness`.
        policy: how keys lift.
    """
    near = nearness(cosines, threshold)
    search = np.flatnonzero(near)
    search = search[np.argsort(-near[search], kind="stable")][: policy.nearest]
    counts = keys.starts[search + 1] - keys.starts[search]
    rows = np.repeat(keys.starts[search] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    rows = rows + np.arange(counts.sum())
    weight = np.repeat(near[search], counts)
    memory, place = np.unique(keys.memory[rows], return_inverse=True)
    size, taken = len(memory), keys.taken[rows]
    best = np.zeros(size)
    np.maximum.at(best, place, np.where(taken > 0, weight, 0.0))
    wanted = np.bincount(place, weights=weight * taken, minlength=size)
    looked = np.bincount(place, weights=weight * keys.examined[rows], minlength=size)
    of_looks = np.divide(wanted, looked + policy.prior * best, out=np.zeros(size), where=best > 0)
    lift = policy.weight * np.minimum(best * of_looks, 1.0)
    there = lift > 0
    return Lifts(memory[there], lift[there], search, near[search])
