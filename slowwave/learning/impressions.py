"""Rows of ``search_views``: returned results of searches and their selections (rule 7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.evaluation.derived_judgments import clicked_results, labels_here
from slowwave.feedback.questions import with_query_ids
from slowwave.feedback.text_attribution import named, texts
from slowwave.journal.kinds.search import shown_rows
from slowwave.learning.active_boosts import in_use
from slowwave.learning.proposals import with_lives
from slowwave.quality.instructions import is_instruction
from slowwave.scoring.feedback import query_key_features as teaching
from slowwave.scoring.feedback.learned import KEYS, refusal
from slowwave.store.frames import one_of

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.store import Store

_SIGNAL = [
    "day", "search_id", "memory_id", "principal", "occurred_at", "event_id", "tier", "verdict", "weight",
    "evidence", "imported", "text",
]  # fmt: skip
_PAIR = ["search_id", "memory_id"]
_SURE: Final = (pl.col("verdict") == "helpful") | (pl.col("evidence") == "citation")


def view_days(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Build the ``search_views`` rows of the searches whose first feedback came on these days.

    A search counts once, on the day of its first feedback. A selected result is credited to the user who
    selected it first; the others to the user who searched. Imported feedback does not count.

    Args:
        space: Workspace with signals, searches and memories.
        days: Days to process (YYYY-MM-DD).
    """
    store = space.store
    signals = _signals(store, days)
    empty = store.empty("search_views")
    if signals.is_empty():
        return empty
    rows = _results(store, signals)
    if rows.is_empty():
        return empty
    rows = _selected(rows, signals)
    rows = rows.with_columns(
        text=pl.coalesce("text", named(rows, texts(space, rows["memory_id"].unique().to_list()), "since"))
    )
    rows = with_lives(space, rows)
    policy = space.key_teaching
    queries = rows.select("namespace", "query_id", "query").unique("query_id", keep="first")
    instructions = [query for query in queries["query"].unique() if is_instruction(query)]
    rows = rows.with_columns(order=pl.col("query").is_in(instructions))
    why = pl.when("selected").then(refusal(policy, enabled=in_use(space, KEYS)))
    strength = pl.when("sure").then(1.0).otherwise(policy.usage_weight)
    taken = pl.when("selected").then(teaching.is_selected(strength, pl.col("share"), policy)).otherwise(0.0)
    return rows.with_columns(
        view_id=pl.concat_str("search_id", "memory_id", separator=":"),
        refusal=why, taken=taken, examined=teaching.is_examined(pl.col("rank"), policy),
    ).select(empty.columns)  # fmt: skip


def _signals(store: Store, days: Sequence[str]) -> pl.DataFrame:
    """Return the signals of these days for local searches without earlier feedback."""
    where = f"{one_of('day', days)} AND tier != 'detailed' AND search_id IS NOT NULL"
    signals = labels_here(store, store.scan("usage_signals", where, columns=_SIGNAL), imported=False)
    searches = signals["search_id"].unique().to_list()
    first = clicked_results(store, max(days), searches).filter(pl.col("day").is_in(list(days)))
    return signals.join(first, on=[*_PAIR, "day"], how="inner")


def _results(store: Store, signals: pl.DataFrame) -> pl.DataFrame:
    """Return every result of these searches: rank, share of the top score, and search."""
    first_feedback = signals.group_by("search_id").agg(pl.col("day").min(), first=pl.col("occurred_at").min())
    columns = ["search_id", "namespace", "query", "principal", "occurred_at", "shown"]
    searches = store.read_by("searches", "search_id", first_feedback["search_id"].to_list(), columns=columns)
    rows = shown_rows(with_query_ids(searches).rename({"principal": "asker", "occurred_at": "since"}))
    best = pl.col("score").sort_by("rank").first().over("search_id")
    share = pl.when(best > 0).then(pl.col("score") / best).otherwise(0.0)
    return rows.select(
        "search_id", "namespace", "query", "query_id", "asker", "since", "memory_id",
        pl.col("rank").cast(pl.Int32), share=share.clip(0.0, 1.0),
    ).join(first_feedback, on="search_id").unique(_PAIR, keep="first", maintain_order=True)  # fmt: skip


def _selected(rows: pl.DataFrame, signals: pl.DataFrame) -> pl.DataFrame:
    """Add the first selection of each result (user, time) and the text that was returned."""
    positive = signals.filter("clicked", pl.col("verdict").is_in(["used", "helpful"]), pl.col("weight") > 0)
    ordered = positive.sort("occurred_at", "event_id")
    selections = ordered.group_by(_PAIR, maintain_order=True).agg(
        by=pl.col("principal").first(), at=pl.col("occurred_at").first(), sure=_SURE.any(),
        text=pl.col("text").first(), selected=pl.lit(value=True),
    )  # fmt: skip
    return rows.join(selections, on=_PAIR, how="left", maintain_order="left").with_columns(
        pl.col("selected", "sure").fill_null(value=False),
        at=pl.coalesce("at", "first"),
        principal=pl.coalesce("by", "asker"),
    )
