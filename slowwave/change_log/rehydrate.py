"""Rehydration of recorded rows: their other columns come from the events that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from slowwave.change_log.columns import schema_of
from slowwave.common import ids
from slowwave.journal import projections
from slowwave.journal.entry import SOURCE_KINDS, WORDS
from slowwave.journal.entry_builders import entries_frame
from slowwave.journal.kinds.erasure import is_erased
from slowwave.quality.admission.labels import NAMES
from slowwave.store import NOTE_FIELDS, staging
from slowwave.store.frames import batches
from slowwave.store.labels import OWN
from slowwave.store.labels import own as own_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from slowwave.journal import Journal
    from slowwave.store.tables import TableSpec

ACTS = (*SOURCE_KINDS, *WORDS)
TEXT_OF = "text_of"
"""Column of memories during a rebuild: id of the event whose text they have."""


def _events(rows: pl.DataFrame) -> pl.Series:
    """Return the event ids in the revisions of rows."""
    return pl.Series([ids.event_of(revision) for revision in rows["revision"]], dtype=pl.String)


def rehydrate(
    spec: TableSpec, rows: pl.DataFrame, journal: Journal, texts: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Return rows of a table without vectors; rows whose event the journal misses are left out.

    Args:
        rows: Recorded columns; `full` marks rows that are recorded whole.
        journal: Has the events.
        texts: Of memories: rows recorded whole whose events are gone.
    """
    whole = rows.filter("full")
    heads = rows.filter(~pl.col("full"))
    if spec.name == "memories":
        made = _memories(heads, journal, whole.clear() if texts is None else texts)
    elif spec.name in _OF_ACTS:
        rows = _OF_ACTS[spec.name](heads, journal)
        made = heads.select(spec.key).join(rows, on=spec.key, how="inner")
    elif spec.name == "quarantine":
        texts_of = _acts(journal, _events(heads)).select("memory_id", "revision", "title", "content")
        made = heads.drop("title", "content").join(texts_of, on=["memory_id", "revision"], how="inner")
    else:
        made = heads
    columns = schema_of(spec)
    return pl.concat([made.select(pl.col(name).cast(kind) for name, kind in columns.items()),
                      whole.select(list(columns))])  # fmt: skip


def is_equal(spec: TableSpec, rows: pl.DataFrame, rebuilt: pl.DataFrame) -> pl.DataFrame:
    """Return the keys of the rows that are equal in both frames."""
    if len(spec.recorded) == len(schema_of(spec)):
        return rows.select(spec.key)
    hashes = [
        frame.select(spec.key, mark=pl.struct(pl.all().map_batches(_plain)).hash())
        for frame in (rows, rebuilt.select(rows.columns))
    ]
    return hashes[0].join(hashes[1], on=[spec.key, "mark"], how="semi").select(spec.key)


def _days(heads: pl.DataFrame) -> Sequence[str]:
    return heads["day"].unique().sort().to_list()


def _acts(journal: Journal, events: Iterable[str]) -> pl.DataFrame:
    """Return rows of ``staged_notes`` of these events, each with its event id as the day."""
    frames = [staging.stage(journal.read(kinds=["save"], limit=0))]
    for part in batches(sorted(set(events))):
        entries = [
            entry
            for entry in journal.entries(part).values()
            if entry.kind in ACTS and not is_erased(entry.payload)
        ]
        if entries:
            seqs = pl.Series([entry.seq for entry in entries], dtype=pl.Int64)
            frames.append(staging.stage(entries_frame(entries).with_columns(day="event_id", seq=seqs)))
    return pl.concat(frames)


def _staged_days(heads: pl.DataFrame, journal: Journal) -> pl.DataFrame:
    rows = _acts(journal, _events(heads))
    return (
        rows.with_columns(day=pl.col("occurred_at").dt.strftime("%Y-%m-%d"))
        .with_columns(staged_id=pl.concat_str("day", pl.lit(":"), "memory_id"))
        .join(heads.select("staged_id", "revision"), on=["staged_id", "revision"], how="semi")
    )


_OF_ACTS: dict[str, Callable[[pl.DataFrame, Journal], pl.DataFrame]] = {
    "staged_notes": _staged_days,
    "searches": lambda heads, journal: projections.drain_searches(journal, _days(heads)).rows,
    "events": lambda heads, journal: projections.drain_events(journal, _days(heads)).rows,
}
"""Tables whose rows follow from events, with the function that projects those of some records."""


def _memories(heads: pl.DataFrame, journal: Journal, texts: pl.DataFrame) -> pl.DataFrame:
    """Return memories with the columns of their events, or those recorded whole."""
    if TEXT_OF not in heads.columns:
        live = pl.col("status") != "retired"
        heads = heads.with_columns(_events(heads).alias(TEXT_OF)).with_columns(
            pl.when(live).then(TEXT_OF).alias(TEXT_OF)
        )
    own = (*NOTE_FIELDS, "principal")
    named = heads[TEXT_OF].drop_nulls().to_list()
    acts = _acts(journal, [*named, *_events(heads)])
    saves = acts.filter(pl.col("act") == "save").select(*own, **{TEXT_OF: "day"})
    names = {name: f"united_{name}" for name in NAMES}
    standing = heads.rename({"content": "merged", **names}).drop(*own, "original", strict=False)
    saved = standing.join(saves, on=TEXT_OF, how="inner")
    others = standing.join(saved, on="memory_id", how="anti")
    whole = own_labels(texts).with_columns(content=pl.coalesce("original", "content"))
    whole = whole.select("memory_id", *own)
    kept = others.join(whole, on="memory_id", how="inner")
    rest = others.join(kept, on="memory_id", how="anti")
    rest = rest.with_columns(_events(rest).alias("last"))
    forgets = acts.filter(pl.col("act") == "forget").select(
        "source", "origin", "principal", last="day", title="source", content=pl.lit("")
    )
    stones = rest.filter(pl.col(TEXT_OF).is_null()).join(forgets, on="last", how="inner").drop("last")
    every = pl.concat(
        [pl.DataFrame(schema=saved.schema), saved, kept.select(saved.columns), stones], how="diagonal"
    )
    merged, united = pl.col("merged").is_not_null(), pl.col(OWN).is_not_null()
    return every.with_columns(
        *(pl.when(united).then(label).otherwise(name).alias(name) for name, label in names.items()),
        original=pl.when(merged).then("content"),
        content=pl.coalesce("merged", "content"),
    )


def _plain(column: pl.Series) -> pl.Series:
    """Convert a column for hashing: lists and structs become text."""
    if isinstance(column.dtype, pl.List | pl.Struct):
        return pl.Series(
            column.name, [None if value is None else str(value) for value in column.to_list()], pl.String
        )
    return column
