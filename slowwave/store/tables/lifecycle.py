"""Tables of `slowwave.lifecycle`: memories, decisions, quarantine, and staged notes."""

from __future__ import annotations

import pyarrow as pa

from slowwave.store.tables.declaring import (
    COUNT,
    FLAG,
    FLOAT,
    LIST,
    LONG,
    TEXT,
    TIME,
    ErasureRule,
    TableSpec,
    table,
    vectors,
)

# fmt: off
NOTE = {
    "source": TEXT, "origin": TEXT, "title": TEXT, "content": TEXT, "content_hash": TEXT, "memory_type": TEXT,
    "importance_tier": TEXT, "retrieval_priority": TEXT, "sensitivity": TEXT, "state": TEXT,
    "source_kind": TEXT, "source_of_truth": FLAG, "trigger_phrases": LIST, "tags": LIST, "aliases": LIST,
    "links": LIST, "metadata": TEXT, "front_matter": TEXT, "context": TEXT, "follows": TEXT,
    "path": TEXT,
}
# fmt: on
"""Fields of a note as written; shared by ``staged_notes`` and ``memories``.

context: text needed to understand it, for the text index only; follows: the memory that it comes after; path:
where a note of a vault is now, if it has moved (its source stays).
"""

NOTE_FIELDS = tuple(NOTE)


def chunk_columns(dimension: int) -> dict[str, pa.DataType]:
    """Return the columns of a chunk, with its vector."""
    return {
        "memory_id": TEXT,
        "namespace": TEXT,
        "revision": TEXT,
        "ordinal": COUNT,
        "chunk_count": COUNT,
        "start": COUNT,
        "end": COUNT,
        "headings": LIST,
        "text": TEXT,
        "search_text": TEXT,
        "embedding_hash": TEXT,
        "vector": vectors(dimension),
    }


def tables(dimension: int) -> list[TableSpec]:
    """Return the tables for vectors of `dimension` numbers."""
    # fmt: off
    return [
        table(
            "memories", "memory_id",
            "One row per memory. status: live, merged, superseded or retired; only an erasure deletes a row. "
            "original: its own text if its content has lines of absorbed memories; own_labels: its own "
            "labels (JSON) if the columns are united with theirs; dated: the date that its text carries, if "
            "any; said_at: the save of its text, if not created_at; released: a person released it.",
            in_events=(*NOTE_FIELDS, "principal", "original"),
            namespace=TEXT, revision=TEXT, status=TEXT, **NOTE, principal=TEXT, chunk_count=COUNT,
            frequency=COUNT, created_at=TIME, updated_at=TIME, retired_at=TIME, dated=TIME, said_at=TIME,
            released=FLAG,
            replaced_by=TEXT, absorbed=LIST, original=TEXT, own_labels=TEXT, vector=vectors(dimension),
        ),
        table(
            "chunks", "chunk_id",
            "Searched table: the chunks of every memory with their vectors and their memory's labels.",
            full_text=("search_text",), recorded=(),
            **chunk_columns(dimension), status=TEXT, title=TEXT, source=TEXT, origin=TEXT, memory_type=TEXT,
            importance_tier=TEXT, retrieval_priority=TEXT, sensitivity=TEXT, state=TEXT, source_kind=TEXT,
            source_of_truth=FLAG, tags=LIST, follows=TEXT, created_at=TIME, updated_at=TIME,
        ),
        table(
            "edges", "edge_id",
            "Relations between memories: supersedes, related.",
            namespace=TEXT, from_memory=TEXT, to_memory=TEXT, kind=TEXT, strength=FLOAT, similarity=FLOAT,
            evidence=TEXT, decision_id=TEXT, created_at=TIME,
        ),
        table(
            "decisions", "decision_id",
            "Decision log: the outcome of each note (duplicate, merge, supersede, related, complement), why, "
            "and whether it was undone. proposed: merge or supersede, if that waits for a person.",
            day=TEXT, namespace=TEXT, memory_id=TEXT, revision=TEXT, other_memory=TEXT, other_revision=TEXT,
            outcome=TEXT, proposed=TEXT, similarity=FLOAT, reasons=LIST, refused=FLAG, skipped=FLAG,
            policy=TEXT, evidence=TEXT, appended=LIST, decided_at=TIME, undone_at=TIME, undone_by=TEXT,
            undone_why=TEXT,
        ),
        table(
            "quarantine", "quarantine_id",
            "Refused or unreadable notes, whole, with every reason; nothing is lost.",
            in_events=("title", "content"), erasure=ErasureRule(cleared={"details": "duplicate_of"}),
            day=TEXT, namespace=TEXT, memory_id=TEXT, revision=TEXT, source=TEXT, title=TEXT, content=TEXT,
            reasons=LIST, details=TEXT, score=FLOAT, parts=TEXT, duplicate_of=TEXT, duplicate_revision=TEXT,
            size_bytes=LONG, status=TEXT, occurred_at=TIME,
        ),
        table(
            "staged_notes", "staged_id",
            "Last event (save, forget, undo, accept, unreadable) of a day on each memory.",
            partition="day", recorded=("day", "revision"),
            day=TEXT, namespace=TEXT, memory_id=TEXT, revision=TEXT, act=TEXT, **NOTE, principal=TEXT,
            created_at=TIME, dated=FLAG, occurred_at=TIME, seq=LONG, size_bytes=LONG, released=FLAG,
            reason=TEXT, message=TEXT,
        ),
        table(
            "gate_verdicts", "verdict_id",
            "Save gate's verdict on each staged note alone: pass, refuse, retire, undo or accept, with all "
            "reasons. An enforcing gate would refuse one that passes with reasons.",
            partition="day",
            day=TEXT, namespace=TEXT, memory_id=TEXT, revision=TEXT, content_hash=TEXT, verdict=TEXT,
            reasons=LIST, score=FLOAT, parts=TEXT,
        ),
        table(
            "embedded_chunks", "embedded_id",
            "Chunks and vectors of the notes that passed on a day: the history behind `chunks`.",
            partition="day", recorded=(),
            day=TEXT, cutter=TEXT, chunk_id=TEXT, **chunk_columns(dimension),
        ),
    ]
    # fmt: on
