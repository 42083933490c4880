"""What the tables know of whether it is getting better, week by week."""

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
"""Searches of two policies that are opened in search of one that says what they are (count)."""


@dataclass(frozen=True, slots=True)
class Trend:
    """What is known of some namespaces up to a moment.

    Attributes:
        weeks: `slowwave.scoring.evaluation.trend.COLUMNS`: a row a namespace, kind and week.
        courses: the last weeks beside the first, one for each namespace and kind of what is learned.
        beside: `slowwave.scoring.evaluation.unused_baseline.BESIDE`: the same without what use has taught.
    """

    weeks: pl.DataFrame
    courses: list[Course]
    beside: pl.DataFrame

    def of(self, namespace: str) -> Trend:
        """That of one of them."""
        mine = [one for one in self.courses if one.namespace == namespace]
        about = pl.col("namespace") == namespace
        return Trend(self.weeks.filter(about), mine, self.beside.filter(about))

    def kinds(self) -> dict[str, pl.DataFrame]:
        """The weeks of one namespace by the kind of what is learned, each with those without a measure."""
        names = [kind for kind in self.weeks["kind"].unique().sort() if kind]
        return {kind: self.weeks.filter(pl.col("kind").is_in([kind, ""])).sort("week") for kind in names}


def trend_until(space: Workspace, as_of: datetime, namespace: str = "") -> Trend:
    """Every week up to a moment, as the nights measured it.

    Args:
        space: of the tables and the journal.
        as_of: aware; a week that is not over by then is marked.
        namespace: whose; empty: all that the home has.
    """
    store = space.store.of(namespace) if namespace else space.store
    until = f"day <= {quote(day_of(as_of))}"
    effect = store.scan("learned_effect", until, columns=[*_EFFECT, _KIND])
    effect = effect.with_columns(pl.col(_KIND).fill_null(WORDS)).drop_nulls(MRR.column)
    # Ratings and all use are told of where they changed anything.
    moved = pl.col("moved").any().over("namespace", _KIND)
    effect = effect.filter(moved | ~pl.col(_KIND).is_in([RATINGS, USE]))
    compared = compare_with_unused(effect, margin=space.settings.evaluation.margin)
    effect = effect.drop("rated")
    here = f"{until} AND (imported_from IS NULL OR imported_from = '')"
    searches = store.scan("searches", here, columns=["namespace", "day"])
    shown = store.scan("interleavings", until, columns=_IN_TURN)
    weeks = trend(effect, searches, _of_learning(space, shown), as_of)
    return Trend(weeks, course(effect, as_of), compared)


def _of_learning(space: Workspace, shown: pl.DataFrame) -> pl.DataFrame:
    """Those of some interleaved searches that showed what they would without what was learned, and its kind.

    The rows have versions of policies alone, and the ranking in force may have changed since; what a version
    was is in the journal, with the search.
    """
    kinds = {}
    for (a, b), mine in shown.group_by("policy_a", "policy_b"):
        if kind := _kind(space, mine["search_id"].sort().head(_LOOKED_AT).to_list(), str(b)):
            kinds[str(a), str(b)] = kind
    rows = [(a, b, kind) for (a, b), kind in kinds.items()]
    schema = {"policy_a": pl.String, "policy_b": pl.String, _KIND: pl.String}
    return shown.join(pl.DataFrame(rows, schema=schema, orient="row"), on=["policy_a", "policy_b"])


def _kind(space: Workspace, searches: Sequence[str], other: str) -> str:
    """What the other ranking of these searches does not know; empty: it is another ranking altogether.

    Where the journal has none of them any more, the ranking in force is taken for theirs.
    """
    entries = space.journal.entries(searches)
    for name in searches:
        said: SearchPayload | None = entries[name].payload if name in entries else None  # type: ignore[assignment]
        if said and said.get("interleaving") and said.get("policy"):
            return _unknown(RankingPolicy.logged(said["policy"]), other)
    return _unknown(space.policy, other)


def _unknown(policy: RankingPolicy, other: str) -> str:
    """What a ranking of this version does not know, if it is `policy` but for that."""
    known = {WORDS: replace(policy, learned_cap=0.0), KEYS: replace(policy, key_weight=0.0)}
    return next((kind for kind, one in known.items() if one.version == other), "")
