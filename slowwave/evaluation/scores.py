"""Rows of the evaluation tables: metrics of returned results and of replayed policies."""

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
"""Columns of the metrics."""
DISTANCES = ("overlap", "mean_score_change", "mean_rank_change", "rank_correlation")
"""Columns of ``shadow_scores``: distance of a policy from the returned results."""
COMPARED_ROLES = ("in force", "shadow", "baseline")
"""Roles whose results are compared with the returned ones. Ablations are compared by metrics only."""
_SEARCH = [
    "search_id", "day", "namespace", "query", "wanted", "policy_version", "abstained", "shown", "seq",
]  # fmt: skip


def searches_of(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Return the ``searches`` rows of some days with query ids, oldest first."""
    rows = space.store.scan("searches", one_of("day", days), columns=_SEARCH)
    return with_query_ids(rows.sort("seq"))


def _results(searches: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Return a row per returned result: ``search_id`` and columns of the result."""
    return shown_rows(searches, "search_id").select("search_id", *columns)


def score_days(space: Workspace, days: Sequence[str], tried: Sequence[Tried]) -> pl.DataFrame:
    """Build the ``evaluation_scores`` rows of days, each with the judgments at its end."""
    searches = searches_of(space, days)
    queries = searches.select("day", "namespace", "query_id").unique()
    if queries.is_empty():
        return space.store.empty("evaluation_scores")
    grades = daily_grades(judgments_until(space.store, max(days)), queries, space.settings.judge.agreement)
    return score(space, searches, grades, tried)


def score(
    space: Workspace, searches: pl.DataFrame, grades: pl.DataFrame, tried: Sequence[Tried]
) -> pl.DataFrame:
    """Build the ``evaluation_scores`` rows of searches with a relevant judgment.

    Args:
        space: Workspace whose journal has the candidates.
        searches: Rows of `searches_of`.
        grades: namespace, query_id, memory_id and grade; also ``day`` if each day has its own grades.
        tried: Variants to replay. An imported search has no candidates, so nothing is replayed on it.
    """
    by_day = ["day"] if "day" in grades.columns else []
    key = [*by_day, "namespace", "query_id"]
    relevant = grades.filter(pl.col("grade") > 0).select(key).unique()
    judged = searches.join(relevant, on=key, how="semi")
    list_ids = pl.concat_str(key, separator="\n")  # each day has its own list of judgments
    grades = grades.with_columns(query_id=list_ids).select("query_id", "memory_id", "grade")
    judged = judged.with_columns(list_id=list_ids)
    results = [_results(judged, "rank", "memory_id").with_columns(variant=pl.lit(LOGGED))]
    rankings = [
        judged.select("search_id", "policy_version", "abstained", query_id="list_id", variant=pl.lit(LOGGED))
    ]
    for replayed_rows, ranked in _replayed(space, judged, tried, "replaying other policies"):
        results.append(replayed_rows.select("search_id", "rank", "memory_id", "variant"))
        both = judged.select("search_id", query_id="list_id").join(ranked, on="search_id")
        rankings.append(both.select("search_id", "policy_version", "abstained", "query_id", "variant"))
    lists = pl.concat(rankings)
    metrics = evaluate_frame(
        lists.select("query_id", "search_id", "variant"), pl.concat(results), grades, MEASURES
    ).rename({str(measure): measure.column for measure in MEASURES})
    columns = judged.select("search_id", "day", "namespace", own_query="query_id")
    rows = metrics.join(lists.drop("query_id"), on=["search_id", "variant"]).join(columns, on="search_id")
    return rows.select(
        "day", "namespace", "search_id", "variant", "policy_version", *COLUMNS, "abstained",
        pl.col("relevant").cast(pl.Int32),
        score_id=pl.concat_str("search_id", "variant", separator=":"), query_id="own_query",
    ).select(space.store.specs["evaluation_scores"].schema.names)  # fmt: skip


def compare_days(space: Workspace, days: Sequence[str], tried: Sequence[Tried]) -> pl.DataFrame:
    """Build the ``shadow_scores`` rows: distance of policies from the returned results (rule 6.4)."""
    searches = searches_of(space, days)
    logged = _results(searches, "rank", "memory_id", "score")
    compared = [item for item in tried if item.role in COMPARED_ROLES]
    rows = []
    for replayed_rows, ranked in _replayed(space, searches, compared, "comparing with returned results"):
        lists = ranked.select("search_id", "variant")
        distances = compare_results(
            lists, logged, replayed_rows.select("search_id", "variant", "rank", "memory_id", "score")
        )
        rows.append(distances.join(ranked.drop("abstained"), on=["search_id", "variant"]))
    if not rows:
        return space.store.empty("shadow_scores")
    columns = searches.select("search_id", "day", "namespace")
    return (
        pl.concat(rows)
        .join(columns, on="search_id")
        .with_columns(shadow_id=pl.concat_str("search_id", "variant", separator=":"))
        .select(space.store.specs["shadow_scores"].schema.names)
    )


def mean_distances(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the number of searches and the mean `DISTANCES` of each variant."""
    means = pl.col(DISTANCES).mean()
    return rows.group_by("variant").agg(pl.len().alias("searches"), means).sort("variant")


def attribute_days(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Build the ``channel_attribution`` rows of days: channels of each returned result (rule 6.5)."""
    return attribute(space, searches_of(space, days))


def attribute(space: Workspace, searches: pl.DataFrame) -> pl.DataFrame:
    """Build the ``channel_attribution`` rows of searches.

    Imported searches have no channels.
    """
    results = _results(searches, "rank", "memory_id", "channels")
    columns = searches.select("search_id", "day", "namespace")
    return (
        attribution(results)
        .join(columns, on="search_id")
        .with_columns(attribution_id=pl.concat_str("search_id", "channel", separator=":"))
        .select(space.store.specs["channel_attribution"].schema.names)
    )


def _replayed(
    space: Workspace, searches: pl.DataFrame, tried: Sequence[Tried], label: str
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield per slice of the searches: results of the variants, and their abstentions."""
    policies = [item.variant for item in tried]
    if not policies:
        return
    with progress.task(label, searches.height) as advance:
        slices = candidate_slices(space, searches)
        for results, ranked in space.engine.map(partial(replayed, policies), slices):
            yield results, ranked
            advance(ranked["search_id"].n_unique())


def candidate_slices(space: Workspace, searches: pl.DataFrame) -> Iterator[tuple[Batch, pl.DataFrame]]:
    """Yield the candidates of each slice of one namespace, with the searches' places in it."""
    for (namespace,), namespace_searches in searches.sort("namespace").group_by(
        "namespace", maintain_order=True
    ):
        days = namespace_searches["day"].unique().sort().to_list()
        for part in logged_searches(
            space.journal, days, str(namespace), only=namespace_searches["search_id"]
        ):
            yield part.batch, part.searches.select("search", "search_id")


def replayed(
    policies: Sequence[Variant], slice_: tuple[Batch, pl.DataFrame]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Replay policies on a slice of searches: their results and abstentions.

    A pure function, so any worker may compute it.

    Args:
        policies: Variants; at least one.
        slice_: Candidates of the searches, and ``search``, ``search_id`` of each.
    """
    batch, places = slice_
    versions = pl.DataFrame(
        {
            "variant": [policy.name for policy in policies],
            "policy_version": [policy.policy.version for policy in policies],
        },
        schema={"variant": pl.String, "policy_version": pl.String},
    )
    results = replay(batch, policies, depth=None).join(places, on="search")
    ranked = abstentions(batch, policies).join(places, on="search").join(versions, on="variant")
    return results, ranked.select("search_id", "variant", "policy_version", "abstained")
