"""Abstention: detection of queries without an answer (rule 3.9).

    python bench/abstention.py --data FOLDER [FOLDER ...] [--model NAME] [--cache FOLDER]

Queries that have an answer against queries that have none, in each collection: those that are marked as
having none (hard: they are about what the memory is about), those of another namespace asked in this
one, and those of the other collections. ``cosine`` is the best cosine alone, the baseline; ``fused`` the
best fused score; ``signal`` is what a search uses. ``auroc`` is 0.5 for chance; ``answered`` the share
of answerable queries that are answered when 5 % of the others are; ``at_floor`` and ``false_at_floor``
the shares of both that are answered at the floor in force.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _data import labelled, space_of
from _report import UnusableError, bench, existing_folder, options, positive, report

import slowwave
from slowwave.scoring.evaluation import answer_rate, auroc
from slowwave.scoring.ranking import Candidates, RankingPolicy, rank
from slowwave.scoring.ranking.abstention import signal
from slowwave.tuning import Collection, ask, opened
from slowwave.tuning.fit import AS_OF
from slowwave.views.terminal import bars

Queries = Sequence[Mapping[str, Any]]


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument(
        "--data", type=existing_folder, nargs="+", required=True, help="folders of the collections"
    )
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--cache", type=Path, help="keep the embedded collections here, for the next time")
    parser.add_argument("--queries", type=positive, default=200, help="at most so many of each kind")
    arguments = parser.parse_args(argv)
    collections = [labelled(folder) for folder in arguments.data]
    rows = []
    for collection in collections:
        others = [other for other in collections if other is not collection]
        with bars(), opened(collection, arguments.model, cache=arguments.cache) as spaces:
            rows += _measure(collection, others, spaces, arguments.queries)
    if not rows:
        raise UnusableError(
            "there is no query without an answer: give a collection that marks some (answerable: false), "
            "has several namespaces, or a second collection"
        )
    report("abstention", rows, note=f"at most {arguments.queries} queries of each kind; {arguments.model}")


def _measure(
    collection: Collection, others: Sequence[Collection], spaces: Mapping[str, slowwave.Memory], most: int
) -> list[dict[str, Any]]:
    sample = random.Random(0)

    def some(queries: Queries) -> Queries:
        return queries if len(queries) <= most else sample.sample(list(queries), most)

    names = list(spaces)
    answerable = some(collection.answerable())
    unanswerable: dict[str, Queries] = {"marked": some(collection.unanswerable())}
    if len(names) > 1:
        moved = [
            {**query, "namespace": names[(names.index(space_of(query)) + 1) % len(names)]}
            for query in answerable
        ]
        unanswerable["another namespace"] = moved
    if others:
        foreign = some([query for other in others for query in other.answerable()])
        unanswerable["another collection"] = [
            {**query, "namespace": names[at % len(names)]} for at, query in enumerate(foreign)
        ]
    policy = next(iter(spaces.values())).policy
    known = _signals(spaces, answerable, policy)
    rows = []
    for kind, queries in unanswerable.items():
        if queries:
            unknown = _signals(spaces, queries, policy)
            rows += [_row(collection.name, kind, name, known[name], unknown[name], policy) for name in known]
    return rows


def _signals(
    spaces: Mapping[str, slowwave.Memory], queries: Queries, policy: RankingPolicy
) -> dict[str, np.ndarray]:
    found = [one.candidates for one in ask(spaces, queries)]
    return {
        "cosine": np.array([np.nan_to_num(one.cosine, nan=0.0).max(initial=0.0) for one in found]),
        "fused": np.array([_best(one, policy) for one in found]),
        "signal": np.array([signal(one) for one in found]),
    }


def _best(candidates: Candidates, policy: RankingPolicy) -> float:
    ranking = rank(candidates, policy.complete, as_of=AS_OF, limit=1)
    return ranking.results[0].semantic if ranking.results else 0.0


def _row(
    collection: str, kind: str, name: str, known: np.ndarray, unknown: np.ndarray, policy: RankingPolicy
) -> dict[str, Any]:
    rate = answer_rate(known, unknown)
    row: dict[str, Any] = {
        "set": collection,
        "unanswerable": kind,
        "run": name,
        "queries": len(known),
        "without": len(unknown),
        "auroc": round(auroc(known, unknown), 4),
        "answered": round(rate.answered, 4),
        "floor": round(rate.floor, 4),
    }
    if name == "signal":
        row |= {
            "at_floor": round(float((known >= policy.abstention_floor).mean()), 4),
            "false_at_floor": round(float((unknown >= policy.abstention_floor).mean()), 4),
        }
    return row


if __name__ == "__main__":
    main()
