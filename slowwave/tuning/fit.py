"""Fit of ranking parameters on half of the queries, evaluated on the other half."""

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

MARGIN: Final = 0.01  # of nDCG@10: smaller differences count as equal
MAX_LOSS: Final = 0.003  # maximum nDCG@10 that a collection may lose while fitting
MIN_GAIN: Final = 0.002  # minimum gain of mean nDCG@10 to change a parameter
MIN_ANSWERED: Final = 0.99  # minimum share of each collection's answerable queries above a fitted floor
ROUNDS: Final = 2
AS_OF: Final = datetime(2000, 1, 1, tzinfo=UTC)  # there are no votes, so the moment does not matter

GRID: Final[dict[str, tuple[float, ...]]] = {
    "vector_weight": (0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9),
    "bm25_reach": (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, math.inf),
    "cosine_floor": (0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65),
    "title_weight": (0.0, 0.05, 0.1, 0.15),
    "mpab_coefficient": (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3),
    "mpab_cap": (0.005, 0.01, 0.02, 0.05, 0.1, math.inf),
    "neighbour_weight": (0.0, 0.1, 0.15, 0.2, 0.25, 0.3),
}
"""Values to try, one parameter after the other."""

Qrels = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Labelled:
    """Candidates and judgments of a collection's queries.

    Attributes:
        asked: Queries with an answer.
        unanswerable: Queries without one.
    """

    name: str
    asked: Sequence[Asked]
    qrels: Qrels
    unanswerable: Sequence[Asked] = ()

    def halves(self) -> tuple[Labelled, Labelled]:
        """Return two fixed halves of the queries: one to fit on, one to report on."""

        def first(query: Asked) -> bool:
            return int(ids.digest("half", query.query_id), 16) % 2 == 0

        return (
            replace(
                self,
                asked=[query for query in self.asked if first(query)],
                unanswerable=[query for query in self.unanswerable if first(query)],
            ),
            replace(
                self,
                asked=[query for query in self.asked if not first(query)],
                unanswerable=[query for query in self.unanswerable if not first(query)],
            ),
        )


@dataclass(frozen=True, slots=True)
class PolicyScores:
    """Scores of one policy on the test half of one collection.

    Attributes:
        ndcg: Mean nDCG@10, with its 95 % interval `low` to `high`.
        against: Paired differences of nDCG@10 to the present policy.
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
    """Result of a fit.

    Attributes:
        policy: Best policy found.
        present: Policy that it was compared with.
        lines: Scores on the test halves: present, fitted, reference policy (`seeds`), RRF, and ablations of
            the fitted one.
        tried: Policies evaluated (count).
        abstention: Per collection with unanswerable queries: separation by the signal.
    """

    policy: RankingPolicy
    present: RankingPolicy
    lines: tuple[PolicyScores, ...]
    tried: int
    abstention: tuple[Mapping[str, Any], ...]


def rankings(labelled: Labelled, policy: RankingPolicy, limit: int = 20) -> dict[str, list[str]]:
    """Return the top documents of a policy for each query."""
    results = {}
    for query in labelled.asked:
        ranking = rank(query.candidates, policy, as_of=AS_OF, limit=limit)
        results[query.query_id] = [query.documents[memory.memory_id] for memory in ranking.results]
    return results


def scores(labelled: Labelled, policy: RankingPolicy) -> pl.DataFrame:
    """Compute nDCG@10 and MRR@5 of every query."""
    wanted = {query.query_id: labelled.qrels[query.query_id] for query in labelled.asked}
    return evaluate(rankings(labelled, policy, limit=10), wanted, (NDCG, MRR))


def fit(collections: Sequence[Labelled], present: RankingPolicy, *, name: str = "tuned") -> Fitted:
    """Fit the parameters of `GRID` on half of each collection, jointly.

    Each parameter in turn takes the value with the best mean nDCG@10 over the collections. It must gain
    `MIN_GAIN`, and no collection may lose more than `MAX_LOSS` against the present policy. There are two
    rounds, with abstention off. If a collection has unanswerable queries, the floor becomes the highest that
    leaves `MIN_ANSWERED` of the answerable queries of every collection. Otherwise it stays.
    """
    halves = [item.halves() for item in collections]
    fitting, judging = [half[0] for half in halves], [half[1] for half in halves]
    start = replace(present.complete, name=name)
    cached: dict[str, np.ndarray] = {}

    def quality(policy: RankingPolicy) -> np.ndarray:
        if policy.version not in cached:
            means = [scores(half, policy)[str(NDCG)].mean() for half in fitting]
            cached[policy.version] = np.array(means, dtype=np.float64)
        return cached[policy.version]

    base = quality(start)
    best = start
    with progress.task("fitting", ROUNDS * sum(len(values) for values in GRID.values())) as advance:
        for _ in range(ROUNDS):
            for parameter, values in GRID.items():
                candidate = best
                for value in values:
                    tried = replace(best, **{parameter: value})  # type: ignore[arg-type]
                    allowed = bool((quality(tried) >= base - MAX_LOSS).all())
                    if allowed and quality(tried).mean() > quality(candidate).mean():
                        candidate = tried
                    advance(1)
                if quality(candidate).mean() >= quality(best).mean() + MIN_GAIN:
                    best = candidate
    floor = present.abstention_floor
    if any(item.unanswerable for item in fitting):
        floor = highest_floor(fitting)
    best = replace(
        best,
        abstention_floor=floor,
        cut_share=present.cut_share,
        fit_floor=present.fit_floor,
        collapse_duplicates=present.collapse_duplicates,
    )
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
        line for half in judging for line in judge(half, {item: p.complete for item, p in policies.items()})
    )
    return Fitted(
        best,
        present,
        lines,
        len(cached),
        tuple(abstention(half, best) for half in judging if half.unanswerable),
    )


def judge(labelled: Labelled, policies: Mapping[str, RankingPolicy]) -> list[PolicyScores]:
    """Score every policy on a collection, compared with the first one."""
    baseline: np.ndarray | None = None
    lines = []
    for name, policy in policies.items():
        metrics = scores(labelled, policy)
        values = metrics[str(NDCG)].to_numpy()
        baseline = values if baseline is None else baseline
        mean = mean_interval(values)
        lines.append(
            PolicyScores(
                labelled.name,
                name,
                len(values),
                mean.mean,
                mean.low,
                mean.high,
                float(metrics[str(MRR)].mean() or 0.0),  # type: ignore[arg-type]
                compare(baseline, values, margin=MARGIN),
            )
        )
    return lines


def highest_floor(collections: Sequence[Labelled]) -> float:
    """Return the highest floor (2 decimals) that leaves `MIN_ANSWERED` in every collection."""
    least = min(
        float(
            np.quantile(
                [signal(query.candidates) for query in labelled.asked], 1 - MIN_ANSWERED, method="lower"
            )
        )
        for labelled in collections
    )
    return math.floor(least * 100) / 100


def abstention(labelled: Labelled, policy: RankingPolicy) -> dict[str, Any]:
    """Measure how well signal and floor separate answerable from unanswerable queries."""
    answerable = [signal(query.candidates) for query in labelled.asked]
    unanswerable = [signal(query.candidates) for query in labelled.unanswerable]
    rate = answer_rate(answerable, unanswerable)
    return {
        "collection": labelled.name,
        "answerable": len(answerable),
        "unanswerable": len(unanswerable),
        "auroc": auroc(answerable, unanswerable),
        "answered_at_5_percent_false": rate.answered,
        "floor_of_that": rate.floor,
        "fitted_floor": policy.abstention_floor,
        "answered": float(np.mean(np.array(answerable) >= policy.abstention_floor)),
        "false_answers": float(np.mean(np.array(unanswerable) >= policy.abstention_floor)),
    }
