"""Entries of the journal become one row per memory and day: rows of ``staged_notes``."""

from __future__ import annotations

import orjson
import polars as pl

from slowwave.common import ids
from slowwave.journal.sound import ERASED
from slowwave.store.tables import NOTE_FIELDS

_PAYLOAD = pl.Struct(
    {
        "title": pl.String,
        "content": pl.String,
        "created_at": pl.Int64,
        "memory_type": pl.String,
        "importance_tier": pl.String,
        "retrieval_priority": pl.String,
        "sensitivity": pl.String,
        "state": pl.String,
        "source_kind": pl.String,
        "source_of_truth": pl.Boolean,
        "trigger_phrases": pl.List(pl.String),
        "tags": pl.List(pl.String),
        "aliases": pl.List(pl.String),
        "links": pl.List(pl.String),
        "metadata": pl.String,
        "front_matter": pl.String,
        "context": pl.String,
        "follows": pl.String,
        "reason": pl.String,
        "message": pl.String,
        "size_bytes": pl.Int64,
        "released": pl.Boolean,
        ERASED: pl.String,
    }
)
_LISTS = ("trigger_phrases", "tags", "aliases", "links")
_YEARS = (-62_135_596_800_000_000, 253_402_300_799_999_999)  # microseconds: what a date can be
_NOTE = pl.col("payload").cast(pl.String).str.json_decode(_PAYLOAD)
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
    subjects = entries.select("namespace", "subject").unique()
    names = subjects.with_columns(
        memory_id=pl.Series(
            [ids.memory_id(space, source) for space, source in subjects.iter_rows()], dtype=pl.String
        )
    )
    revisions = pl.Series(
        [
            ids.revision(moment, event)
            for moment, event in entries.select("ordered_at", "event_id").iter_rows()
        ],
        dtype=pl.String,
    )
    entries = entries.with_columns(revision=revisions).unnest("note").drop(ERASED)
    follows = pl.Series(
        [
            ids.memory_id(space, key) if key and key != subject else None
            for space, subject, key in entries.select("namespace", "subject", "follows").iter_rows()
        ],
        dtype=pl.String,
    )
    return (
        entries.with_columns(follows=follows)
        .join(names, on=["namespace", "subject"], how="left")
        # What cannot be read says nothing: it takes no other act of its day away.
        .sort(~pl.col("broken") & (pl.col("kind") != "unreadable"), "revision")
        .unique(["day", "memory_id"], keep="last", maintain_order=True)
        .with_columns(
            staged_id=pl.concat_str("day", pl.lit(":"), "memory_id"),
            act=pl.when(pl.col("broken")).then(pl.lit("unreadable")).otherwise("kind"),
            source="subject",
            dated=pl.col("created_at").is_not_null(),
            created_at=pl.coalesce(pl.col("created_at").cast(_UTC), "occurred_at"),
        )
        .sort("day", pl.col("origin") != "", "created_at", "memory_id")
        .select(
            "staged_id", "day", "namespace", "memory_id", "revision", "act", *NOTE_FIELDS,
            "principal", "created_at", "dated", "occurred_at", "seq", "size_bytes", "released", "reason",
            "message",
        )
    )  # fmt: skip


def _decoded(entries: pl.DataFrame) -> pl.DataFrame:
    """Entries with their payload as a struct `note`; `broken` marks those whose payload is not one.

    One malformed act must not stop a night: it is told apart from the others and quarantined. One that was
    erased is left out: it says nothing any more.
    """
    try:
        read = entries.with_columns(note=_NOTE)
    except pl.exceptions.PolarsError as error:
        if entries.height > 1:
            half = entries.height // 2
            return pl.concat([_decoded(entries[:half]), _decoded(entries[half:])])
        return _stand_in(entries, str(error).splitlines()[0])
    note = pl.col("note").struct
    named = pl.all_horizontal(note[name].is_not_null() for name in ("title", "content", "sensitivity"))
    dated = note["created_at"].is_null() | note["created_at"].is_between(*_YEARS)
    sound = dated & ((pl.col("kind") != "save") | named)
    lists = note.with_fields(*(pl.field(name).list.drop_nulls() for name in _LISTS))
    read = read.filter(note[ERASED].is_null())
    good = read.filter(sound).with_columns(note=lists, broken=pl.lit(value=False))
    bad = read.filter(~sound)
    why = "it has no title, text or sensitivity, or a date that is beyond all years"
    return good if bad.is_empty() else pl.concat([good, _stand_in(bad.drop("note"), why)])


def _stand_in(entries: pl.DataFrame, why: str) -> pl.DataFrame:
    """What stands in quarantine for acts that cannot be read as notes."""
    message = f"This act of the journal cannot be read as a note: {why}"
    told = [
        orjson.dumps({"title": subject, "reason": "bad_entry", "message": message})
        for subject in entries["subject"]
    ]
    broken = entries.with_columns(payload=pl.Series(told, dtype=pl.Binary))
    return broken.with_columns(note=_NOTE, broken=pl.lit(value=True))
