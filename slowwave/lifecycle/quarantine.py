"""Quarantine: what was refused is kept, whole, until a person or a newer text settles it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.common import ids
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.home.visibility import UNKNOWN, Viewer, may_see, redact, sensitivities
from slowwave.store import Store, one_of, quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry, Journal

HELD, RESOLVED = "held", "resolved"


def hold(store: Store, staged: pl.DataFrame, refused: pl.DataFrame, *, again: bool = False) -> int:
    """Keep notes that were refused or could not be read.

    Args:
        store: the memory.
        staged: rows of ``staged_notes``.
        refused: memory_id, revision, reasons of those that were refused; score, parts, details,
            duplicate_of and duplicate_revision where there are some.
        again: they may be held already, beside another original.

    Returns:
        How many they are.
    """
    if refused.is_empty():
        return 0
    extra = [
        name
        for name in ("score", "parts", "details", "duplicate_of", "duplicate_revision")
        if name in refused.columns
    ]
    rows = staged.join(
        refused.select("memory_id", "revision", "reasons", *extra), on=["memory_id", "revision"], how="inner"
    )
    details = pl.coalesce("details", "message") if "details" in extra else pl.col("message")
    rows = rows.select(
        "day", "namespace", "memory_id", "revision", "source", "title", "content", "reasons", "occurred_at",
        *[name for name in extra if name != "details"],
        quarantine_id=pl.concat_str("memory_id", pl.lit(":"), "revision"),
        details=details,
        size_bytes=pl.coalesce("size_bytes", pl.col("content").str.len_bytes().cast(pl.Int64)),
        status=pl.lit(HELD),
    )  # fmt: skip
    store.upsert("quarantine", rows, insert_only=not again)
    return rows.height


def settle_held(store: Store, acts: pl.DataFrame, refused: Collection[str]) -> None:
    """What is held of memories that have had a newer act, and were not refused again, is settled.

    Args:
        store: the memory.
        acts: memory_id, revision of acts that passed the gate.
        refused: those of them that were refused after all.
    """
    settled = acts.filter(~pl.col("memory_id").is_in(list(refused))).select("memory_id", by="revision")
    if settled.is_empty():
        return
    held = (
        store.read_by("quarantine", "memory_id", settled["memory_id"].to_list(), also=f"status = '{HELD}'")
        .join(settled, on="memory_id", how="inner")
        .filter(pl.col("revision") <= pl.col("by"))
    )
    if not held.is_empty():
        store.upsert("quarantine", held.drop("by").with_columns(status=pl.lit(RESOLVED)))


def listed(
    space: Workspace, namespace: str, *, status: str = HELD, reason: str = "", limit: int | None = None,
    skip: int = 0,
) -> list[dict[str, Any]]:  # fmt: skip
    """What is in quarantine, the newest first, without the first so many (`skip`).

    A secret note has an id, reasons and numbers here, and nothing that it says. One that could not be read
    has its source, too, so that it can be mended; `held` gives either whole.
    """
    where = [within(namespace)] + ([f"status = {quote(status)}"] if status else [])
    names = space.store.read(
        "quarantine", " AND ".join(where), columns=["quarantine_id", "occurred_at", "reasons"]
    )
    if reason:
        names = names.filter(pl.col("reasons").list.contains(reason))
    wanted = _newest_first(names).slice(skip, limit)["quarantine_id"].to_list()
    rows = _newest_first(space.store.read_by("quarantine", "quarantine_id", wanted, also=within(namespace)))
    said = sensitivities(space.journal, rows["revision"])
    labels = [said.get(revision, UNKNOWN) for revision in rows["revision"]]
    closed = pl.Series([not may_see(Viewer.REPORT, one, let_in=False) for one in labels], dtype=pl.Boolean)
    secret = closed & pl.Series([one != UNKNOWN for one in labels], dtype=pl.Boolean)
    rows = redact(rows, pl.lit(secret), "source")
    return redact(rows, pl.lit(closed), "title", "content", "details").to_dicts()


def _newest_first(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("occurred_at", "quarantine_id", descending=[True, False])


def held(store: Store, namespace: str, quarantine_id: str) -> dict[str, Any]:
    """One row, by its id or by the id of its memory (then the newest).

    Raises:
        NotFoundError: this namespace has no such row.
    """
    column = "quarantine_id" if ":" in quarantine_id else "memory_id"
    where = within(namespace, f"{column} = {quote(quarantine_id)}")
    rows = store.read("quarantine", where).sort("revision")
    if rows.is_empty():
        raise NotFoundError(
            f"Namespace {namespace!r} holds nothing called {quarantine_id!r} in quarantine. "
            f"`slowwave quarantine list` shows what there is."
        )
    return rows.row(-1, named=True)


def lost_originals(store: Store, *, until: str) -> pl.DataFrame:
    """What is held as a duplicate of a text that is no longer there; the newest of each memory.

    Args:
        store: the memory.
        until: the day (ISO) that was settled last. What later days hold is not looked at: where a night was
            killed, their originals are still to come.

    Returns:
        memory_id, revision.
    """
    where = f"status = '{HELD}' AND duplicate_of IS NOT NULL AND day <= {quote(until)}"
    held = store.read("quarantine", where)
    return (
        without_original(store, held)
        .sort("revision")
        .unique("memory_id", keep="last", maintain_order=True)
        .select("memory_id", "revision")
    )


def without_original(store: Store, held: pl.DataFrame) -> pl.DataFrame:
    """Those of the rows whose original was forgotten, says something else now, or is not for the same eyes.

    One that was superseded is there still: what repeats it is as outdated as it is.
    """
    columns = ["memory_id", "revision", "sensitivity"]
    there = store.read_by(
        "memories", "memory_id", held["duplicate_of"].to_list(), columns=columns,
        also=one_of("status", ["live", "merged", "superseded"]),
    ).select(
        duplicate_of="memory_id", duplicate_revision=pl.col("revision").str.split("+").list.first(),
        theirs="sensitivity",
    )  # fmt: skip
    notes = store.read_by("staged_notes", "memory_id", held["memory_id"].to_list(), columns=columns)
    found = held.join(there, on=["duplicate_of", "duplicate_revision"]).join(
        notes.unique(["memory_id", "revision"]), on=["memory_id", "revision"], how="left"
    )
    # Of a note that no night has seen the sensitivity is not known; it was compared when it was refused.
    same = found.filter(pl.col("sensitivity").is_null() | pl.col("sensitivity").eq_missing(pl.col("theirs")))
    return held.join(same, on="quarantine_id", how="anti")


def release_entry(journal: Journal, row: dict[str, Any], *, occurred_at: datetime, principal: str) -> Entry:
    """The act of letting in a note that was refused: the same note again, marked as released.

    Args:
        journal: where the note was first written.
        row: of ``quarantine``.
        occurred_at: when it is released.
        principal: who says so.

    Raises:
        SlowwaveError: it is not held any more, or there is no text that could be let in.
        NotFoundError: the journal does not have the note.
    """
    from dataclasses import replace

    from slowwave.journal.kinds.note import released

    name = row["quarantine_id"]
    if row["status"] != HELD:
        raise SlowwaveError(f"{name} is {row['status']}, not held: a newer text or a release settled it.")
    entry = journal.get(row["revision"].partition("-")[2])
    if entry is None:
        raise NotFoundError(f"The journal has no entry for {name}: it may belong to another home.")
    if entry.kind != "save":
        raise SlowwaveError(
            f"{name} could not be read ({', '.join(row['reasons'])}), so there is no text to let in. "
            f"Mend the file; the next night takes it in."
        )
    return replace(
        entry,
        event_id=ids.digest("release", name),
        occurred_at=occurred_at,
        principal=principal,
        payload=released(entry.payload),
        seq=None,
    )
