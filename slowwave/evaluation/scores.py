"""How good searches were, and what other rankings would have been: rows of the evaluation's tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from slowwave.common import progress
from slowwave.evaluation.judgments import daily_grades, judgments_until
from slowwave.evaluation.query_log import logged_searches
from slowwave.evaluation.variants import LOGGED, Tried
from slowwave.feedback.questions import with_query_ids
from slowwave.journal.kinds.search import shown_rows
from slowwave.scoring.evaluation import attribution
from slowwave.scoring.evaluation.batch import Batch
from slowwave.scoring.evaluation.evaluate import evaluate_frame
from slowwave.scoring.evaluation.ranking_divergence import compare_results
from slowwave.scoring.evaluation.replay import Variant, abstentions, replay
from slowwave.scoring.measures import MEASURES
from slowwave.store.frames import one_of

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

COLUMNS = tuple(measure.column for measure in MEASURES)
"""Of the tables, for what a ranking was measured by."""
DISTANCES = ("overlap", "mean_score_change", "mean_rank_change", "rank_correlation")
"""Of rows of ``shadow_scores``: how far a ranking is from what was shown."""
COMPARED_ROLES = ("in force", "shadow", "baseline")
"""Rankings whose results are compared with what was shown; those of ablations only by their quality."""
_SEARCH = [
    "search_id", "day", "namespace", "query", "wanted", "policy_version", "abstained", "shown", "seq",
]  # fmt: skip


def searches_of(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Rows of ``searches`` of some days with the ids of their queries, the first one first."""
    rows = space.store.scan("searches", one_of("day", days), columns=_SEARCH)
    return with_query_ids(rows.sort("seq"))


def _shown(searches: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """What searches showed: ``search_id`` and columns of the results, a row a result."""
    return shown_rows(searches, "search_id").select("search_id", *columns)


def score_days(space: Workspace, days: Sequence[str], tried: Sequence[Tried]) -> pl.DataFrame:
    """Rows of ``evaluation_scores``: each day by the judgments that were known at its end."""
    searches = searches_of(space, days)
    asked = searches.select("day", "namespace", "query_id").unique()
    if asked.is_empty():
        return space.store.empty("evaluation_scores")
    grades = daily_grades(judgments_until(space.store, max(days)), asked, space.settings.judge.agreement)
    return score(space, searches, grades, tried)


def score(
    space: Workspace, searches: pl.DataFrame, grades: pl.DataFrame, tried: Sequence[Tried]
) -> pl.DataFrame:
    """Rows of ``evaluation_scores`` of the searches that have a relevant judgment.

    Args:
        space: whose journal has what they considered.
        searches: of `searches_of`.
        grades: namespace, query_id, memory_id and grade; with ``day`` where each day has its own.
        tried: other rankings. A search that was imported has no candidates, so none of them is tried on it.
    """
    by_day = ["day"] if "day" in grades.columns else []
    key = [*by_day, "namespace", "query_id"]
    relevant = grades.filter(pl.col("grade") > 0).select(key).unique()
    judged = searches.join(relevant, on=key, how="semi")
    named = pl.concat_str(key, separator="\n")  # a list of judgments of its own for each day
    grades = grades.with_columns(query_id=named).select("query_id", "memory_id", "grade")
    judged = judged.with_columns(list_id=named)
    results = [_shown(judged, "rank", "memory_id").with_columns(variant=pl.lit(LOGGED))]
    rankings = [
        judged.select("search_id", "policy_version", "abstained", query_id="list_id", variant=pl.lit(LOGGED))
    ]
    for found, ranked in _replayed(space, judged, tried, "what others would have shown"):
        results.append(found.select("search_id", "rank", "memory_id", "variant"))
        both = judged.select("search_id", query_id="list_id").join(ranked, on="search_id")
        rankings.append(both.select("search_id", "policy_version", "abstained", "query_id", "variant"))
    lists = pl.concat(rankings)
    done = evaluate_frame(
        lists.select("query_id", "search_id", "variant"), pl.concat(results), grades, MEASURES
    ).rename({str(measure): measure.column for measure in MEASURES})
    told = judged.select("search_id", "day", "namespace", own_query="query_id")
    rows = done.join(lists.drop("query_id"), on=["search_id", "variant"]).join(told, on="search_id")
    return rows.select(
        "day", "namespace", "search_id", "variant", "policy_version", *COLUMNS, "abstained",
        pl.col("relevant").cast(pl.Int32),
        score_id=pl.concat_str("search_id", "variant", separator=":"), query_id="own_query",
    ).select(space.store.specs["evaluation_scores"].schema.names)  # fmt: skip


def compare_days(space: Workspace, days: Sequence[str], tried: Sequence[Tried]) -> pl.DataFrame:
    """Rows of ``shadow_scores``: how far other rankings are from what was shown (rule 6.4)."""
    searches = searches_of(space, days)
    logged = _shown(searches, "rank", "memory_id", "score")
    compared = [one for one in tried if one.role in COMPARED_ROLES]
    rows = []
    for found, ranked in _replayed(space, searches, compared, "comparing with what was shown"):
        lists = ranked.select("search_id", "variant")
        done = compare_results(
            lists, logged, found.select("search_id", "variant", "rank", "memory_id", "score")
        )
        rows.append(done.join(ranked.drop("abstained"), on=["search_id", "variant"]))
    if not rows:
        return space.store.empty("shadow_scores")
    told = searches.select("search_id", "day", "namespace")
    return (
        pl.concat(rows)
        .join(told, on="search_id")
        .with_columns(shadow_id=pl.concat_str("search_id", "variant", separator=":"))
        .select(space.store.specs["shadow_scores"].schema.names)
    )


def mean_distances(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the number of searches and the mean `DISTANCES` of each variant."""
    means = pl.col(DISTANCES).mean()
    return rows.group_by("variant").agg(pl.len().alias("searches"), means).sort("variant")


def attribute_days(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Rows of ``channel_attribution``: which channels found what was shown (rule 6.5)."""
    return attribute(space, searches_of(space, days))


def attribute(space: Workspace, searches: pl.DataFrame) -> pl.DataFrame:
    """Rows of ``channel_attribution`` of these searches; an import does not say which channel found what."""
    results = _shown(searches, "rank", "memory_id", "channels")
    whose = searches.select("search_id", "day", "namespace")
    return (
        attribution(results)
        .join(whose, on="search_id")
        .with_columns(attribution_id=pl.concat_str("search_id", "channel", separator=":"))
        .select(space.store.specs["channel_attribution"].schema.names)
    )


def _replayed(
    space: Workspace, searches: pl.DataFrame, tried: Sequence[Tried], what: str
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """For each slice of the searches: what others would have shown, and which would have abstained."""
    policies = [one.variant for one in tried]
    if not policies:
        return
    with progress.task(what, searches.height) as advance:
        given = _logged(space, searches)
        for found, ranked in space.engine.map(partial(replayed, policies), given):
            yield found, ranked
            advance(ranked["search_id"].n_unique())


def _logged(space: Workspace, searches: pl.DataFrame) -> Iterator[tuple[Batch, pl.DataFrame]]:
    """What slices of the searches considered, with their place in the slice; a slice is of one namespace."""
    for (namespace,), mine in searches.sort("namespace").group_by("namespace", maintain_order=True):
        days = mine["day"].unique().sort().to_list()
        for part in logged_searches(space.journal, days, str(namespace), only=mine["search_id"]):
            yield part.batch, part.searches.select("search", "search_id")


def replayed(
    policies: Sequence[Variant], slice_: tuple[Batch, pl.DataFrame]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What some rankings would have shown for a slice of searches, and which of them would have abstained.

    A function of what it is given alone: any worker may compute it.

    Args:
        policies: the rankings; at least one.
        slice_: what the searches considered, and ``search``, ``search_id`` of each.
    """
    batch, places = slice_
    versions = pl.DataFrame(
        {
            "variant": [one.name for one in policies],
            "policy_version": [one.policy.version for one in policies],
        },
        schema={"variant": pl.String, "policy_version": pl.String},
    )
    found = replay(batch, policies, depth=None).join(places, on="search")
    ranked = abstentions(batch, policies).join(places, on="search").join(versions, on="variant")
    return found, ranked.select("search_id", "variant", "policy_version", "abstained")
