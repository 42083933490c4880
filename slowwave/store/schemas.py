"""The schema of every LanceDB table, in one place.

Each table has one not-null key that is declared as Lance's unenforced primary key when the table is
created: without it, concurrent upserts of the same new key double the row without an error.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

TEXT = pa.string()
LIST = pa.list_(pa.string())
TIME = pa.timestamp("us", tz="UTC")
FLAG = pa.bool_()
COUNT = pa.int32()


def _key(name: str) -> pa.Field:
    return pa.field(name, TEXT, nullable=False, metadata={"lance-schema:unenforced-primary-key": "true"})


def _fields(**types: pa.DataType) -> list[pa.Field]:
    return [pa.field(name, kind) for name, kind in types.items()]


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What a table is: its key, its columns, who owns its rows, and what may be searched by text."""

    name: str
    schema: pa.Schema
    description: str
    partition: str | None = None  # the column whose values are Dagster partitions; None: a shared table
    full_text: tuple[str, ...] = ()  # the allow-list: no other column may ever have a full-text index
    bitmap: tuple[str, ...] = ()  # low-cardinality columns that searches filter by

    @property
    def key(self) -> str:
        """Name of the primary key column."""
        return str(self.schema.field(0).name)


# What a note says about itself, as it was written; shared by the staged note and the memory. context: what
# has to be known to understand it, for the text index alone; follows: the memory that it comes after.
_NOTE = _fields(
    source=TEXT,
    origin=TEXT,
    title=TEXT,
    content=TEXT,
    content_hash=TEXT,
    memory_type=TEXT,
    importance_tier=TEXT,
    retrieval_priority=TEXT,
    sensitivity=TEXT,
    state=TEXT,
    source_kind=TEXT,
    source_of_truth=FLAG,
    trigger_phrases=LIST,
    tags=LIST,
    aliases=LIST,
    links=LIST,
    metadata=TEXT,
    front_matter=TEXT,
    context=TEXT,
    follows=TEXT,
)
NOTE_FIELDS = tuple(field.name for field in _NOTE)


def _chunk_fields(dimension: int) -> list[pa.Field]:
    return [
        *_fields(
            memory_id=TEXT,
            namespace=TEXT,
            revision=TEXT,
            ordinal=COUNT,
            chunk_count=COUNT,
            start=COUNT,
            end=COUNT,
            headings=LIST,
            text=TEXT,
            search_text=TEXT,
            embedding_hash=TEXT,
        ),
        pa.field("vector", pa.list_(pa.float32(), dimension)),
    ]


def table_specs(dimension: int) -> dict[str, TableSpec]:
    """All tables for vectors of `dimension` numbers, by name."""
    specs = [
        TableSpec(
            "meta",
            pa.schema([_key("name"), *_fields(value=TEXT)]),
            "What the store knows of itself: schema version, embedding model, finished nights.",
        ),
        TableSpec(
            "memories",
            pa.schema(
                [
                    _key("memory_id"),
                    *_fields(namespace=TEXT, revision=TEXT, status=TEXT),
                    *_NOTE,
                    *_fields(
                        principal=TEXT,
                        chunk_count=COUNT,
                        frequency=COUNT,
                        created_at=TIME,
                        updated_at=TIME,
                        retired_at=TIME,
                        replaced_by=TEXT,
                        absorbed=LIST,
                        original=TEXT,
                    ),
                    pa.field("vector", pa.list_(pa.float32(), dimension)),
                ]
            ),
            "One row per memory. status: live, merged, superseded or retired; no row is ever erased. "
            "original: its own text where its content holds lines of memories that it absorbed.",
            bitmap=("namespace",),
        ),
        TableSpec(
            "chunks",
            pa.schema(
                [
                    _key("chunk_id"),
                    *_chunk_fields(dimension),
                    *_fields(
                        status=TEXT,
                        title=TEXT,
                        source=TEXT,
                        origin=TEXT,
                        memory_type=TEXT,
                        importance_tier=TEXT,
                        retrieval_priority=TEXT,
                        sensitivity=TEXT,
                        state=TEXT,
                        source_kind=TEXT,
                        source_of_truth=FLAG,
                        tags=LIST,
                        follows=TEXT,
                        created_at=TIME,
                        updated_at=TIME,
                    ),
                ]
            ),
            "What is searched: the chunks of every memory with their vectors and their memory's labels.",
            full_text=("search_text",),
            bitmap=("namespace", "status"),
        ),
        TableSpec(
            "memory_state",
            pa.schema(
                [
                    _key("state_id"),
                    *_fields(
                        day=TEXT,
                        namespace=TEXT,
                        memory_id=TEXT,
                        effectiveness=pa.float64(),
                        feedback_count=COUNT,
                        not_useful_at=pa.list_(TIME),
                        strength=pa.float64(),
                    ),
                ]
            ),
            "What use has taught of each memory, as of the end of a day; the newest row of a memory counts.",
            partition="day",
        ),
        TableSpec(
            "edges",
            pa.schema(
                [
                    _key("edge_id"),
                    *_fields(
                        namespace=TEXT,
                        from_memory=TEXT,
                        to_memory=TEXT,
                        kind=TEXT,
                        strength=pa.float64(),
                        similarity=pa.float64(),
                        evidence=TEXT,
                        decision_id=TEXT,
                        created_at=TIME,
                    ),
                ]
            ),
            "Relations between memories: supersedes, related.",
        ),
        TableSpec(
            "decisions",
            pa.schema(
                [
                    _key("decision_id"),
                    *_fields(
                        day=TEXT,
                        namespace=TEXT,
                        memory_id=TEXT,
                        revision=TEXT,
                        other_memory=TEXT,
                        outcome=TEXT,
                        similarity=pa.float64(),
                        reasons=LIST,
                        refused=FLAG,
                        skipped=FLAG,
                        policy=TEXT,
                        evidence=TEXT,
                        appended=LIST,
                        decided_at=TIME,
                        undone_at=TIME,
                        undone_by=TEXT,
                        undone_why=TEXT,
                    ),
                ]
            ),
            "The decision log: what became of each note beside the others (duplicate, merge, supersede, "
            "related, complement), why, and whether that was taken back.",
        ),
        TableSpec(
            "quarantine",
            pa.schema(
                [
                    _key("quarantine_id"),
                    *_fields(
                        day=TEXT,
                        namespace=TEXT,
                        memory_id=TEXT,
                        revision=TEXT,
                        source=TEXT,
                        title=TEXT,
                        content=TEXT,
                        reasons=LIST,
                        details=TEXT,
                        score=pa.float64(),
                        parts=TEXT,
                        duplicate_of=TEXT,
                        duplicate_revision=TEXT,
                        size_bytes=pa.int64(),
                        status=TEXT,
                        occurred_at=TIME,
                    ),
                ]
            ),
            "Notes that were refused or could not be read, whole, with every reason; nothing is lost.",
        ),
        TableSpec(
            "staged_notes",
            pa.schema(
                [
                    _key("staged_id"),
                    *_fields(day=TEXT, namespace=TEXT, memory_id=TEXT, revision=TEXT, act=TEXT),
                    *_NOTE,
                    *_fields(
                        principal=TEXT,
                        created_at=TIME,
                        dated=FLAG,
                        occurred_at=TIME,
                        seq=pa.int64(),
                        size_bytes=pa.int64(),
                        released=FLAG,
                        reason=TEXT,
                        message=TEXT,
                    ),
                ]
            ),
            "What a day brought: the last act (save, forget, undo, unreadable) on each memory.",
            partition="day",
        ),
        TableSpec(
            "gate_verdicts",
            pa.schema(
                [
                    _key("verdict_id"),
                    *_fields(
                        day=TEXT,
                        namespace=TEXT,
                        memory_id=TEXT,
                        revision=TEXT,
                        content_hash=TEXT,
                        verdict=TEXT,
                        reasons=LIST,
                        score=pa.float64(),
                        parts=TEXT,
                    ),
                ]
            ),
            "The gate's verdict on each staged note by itself: pass, refuse, retire or undo, with all "
            "reasons. One that passes with reasons would be refused if the gate did more than warn.",
            partition="day",
        ),
        TableSpec(
            "embedded_chunks",
            pa.schema(
                [
                    _key("embedded_id"),
                    *_fields(day=TEXT, cutter=TEXT, chunk_id=TEXT),
                    *_chunk_fields(dimension),
                ]
            ),
            "Chunks and vectors of the notes that passed on a day; the history behind `chunks`.",
            partition="day",
        ),
    ]
    return {spec.name: spec for spec in specs}
