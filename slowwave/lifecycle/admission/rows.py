"""Conversion between rows of the tables and the records of admission."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from slowwave.common import ids
from slowwave.journal.entry_builders import KEYLESS
from slowwave.quality.admission.labels import LABELS
from slowwave.quality.admission.statuses import DEFAULT_SENSITIVITY, LIVE, RETIRED
from slowwave.quality.admission.types import AdmissionRecord, MemoryChange
from slowwave.scoring.days import to_microseconds
from slowwave.scoring.feedback.promotion import effective_tier
from slowwave.store.labels import labels_of, with_united

if TYPE_CHECKING:
    from slowwave.journal import Journal

ORDER = {"forget": 0, "save": 1, "undo": 2, "accept": 2}
"""Order of the events of one day; undos and accepts come last, by their moments."""
RECORD = (
    "memory_id", "namespace", "revision", "status", "title", "source", "origin", "content", "content_hash",
    "sensitivity", *LABELS, "own_labels", "context", "replaced_by", "absorbed", "original", "vector",
    "created_at", "dated", "said_at", "released",
)  # fmt: skip


def note_record(
    row: dict[str, Any], vector: np.ndarray | None = None, *, warned: bool = False
) -> AdmissionRecord:
    """Convert a staged note to a record; without its vector it cannot be decided on."""
    return AdmissionRecord(
        memory_id=row["memory_id"],
        revision=row["revision"],
        title=row["title"] or "",
        source=_place(row["source"]),
        content=row["content"] or "",
        content_hash=row["content_hash"] or "",
        vector=vector,
        sensitivity=row["sensitivity"] or DEFAULT_SENSITIVITY,
        labels=labels_of(row),
        context=row["context"] or "",
        vault=bool(row["origin"]),
        warned=warned,
        released=bool(row["released"]),
        moment=_moment(row["created_at"] if row["dated"] else None, row["revision"]),
    )


def memory_record(row: dict[str, Any], promoted: str = "") -> AdmissionRecord:
    """Convert a row of ``memories`` to a record; `promoted` is its tier from feedback."""
    merged, labels = row["original"] is not None, labels_of(row)
    vector = None if row["vector"] is None else np.asarray(row["vector"], dtype=np.float32)
    return AdmissionRecord(
        memory_id=row["memory_id"],
        revision=ids.note_revision(row["revision"]),
        title=row["title"] or "",
        source=_place(row["source"]),
        content=row["original"] if merged else row["content"] or "",
        content_hash=row["content_hash"] or "",
        vector=None if merged else vector,
        status=row["status"],
        replaced_by=row["replaced_by"],
        absorbed=tuple(row["absorbed"] or ()),
        merged_content=row["content"] if merged else None,
        merged_vector=vector if merged else None,
        sensitivity=row["sensitivity"] or DEFAULT_SENSITIVITY,
        protected=effective_tier(labels.importance_tier, promoted or None) == "critical",
        labels=labels,
        promoted=promoted,
        context=row["context"] or "",
        vault=bool(row["origin"]),
        released=bool(row["released"]),
        moment=_moment(row["dated"], row["revision"]),
    )


def _moment(dated: datetime | None, revision: str) -> int:
    """Return the microseconds of a text's own date, or else of its event (rule 2.1)."""
    return ids.revision_moment(revision) if dated is None else to_microseconds(dated)


def moment_of_acts() -> pl.Expr:
    """Return the expression of `_moment` for rows of ``staged_notes``.

    Events of one batch apply in this order, then by revision.
    """
    act = pl.col("revision").str.split("-").list.first().str.to_integer(base=16, strict=False)
    return pl.when("dated").then(pl.col("created_at").dt.epoch("us")).otherwise(act)


def _place(source: str) -> str:
    """Return the place of a note, which tells look-alikes apart; empty for keyless notes."""
    return "" if source.startswith(KEYLESS) else source


def matrix_of(vectors: pl.Series, dimension: int) -> np.ndarray:
    """Return vectors as a matrix (n, dimension), float32; a missing one is zero."""
    matrix = np.zeros((len(vectors), dimension), dtype=np.float32)
    if not len(vectors):
        return matrix
    present = vectors.is_not_null().to_numpy()
    if present.any():
        matrix[present] = vectors.drop_nulls().cast(pl.Array(pl.Float32, dimension)).to_numpy()
    return matrix


def state_rows(changes: Iterable[MemoryChange]) -> pl.DataFrame:
    """Return memories' present state: the columns of ``memories`` that admission decides."""
    rows = [state_row(change) for change in changes]
    return pl.DataFrame(
        rows,
        schema={
            "memory_id": pl.String, "status": pl.String, "replaced_by": pl.String,
            "absorbed": pl.List(pl.String), "frequency": pl.Int32, "content": pl.String,
            "original": pl.String, "revision": pl.String,
        },
    )  # fmt: skip


def state_row(change: MemoryChange) -> dict[str, Any]:
    """Return the row of `state_rows` of one memory."""
    record = change.record
    standing = [text for part in change.parts for text in part]
    if record.status != LIVE or standing:
        standing = [record.status, record.replaced_by or "", *standing]
    if record.status == RETIRED:
        standing = []  # a forgotten memory has the revision of its event
    return {
        "memory_id": record.memory_id, "status": record.status, "replaced_by": record.replaced_by,
        "absorbed": list(record.absorbed), "frequency": 1 + len(record.absorbed),
        "content": change.content,
        "original": None if change.content == record.content else record.content,
        "revision": ids.state_revision(record.revision, *standing),
    }  # fmt: skip


def with_state_labels(memories: pl.DataFrame, changes: Iterable[MemoryChange]) -> pl.DataFrame:
    """Return rows of ``memories`` with the labels of all that each memory absorbed."""
    united = {
        change.record.memory_id: change.labels for change in changes if change.labels != change.record.labels
    }
    return with_united(memories, united)


def tombstones(forgets: pl.DataFrame) -> pl.DataFrame:
    """Return rows for memories forgotten before their text was seen.

    They keep an older text from entering later.
    """
    return forgets.select(
        "memory_id", "namespace", "revision", "source", "origin", "principal", "created_at",
        status=pl.lit(RETIRED), content=pl.lit(""), title="source", chunk_count=pl.lit(0, pl.Int32),
        frequency=pl.lit(0, pl.Int32), updated_at="occurred_at", retired_at="occurred_at",
    )  # fmt: skip


def with_saved_dates(journal: Journal, saves: pl.DataFrame) -> pl.DataFrame:
    """Return the saves with `saved_at`: of a text that was brought back, the moment of its save."""
    released = saves.filter("released")["revision"].to_list()
    entries = journal.entries([ids.event_of(revision) for revision in released]) if released else {}
    at = {name: entry.payload.get("saved_at") for name, entry in entries.items()}
    dates = [at.get(ids.event_of(revision)) if at else None for revision in saves["revision"]]
    return saves.with_columns(pl.Series("saved_at", dates, pl.Int64).cast(pl.Datetime("us", "UTC")))
