"""Ingest pipeline: the stages of a note before it is decided on, nightly in batches or per save.

``judge (quality.gate) -> cut -> embed``, then ``admit_batch`` (lifecycle.admission), whose chunks are
`labelled`. Each stage takes and returns Polars frames; only `embed_days` writes, and it is idempotent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from slowwave.common import ids, progress
from slowwave.common.garbage import paused_collection
from slowwave.embedding import Embedder
from slowwave.notes.chunking import Chunker, found_by, indexed_text
from slowwave.quality.gate import REFUSE, VERDICT_SCHEMA, judge
from slowwave.quality.gate_policy import GatePolicy
from slowwave.store import Store, one_of
from slowwave.store.frames import batches

CHUNKS_PER_COMMIT = 4_096
LOOK_UP_FROM = 8

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
_LABELS = (
    "title", "source", "origin", "memory_type", "importance_tier", "retrieval_priority", "sensitivity",
    "state", "source_kind", "source_of_truth", "tags", "follows",
)  # fmt: skip
_OF_MEMORY = ("status", *_LABELS, "created_at", "updated_at")
TO_EMBED = "embedded_text"  # between cut and embed
_CUT_SCHEMA = {**_CUT, TO_EMBED: pl.String}


def judged(staged: pl.DataFrame, policy: GatePolicy, served: pl.DataFrame) -> pl.DataFrame:
    """Return the gate's verdicts as `slowwave.quality.gate.judge`; refuse a note on which it fails.

    An unexpected error concerns one note only: it is quarantined with the reason `unexpected`.
    """
    try:
        with paused_collection(staged.height):
            return judge(staged, policy, served)
    except Exception:  # any error: halving finds the note, and it is quarantined as `unexpected`
        if staged.height > 1:
            half = staged.height // 2
            return pl.concat([judged(part, policy, served) for part in (staged[:half], staged[half:])])
        refused = {"memory_id": staged["memory_id"][0], "verdict": REFUSE, "reasons": ["unexpected"]}
        return pl.DataFrame([refused], schema=VERDICT_SCHEMA)


# -- cut: notes become chunks ---------------------------------------------------------------------


def cut(notes: pl.DataFrame, chunker: Chunker, model: str) -> pl.DataFrame:
    """Split notes into chunks without vectors: the columns of ``chunks`` up to ``embedding_hash``.

    ``search_text`` of a chunk is the text that is embedded. For a note with a context it is that text twice,
    so that it outweighs the context, then the context. :func:`embed` reads the text to embed from a further
    column, ``embedded_text``, and drops it.

    Args:
        notes: Columns namespace, memory_id, revision, title, content, context.
        model: Embedding model that the hashes are for.
    """
    wanted = notes.select("namespace", "memory_id", "revision", "title", "content", "context")
    return cut_frame(cut_columns(wanted.iter_rows(), chunker, model))


def cut_columns(notes: Iterable[Sequence[Any]], chunker: Chunker, model: str) -> dict[str, list[Any]]:
    """Return the columns of `cut`.

    Args:
        notes: namespace, memory_id, revision, title, content and context of each.
        model: Embedding model that the hashes are for.
    """
    rows: list[tuple[Any, ...]] = []
    for namespace, memory, revision, title, content, context in notes:
        pieces = chunker.split(content)
        for piece in pieces:
            text = indexed_text(title, piece.headings, piece.text)
            rows.append((
                ids.chunk_id(memory, piece.ordinal), memory, namespace, revision, piece.ordinal, len(pieces),
                piece.start, piece.end, piece.headings, piece.text, found_by(text, context),
                ids.embedding_hash(model, text), text,
            ))  # fmt: skip
    columns = zip(*rows, strict=True) if rows else ((),) * len(_CUT_SCHEMA)
    return {name: list(column) for name, column in zip(_CUT_SCHEMA, columns, strict=True)}


def cut_frame(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return columns of `cut_columns` as the frame of `cut`."""
    import pyarrow as pa

    # Polars makes a Series of each list; Arrow needs a thirtieth of the time.
    paths = pa.array(columns["headings"], pa.large_list(pa.large_string()))
    return pl.DataFrame({**columns, "headings": pl.Series("headings", paths)}, schema=_CUT_SCHEMA)


def no_chunks(embedder: Embedder) -> pl.DataFrame:
    """Return an empty frame of chunks with vectors."""
    return pl.DataFrame(schema={**_CUT, "vector": pl.Array(pl.Float32, embedder.dimension)})


# -- embed: chunks get vectors; equal text is embedded only once --------------------------------


@dataclass(frozen=True, slots=True)
class Embedded:
    """Result of an embedding.

    Attributes:
        chunks: Chunks that have vectors now (count).
        computed: Vectors that were computed (count).
        seconds: Time spent in the embedding model.
    """

    chunks: int
    computed: int
    seconds: float


class _Vectors:
    """Vectors by embedding hash: stored ones, and those computed since."""

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
            stored = store.read_by(name, "embedding_hash", hashes, columns=columns)
            self._known = pl.concat([self._known, stored]).unique("embedding_hash", keep="first")

    def missing(self, chunks: pl.DataFrame) -> pl.DataFrame:
        """Return embedding_hash and text of the vectors to compute, each once."""
        wanted = chunks.select("embedding_hash", TO_EMBED)
        if wanted.height > 1:
            wanted = wanted.unique("embedding_hash", maintain_order=True)
        if not self._known.is_empty():
            wanted = wanted.join(self._known, on="embedding_hash", how="anti", maintain_order="left")
        return wanted

    def fill(
        self, chunks: pl.DataFrame, missing: pl.DataFrame, advance: Callable[[int], None]
    ) -> pl.DataFrame:
        """Return the chunks with a column ``vector``; compute those in `missing`."""
        start = time.perf_counter()
        vectors = self._embedder.embed_documents(missing[TO_EMBED].to_list(), advance)
        self.seconds += time.perf_counter() - start
        self.computed += missing.height
        fresh = pl.DataFrame([missing["embedding_hash"], pl.Series("vector", vectors, dtype=self._type)])
        self._known = pl.concat([self._known, fresh])
        return chunks.drop(TO_EMBED).join(self._known, on="embedding_hash", how="left", maintain_order="left")


def embed(
    store: Store,
    embedder: Embedder,
    chunks: pl.DataFrame,
    *,
    look_up_from: int = LOOK_UP_FROM,
    tables: Sequence[str] = ("chunks",),
) -> pl.DataFrame:
    """Return the chunks of :func:`cut` with the vectors of their texts.

    Args:
        look_up_from: Chunks from which stored vectors are looked up (count); fewer are all computed.
        tables: Tables with stored vectors.
    """
    # For a few chunks, looking up stored vectors costs about as much as computing them.
    sources = tables if chunks.height >= look_up_from else ()
    vectors = _Vectors(store, embedder, chunks["embedding_hash"].to_list(), sources)
    missing = vectors.missing(chunks)
    with progress.task("embedding chunks", missing.height) as advance:
        return vectors.fill(chunks, missing, advance)


def embed_few(embedder: Embedder, columns: Mapping[str, list[Any]]) -> np.ndarray:
    """Return the vectors (n, dimension) of columns of `cut_columns`; equal text is embedded once.

    For fewer than `LOOK_UP_FROM` chunks it computes what `embed` computes.
    """
    texts = dict(zip(columns["embedding_hash"], columns[TO_EMBED], strict=True))
    with progress.task("embedding chunks", len(texts)) as advance:
        vectors = np.asarray(embedder.embed_documents(list(texts.values()), advance), dtype=np.float32)
    place = {name: at for at, name in enumerate(texts)}
    return vectors[[place[name] for name in columns["embedding_hash"]]]


def chunks_frame(columns: Mapping[str, Any], vectors: np.ndarray) -> pl.DataFrame:
    """Return columns of `cut_columns` and their vectors as the frame of `embed`."""
    kind = pl.Array(pl.Float32, vectors.shape[1])
    return cut_frame(columns).drop(TO_EMBED).with_columns(vector=pl.Series(vectors, dtype=kind))


def embed_days(
    store: Store, embedder: Embedder, chunker: Chunker, notes: pl.DataFrame, days: Sequence[str]
) -> Embedded:
    """Make ``embedded_chunks`` of these days hold exactly the chunks of these notes, with vectors.

    Works in committed slices: a rerun after a kill continues behind the finished ones. Correct rows are not
    written again.

    Args:
        notes: Rows of ``staged_notes`` that passed.
        days: Partitions.
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
            store.upsert("embedded_chunks", vectors.fill(part, vectors.missing(part), advance))
    kept = present.join(complete, on=here, how="semi").join(notes, on=here, how="semi")
    stale = present.join(kept, on="embedded_id", how="anti").join(todo, on="embedded_id", how="anti")
    for gone in batches(stale["embedded_id"].to_list()):
        store.delete("embedded_chunks", one_of("embedded_id", gone))
    return Embedded(kept.height + todo.height, vectors.computed, vectors.seconds)


def labelled(chunks: pl.DataFrame, memories: pl.DataFrame) -> pl.DataFrame:
    """Return rows of ``chunks``: chunks of these memories with the labels that searches filter by.

    The source of a note that has moved is its present path. A chunk is as old as its text.
    """
    labels = memories.with_columns(
        source=pl.coalesce("path", "source"), created_at=pl.coalesce("said_at", "created_at")
    ).select("memory_id", *_OF_MEMORY)
    return chunks.join(labels, on="memory_id", how="inner", maintain_order="left")


def chunk_labels(memory: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that `labelled` gives the chunks of one memory (row of ``memories``)."""
    placed = {**memory, "source": memory["source"] if memory["path"] is None else memory["path"]}
    placed["created_at"] = memory.get("said_at") or memory["created_at"]
    return {name: placed[name] for name in _OF_MEMORY}
