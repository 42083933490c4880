"""Rows of ``judgments`` derived from trigger phrases (A) and selections (B) (rule 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from slowwave.feedback.questions import with_query_ids
from slowwave.journal.kinds.search import shown_rows
from slowwave.scoring.evaluation.click_judgments import click_judgments
from slowwave.store.frames import quote

if TYPE_CHECKING:
    from slowwave.store import Store

TRIGGERS, SELECTIONS = "triggers", "selections"
TRIGGER_GRADE = 3.0
WITHDRAWN, NO_OPINION = "withdrawn", "no opinion"
_VERDICT = [
    "day", "search_id", "memory_id", "principal", "tier", "verdict", "weight", "occurred_at", "signal_id",
    "imported",
]  # fmt: skip
_IMPRESSION = ["day", "namespace", "query_id", "query", "memory_id", "rank", "clicked"]


def search_of(store: Store, rows: pl.DataFrame) -> pl.DataFrame:
    """Add the query id of each row's search; an unlogged search stands for itself."""
    names = rows["search_id"].unique().to_list()
    searches = store.read_by("searches", "search_id", names, columns=["search_id", "namespace", "query"])
    query_ids = with_query_ids(searches).select("search_id", "query_id")
    return rows.join(query_ids, on="search_id", how="left", maintain_order="left").with_columns(
        pl.coalesce("query_id", "search_id").alias("query_id")
    )


def trigger_judgments(store: Store, days: Sequence[str]) -> pl.DataFrame:
    """Build judgments of source A: a saved trigger phrase should find its memory.

    A phrase is withdrawn if a later version drops it or the note was forgotten. It belongs to the
    memory, whoever saved it.
    """
    first, last = quote(min(days)), quote(max(days))
    staged = _staged(store, f"day >= {first} AND day <= {last}")
    names = staged["memory_id"].unique().to_list()
    earlier = store.read_by(
        "staged_notes", "memory_id", names, columns=_NOTE, also=f"act IN ('save', 'forget') AND day < {first}"
    )
    previous = _newest(_accepted(store, earlier))
    events = pl.concat([previous, _accepted(store, staged)]).sort("memory_id", "revision")
    phrases = pl.when(pl.col("act") == "save").then("trigger_phrases").otherwise(None).fill_null([])
    events = events.with_columns(phrases=phrases).with_columns(
        gone=pl.col("phrases").shift(1).over("memory_id").fill_null([]).list.set_difference("phrases")
    )
    events = events.filter(pl.col("day").is_in(list(days)))
    parts = [
        events.explode(column)
        .filter(pl.col(column).is_not_null() & (pl.col(column).str.strip_chars() != ""))
        .select(
            "day", "namespace", "memory_id", "revision", made_at="occurred_at", query=column,
            state=pl.lit(state), grade=pl.lit(grade, pl.Float64), principal=pl.lit(""),
        )
        for column, state, grade in (("gone", WITHDRAWN, None), ("phrases", "graded", TRIGGER_GRADE))
    ]  # fmt: skip
    # A phrase with another spelling is the same query: removed and present counts as present.
    rows = (
        with_query_ids(pl.concat(parts))
        .sort("revision", maintain_order=True)
        .unique(["day", "query_id", "memory_id"], keep="last", maintain_order=True)
    )
    return _as_rows(store, rows.with_columns(source=pl.lit(TRIGGERS)))


_NOTE = ["day", "namespace", "memory_id", "revision", "act", "trigger_phrases", "occurred_at"]


def _staged(store: Store, where: str) -> pl.DataFrame:
    return store.read("staged_notes", f"act IN ('save', 'forget') AND {where}", columns=_NOTE)


def _newest(notes: pl.DataFrame) -> pl.DataFrame:
    return notes.sort("revision").unique("memory_id", keep="last", maintain_order=True)


def _accepted(store: Store, notes: pl.DataFrame) -> pl.DataFrame:
    """Return the notes without quarantined ones, which no search finds."""
    names = notes["memory_id"].unique().to_list()
    quarantined = store.read_by("quarantine", "memory_id", names, columns=["memory_id", "revision"])
    return notes.join(quarantined, on=["memory_id", "revision"], how="anti")


def selection_judgments(store: Store, days: Sequence[str]) -> pl.DataFrame:
    """Build judgments of source B from selections of all searches up to each day's end.

    A search counts from the day of its first feedback; feedback of later days changes nothing. A pair without
    an opinion gets a row only if it had a grade before. Evidence from imports has rows of its own.
    """
    return pl.concat([_selected(store, days, imported=imported) for imported in (False, True)])


def _selected(store: Store, days: Sequence[str], *, imported: bool) -> pl.DataFrame:
    """Build judgments from local selections, or else from all imported ones."""
    results = impressions(store, max(days), imported=imported)
    rows = click_judgments(results, first_day=min(days), last_day=max(days))
    rows = rows.filter(pl.col("grade").is_not_null() | _had_grade(store, rows, min(days), imported=imported))
    ends = pl.col("day").str.to_datetime("%Y-%m-%d", time_unit="us", time_zone="UTC").dt.offset_by("1d")
    rows = rows.filter(pl.col("day").is_in(list(days))).with_columns(
        source=pl.lit(SELECTIONS),
        state=pl.when(pl.col("grade").is_null()).then(pl.lit(NO_OPINION)).otherwise(pl.lit("graded")),
        made_at=ends - pl.duration(microseconds=1),
        principal=pl.lit("imported" if imported else ""),
        clicks=pl.col("clicks").cast(pl.Float64),
        imported=pl.lit(imported),
    )
    return _as_rows(store, rows)


def _had_grade(store: Store, rows: pl.DataFrame, first: str, *, imported: bool) -> pl.Series:
    """Return whether each row's pair had a grade from selections on an earlier day.

    Rows are sorted by day.
    """
    where = (
        f"source = '{SELECTIONS}' AND grade IS NOT NULL AND day < {quote(first)} "
        f"AND imported IS {'' if imported else 'NOT '}TRUE"
    )
    previous = store.scan("judgments", where, columns=["query_id", "memory_id"]).unique()
    graded = pl.col("grade").is_not_null().cast(pl.Int32)
    earlier = graded.cum_sum().over("query_id", "memory_id") - graded
    joined = rows.join(previous.with_columns(known=True), on=["query_id", "memory_id"], how="left",
                      maintain_order="left")  # fmt: skip
    return joined.select((earlier > 0) | pl.col("known").fill_null(value=False)).to_series()


def impressions(store: Store, until: str, *, imported: bool = False) -> pl.DataFrame:
    """Return the returned results of searches with feedback: a row per search and memory.

    Args:
        store: Store with searches and signals.
        until: Last day that counts.
        imported: As in `clicked_results`.

    Returns:
        day (of the first feedback), namespace, query_id, query, memory_id, rank, clicked.
    """
    clicked = clicked_results(store, until, imported=imported)
    first = clicked.group_by("search_id").agg(pl.col("day").first())
    queries = store.scan(
        "searches", f"day <= {quote(until)}", columns=["search_id", "namespace", "query", "shown"]
    )
    rows = shown_rows(with_query_ids(queries.join(first, on="search_id")))
    rows = rows.join(clicked.drop("day"), on=["search_id", "memory_id"], how="left")
    return rows.with_columns(pl.col("clicked").fill_null(value=False)).select(_IMPRESSION)


def clicked_results(
    store: Store, until: str, searches: Sequence[str] | None = None, *, imported: bool = False
) -> pl.DataFrame:
    """Return the feedback on results from the first day of feedback on their search.

    Local feedback on local searches is kept apart from imported feedback and from feedback on imports.
    Neither affects the searches, days or opinions of the other.

    Args:
        store: Store with the signals.
        until: Last day that counts.
        searches: Only these; None is all.
        imported: Imported feedback and feedback on imports, instead of local feedback.

    Returns:
        search_id, memory_id, day and clicked. Clicked means: an answer used it by more than words of the
        query, or it was rated helpful, and no correction followed on that day.
    """
    where = f"tier != 'detailed' AND day <= {quote(until)}"
    if searches is None:
        signals = store.scan("usage_signals", where, columns=_VERDICT)
    else:
        signals = store.read_by("usage_signals", "search_id", searches, columns=_VERDICT, also=where)
    signals = labels_here(store, signals, imported=imported)
    first = signals.group_by("search_id").agg(pl.col("day").min())
    signals = signals.join(first, on=["search_id", "day"]).sort("occurred_at", "signal_id")
    rated = pl.col("tier") == "quick"
    last = signals.filter(rated).unique(["search_id", "memory_id", "principal"], keep="last")
    positive = (pl.col("verdict").is_in(["used", "helpful"]) & (pl.col("weight") > 0)).any()
    return (
        pl.concat([signals.filter(~rated), last])
        .group_by("search_id", "memory_id")
        .agg(pl.col("day").first(), clicked=positive)
    )


def labels_here(store: Store, signals: pl.DataFrame, *, imported: bool = False) -> pl.DataFrame:
    """Return the ``usage_signals`` rows given locally on local searches, or all the others."""
    searches = store.scan("searches", "imported_from IS NOT NULL", columns=["search_id"])["search_id"]
    elsewhere = pl.col("imported").fill_null(value=False) | pl.col("search_id").is_in(searches.implode())
    return signals.filter(elsewhere.fill_null(value=False) == imported)


def _as_rows(store: Store, rows: pl.DataFrame) -> pl.DataFrame:
    key = pl.concat_str("day", "source", "query_id", "memory_id", separator=":")
    if "imported" in rows.columns:
        key += pl.when("imported").then(pl.lit(":imported")).otherwise(pl.lit(""))
    empty = store.empty("judgments")
    identified = rows.with_columns(judgment_id=key)
    typed = identified.select(
        pl.col(name).cast(empty.schema[name]) for name in empty.columns if name in identified.columns
    )
    return pl.concat([empty, typed], how="diagonal")
