"""Staging of journal entries: one row of ``staged_notes`` per memory and day."""

from __future__ import annotations

from datetime import datetime
from functools import cache

import orjson
import polars as pl

from slowwave.common import ids
from slowwave.journal.kinds.fields import read, struct
from slowwave.journal.kinds.note import LISTS, NOTE, SOUND, Save
from slowwave.store.tables import NOTE_FIELDS

_UTC = pl.Datetime("us", "UTC")


def stage(entries: pl.DataFrame) -> pl.DataFrame:
    """Return the last event on each memory and day, in the order of admission.

    Args:
        entries: Journal rows of kinds save, forget, undo, accept and unreadable.

    Returns:
        Rows of ``staged_notes``. Direct saves come before vault notes, since they were admitted by day
        already. Then by (created_at, memory_id), so that the order of arrival does not matter.
    """
    entries = _decoded(entries)
    named = cache(ids.memory_id)
    names, revisions, follows = [], [], []
    wanted = ("namespace", "subject", "follows", "ordered_at", "event_id")
    columns = (entries[name].to_list() for name in wanted)
    for space, subject, key, moment, event in zip(*columns, strict=True):
        names.append(named(space, subject))
        revisions.append(ids.revision(moment, event))
        follows.append(named(space, key) if key and key != subject else None)
    acts = entries.with_columns(
        pl.Series("memory_id", names, pl.String), pl.Series("revision", revisions, pl.String),
        pl.Series("follows", follows, pl.String),
    )  # fmt: skip
    if acts.height > 1:
        # An unreadable entry must not replace another event of its day.
        acts = acts.sort(~pl.col("broken") & (pl.col("kind") != "unreadable"), "revision")
        acts = acts.unique(["day", "memory_id"], keep="last", maintain_order=True)
    rows = acts.select(_STAGED)
    if rows.height > 1:
        rows = rows.sort("day", pl.col("origin") != "", "created_at", "memory_id")
    return rows


def saved_dates(entries: pl.DataFrame) -> dict[str, datetime]:
    """Return the moments of texts that were brought back, by the event that did so.

    Args:
        entries: Journal rows as of `stage`.
    """
    carrying = entries.filter(pl.col("payload").bin.contains(b'"saved_at"'))
    if carrying.is_empty():
        return {}
    dates = read(carrying, struct(Save, "saved_at"))[0].select("event_id", pl.col("saved_at").cast(_UTC))
    return dict(dates.drop_nulls().iter_rows())


_STAGED = [
    pl.concat_str("day", pl.lit(":"), "memory_id").alias("staged_id"),
    *map(pl.col, ("day", "namespace", "memory_id", "revision")),
    pl.when(pl.col("broken")).then(pl.lit("unreadable")).otherwise("kind").alias("act"),
    *(pl.col("subject").alias("source") if name == "source" else pl.col(name) for name in NOTE_FIELDS),
    pl.coalesce("saved_by", "principal").alias("principal"),
    pl.coalesce(pl.col("created_at").cast(_UTC), "occurred_at").alias("created_at"),
    pl.col("created_at").is_not_null().alias("dated"),
    *map(pl.col, ("occurred_at", "seq", "size_bytes", "released", "reason", "message")),
]


def _decoded(entries: pl.DataFrame) -> pl.DataFrame:
    """Decode the payloads of entries; `broken` marks those that cannot be read as notes.

    One malformed entry must not stop a nightly job: it is set aside and quarantined. Erased entries are left
    out.
    """
    rows, unreadable = read(entries, NOTE)
    defaults = (pl.col(*LISTS).list.drop_nulls(), pl.lit(value=False).alias("broken"))
    good = rows.filter(SOUND).with_columns(*defaults)
    if good.height < rows.height:
        bad = rows.filter(~SOUND).select(*entries.drop("payload").columns)
        why = "it has no title, text or sensitivity, or its date is out of range"
        unreadable = [(bad, why), *unreadable]
    return pl.concat([good, *(_placeholder(*group) for group in unreadable)])


def _placeholder(entries: pl.DataFrame, why: str) -> pl.DataFrame:
    """Return quarantine rows for entries that cannot be read as notes."""
    message = f"Cannot read this journal entry as a note: {why}"
    payloads = [
        orjson.dumps({"title": subject, "reason": "bad_entry", "message": message})
        for subject in entries["subject"]
    ]
    broken = entries.with_columns(payload=pl.Series(payloads, dtype=pl.Binary))
    return read(broken, NOTE)[0].with_columns(broken=pl.lit(value=True))
