"""Re-embedding with another model, never in place.

A second set of tables is filled beside the current ones, which stay in use; the switch is one write. A killed
run resumes where it was.
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from slowwave.common import ids, progress
from slowwave.embedding import Embedder, load_embedder
from slowwave.embedding.distributed import distribute
from slowwave.errors import ModelError
from slowwave.feedback.questions import with_vectors
from slowwave.home.workspace import Workspace
from slowwave.journal import maintenance_ops as underway
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.reconcile import reconcile
from slowwave.notes.chunking import indexed_text
from slowwave.settings import CONFIG_FILE, EmbeddingSettings, Settings
from slowwave.settings.file import editing
from slowwave.store import Store
from slowwave.store.connection import Identity
from slowwave.store.frames import batches
from slowwave.store.tables import table_specs
from slowwave.store.vectors import mean_vectors

WITH_VECTORS = ("chunks", "embedded_chunks", "memories", "question_vectors")


def reembed(settings: Settings, model: str) -> dict[str, Any]:
    """Fill new tables with vectors of `model`, switch to them, and update the settings file.

    Raises:
        ModelError: The store has that model already, or it cannot be loaded.
    """
    if not model.strip():
        raise ModelError("The model name is empty. Give one, for example wordllama-256.")
    space, command = Workspace(settings), f"slowwave reembed --model {model}"
    begun = any(operation.command == command for operation in underway.pending_op(space.journal))
    try:
        store = space.open_store(during=command)
    except ModelError:
        if not begun:
            raise
        return _finish(settings, model, command)
    old = store.identity
    if old.model == model:
        if begun:
            return _finish(settings, model, command)
        raise ModelError(f"The store already has the vectors of {model!r}.")
    chosen = EmbeddingSettings(**{**settings.embedding.model_dump(), "model": model})
    embedder = distribute(load_embedder(chosen), chosen, settings.engine, space.engine)
    slug = re.sub(r"\W+", "_", model).strip("_").lower()
    names = {name: f"{name}_{slug}" for name in WITH_VECTORS}
    new = Identity(model, embedder.dimension, names)
    for name, physical in names.items():
        store.create_table(table_specs(embedder.dimension)[name], physical)
    target = Store.bare(store.uri, new, store.storage_options)
    while chunks := _missing(store, target):
        with progress.task("embedding chunks", len(chunks)) as advance:
            for part in batches(chunks, ingest_pipeline.CHUNKS_PER_COMMIT):
                rows = store.read_by("chunks", "chunk_id", part).drop("vector")
                texts = _texts(rows)
                hashes = [ids.embedding_hash(model, text) for text in texts]
                vectors = embedder.embed_documents(texts, advance)
                rows = rows.with_columns(
                    embedding_hash=pl.Series(hashes, dtype=pl.String),
                    vector=pl.Series(vectors, dtype=pl.Array(pl.Float32, embedder.dimension)),
                )
                target.upsert("chunks", rows, newer=True)
    count = target.count("chunks")
    # Saves wait meanwhile and go into the new tables.
    with space.exclusively(), underway.maintenance_op(space.journal, _switch(model), command, space.now()):
        _move_memories(store, target)
        _move_questions(store, target, embedder)
        store.put_meta("embedding", {"model": model, "dimension": embedder.dimension, "tables": names})
        _write_choice(settings, model)
        reconcile(target, space.chunker, embedder)
    space.close()
    return {"model": model, "chunks": count, "was": old.model, "config": str(settings.home / CONFIG_FILE)}


def _switch(model: str) -> str:
    return f"the switch to the model {model}"


def _finish(settings: Settings, model: str, command: str) -> dict[str, Any]:
    """Finish a switch that was killed when the store had the new vectors already."""
    chosen = settings.embedding.model_copy(update={"model": model})
    space = Workspace(settings.model_copy(update={"embedding": chosen}))
    with space.exclusively(), underway.maintenance_op(space.journal, _switch(model), command, space.now()):
        store = space.open_store(during=command)
        _write_choice(settings, model)
        reconcile(store, space.chunker, space.embedder)
        count = store.count("chunks")
    space.close()
    return {"model": model, "chunks": count, "was": model, "config": str(settings.home / CONFIG_FILE)}


def _texts(chunks: pl.DataFrame) -> list[str]:
    """Return the text to embed of each chunk: without the context, which is for full-text search only."""
    parts = chunks.select("title", "headings", "text").iter_rows()
    return [indexed_text(title or "", headings or (), text) for title, headings, text in parts]


def _move_memories(store: Store, target: Store) -> None:
    """Copy the memories, with vectors of the new model where they have chunks."""
    rows = store.read("memories").drop("vector")
    chunks = target.read("chunks", columns=["memory_id", "ordinal", "vector"])
    vectors = mean_vectors(chunks, target.identity.dimension)
    target.upsert("memories", rows.join(vectors, on="memory_id", how="left"))


def _move_questions(store: Store, target: Store, embedder: Embedder) -> None:
    """Add the questions that the new table is missing, with vectors of the new model."""
    existing = target.read("question_vectors", columns=["query_id"])
    questions = store.read("question_vectors").drop("vector").join(existing, on="query_id", how="anti")
    target.upsert("question_vectors", with_vectors(embedder, questions))


def _missing(store: Store, target: Store) -> list[str]:
    """Return ids of chunks that are missing or outdated in the new table."""
    key = ["chunk_id", "revision", "status"]
    existing = target.read("chunks", columns=key)
    return store.read("chunks", columns=key).join(existing, on=key, how="anti")["chunk_id"].to_list()


def _write_choice(settings: Settings, model: str) -> None:
    with editing(settings.home) as document:
        document.setdefault("embedding", {})["model"] = model
