"""Ranking policy: all parameters of a ranking (rule 3)."""

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
"""Minimum first ranks that recall of short memories never replaces (rule 3.5); 0 in older rankings."""
Fusion = Literal["convex", "rrf"]
FeedbackScope = Literal["question", "memory"]


@dataclass(frozen=True, slots=True)
class RankingPolicy:
    """Parameters of one ranking; weights and coefficients are shares of a score in [0, 1].

    A policy beyond the bounds that the rules promise for feedback and learning is refused.

    `slowwave tune` fitted the defaults that labelled queries can determine
    (docs/benchmarks/policy-tuning.md). `name` is a label and no part of the version.
    """

    # fmt: off
    name: str = "default"
    fusion: Annotated[Fusion, Parameter(
        "How channels become one score: convex (a weighted sum with an absolute meaning) or rrf (reciprocal"
        " rank fusion)", rule="3.2",
    )] = "convex"
    vector_weight: Annotated[float, Parameter(
        "Weight of the vector channel. Full text has the rest up to 1", 0, 1, rule="3.2", of_model=True,
    )] = 0.75
    bm25_reach: Annotated[float, Parameter(
        "Divisor of the BM25 upper bound. A text reaches 1 at bound / reach, or at the best score of the "
        "query if that is higher. inf: the best score alone, as in the seeds", 1, rule="3.2", before=inf,
    )] = 1.5
    cosine_floor: Annotated[float, Parameter(
        "Cosine that counts as similarity 0. The scale is linear from there to 1",
        -1, 0.999, rule="3.2", of_model=True,
    )] = 0.5
    rrf_k: Annotated[int, Parameter(
        "Constant k of reciprocal rank fusion. Higher values flatten the ranks", 1, 10_000, rule="3.2",
    )] = 10
    title_weight: Annotated[float, Parameter(
        "Score added by a title that has all words of the query. 0: titles add nothing",
        0, 1, rule="3.1", stage="titles",
    )] = 0.1
    trigger_weight: Annotated[float, Parameter(
        "Score added by a trigger phrase that the query contains whole. 0: phrases add nothing",
        0, 1, rule="3.1",
    )] = 0.2
    mpab: Annotated[bool, Parameter(
        "Add the bonus of a memory's other chunks to its best chunk (MPAB). false: the best chunk alone",
        rule="3.3", stage="MPAB", off=False,
    )] = True
    mpab_coefficient: Annotated[float, Parameter(
        "Coefficient of that bonus; 0.3 in the seeds", 0, 1, rule="3.3",
    )] = 0.02
    mpab_cap: Annotated[float, Parameter(
        "Maximum of that bonus; inf (no maximum) in the seeds", 0, rule="3.3",
    )] = 0.005
    neighbour_weight: Annotated[float, Parameter(
        "Share of the better neighbour's score (the memory before or after) that a memory gets. 0: none",
        0, 1, rule="3.2", stage="neighbours",
    )] = 0.2
    feedback_scope: Annotated[FeedbackScope, Parameter(
        "question: feedback counts for queries like the one it was given for; memory: for the memory in "
        "every search, as in the seeds", rule="8.2", before="memory",
    )] = "question"
    effectiveness_weight: Annotated[float, Parameter(
        "Weight of effectiveness in a score. Similarity has the rest. 0: ratings have no effect here",
        0, 0.3, rule="3.4", stage="effectiveness",
    )] = 0.3
    effectiveness_from: Annotated[int, Parameter(
        "Minimum feedback events (ratings and uses) before global effectiveness counts and a result can be "
        "flagged. For a question one is enough", 3, 1_000_000, unit="count", rule="3.4",
    )] = 3
    highly_effective: Annotated[float, Parameter(
        "Minimum effectiveness, rounded to two decimals, of the flag *highly effective*", 0, 1, rule="3.4",
    )] = 0.8
    learned_cap: Annotated[float, Parameter(
        "Maximum that learned terms add to a score, before the factor `learning.coefficient`. 0: none",
        0, CAP, rule="3.8",
    )] = CAP
    key_weight: Annotated[float, Parameter(
        "Maximum query boost added to a score by search keys. 0: off", 0, 0.4, rule="7.3", before=0.4,
    )] = 0.3
    confidence_point: Annotated[float, Parameter(
        "Score per point of confidence. 0: confidence has no effect", 0, 0.1, rule="3.6", stage="confidence",
    )] = 0.01
    negative_feedback: Annotated[bool, Parameter(
        "Lower the score of memories with unhelpful ratings. false: they count for effectiveness only",
        rule="3.7", stage="negative feedback", off=False,
    )] = True
    negative_step: Annotated[float, Parameter(
        "Share of a score that one fresh unhelpful rating removes", 0, 0.1, rule="3.7",
    )] = 0.1
    negative_floor: Annotated[float, Parameter(
        "Minimum share of a score that unhelpful ratings leave", 0.3, 1, rule="3.7",
    )] = 0.3
    negative_half_life_days: Annotated[float, Parameter(
        "Days after which an unhelpful rating counts half", 0.001, 100_000, rule="3.7",
    )] = 30.0
    sparse_recall: Annotated[bool, Parameter(
        "Inject a short memory that is very near to the query into the results",
        rule="3.5", stage="sparse recall", off=False,
    )] = True
    sparse_chunks: Annotated[int, Parameter(
        "Maximum chunks of a short memory. 0: none is short", 0, 1_000, unit="count", rule="3.5",
    )] = 2
    sparse_top: Annotated[int, Parameter(
        "Minimum number of nearest chunks in which a short memory is looked for",
        0, 100_000, unit="count", rule="3.5",
    )] = 20
    sparse_limit_factor: Annotated[int, Parameter(
        "Nearest chunks per requested result in which a short memory is looked for, if that is more than "
        "`sparse_top`", 0, 100, unit="count", rule="3.5", before=3,
    )] = 3
    sparse_distance: Annotated[float, Parameter(
        "Maximum cosine distance of a short memory that is injected", 0, 2, rule="3.5", of_model=True,
    )] = 0.20
    sparse_max_injections: Annotated[int, Parameter(
        "Maximum short memories injected per search. 0: none", 0, 100, unit="count", rule="3.5", before=1,
    )] = 1
    sparse_keeps: Annotated[int, Parameter(
        "First ranks that an injection never replaces", LEAST_KEPT, 1_000, unit="count", rule="3.5", before=0,
    )] = 5
    soft_from: Annotated[float, Parameter(
        "Score above which scores are compressed toward 1 in the same order. 1: scores are cut at 1",
        0.5, 1, rule="3.8", before=1.0,
    )] = 0.9
    abstention_floor: Annotated[float, Parameter(
        "Minimum signal of a search. Below it the search abstains and returns no results. 0: never abstain",
        0, 1, rule="3.9", of_model=True, stage="abstention",
    )] = 0.0
    fit_floor: Annotated[float, Parameter(
        "Minimum of the best fit of a search. Below it the search abstains, too. 0: none",
        0, 1, rule="3.9", before=0.0, of_model=True,
    )] = 0.0
    cut_share: Annotated[float, Parameter(
        "Minimum fit of a result, as a share of the best fit of the search; weaker ones are not returned. "
        "0: no cut", 0, 1, rule="3.9", before=0.0, of_model=True,
    )] = 0.0
    collapse_duplicates: Annotated[bool, Parameter(
        "Return one of several memories with the same words, and name the others",
        rule="3.9", before=False,
    )] = True
    time_weight: Annotated[float, Parameter(
        "Share of its text score that a memory gains if it is of the time that the query names; a third "
        "of it if it says a time and the query asks when. 0: none",
        0, 1, rule="3.13", before=0.0, stage="time",
    )] = 0.6
    mark_outdated: Annotated[bool, Parameter(
        "Rank the newest of several values of one thing first, and mark the earlier ones",
        rule="3.12", before=False,
    )] = True
    rerank_weight: Annotated[float, Parameter(
        "Weight of the cross-encoder in a score. 0: off", 0, 1, rule="3.2", stage="cross-encoder",
    )] = 0.0
    rerank_top: Annotated[int, Parameter(
        "Number of best memories that the cross-encoder scores again", 0, 1_000, unit="count", rule="3.2",
    )] = 20
    # fmt: on

    def __post_init__(self) -> None:
        check(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain JSON data; an infinite cap is None."""
        return plain(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], base: RankingPolicy | None = None) -> RankingPolicy:
        """Restore the policy of `to_dict`; missing parameters come from `base`, or are defaults.

        Raises:
            ValueError: a parameter is unknown, or its value is not allowed.
        """
        all_names = {part.name for part in fields(cls)}
        if unknown := sorted(set(data) - all_names):
            near = get_close_matches(unknown[0], sorted(all_names), n=1, cutoff=0.5)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise ValueError(
                f"{', '.join(unknown)}: unknown ranking parameter.{meant} Use one of {sorted(all_names)}"
            )
        values: dict[str, Any] = {name: inf if value is None else value for name, value in data.items()}
        return cls(**values) if base is None else replace(base, **values)

    @property
    def complete(self) -> RankingPolicy:
        """Return the policy without abstention and cut, for the complete order of a search."""
        return replace(self.uncut, abstention_floor=0.0, fit_floor=0.0)

    @property
    def uncut(self) -> RankingPolicy:
        """Return the policy without cut and collapsed duplicates, for metrics of an order."""
        return replace(self, cut_share=0.0, collapse_duplicates=False)

    @property
    def with_weak(self) -> RankingPolicy:
        """Return the policy that returns results however little they fit."""
        return replace(self, cut_share=0.0, fit_floor=0.0, abstention_floor=0.0)

    @classmethod
    def logged(cls, data: Mapping[str, Any]) -> RankingPolicy:
        """Restore the policy of a logged search; parameters younger than it have their old value.

        Raises:
            ValueError: as `from_dict`.
        """
        return cls.from_dict({**BEFORE, **data})

    @property
    def version(self) -> str:
        """Return 12 hex digits that change with any parameter; logged with every search."""
        return _version(self)


@lru_cache(maxsize=256)
def _version(policy: RankingPolicy) -> str:
    parameters_by_name = {
        name: value
        for name, value in policy.to_dict().items()
        if name != "name" and BEFORE.get(name, ...) != getattr(policy, name)
    }
    return hashlib.sha256(json.dumps(parameters_by_name, sort_keys=True).encode()).hexdigest()[:12]


BEFORE: dict[str, Any] = {
    one.name: one.spec.before for one in parameters(RankingPolicy) if one.spec.before is not None
}
"""Parameters younger than the journal, with their value in earlier rankings. A policy with these values keeps
its earlier version."""

SEEDS = RankingPolicy(
    name="seeds",
    vector_weight=0.7,
    title_weight=0.0,
    bm25_reach=inf,
    neighbour_weight=0.0,
    time_weight=0.0,
    feedback_scope="memory",
    mpab_coefficient=0.3,
    mpab_cap=inf,
    sparse_top=10,
    sparse_keeps=3,
    key_weight=0.4,
    soft_from=1.0,
)
"""Constants of the seeds, with MPAB uncapped."""
