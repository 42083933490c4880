"""What decides a ranking, as data: the same policy and candidates give the same ranking anywhere."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Literal, get_args

from slowwave.scoring.promised import require_within
from slowwave.scoring.ranking.learned import CAP

Fusion = Literal["convex", "rrf"]
FeedbackScope = Literal["question", "memory"]


@dataclass(frozen=True, slots=True)
class RankingPolicy:
    """Parameters of one ranking; every weight and coefficient is a share of a score in [0, 1].

    No policy goes beyond what the rules promise of use and learning ("at most", "at least"): one that asks
    for more is refused.

    The defaults are fitted (`slowwave tune`; docs/policy-report.md) where labelled queries could tell.

    Attributes:
        name: for people; not part of the version.
        fusion: ``convex`` (scores with an absolute meaning) or ``rrf`` (ranks only) (rule 3.2).
        vector_weight: weight of the vector channel in [0, 1]; the full-text channel has the rest.
        bm25_reach: BM25 counts 1 from this part of what no text exceeds on, as 1 over it, or from the best of
            the query on where that is more (rule 3.2); infinite is over the best, whatever it is.
        cosine_floor: cosine that counts as 0 (rule 2.4: it belongs to the embedding model).
        rrf_k: constant of reciprocal rank fusion.
        title_weight: what a title adds whose words the query has, all of them.
        trigger_weight: what a trigger phrase adds that the query says whole.
        mpab: whether the other chunks of a memory add to its best one (rule 3.3).
        mpab_coefficient: coefficient of that bonus.
        mpab_cap: most that it adds; infinite for the formula of the seeds.
        neighbour_weight: what a memory gets of the better score of the two that come before and after it.
        feedback_scope: whether feedback counts for ``question``s like the one it was given for (rule 8), or
            for the ``memory`` in every search, as the seeds have it (rules 3.4 and 3.7).
        effectiveness_weight: share of effectiveness in the score, .3 at most (rule 3.4).
        effectiveness_from: data points from which the effectiveness of a memory counts, 3 at least (count);
            of a question none are asked for.
        highly_effective: effectiveness from which a result is flagged, compared at two decimals.
        learned_cap: most that learned triggers add (rule 3.8); .15 at most (rule 5).
        key_weight: most that search keys add, .4 at most (rule 7.3); 0 switches them off.
        confidence_point: worth of one point of confidence (rule 3.6).
        negative_feedback: whether not-useful votes lower a score (rule 3.7).
        negative_step: what one fresh vote takes from the multiplier, a tenth at most.
        negative_floor: least multiplier, three tenths at least.
        negative_half_life_days: age at which a vote counts half (days).
        sparse_recall: whether a short memory that is very near is given a place (rule 3.5).
        sparse_chunks: most chunks of a short memory (count).
        sparse_top: raw-distance places looked at, at least (count); 3 · limit where that is more.
        sparse_distance: greatest cosine distance of such a chunk, inclusive.
        sparse_keeps: first places of a list that are never given up for it (count), so a shorter list loses
            nothing to it.
        soft_from: score from which one is squeezed toward 1, and not cut there: what differs stays different,
            and in the same order. 1 cuts.
        abstention_floor: signal below which nothing is shown (rule 3.9); 0 never abstains.
        rerank_weight: share of the cross-encoder in the semantic score; 0 switches it off.
        rerank_top: best memories that the cross-encoder reads (count).
    """

    name: str = "default"
    fusion: Fusion = "convex"
    vector_weight: float = 0.75
    bm25_reach: float = 1.5
    cosine_floor: float = 0.5
    rrf_k: int = 10
    title_weight: float = 0.1
    trigger_weight: float = 0.2
    mpab: bool = True
    mpab_coefficient: float = 0.02
    mpab_cap: float = 0.005
    neighbour_weight: float = 0.2
    feedback_scope: FeedbackScope = "question"
    effectiveness_weight: float = 0.3
    effectiveness_from: int = 3
    highly_effective: float = 0.8
    learned_cap: float = 0.15
    key_weight: float = 0.3
    confidence_point: float = 0.01
    negative_feedback: bool = True
    negative_step: float = 0.1
    negative_floor: float = 0.3
    negative_half_life_days: float = 30.0
    sparse_recall: bool = True
    sparse_chunks: int = 2
    sparse_top: int = 20
    sparse_distance: float = 0.20
    sparse_keeps: int = 5
    soft_from: float = 0.9
    abstention_floor: float = 0.0
    rerank_weight: float = 0.0
    rerank_top: int = 20

    def __post_init__(self) -> None:
        if self.fusion not in get_args(Fusion):
            raise ValueError(f"fusion = {self.fusion!r} is not one of {', '.join(get_args(Fusion))}")
        if self.feedback_scope not in get_args(FeedbackScope):
            known = ", ".join(get_args(FeedbackScope))
            raise ValueError(f"feedback_scope = {self.feedback_scope!r} is not one of {known}")
        require_within(self, _BOUNDS)
        for name in _WHOLE:
            if not isinstance(getattr(self, name), int):
                raise ValueError(f"{name} = {getattr(self, name)} is not a whole number")  # noqa: TRY004
        if 0 < self.sparse_keeps < LEAST_KEPT:
            raise ValueError(f"sparse_keeps = {self.sparse_keeps} is below {LEAST_KEPT} (rule 3.5)")
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} = {getattr(self, name)!r} is not true or false")  # noqa: TRY004

    def to_dict(self) -> dict[str, Any]:
        """The parameters as plain data that JSON can hold; an infinite cap is None."""
        given = {part.name: getattr(self, part.name) for part in fields(self)}
        for name in _BOUNDS.keys() - set(_WHOLE):
            given[name] = None if math.isinf(given[name]) else float(given[name])
        return given

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
        given: dict[str, Any] = {name: math.inf if value is None else value for name, value in data.items()}
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
    parameters = {
        name: value
        for name, value in policy.to_dict().items()
        if name != "name" and BEFORE.get(name, ...) != getattr(policy, name)
    }
    return hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).hexdigest()[:12]


BEFORE: dict[str, Any] = {
    "sparse_keeps": 0,
    "soft_from": 1.0,
    "bm25_reach": math.inf,
    "key_weight": 0.4,
    "feedback_scope": "memory",
}
"""Parameters that are younger than the journal, with what every ranking did before there were any; a policy
that has these values has the version that it had then."""

_BOUNDS: dict[str, tuple[float, float]] = {
    "vector_weight": (0, 1),
    "bm25_reach": (1, math.inf),
    "cosine_floor": (-1, 0.999),
    "rrf_k": (1, 10_000),
    "title_weight": (0, 1),
    "trigger_weight": (0, 1),
    "mpab_coefficient": (0, 1),
    "mpab_cap": (0, math.inf),
    "neighbour_weight": (0, 1),
    "effectiveness_weight": (0, 0.3),
    "effectiveness_from": (3, 1_000_000),
    "highly_effective": (0, 1),
    "learned_cap": (0, CAP),
    "key_weight": (0, 0.4),
    "confidence_point": (0, 0.1),
    "negative_step": (0, 0.1),
    "negative_floor": (0.3, 1),
    "negative_half_life_days": (0.001, 100_000),
    "sparse_chunks": (0, 1_000),
    "sparse_top": (0, 100_000),
    "sparse_distance": (0, 2),
    "sparse_keeps": (0, 1_000),
    "soft_from": (0.5, 1),
    "abstention_floor": (0, 1),
    "rerank_weight": (0, 1),
    "rerank_top": (0, 1_000),
}
LEAST_KEPT = 3
"""Fewest first places that recall of short memories leaves alone (rule 3.5); 0 in rankings of before."""
_WHOLE = ("rrf_k", "effectiveness_from", "sparse_chunks", "sparse_top", "sparse_keeps", "rerank_top")
_SWITCHES = ("mpab", "negative_feedback", "sparse_recall")

SEEDS = RankingPolicy(
    name="seeds",
    vector_weight=0.7,
    title_weight=0.0,
    bm25_reach=math.inf,
    neighbour_weight=0.0,
    feedback_scope="memory",
    mpab_coefficient=0.3,
    mpab_cap=math.inf,
    sparse_top=10,
    sparse_keeps=3,
    key_weight=0.4,
    soft_from=1.0,
)
"""The constants of the seed documents, MPAB unbounded as they have it."""
