"""Rows of ``interleavings``: searches that showed two rankings in turn, and whose results were used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from slowwave.evaluation.truth import clicked_results
from slowwave.feedback.drain import decoded

if TYPE_CHECKING:
    from slowwave.workspace import Workspace

_PAYLOAD = pl.Struct(
    {
        "policy_version": pl.String,
        "shown": pl.List(pl.Struct({"memory_id": pl.String})),
        "interleaving": pl.Struct({"policy_version": pl.String, "teams": pl.List(pl.String)}),
    }
)


def interleaved_days(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Each interleaved search of these days, with how many results of each ranking were used.

    The verdicts of the first day that has any count, as for judgments by selections. Whatever comes later is
    seen when the day is evaluated again.
    """
    spec = space.store.specs["interleavings"].schema.names
    entries = space.journal.read(kinds=("search",), days=days)
    rows = decoded(entries, _PAYLOAD)[0].filter(pl.col("interleaving").is_not_null())
    if rows.is_empty():
        return space.store.empty("interleavings")
    rows = rows.unnest("interleaving", separator=".").rename(
        {"event_id": "search_id", "policy_version": "policy_a", "interleaving.policy_version": "policy_b"}
    )
    used = clicked_results(space.store, "9999", rows["search_id"].to_list())
    places = rows.select("search_id", "shown", team="interleaving.teams").explode("shown", "team")
    places = places.with_columns(memory_id=pl.col("shown").struct["memory_id"])
    taken = places.join(used, on=["search_id", "memory_id"], how="left").group_by("search_id").agg(
        **{f"credit_{team}": (pl.col("clicked") & (pl.col("team") == team)).sum().cast(pl.Int32)
           for team in ("a", "b")},
        observed=pl.col("clicked").is_not_null().any(),
    )  # fmt: skip
    return rows.join(taken, on="search_id").select(spec)
