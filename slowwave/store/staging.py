"""Entries of the journal become one row per memory and day: rows of ``staged_notes``."""

from __future__ import annotations

from functools import cache

import orjson
import polars as pl

from slowwave.common import ids
from slowwave.journal.kinds.fields import read
from slowwave.journal.kinds.note import LISTS, NOTE, SOUND
from slowwave.store.tables import NOTE_FIELDS

_UTC = pl.Datetime("us", "UTC")


def stage(entries: pl.DataFrame) -> pl.DataFrame:
    """What a day brought: the last act on each memory, in the order in which memories may enter.

    Args:
        entries: journal rows of kinds save, forget, undo and unreadable.

    Returns:
        Rows of ``staged_notes``. Direct saves come before vault notes (they were accepted by day
        already), then by (created_at, memory_id), so that the order of arrival does not matter.
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
        # What cannot be read says nothing: it takes no other act of its day away.
        acts = acts.sort(~pl.col("broken") & (pl.col("kind") != "unreadable"), "revision")
        acts = acts.unique(["day", "memory_id"], keep="last", maintain_order=True)
    rows = acts.select(_STAGED)
    if rows.height > 1:
        rows = rows.sort("day", pl.col("origin") != "", "created_at", "memory_id")
    return rows


_STAGED = [
    pl.concat_str("day", pl.lit(":"), "memory_id").alias("staged_id"),
    *map(pl.col, ("day", "namespace", "memory_id", "revision")),
    pl.when(pl.col("broken")).then(pl.lit("unreadable")).otherwise("kind").alias("act"),
    *(pl.col("subject").alias("source") if name == "source" else pl.col(name) for name in NOTE_FIELDS),
    pl.col("principal"),
    pl.coalesce(pl.col("created_at").cast(_UTC), "occurred_at").alias("created_at"),
    pl.col("created_at").is_not_null().alias("dated"),
    *map(pl.col, ("occurred_at", "seq", "size_bytes", "released", "reason", "message")),
]


def _decoded(entries: pl.DataFrame) -> pl.DataFrame:
    """Entries with the fields of their payloads; `broken` marks those that cannot be read as notes.

    One malformed act must not stop a night: it is told apart from the others and quarantined. One that was
    erased is left out: it says nothing any more.
    """
    found, unreadable = read(entries, NOTE)
    whole = (pl.col(*LISTS).list.drop_nulls(), pl.lit(value=False).alias("broken"))
    good = found.filter(SOUND).with_columns(*whole)
    if good.height < found.height:
        bad = found.filter(~SOUND).select(*entries.drop("payload").columns)
        why = "it has no title, text or sensitivity, or a date that is beyond all years"
        unreadable = [(bad, why), *unreadable]
    return pl.concat([good, *(_stand_in(*one) for one in unreadable)])


def _stand_in(entries: pl.DataFrame, why: str) -> pl.DataFrame:
    """What stands in quarantine for acts that cannot be read as notes."""
    message = f"This act of the journal cannot be read as a note: {why}"
    told = [
        orjson.dumps({"title": subject, "reason": "bad_entry", "message": message})
        for subject in entries["subject"]
    ]
    broken = entries.with_columns(payload=pl.Series(told, dtype=pl.Binary))
    return read(broken, NOTE)[0].with_columns(broken=pl.lit(value=True))
