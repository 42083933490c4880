"""The stages that a note passes, by night on a day's batch and by day on a batch of one.

``stage -> judge (quality.gate) -> cut -> embed -> apply -> reconcile``. Each takes and gives Polars
frames; only the last three touch the store, and every write of theirs can be repeated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import polars as pl

from slowwave import ids, progress
from slowwave.chunking import Chunker, indexed_text
from slowwave.embedding import Embedder
from slowwave.store import NOTE_FIELDS, Store, one_of
from slowwave.store.database import IDS_PER_FILTER, batches

CHUNKS_PER_COMMIT = 4_096
MEMORIES_PER_COMMIT = 2_000
LOOK_UP_FROM = 8
LIVE = "live"
RETIRED = "retired"

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
        "reason": pl.String,
        "message": pl.String,
        "size_bytes": pl.Int64,
    }
)
_UTC = pl.Datetime("us", "UTC")
_CHUNK_LABELS = (
    "title", "source", "memory_type", "importance_tier", "retrieval_priority", "sensitivity",
    "state", "source_kind", "source_of_truth", "tags",
)  # fmt: skip


_CUT: dict[str, pl.DataType | type[pl.DataType]] = {
    "chunk_id": pl.String,
    "memory_id": pl.String,
    "namespace": pl.String,
    "revision": pl.String,
    "ordinal": pl.Int32,
    "chunk_count": pl.Int32,
    "start": pl.Int32,
    "end": pl.Int32,
    "headings": pl.List(pl.String),
    "text": pl.String,
    "search_text": pl.String,
    "embedding_hash": pl.String,
}


# -- stage: journal entries become one row per memory and day ------------------------------------


def stage(entries: pl.DataFrame) -> pl.DataFrame:
    """What a day brought: the last act on each memory, in the order in which memories may enter.

    Args:
        entries: journal rows of kinds save, forget and unreadable.

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
            for moment, event in entries.select("occurred_at", "event_id").iter_rows()
        ],
        dtype=pl.String,
    )
    return (
        entries.with_columns(revision=revisions)
        .unnest("note")
        .join(names, on=["namespace", "subject"], how="left")
        .sort("revision")
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
            "principal", "created_at", "dated", "occurred_at", "seq", "size_bytes", "reason", "message",
        )
    )  # fmt: skip


def _decoded(entries: pl.DataFrame) -> pl.DataFrame:
    """Entries with their payload as a struct `note`; `broken` marks those whose payload is not one.

    One malformed act must not stop a night: it is told apart from the others and quarantined.
    """
    note = pl.col("payload").cast(pl.String).str.json_decode(_PAYLOAD)
    try:
        return entries.with_columns(note=note, broken=pl.lit(value=False))
    except pl.exceptions.PolarsError as error:
        if entries.height > 1:
            half = entries.height // 2
            return pl.concat([_decoded(entries[:half]), _decoded(entries[half:])])
        message = f"This act of the journal cannot be read as a note: {str(error).splitlines()[0]}"
        stand_in = orjson.dumps({"title": entries["subject"][0], "reason": "bad_entry", "message": message})
        broken = entries.with_columns(payload=pl.lit(stand_in))
        return broken.with_columns(note=note, broken=pl.lit(value=True))


# -- cut: notes become chunks ---------------------------------------------------------------------


def cut(notes: pl.DataFrame, chunker: Chunker, model: str) -> pl.DataFrame:
    """The chunks of each note, without vectors: the columns of ``chunks`` up to ``embedding_hash``.

    Args:
        notes: namespace, memory_id, revision, title, content.
        chunker: how text is cut.
        model: embedding model that the hashes are for.
    """
    columns: dict[str, list[Any]] = {name: [] for name in _CUT}
    add = [column.append for column in columns.values()]
    wanted = notes.select("namespace", "memory_id", "revision", "title", "content")
    for namespace, memory, revision, title, content in wanted.iter_rows():
        pieces = chunker.split(content)
        for piece in pieces:
            text = indexed_text(title, piece.headings, piece.text)
            values = (
                ids.chunk_id(memory, piece.ordinal), memory, namespace, revision, piece.ordinal, len(pieces),
                piece.start, piece.end, piece.headings, piece.text, text, ids.embedding_hash(model, text),
            )  # fmt: skip
            for append, value in zip(add, values, strict=True):
                append(value)
    return pl.DataFrame(columns, schema=_CUT)


# -- embed: chunks get vectors; equal text is embedded once, ever --------------------------------


@dataclass(frozen=True, slots=True)
class Embedded:
    """What an embedding came to.

    Attributes:
        chunks: how many chunks have vectors now.
        computed: how many of the vectors were not known before.
        seconds: time spent in the embedding model.
    """

    chunks: int
    computed: int
    seconds: float


class _Vectors:
    """Vectors by embedding hash: those the tables have, and those computed since."""

    def __init__(
        self, store: Store, embedder: Embedder, hashes: Sequence[str], tables: Sequence[str]
    ) -> None:
        self._embedder = embedder
        self._type = pl.Array(pl.Float32, embedder.dimension)
        self._known = pl.DataFrame(schema={"embedding_hash": pl.String, "vector": self._type})
        self.computed = 0
        self.seconds = 0.0
        columns = ["embedding_hash", "vector"]
        for name in tables:
            found = store.read_by(name, "embedding_hash", hashes, columns=columns)
            self._known = pl.concat([self._known, found]).unique("embedding_hash", keep="first")

    def missing(self, chunks: pl.DataFrame) -> pl.DataFrame:
        """embedding_hash and search_text of what has to be computed, each once."""
        distinct = chunks.unique("embedding_hash", maintain_order=True)
        return distinct.select("embedding_hash", "search_text").join(
            self._known, on="embedding_hash", how="anti", maintain_order="left"
        )

    def fill(self, chunks: pl.DataFrame, advance: Callable[[int], None]) -> pl.DataFrame:
        """The chunks with a column ``vector``."""
        missing = self.missing(chunks)
        start = time.perf_counter()
        vectors = self._embedder.embed_documents(missing["search_text"].to_list(), advance)
        self.seconds += time.perf_counter() - start
        self.computed += missing.height
        fresh = missing.select("embedding_hash", vector=pl.Series(vectors, dtype=self._type))
        self._known = pl.concat([self._known, fresh])
        return chunks.join(self._known, on="embedding_hash", how="left", maintain_order="left")


def embed(store: Store, embedder: Embedder, chunks: pl.DataFrame) -> pl.DataFrame:
    """The chunks, as from :func:`cut`, with the vector of their ``search_text``."""
    # For a few chunks, asking whether their vectors are known costs about what computing them costs.
    tables = ["chunks"] if chunks.height >= LOOK_UP_FROM else []
    vectors = _Vectors(store, embedder, chunks["embedding_hash"].to_list(), tables)
    with progress.task("embedding chunks", vectors.missing(chunks).height) as advance:
        return vectors.fill(chunks, advance)


def embed_days(
    store: Store, embedder: Embedder, chunker: Chunker, notes: pl.DataFrame, days: Sequence[str]
) -> Embedded:
    """Make ``embedded_chunks`` of these days hold exactly the chunks of these notes, with vectors.

    Works in slices, each committed: a rerun after a kill finds the finished ones and goes on. Rows that
    are right already are not written again.

    Args:
        store: the memory.
        embedder: the store's model.
        chunker: how text is cut.
        notes: rows of ``staged_notes`` that passed.
        days: the partitions.
    """
    cutter = f"{embedder.name} {chunker.min_words}-{chunker.max_words}"
    heads = ["embedded_id", "day", "memory_id", "revision", "cutter", "chunk_count"]
    present = store.read_by("embedded_chunks", "day", days, columns=heads)
    here = ["day", "memory_id", "revision"]
    complete = (
        present.filter(pl.col("cutter") == cutter)
        .group_by(here)
        .agg(have=pl.len(), want=pl.col("chunk_count").first())
        .filter(pl.col("have") == pl.col("want"))
    )
    todo = (
        cut(notes.join(complete, on=here, how="anti", maintain_order="left"), chunker, embedder.name)
        .join(notes.select(here), on=["memory_id", "revision"], how="left", maintain_order="left")
        .with_columns(embedded_id=pl.concat_str("day", pl.lit(":"), "chunk_id"), cutter=pl.lit(cutter))
    )
    vectors = _Vectors(store, embedder, todo["embedding_hash"].to_list(), ["embedded_chunks", "chunks"])
    with progress.task("embedding chunks", vectors.missing(todo).height) as advance:
        for part in todo.iter_slices(CHUNKS_PER_COMMIT):
            store.upsert("embedded_chunks", vectors.fill(part, advance))
    kept = present.join(complete, on=here, how="semi").join(notes, on=here, how="semi")
    stale = present.join(kept, on="embedded_id", how="anti").join(todo, on="embedded_id", how="anti")
    for gone in batches(stale["embedded_id"].to_list()):
        store.delete("embedded_chunks", one_of("embedded_id", gone))
    return Embedded(kept.height + todo.height, vectors.computed, vectors.seconds)


# -- apply: the memory takes over what passed -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of notes that passed or were to be retired."""

    added: int = 0
    changed: int = 0
    retired: int = 0
    unchanged: int = 0

    def __add__(self, other: Applied) -> Applied:
        return Applied(
            self.added + other.added,
            self.changed + other.changed,
            self.retired + other.retired,
            self.unchanged + other.unchanged,
        )


def outdated(store: Store, notes: pl.DataFrame) -> pl.DataFrame:
    """Those of the notes that are newer than what the memory has (or that it does not have).

    Returns:
        The notes, with ``known_revision``, ``known_created`` and ``known_frequency`` of what the memory
        has; null where it has nothing.
    """
    columns = {"revision": "known_revision", "created_at": "known_created", "frequency": "known_frequency"}
    told = pl.col("content_hash").is_not_null()  # else forgotten before its text was ever seen
    known = (
        store.read_by(
            "memories",
            "memory_id",
            notes["memory_id"].to_list(),
            columns=["memory_id", "content_hash", *columns],
        )
        .with_columns(pl.when(told).then(name).alias(name) for name in ("created_at", "frequency"))
        .drop("content_hash")
        .rename(columns)
    )
    newer = pl.col("known_revision").is_null() | (pl.col("known_revision") < pl.col("revision"))
    return notes.join(known, on="memory_id", how="left", maintain_order="left").filter(newer)


def last_acts(notes: pl.DataFrame) -> pl.DataFrame:
    """The last of the notes on each memory, created when the first of them says or was.

    So a range of days at once gives what its days one by one give.
    """
    stated = pl.col("created_at").filter("dated").last().over("memory_id", order_by="revision")
    first = pl.col("created_at").first().over("memory_id", order_by="revision")
    return (
        notes.with_columns(
            created_at=pl.coalesce(stated, first), dated=pl.col("dated").any().over("memory_id")
        )
        .sort("revision")
        .unique("memory_id", keep="last", maintain_order=True)
    )


def apply_days(store: Store, notes: pl.DataFrame, days: Sequence[str]) -> Applied:
    """Put notes that passed on these days into the memory, with their rows of ``embedded_chunks``."""
    new = outdated(store, notes)
    done = Applied(unchanged=notes.height - new.height)
    with progress.task("writing memories", new.height) as advance:
        for part in new.iter_slices(MEMORIES_PER_COMMIT):
            chunks = store.read_by(
                "embedded_chunks", "memory_id", part["memory_id"].to_list(), also=one_of("day", days)
            ).join(part, on=["memory_id", "revision"], how="semi")
            done += apply(store, part, chunks.drop("embedded_id", "day", "cutter"))
            advance(part.height)
    return done


def apply(store: Store, notes: pl.DataFrame, chunks: pl.DataFrame) -> Applied:
    """Put notes that passed, with their embedded chunks, into the memory; the last revision wins.

    Args:
        store: the memory.
        notes: what :func:`outdated` gave, one per memory.
        chunks: their chunks, with vectors.
    """
    replaced = notes.filter(pl.col("known_revision").is_not_null())["memory_id"].to_list()
    counts = chunks.group_by("memory_id").agg(chunk_count=pl.len().cast(pl.Int32))
    memories = notes.join(counts, on="memory_id", how="left", maintain_order="left").with_columns(
        status=pl.lit(LIVE),
        frequency=pl.col("known_frequency").fill_null(1),
        chunk_count=pl.col("chunk_count").fill_null(0),
        created_at=pl.when("dated").then("created_at").otherwise(pl.coalesce("known_created", "created_at")),
        updated_at="occurred_at",
    )
    columns = [name for name in store.specs["memories"].schema.names if name in memories.columns]
    store.upsert("memories", memories.select(columns), newer=True)
    rows = labelled(chunks, memories)
    store.upsert("chunks", rows, newer=True)
    there = store.read_by("chunks", "memory_id", replaced, columns=["chunk_id", "memory_id", "revision"])
    older = there.join(memories.select("memory_id", by="revision"), on="memory_id").filter(
        pl.col("revision") < pl.col("by")
    )
    delete_chunks(store, older)
    return Applied(added=notes.height - len(replaced), changed=len(replaced))


def labelled(chunks: pl.DataFrame, memories: pl.DataFrame) -> pl.DataFrame:
    """Rows of ``chunks``: each chunk of these memories with the labels that searches filter by."""
    labels = memories.select("memory_id", "status", *_CHUNK_LABELS, "created_at", "updated_at")
    return chunks.join(labels, on="memory_id", how="inner", maintain_order="left")


def delete_chunks(store: Store, chunks: pl.DataFrame) -> None:
    """Take chunks of these revisions out of the search; they can be made again from their memory.

    A chunk that another writer has replaced meanwhile has another revision and stays.
    """
    for part in chunks.iter_slices(IDS_PER_FILTER):
        these = f"{one_of('chunk_id', part['chunk_id'])} AND {one_of('revision', part['revision'].unique())}"
        store.delete("chunks", these)


def retire(store: Store, forgets: pl.DataFrame) -> Applied:
    """Take memories out of every search; their rows and texts stay.

    A memory that is not there yet (its night is still to come) gets a row without text, so that an older
    text cannot enter afterwards.

    Args:
        store: the memory.
        forgets: rows of ``staged_notes`` with act forget, one per memory.
    """
    acts = forgets.select("memory_id", at="occurred_at", by="revision")
    known = store.read_by("memories", "memory_id", acts["memory_id"].to_list())
    unknown = forgets.join(known, on="memory_id", how="anti").select(
        "memory_id", "namespace", "revision", "source", "origin", "principal", "created_at",
        status=pl.lit(RETIRED), content=pl.lit(""), title="source", chunk_count=pl.lit(0, pl.Int32),
        frequency=pl.lit(0, pl.Int32), updated_at="occurred_at", retired_at="occurred_at",
    )  # fmt: skip
    retired = (
        known.join(acts, on="memory_id", how="inner")
        .filter((pl.col("status") != RETIRED) & (pl.col("revision") < pl.col("by")))
        .with_columns(status=pl.lit(RETIRED), revision="by", retired_at="at", updated_at="at")
        .drop("by", "at")
    )
    for rows in (unknown, retired):
        if not rows.is_empty():
            store.upsert("memories", rows, newer=True)
    if not retired.is_empty():
        _relabel(store, retired)
    return Applied(retired=retired.height, unchanged=forgets.height - retired.height)


def _relabel(store: Store, memories: pl.DataFrame) -> None:
    """Bring the chunks of these memories to their memory's revision, status and labels."""
    found = store.read_by("chunks", "memory_id", memories["memory_id"].to_list())
    mine = store.specs["chunks"].schema.names
    carried = ["memory_id", "revision", "status", *_CHUNK_LABELS, "created_at", "updated_at"]
    rows = found.drop([name for name in carried if name != "memory_id"]).join(
        memories.select(carried), on="memory_id", how="inner"
    )
    store.upsert("chunks", rows.select(mine), newer=True)


# -- reconcile: after a crash or a race, chunks follow their memory -------------------------------


@dataclass(frozen=True, slots=True)
class Differences:
    """Where chunks and memories disagree.

    Attributes:
        stale: chunk_id and revision of chunks of another revision or status than their memory's.
        lacking: memories that have fewer chunks of their revision than they should.
    """

    stale: pl.DataFrame
    lacking: list[str]


def differences(store: Store, memory_ids: Sequence[str] | None = None) -> Differences:
    """Compare the chunks with the memories, of all or of these."""
    head = ["memory_id", "revision", "status"]

    def read(name: str, columns: list[str]) -> pl.DataFrame:
        if memory_ids is None:
            return store.read(name, columns=columns)
        return store.read_by(name, "memory_id", memory_ids, columns=columns)

    # Chunks first: what a save finishes between the two reads then looks lacking, never stale.
    chunks = read("chunks", ["chunk_id", *head])
    memories = read("memories", [*head, "chunk_count"])
    present = chunks.join(memories, on=head, how="semi").group_by("memory_id").agg(have=pl.len())
    lacking = memories.join(present, on="memory_id", how="left").filter(
        pl.col("have").fill_null(0) < pl.col("chunk_count")
    )
    stale = chunks.join(memories, on=head, how="anti").select("chunk_id", "revision")
    return Differences(stale, lacking["memory_id"].to_list())


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What had to be mended: normally nothing."""

    stale_chunks: int
    remade_memories: int


def reconcile(
    store: Store, chunker: Chunker, embedder: Embedder, *, memory_ids: Sequence[str] | None = None
) -> Reconciled:
    """Make the chunks agree with the memories, which are right: Lance commits are per table.

    A chunk of another revision than its memory's is stale and goes; a memory that lacks chunks gets them
    made again. Needed only when a writer was killed between two tables or two writers met.
    """
    found = differences(store, memory_ids)
    stale = found.stale
    if found.lacking:
        whole = store.read_by("memories", "memory_id", found.lacking)
        rows = labelled(embed(store, embedder, cut(whole, chunker, embedder.name)), whole)
        store.upsert("chunks", rows, newer=True)
        stale = stale.join(rows, on="chunk_id", how="anti")
    delete_chunks(store, stale)
    return Reconciled(stale.height, len(found.lacking))


# -- quarantine: what was refused is kept, with its reasons ---------------------------------------


def quarantine(store: Store, staged: pl.DataFrame, verdicts: pl.DataFrame) -> int:
    """Keep refused and unreadable notes, whole; release from hold those that have passed since.

    Args:
        store: the memory.
        staged: rows of ``staged_notes``.
        verdicts: memory_id, revision, verdict, reasons, duplicate_of of the same rows.

    Returns:
        How many rows of this batch are in quarantine.
    """
    judged = staged.join(
        verdicts.select("memory_id", "revision", "verdict", "reasons", "duplicate_of"),
        on=["memory_id", "revision"],
        how="inner",
    )
    refused = judged.filter(pl.col("verdict") == "refuse")
    rows = refused.select(
        "day", "namespace", "memory_id", "revision", "source", "title", "content", "reasons",
        "duplicate_of", "occurred_at",
        quarantine_id=pl.concat_str("memory_id", pl.lit(":"), "revision"),
        details="message",
        size_bytes=pl.coalesce("size_bytes", pl.col("content").str.len_bytes().cast(pl.Int64)),
        status=pl.lit("held"),
    )  # fmt: skip
    if not rows.is_empty():
        store.upsert("quarantine", rows, insert_only=True)
    settled = judged.filter(pl.col("verdict") != "refuse").select("memory_id", by="revision")
    if store.count("quarantine", "status = 'held'") > 0 and not settled.is_empty():
        held = (
            store.read_by("quarantine", "memory_id", settled["memory_id"].to_list(), also="status = 'held'")
            .join(settled, on="memory_id", how="inner")
            .filter(pl.col("revision") <= pl.col("by"))
        )
        if not held.is_empty():
            store.upsert("quarantine", held.drop("by").with_columns(status=pl.lit("resolved")))
    return rows.height
