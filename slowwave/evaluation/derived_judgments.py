"""Rows of ``judgments`` that follow from other tables: trigger phrases (A) and selections (B) (rule 6.1)."""

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
    """Rows with ``search_id``, and what that asked (``query_id``): itself, where the search is not logged."""
    names = rows["search_id"].unique().to_list()
    asked = store.read_by("searches", "search_id", names, columns=["search_id", "namespace", "query"])
    known = with_query_ids(asked).select("search_id", "query_id")
    return rows.join(known, on="search_id", how="left", maintain_order="left").with_columns(
        pl.coalesce("query_id", "search_id").alias("query_id")
    )


def trigger_judgments(store: Store, days: Sequence[str]) -> pl.DataFrame:
    """A: each trigger phrase of a note that was saved on one of these days should find its memory.

    A phrase that a later version of the note has no more, or whose note was forgotten, is withdrawn. It is
    the memory's own word, whoever saved it: what one wrote another may take away.
    """
    first, last = quote(min(days)), quote(max(days))
    staged = _staged(store, f"day >= {first} AND day <= {last}")
    names = staged["memory_id"].unique().to_list()
    earlier = store.read_by(
        "staged_notes", "memory_id", names, columns=_NOTE, also=f"act IN ('save', 'forget') AND day < {first}"
    )
    before = _newest(_accepted(store, earlier))
    acts = pl.concat([before, _accepted(store, staged)]).sort("memory_id", "revision")
    phrases = pl.when(pl.col("act") == "save").then("trigger_phrases").otherwise(None).fill_null([])
    acts = acts.with_columns(phrases=phrases).with_columns(
        gone=pl.col("phrases").shift(1).over("memory_id").fill_null([]).list.set_difference("phrases")
    )
    acts = acts.filter(pl.col("day").is_in(list(days)))
    said = [
        acts.explode(column)
        .filter(pl.col(column).is_not_null() & (pl.col(column).str.strip_chars() != ""))
        .select(
            "day", "namespace", "memory_id", "revision", made_at="occurred_at", query=column,
            state=pl.lit(state), grade=pl.lit(grade, pl.Float64), principal=pl.lit(""),
        )
        for column, state, grade in (("gone", WITHDRAWN, None), ("phrases", "graded", TRIGGER_GRADE))
    ]  # fmt: skip
    # A phrase that is only written in another way is the same query: gone and there, so there.
    rows = (
        with_query_ids(pl.concat(said))
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
    """Without those that were refused: no search can find them."""
    names = notes["memory_id"].unique().to_list()
    held = store.read_by("quarantine", "memory_id", names, columns=["memory_id", "revision"])
    return notes.join(held, on=["memory_id", "revision"], how="anti")


def selection_judgments(store: Store, days: Sequence[str]) -> pl.DataFrame:
    """B: what the selections of all searches up to the end of each day say, of what that day touched.

    A search counts from the day of its first verdict on; verdicts of later days change nothing. Where use has
    no opinion there is a row without a grade if it had one before, and none if it never had: most pairs.
    What rests on anything imported has rows of its own.
    """
    return pl.concat([_selected(store, days, imported=imported) for imported in (False, True)])


def _selected(store: Store, days: Sequence[str], *, imported: bool) -> pl.DataFrame:
    """The same of what was said here of searches made here, or of all the rest."""
    shown = impressions(store, max(days), imported=imported)
    rows = click_judgments(shown, first_day=min(days), last_day=max(days))
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
    """Whether the pair of each row, sorted by day, had a grade from selections on an earlier day."""
    where = (
        f"source = '{SELECTIONS}' AND grade IS NOT NULL AND day < {quote(first)} "
        f"AND imported IS {'' if imported else 'NOT '}TRUE"
    )
    before = store.scan("judgments", where, columns=["query_id", "memory_id"]).unique()
    graded = pl.col("grade").is_not_null().cast(pl.Int32)
    earlier = graded.cum_sum().over("query_id", "memory_id") - graded
    known = rows.join(before.with_columns(known=True), on=["query_id", "memory_id"], how="left",
                      maintain_order="left")  # fmt: skip
    return known.select((earlier > 0) | pl.col("known").fill_null(value=False)).to_series()


def impressions(store: Store, until: str, *, imported: bool = False) -> pl.DataFrame:
    """What searches showed, of those that got a verdict on any result: a row per search and memory.

    Args:
        store: has the searches and the signals.
        until: the last day that counts.
        imported: see `clicked_results`.

    Returns:
        day (of the first verdict), namespace, query_id, query, memory_id, rank, clicked.
    """
    clicked = clicked_results(store, until, imported=imported)
    first = clicked.group_by("search_id").agg(pl.col("day").first())
    asked = store.scan(
        "searches", f"day <= {quote(until)}", columns=["search_id", "namespace", "query", "shown"]
    )
    rows = shown_rows(with_query_ids(asked.join(first, on="search_id")))
    rows = rows.join(clicked.drop("day"), on=["search_id", "memory_id"], how="left")
    return rows.with_columns(pl.col("clicked").fill_null(value=False)).select(_IMPRESSION)


def clicked_results(
    store: Store, until: str, searches: Sequence[str] | None = None, *, imported: bool = False
) -> pl.DataFrame:
    """What was said of results on the first day on which anything was said of their search.

    What was said here of searches made here, and what was imported or is about an import, know nothing of
    each other: neither takes a search, a day or an opinion away from the other.

    Args:
        store: has the signals.
        until: the last day that counts.
        searches: only of these; None is all.
        imported: what was imported, and what is about imported searches, instead of the rest.

    Returns:
        search_id, memory_id, day and clicked: an answer used it by more than words of the query, or it was
        rated helpful, and that was not corrected on that day.
    """
    where = f"tier != 'detailed' AND day <= {quote(until)}"
    if searches is None:
        said = store.scan("usage_signals", where, columns=_VERDICT)
    else:
        said = store.read_by("usage_signals", "search_id", searches, columns=_VERDICT, also=where)
    said = labels_here(store, said, imported=imported)
    first = said.group_by("search_id").agg(pl.col("day").min())
    said = said.join(first, on=["search_id", "day"]).sort("occurred_at", "signal_id")
    rated = pl.col("tier") == "quick"
    last = said.filter(rated).unique(["search_id", "memory_id", "principal"], keep="last")
    positive = (pl.col("verdict").is_in(["used", "helpful"]) & (pl.col("weight") > 0)).any()
    return (
        pl.concat([said.filter(~rated), last])
        .group_by("search_id", "memory_id")
        .agg(pl.col("day").first(), clicked=positive)
    )


def labels_here(store: Store, said: pl.DataFrame, *, imported: bool = False) -> pl.DataFrame:
    """Of rows of ``usage_signals`` those given here of searches made here; or else all the others."""
    searches = store.scan("searches", "imported_from IS NOT NULL", columns=["search_id"])["search_id"]
    elsewhere = pl.col("imported").fill_null(value=False) | pl.col("search_id").is_in(searches.implode())
    return said.filter(elsewhere.fill_null(value=False) == imported)


def _as_rows(store: Store, rows: pl.DataFrame) -> pl.DataFrame:
    key = pl.concat_str("day", "source", "query_id", "memory_id", separator=":")
    if "imported" in rows.columns:
        key += pl.when("imported").then(pl.lit(":imported")).otherwise(pl.lit(""))
    empty = store.empty("judgments")
    made = rows.with_columns(judgment_id=key)
    known = made.select(
        pl.col(name).cast(empty.schema[name]) for name in empty.columns if name in made.columns
    )
    return pl.concat([empty, known], how="diagonal")
