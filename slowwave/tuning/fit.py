"""Search for better parameters on half of the queries, and judge them on the other half."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import polars as pl

from slowwave.common import ids, progress
from slowwave.scoring.evaluation import (
    Comparison,
    answer_rate,
    auroc,
    baselines_and_ablations,
    compare,
    evaluate,
    mean_interval,
)
from slowwave.scoring.measures import MRR, NDCG
from slowwave.scoring.ranking import RankingPolicy, rank
from slowwave.scoring.ranking.abstention import signal
from slowwave.tuning.collection import Asked

MARGIN: Final = 0.01  # of nDCG@10: what is nearer than this is as good
WORST_LOSS: Final = 0.003  # of nDCG@10 that a collection may lose while fitting
LEAST_GAIN: Final = 0.002  # of the mean nDCG@10: for less, a parameter keeps its value
KEPT: Final = 0.99  # share of the answerable queries of each collection that a fitted floor has to leave
ROUNDS: Final = 2
AS_OF: Final = datetime(2000, 1, 1, tzinfo=UTC)  # nothing here has votes, so the moment does not matter

GRID: Final[dict[str, tuple[float, ...]]] = {
    "vector_weight": (0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9),
    "bm25_reach": (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, math.inf),
    "cosine_floor": (0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65),
    "title_weight": (0.0, 0.05, 0.1, 0.15),
    "mpab_coefficient": (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3),
    "mpab_cap": (0.005, 0.01, 0.02, 0.05, 0.1, math.inf),
    "neighbour_weight": (0.0, 0.1, 0.15, 0.2, 0.25, 0.3),
}
"""Values that are tried, one parameter after the other."""

Qrels = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Labelled:
    """The candidates of a collection's queries, and the judgments of them.

    Attributes:
        asked: the queries that have an answer.
        unanswerable: the signals of queries without one.
    """

    name: str
    asked: Sequence[Asked]
    qrels: Qrels
    unanswerable: Sequence[Asked] = ()

    def halves(self) -> tuple[Labelled, Labelled]:
        """Two halves of the queries, always the same: one to fit on, one to report on."""

        def first(one: Asked) -> bool:
            return int(ids.digest("half", one.query_id), 16) % 2 == 0

        return (
            replace(
                self,
                asked=[one for one in self.asked if first(one)],
                unanswerable=[one for one in self.unanswerable if first(one)],
            ),
            replace(
                self,
                asked=[one for one in self.asked if not first(one)],
                unanswerable=[one for one in self.unanswerable if not first(one)],
            ),
        )


@dataclass(frozen=True, slots=True)
class PolicyScores:
    """One policy on one collection's other half.

    Attributes:
        ndcg: mean nDCG@10, with its 95 % interval `low` to `high`.
        against: paired differences of nDCG@10 to the present policy.
    """

    collection: str
    policy: str
    queries: int
    ndcg: float
    low: float
    high: float
    mrr: float
    against: Comparison


@dataclass(frozen=True, slots=True)
class Fitted:
    """What came of a search.

    Attributes:
        policy: the best one found.
        present: the one that it was compared with.
        lines: on the halves that were not fitted on: present, fitted, the seeds' constants, RRF, and the
            fitted one without each of its stages.
        tried: policies that were tried (count).
        abstention: per collection with unanswerable queries: how well the signal tells them apart.
    """

    policy: RankingPolicy
    present: RankingPolicy
    lines: tuple[PolicyScores, ...]
    tried: int
    abstention: tuple[Mapping[str, Any], ...]


def rankings(labelled: Labelled, policy: RankingPolicy, limit: int = 20) -> dict[str, list[str]]:
    """The documents that a policy ranks first for each query."""
    found = {}
    for one in labelled.asked:
        ranking = rank(one.candidates, policy, as_of=AS_OF, limit=limit)
        found[one.query_id] = [one.documents[memory.memory_id] for memory in ranking.results]
    return found


def scores(labelled: Labelled, policy: RankingPolicy) -> pl.DataFrame:
    """nDCG@10 and MRR@5 of every query."""
    wanted = {one.query_id: labelled.qrels[one.query_id] for one in labelled.asked}
    return evaluate(rankings(labelled, policy, limit=10), wanted, (NDCG, MRR))


def fit(collections: Sequence[Labelled], present: RankingPolicy, *, name: str = "tuned") -> Fitted:
    """Fit the parameters of `GRID` on half of each collection, over all of them together.

    One parameter after the other takes the value with the best mean nDCG@10 over the collections, if that is
    a gain of `LEAST_GAIN` and no collection loses more than `WORST_LOSS` against the present policy; twice.
    Abstention is off meanwhile. Where a collection has queries without an answer, the floor is then the
    highest that leaves `KEPT` of the answerable queries of every collection, else it stays.
    """
    halves = [one.halves() for one in collections]
    fitting, judging = [half[0] for half in halves], [half[1] for half in halves]
    start = replace(present, name=name, abstention_floor=0.0)
    seen: dict[str, np.ndarray] = {}

    def quality(policy: RankingPolicy) -> np.ndarray:
        if policy.version not in seen:
            means = [scores(half, policy)[str(NDCG)].mean() for half in fitting]
            seen[policy.version] = np.array(means, dtype=np.float64)
        return seen[policy.version]

    base = quality(start)
    best = start
    with progress.task("fitting", ROUNDS * sum(len(values) for values in GRID.values())) as advance:
        for _ in range(ROUNDS):
            for parameter, values in GRID.items():
                found = best
                for value in values:
                    tried = replace(best, **{parameter: value})  # type: ignore[arg-type]
                    allowed = bool((quality(tried) >= base - WORST_LOSS).all())
                    if allowed and quality(tried).mean() > quality(found).mean():
                        found = tried
                    advance(1)
                if quality(found).mean() >= quality(best).mean() + LEAST_GAIN:
                    best = found
    floor = present.abstention_floor
    if any(one.unanswerable for one in fitting):
        floor = highest_floor(fitting)
    best = replace(best, abstention_floor=floor)
    policies = {
        "present": present,
        "fitted": best,
        "seeds": baselines_and_ablations.seeds(present),
        "rrf": replace(present, fusion="rrf", **baselines_and_ablations.off(baselines_and_ablations.OF_TEXT)),
        **{
            f"fitted, {name}": replace(best, **baselines_and_ablations.off([name]))
            for name in baselines_and_ablations.OF_TEXT
        },
    }
    lines = tuple(
        line
        for half in judging
        for line in judge(half, {one: replace(p, abstention_floor=0.0) for one, p in policies.items()})
    )
    return Fitted(
        best,
        present,
        lines,
        len(seen),
        tuple(abstention(half, best) for half in judging if half.unanswerable),
    )


def judge(labelled: Labelled, policies: Mapping[str, RankingPolicy]) -> list[PolicyScores]:
    """Every policy on a collection, compared with the first one."""
    before: np.ndarray | None = None
    lines = []
    for name, policy in policies.items():
        found = scores(labelled, policy)
        values = found[str(NDCG)].to_numpy()
        before = values if before is None else before
        mean = mean_interval(values)
        lines.append(
            PolicyScores(
                labelled.name,
                name,
                len(values),
                mean.mean,
                mean.low,
                mean.high,
                float(found[str(MRR)].mean() or 0.0),  # type: ignore[arg-type]
                compare(before, values, margin=MARGIN),
            )
        )
    return lines


def highest_floor(collections: Sequence[Labelled]) -> float:
    """The highest floor, to 2 decimals, that leaves `KEPT` of the answerable queries of every collection."""
    least = min(
        float(np.quantile([signal(one.candidates) for one in labelled.asked], 1 - KEPT, method="lower"))
        for labelled in collections
    )
    return math.floor(least * 100) / 100


def abstention(labelled: Labelled, policy: RankingPolicy) -> dict[str, Any]:
    """How well the signal tells queries with an answer from those without, and what the floor does."""
    known = [signal(one.candidates) for one in labelled.asked]
    unknown = [signal(one.candidates) for one in labelled.unanswerable]
    rate = answer_rate(known, unknown)
    return {
        "collection": labelled.name,
        "answerable": len(known),
        "unanswerable": len(unknown),
        "auroc": auroc(known, unknown),
        "answered_at_5_percent_false": rate.answered,
        "floor_of_that": rate.floor,
        "fitted_floor": policy.abstention_floor,
        "answered": float(np.mean(np.array(known) >= policy.abstention_floor)),
        "false_answers": float(np.mean(np.array(unknown) >= policy.abstention_floor)),
    }
