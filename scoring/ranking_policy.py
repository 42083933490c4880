"""Ranking policy: all parameters of a ranking, as data (rule 3)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import lru_cache
from math import inf
from typing import Annotated, Any, Literal

from slowwave.scoring.parameters import Parameter, check, parameters, plain
from slowwave.scoring.validation import CAP

LEAST_KEPT = 3
"""Fewest first places that recall of short memories leaves alone (rule 3.5); 0 in rankings of before."""
Fusion = Literal["convex", "rrf"]
FeedbackScope = Literal["question", "memory"]


@dataclass(frozen=True, slots=True)
class RankingPolicy:
    """Parameters of one ranking; every weight and coefficient is a share of a score in [0, 1].

    No policy goes beyond what the rules promise of use and learning ("at most", "at least"): one that asks
    for more is refused.

    The defaults are fitted (`slowwave tune`; docs/benchmarks/policy-tuning.md) where labelled queries could tell.
    `name` is for people, and no part of the version.
    """

    # fmt: off
    name: str = "default"
    fusion: Annotated[Fusion, Parameter(
        "How channels become one score: convex (an absolute meaning), or rrf (ranks only)", rule="3.2",
    )] = "convex"
    vector_weight: Annotated[float, Parameter(
        "Weight of the vector channel; full text has the rest", 0, 1, rule="3.2", of_model=True,
    )] = 0.75
    bm25_reach: Annotated[float, Parameter(
        "BM25 counts 1 from its bound over this, or from the query's best where that is more; inf: from the "
        "best alone, as in the seeds", 1, rule="3.2", before=inf,
    )] = 1.5
    cosine_floor: Annotated[float, Parameter(
        "Cosine that counts as 0", -1, 0.999, rule="3.2", of_model=True,
    )] = 0.5
    rrf_k: Annotated[int, Parameter("Constant of reciprocal rank fusion", 1, 10_000, rule="3.2")] = 10
    title_weight: Annotated[float, Parameter(
        "What a title adds that has all words of the query", 0, 1, rule="3.1", stage="titles",
    )] = 0.1
    trigger_weight: Annotated[float, Parameter(
        "What a trigger phrase adds that the query says whole", 0, 1, rule="3.1",
    )] = 0.2
    mpab: Annotated[bool, Parameter(
        "Whether the other chunks of a memory add to its best one", rule="3.3", stage="MPAB", off=False,
    )] = True
    mpab_coefficient: Annotated[float, Parameter(
        "Coefficient of what the other chunks add; 0.3 in the seeds", 0, 1, rule="3.3",
    )] = 0.02
    mpab_cap: Annotated[float, Parameter(
        "Most that the other chunks add; inf in the seeds", 0, rule="3.3",
    )] = 0.005
    neighbour_weight: Annotated[float, Parameter(
        "Share that a memory gets of the better of those before and after it", 0, 1, rule="3.2",
        stage="neighbours",
    )] = 0.2
    feedback_scope: Annotated[FeedbackScope, Parameter(
        "Whether feedback counts for questions like the one it was given for, or for the memory in every "
        "search, as in the seeds", rule="8.2", before="memory",
    )] = "question"
    effectiveness_weight: Annotated[float, Parameter(
        "Share of effectiveness in a score", 0, 0.3, rule="3.4", stage="effectiveness",
    )] = 0.3
    effectiveness_from: Annotated[int, Parameter(
        "Data points from which the effectiveness of a memory as a whole counts, and from which it is "
        "flagged; for a question one is enough", 3, 1_000_000, unit="count", rule="3.4",
    )] = 3
    highly_effective: Annotated[float, Parameter(
        "Effectiveness from which a result is flagged, at two decimals", 0, 1, rule="3.4",
    )] = 0.8
    learned_cap: Annotated[float, Parameter(
        "Most that learned triggers add to a score", 0, CAP, rule="3.8",
    )] = CAP
    key_weight: Annotated[float, Parameter(
        "Most that search keys add to a score; 0 is off", 0, 0.4, rule="7.3", before=0.4,
    )] = 0.3
    confidence_point: Annotated[float, Parameter(
        "What one point of confidence adds to a score", 0, 0.1, rule="3.6", stage="confidence",
    )] = 0.01
    negative_feedback: Annotated[bool, Parameter(
        "Whether not-useful votes lower a score", rule="3.7", stage="negative feedback", off=False,
    )] = True
    negative_step: Annotated[float, Parameter(
        "Share of a score that a fresh not-useful vote takes", 0, 0.1, rule="3.7",
    )] = 0.1
    negative_floor: Annotated[float, Parameter(
        "Share of a score that not-useful votes leave at least", 0.3, 1, rule="3.7",
    )] = 0.3
    negative_half_life_days: Annotated[float, Parameter(
        "Days after which a not-useful vote counts half", 0.001, 100_000, rule="3.7",
    )] = 30.0
    sparse_recall: Annotated[bool, Parameter(
        "Whether a short memory that is very near is given a place", rule="3.5", stage="sparse recall",
        off=False,
    )] = True
    sparse_chunks: Annotated[int, Parameter(
        "Most chunks of a short memory", 0, 1_000, unit="count", rule="3.5",
    )] = 2
    sparse_top: Annotated[int, Parameter(
        "Nearest chunks that are looked at for short memories, at least", 0, 100_000, unit="count",
        rule="3.5",
    )] = 20
    sparse_limit_factor: Annotated[int, Parameter(
        "Nearest chunks that are looked at for each result that a search asks for, where that comes to more",
        0, 100, unit="count", rule="3.5", before=3,
    )] = 3
    sparse_distance: Annotated[float, Parameter(
        "Cosine distance up to which a short memory is very near", 0, 2, rule="3.5", of_model=True,
    )] = 0.20
    sparse_max_injections: Annotated[int, Parameter(
        "Most short memories that are given a place in one search", 0, 100, unit="count", rule="3.5",
        before=1,
    )] = 1
    sparse_keeps: Annotated[int, Parameter(
        "First places that none takes for being short", LEAST_KEPT, 1_000, unit="count", rule="3.5", before=0,
    )] = 5
    soft_from: Annotated[float, Parameter(
        "Score from which one is squeezed toward 1, in the same order; 1 cuts", 0.5, 1, rule="3.8",
        before=1.0,
    )] = 0.9
    abstention_floor: Annotated[float, Parameter(
        "Signal below which a search shows nothing; 0: never", 0, 1, rule="3.9", of_model=True,
        stage="abstention",
    )] = 0.0
    rerank_weight: Annotated[float, Parameter(
        "Share of the cross-encoder in a score; 0 is off", 0, 1, rule="3.2", stage="cross-encoder",
    )] = 0.0
    rerank_top: Annotated[int, Parameter(
        "Best memories that the cross-encoder reads", 0, 1_000, unit="count", rule="3.2",
    )] = 20
    # fmt: on

    def __post_init__(self) -> None:
        check(self)

    def to_dict(self) -> dict[str, Any]:
        """The parameters as plain data that JSON can hold; an infinite cap is None."""
        return plain(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], base: RankingPolicy | None = None) -> RankingPolicy:
        """The policy that `to_dict` gave; a parameter that is not there is as in `base`, or has its default.

        Raises:
            ValueError: a parameter is not known, or its value is not allowed.
        """
        known = {part.name for part in fields(cls)}
        if unknown := sorted(set(data) - known):
            near = get_close_matches(unknown[0], sorted(known), n=1, cutoff=0.5)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise ValueError(
                f"{', '.join(unknown)}: no parameter of a ranking.{meant} Known: {sorted(known)}"
            )
        given: dict[str, Any] = {name: inf if value is None else value for name, value in data.items()}
        return cls(**given) if base is None else replace(base, **given)

    @classmethod
    def logged(cls, data: Mapping[str, Any]) -> RankingPolicy:
        """The policy of a search of any age: what it could not name yet is as it was then.

        Raises:
            ValueError: as of `from_dict`.
        """
        return cls.from_dict({**BEFORE, **data})

    @property
    def version(self) -> str:
        """12 hex digits that change when any parameter does; logged with every search."""
        return _version(self)


@lru_cache(maxsize=256)
def _version(policy: RankingPolicy) -> str:
    given = {
        name: value
        for name, value in policy.to_dict().items()
        if name != "name" and BEFORE.get(name, ...) != getattr(policy, name)
    }
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:12]


BEFORE: dict[str, Any] = {
    one.name: one.spec.before for one in parameters(RankingPolicy) if one.spec.before is not None
}
"""Parameters that are younger than the journal, with what every ranking did before there were any; a policy
that has these values has the version that it had then."""

SEEDS = RankingPolicy(
    name="seeds",
    vector_weight=0.7,
    title_weight=0.0,
    bm25_reach=inf,
    neighbour_weight=0.0,
    feedback_scope="memory",
    mpab_coefficient=0.3,
    mpab_cap=inf,
    sparse_top=10,
    sparse_keeps=3,
    key_weight=0.4,
    soft_from=1.0,
)
"""The constants of the seed documents, MPAB unbounded as they have it."""
