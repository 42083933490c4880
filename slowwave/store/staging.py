"""Staging of journal entries: one row of ``staged_notes`` per memory and day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
import polars as pl

from slowwave.common import ids
from slowwave.journal.frames import ENTRY_SCHEMA
from slowwave.journal.kinds.erasure import ERASED
from slowwave.journal.kinds.fields import read, struct
from slowwave.journal.kinds.note import LISTS, NOTE, SOUND, Save, is_sound
from slowwave.scoring.days import day_of, from_microseconds
from slowwave.store.tables import NOTE_FIELDS

if TYPE_CHECKING:
    from slowwave.journal import Entry

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


# -- one save as a record: the same row, without frames ------------------------------------------

_KINDS: dict[Any, type] = {pl.String: str, pl.Int64: int, pl.Boolean: bool, pl.List(pl.String): list}
_FIELDS: tuple[tuple[str, Any], ...] = tuple((field.name, _KINDS[field.dtype]) for field in NOTE.fields)
_MAX_INTEGER = 2**63


def stage_save(entry: Entry) -> dict[str, Any] | None:
    """Return the row of `stage` for one save; None if only `stage` can read it.

    A payload whose fields have other types than a save's, an erased one and an unreadable one are left to
    `stage`, which costs fifty times as much.
    """
    if entry.kind != "save":
        return None
    note = _plain(entry.payload)
    if note is None or not is_sound(note) or note["saved_by"] is not None or note["saved_at"] is not None:
        return None
    moment = entry.occurred_at.astimezone(UTC)
    key, day, name = note["follows"], day_of(moment), ids.memory_id(entry.namespace, entry.subject)
    carried = note["created_at"]
    note |= {
        "source": entry.subject, "origin": entry.origin, "content_hash": entry.content_hash,
        "follows": ids.memory_id(entry.namespace, key) if key and key != entry.subject else None,
    }  # fmt: skip
    return {
        "staged_id": f"{day}:{name}", "day": day, "namespace": entry.namespace, "memory_id": name,
        "revision": ids.revision(entry.ordered_at or entry.occurred_at, entry.event_id), "act": entry.kind,
        **{column: note[column] for column in NOTE_FIELDS},
        "principal": entry.principal,
        "created_at": moment if carried is None else from_microseconds(carried),
        "dated": carried is not None, "occurred_at": moment, "seq": entry.seq or 0,
        **{column: note[column] for column in ("size_bytes", "released", "reason", "message")},
    }  # fmt: skip


def _plain(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the fields of a payload, missing ones as None; None if one has another type."""
    if payload.get(ERASED) is not None:
        return None
    note: dict[str, Any] = {}
    for name, kind in _FIELDS:
        value: Any = payload.get(name)
        if kind is list and type(value) is tuple:
            value = list(value)
        if value is not None and type(value) is not kind:
            return None
        if kind is list and value and any(type(part) is not str for part in value):
            return None
        if kind is int and value is not None and not -_MAX_INTEGER <= value < _MAX_INTEGER:
            return None
        note[name] = value
    return note


def staged_frame(row: Mapping[str, Any]) -> pl.DataFrame:
    """Return a row of `stage_save` as the frame that `stage` returns."""
    return pl.DataFrame([row], schema=_staged_schema())


@cache
def _staged_schema() -> pl.Schema:
    return stage(ENTRY_SCHEMA.to_frame()).schema
