"""Weekly trend of search quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl

from slowwave.journal.kinds.search import SearchPayload
from slowwave.scoring.days import day_of
from slowwave.scoring.evaluation.trend import Course, course, trend
from slowwave.scoring.evaluation.unused_baseline import compare_with_unused
from slowwave.scoring.feedback.learned import KEYS, RATINGS, USE, WORDS
from slowwave.scoring.measures import MRR
from slowwave.scoring.ranking import RankingPolicy
from slowwave.store.frames import quote

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

_EFFECT = [
    "namespace", "day", "search_id", "query_id", "moved", "live", "rated", MRR.column,
    f"{MRR.column}_learned",
]  # fmt: skip
_IN_TURN = ["namespace", "day", "search_id", "policy_a", "policy_b", "credit_a", "credit_b"]
_KIND = "kind"
_LOOKED_AT = 8
"""Maximum searches of two policies that are read to identify the policies (count)."""


@dataclass(frozen=True, slots=True)
class Trend:
    """Weekly trend of some namespaces up to a moment.

    Attributes:
        weeks: `slowwave.scoring.evaluation.trend.COLUMNS`: a row per namespace, kind and week.
        courses: Last weeks compared with the first, one per namespace and kind of learning.
        beside: `slowwave.scoring.evaluation.unused_baseline.BESIDE`: the comparison with ranking without use.
    """

    weeks: pl.DataFrame
    courses: list[Course]
    beside: pl.DataFrame

    def of(self, namespace: str) -> Trend:
        """Return the trend of one namespace."""
        courses = [item for item in self.courses if item.namespace == namespace]
        of_namespace = pl.col("namespace") == namespace
        return Trend(self.weeks.filter(of_namespace), courses, self.beside.filter(of_namespace))

    def kinds(self) -> dict[str, pl.DataFrame]:
        """Return one namespace's weeks by kind of learning, each with weeks without a metric."""
        names = [kind for kind in self.weeks["kind"].unique().sort() if kind]
        return {kind: self.weeks.filter(pl.col("kind").is_in([kind, ""])).sort("week") for kind in names}


def trend_until(space: Workspace, as_of: datetime, namespace: str = "") -> Trend:
    """Return the weeks up to a moment, as measured by the nightly job.

    Args:
        space: Workspace with tables and journal.
        as_of: Aware moment; an unfinished week is marked.
        namespace: Only this namespace; empty is all.
    """
    store = space.store.of(namespace) if namespace else space.store
    until = f"day <= {quote(day_of(as_of))}"
    effect = store.scan("learned_effect", until, columns=[*_EFFECT, _KIND])
    effect = effect.with_columns(pl.col(_KIND).fill_null(WORDS)).drop_nulls(MRR.column)
    # Ratings and all use are reported only if they changed results.
    moved = pl.col("moved").any().over("namespace", _KIND)
    effect = effect.filter(moved | ~pl.col(_KIND).is_in([RATINGS, USE]))
    compared = compare_with_unused(effect, margin=space.settings.evaluation.margin)
    effect = effect.drop("rated")
    local = f"{until} AND (imported_from IS NULL OR imported_from = '')"
    searches = store.scan("searches", local, columns=["namespace", "day"])
    interleaved = store.scan("interleavings", until, columns=_IN_TURN)
    weeks = trend(effect, searches, _of_learning(space, interleaved), as_of)
    return Trend(weeks, course(effect, as_of), compared)


def _of_learning(space: Workspace, interleaved: pl.DataFrame) -> pl.DataFrame:
    """Return the interleaved searches whose other policy drops a kind of learning, with the kind.

    The rows have policy versions alone, and the policy in force may have changed. The journal has the policy
    of each search.
    """
    kinds = {}
    for (a, b), rows_of_pair in interleaved.group_by("policy_a", "policy_b"):
        if kind := _kind(space, rows_of_pair["search_id"].sort().head(_LOOKED_AT).to_list(), str(b)):
            kinds[str(a), str(b)] = kind
    rows = [(a, b, kind) for (a, b), kind in kinds.items()]
    schema = {"policy_a": pl.String, "policy_b": pl.String, _KIND: pl.String}
    return interleaved.join(pl.DataFrame(rows, schema=schema, orient="row"), on=["policy_a", "policy_b"])


def _kind(space: Workspace, searches: Sequence[str], other: str) -> str:
    """Return the kind of learning that the other policy of these searches drops; empty if none.

    If the journal has none of the searches any more, the policy in force is used.
    """
    entries = space.journal.entries(searches)
    for name in searches:
        payload: SearchPayload | None = entries[name].payload if name in entries else None  # type: ignore[assignment]
        if payload and payload.get("interleaving") and payload.get("policy"):
            return _unknown(RankingPolicy.logged(payload["policy"]), other)
    return _unknown(space.policy, other)


def _unknown(policy: RankingPolicy, other: str) -> str:
    """Return the kind of learning without which `policy` has this version; empty if none."""
    variants = {WORDS: replace(policy, learned_cap=0.0), KEYS: replace(policy, key_weight=0.0)}
    return next((kind for kind, variant in variants.items() if variant.version == other), "")
