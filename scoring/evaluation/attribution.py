"""Channel attribution: coverage and exclusive contribution rate (rule 6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.scoring.evaluation.resampling import percentiles, ratio, resampled_totals

CHANNELS = ("vector", "bm25", "trigger")
ALL = "*"
DEPTH = 10

_COUNTS = ("results", "covered", "exclusive", "single", "multi", "unattributed")


@dataclass(frozen=True, slots=True)
class ChannelContribution:
    """Contribution of one channel to many searches.

    Attributes:
        searches: searches with results (count).
        results: results in their top K (count).
        covered: results that the channel found (count).
        exclusive: results that no other channel found (count).
        coverage: covered ÷ results, with its interval.
        ecr: exclusive ÷ results, with its interval.
    """

    channel: str
    searches: int
    results: int
    covered: int
    exclusive: int
    coverage: float
    coverage_low: float
    coverage_high: float
    ecr: float
    ecr_low: float
    ecr_high: float


def attribution(results: pl.DataFrame, *, k: int = DEPTH, channels: Sequence[str] = CHANNELS) -> pl.DataFrame:
    """Count the results of each search's top K by channel.

    The exclusive contribution rate (``ecr``) divides by the actual number of results in the top K. A search
    without results has no row.

    Args:
        results: search_id, rank (from 1), memory_id, channels (list of text; empty or null if unknown).
        k: size of the top K.
        channels: channels with a row for every search. Any other channel has rows for the searches where it
            found a result.

    Returns:
        search_id, channel, results (in the top K); covered, exclusive (counts) and ecr in a channel's row;
        single, multi and unattributed (results of one channel, several, none) in the row of channel ``*``.
        Sorted by search_id and channel.

    Raises:
        ValueError: `k` is below 1, or a rank is.
    """
    if k < 1:
        raise ValueError(f"k = {k}: at least one result must count")
    if (results["rank"] < 1).any():
        raise ValueError(f"rank = {results['rank'].to_numpy().min()}: ranks start at 1")
    finding_channels = pl.col("channels").fill_null([]).list.unique().list.drop_nulls()
    top = results.filter(pl.col("rank") <= k).select("search_id", channel=finding_channels)
    top = top.with_columns(finders=pl.col("channel").list.len())
    whole = top.group_by("search_id").agg(
        results=pl.len(),
        single=(pl.col("finders") == 1).sum(),
        multi=(pl.col("finders") > 1).sum(),
        unattributed=(pl.col("finders") == 0).sum(),
    )
    by_channel = (
        top.filter(pl.col("finders") > 0)
        .explode("channel")
        .group_by("search_id", "channel")
        .agg(covered=pl.len(), exclusive=(pl.col("finders") == 1).sum())
    )
    named = whole.select("search_id").join(
        pl.DataFrame({"channel": list(channels)}, schema={"channel": pl.String}), how="cross"
    )
    each = (
        pl.concat([named, by_channel.select("search_id", "channel")])
        .unique()
        .join(by_channel, on=["search_id", "channel"], how="left")
        .with_columns(pl.col("covered", "exclusive").fill_null(0))
        .join(whole.select("search_id", "results"), on="search_id")
    )
    # Not polars' division: by a constant column it multiplies, which changes the last digit.
    each = each.with_columns(ecr=pl.Series(each["exclusive"].to_numpy() / each["results"].to_numpy()))
    rows = pl.concat([each, whole.with_columns(channel=pl.lit(ALL))], how="diagonal_relaxed")
    return rows.select(
        "search_id", "channel", *(pl.col(name).cast(pl.Int32) for name in _COUNTS), "ecr"
    ).sort("search_id", "channel")  # fmt: skip


def contributions(rows: pl.DataFrame, questions: pl.DataFrame | None = None) -> list[ChannelContribution]:
    """Sum each channel's contribution to all searches, by channel.

    Rates are over all results, so a search with two results weighs less than one with ten. Results of a
    search, and searches of a question, are not independent. So the bootstrap draws whole questions; Wilson
    intervals over results would be too narrow.

    Args:
        rows: result of `attribution`, with the rows of channel ``*``.
        questions: ``search_id`` and ``query_id`` of these searches; None: all questions differ.
    """
    nothing = pl.DataFrame(schema={"search_id": pl.String, "query_id": pl.String})
    query_ids = nothing if questions is None else questions.select(nothing.columns)
    totals = rows.filter(pl.col("channel") == ALL).select("search_id", whole="results")
    contributions_by_channel = []
    for channel in sorted(set(rows["channel"].unique()) - {ALL}):
        channel_rows = rows.filter(pl.col("channel") == channel).select("search_id", "covered", "exclusive")
        counts = (
            totals.join(channel_rows, on="search_id", how="left")
            .with_columns(pl.col("covered", "exclusive").fill_null(0))
            .join(query_ids, on="search_id", how="left")
            .group_by(pl.coalesce("query_id", "search_id"), maintain_order=True)
            .agg(pl.col("whole", "covered", "exclusive").sum(), searches=pl.len())
        )
        if len(counts):
            contributions_by_channel.append(_contribution(channel, counts))
    return contributions_by_channel


def _contribution(channel: str, questions: pl.DataFrame) -> ChannelContribution:
    counts = questions.select("whole", "covered", "exclusive").to_numpy().astype(np.float64)
    drawn = resampled_totals(counts)
    results, covered, exclusive = (int(total) for total in counts.sum(axis=0))
    coverage = percentiles(ratio(drawn[:, 1], drawn[:, 0]))
    ecr = percentiles(ratio(drawn[:, 2], drawn[:, 0]))
    return ChannelContribution(
        channel, int(questions["searches"].sum()), results, covered, exclusive,
        covered / results, *coverage, exclusive / results, *ecr,
    )  # fmt: skip
