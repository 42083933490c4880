"""Rows of ``interleavings``: interleaved searches with feedback, credited to the two policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from slowwave.evaluation.derived_judgments import clicked_results
from slowwave.journal.kinds.fields import decoded, struct
from slowwave.journal.kinds.search import SearchPayload
from slowwave.store.frames import quote

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

SEARCHES_AT_ONCE = 2_000
"""Searches in memory at a time (count). One with its candidates is tens of kilobytes."""

_PAYLOAD = struct(
    SearchPayload, "policy_version", "shown.memory_id", "interleaving.policy_version", "interleaving.teams"
)


def interleaved_days(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Build the ``interleavings`` rows of searches whose first feedback came on these days.

    As with judgments from selections, a search counts from the day of its first feedback, and later feedback
    changes nothing. So days can be evaluated one at a time, together, or again. Searches without feedback are
    left out.
    """
    used = clicked_results(space.store, max(days)).filter(pl.col("day").is_in(list(days)))
    names = used["search_id"].unique()
    searches = space.store.scan("searches", f"day <= {quote(max(days))}", columns=["search_id", "day"])
    on = searches.filter(pl.col("search_id").is_in(names.implode()))["day"].unique().sort().to_list()
    empty = space.store.empty("interleavings")
    parts = [_credited(rows, used).select(empty.columns) for rows in _interleaved(space, on, names)]
    return pl.concat([empty, *parts])


def _interleaved(space: Workspace, days: Sequence[str], names: pl.Series) -> Iterator[pl.DataFrame]:
    """Yield the interleaved searches of these days, slice by slice."""
    for page in space.journal.pages(kinds=("search",), days=days, size=SEARCHES_AT_ONCE):
        wanted = page.filter(pl.col("event_id").is_in(names.implode()))
        rows = decoded(wanted, _PAYLOAD)[0].filter(pl.col("interleaving").is_not_null())
        yield (
            rows.drop("day")
            .unnest("interleaving", separator=".")
            .rename(
                {
                    "event_id": "search_id",
                    "policy_version": "policy_a",
                    "interleaving.policy_version": "policy_b",
                }
            )
        )


def _credited(rows: pl.DataFrame, used: pl.DataFrame) -> pl.DataFrame:
    """Add the day of the first feedback, and the number of used results per policy."""
    places = rows.select("search_id", "shown", team="interleaving.teams").explode("shown", "team")
    places = places.with_columns(memory_id=pl.col("shown").struct["memory_id"])
    selections = places.join(used.drop("day"), on=["search_id", "memory_id"], how="left")
    credit = selections.group_by("search_id").agg(
        **{f"credit_{team}": (pl.col("clicked") & (pl.col("team") == team)).sum().cast(pl.Int32)
           for team in ("a", "b")},
    )  # fmt: skip
    first = used.group_by("search_id").agg(pl.col("day").first())
    return rows.join(credit, on="search_id").join(first, on="search_id")
