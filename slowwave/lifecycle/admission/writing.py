"""The memories as they are after a batch, written in one commit; their chunks follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import polars as pl

from slowwave.lifecycle.admission.around import Around
from slowwave.lifecycle.admission.report import AdmissionReport
from slowwave.lifecycle.admission.rows import state_rows, tombstones, with_state_labels
from slowwave.lifecycle.reconcile import labelled, reconcile
from slowwave.quality.admission import LIVE, MERGED, RETIRED, Admission, AdmissionRecord, MemoryChange
from slowwave.store import Store


def write(around: Around, admission: Admission, news: pl.DataFrame, chunks: pl.DataFrame) -> AdmissionReport:
    """Put the memories as they are now into the store, in one commit, and let their chunks follow."""
    store = around.store
    saves = news.filter(pl.col("act") == "save")
    entered = _states(around, admission.entered, chunks)
    parts = [_rows(store, saves, entered)]
    if admission.changes:
        parts.append(_changed(store, _states(around, admission.changes, chunks), news))
    if "forget" in set(news["act"]):
        parts.append(tombstones(news.filter(act="forget").filter(pl.col("known_revision").is_null())))
    columns = store.specs["memories"].schema.names
    pieces = [part.select([name for name in columns if name in part.columns]) for part in parts]
    memories = pl.concat([store.empty("memories"), *pieces], how="diagonal_relaxed")
    every = admission.changes | admission.entered
    memories = with_state_labels(memories, every.values())
    store.upsert("memories", memories)
    plain = ~pl.col("revision").str.contains("+", literal=True)
    fresh = entered.filter((pl.col("status") == LIVE) & plain)
    store.upsert("chunks", labelled(chunks.join(fresh, on=["memory_id", "revision"], how="semi"), memories))
    follow, known = set(admission.changes), 0
    if saves["known_revision"].null_count() < saves.height:
        before = saves.filter(pl.col("known_revision").is_not_null())
        before = before.join(entered, on="memory_id", how="semi")
        follow |= {*before["memory_id"]}
        known = before.height
    if fresh.height < entered.height:
        follow |= {*entered.join(fresh, on="memory_id", how="anti")["memory_id"]}
    reconcile(store, around.space.chunker, around.space.embedder, memory_ids=sorted(follow))
    outcomes = [one.outcome for one in admission.decisions if not one.refused]
    return AdmissionReport(
        added=entered.height - known,
        changed=known,
        retired=len([1 for change in admission.changes.values() if change.record.status == RETIRED]),
        merged=outcomes.count("merge"),
        superseded=outcomes.count("supersede"),
        related=outcomes.count("related"),
        refused=len(admission.decisions) - len(outcomes),
        standing={name: (change.record.status, change.record.replaced_by) for name, change in every.items()},
    )


def _rows(store: Store, saves: pl.DataFrame, entered: pl.DataFrame) -> pl.DataFrame:
    """What entered, as rows of ``memories``."""
    if entered.is_empty():
        return store.empty("memories")
    return (
        saves.drop("content", "revision")
        .join(entered, on="memory_id", how="inner", maintain_order="left")
        .with_columns(
            created_at=pl.when("dated")
            .then("created_at")
            .otherwise(pl.coalesce("known_created", "created_at")),
            dated=pl.when("dated").then("created_at"),
            updated_at="occurred_at",
        )
    )


def _changed(store: Store, changed: pl.DataFrame, news: pl.DataFrame) -> pl.DataFrame:
    """What was there and is different now, as rows of ``memories``."""
    rows = store.read_by("memories", "memory_id", changed["memory_id"].to_list())
    gone = news.filter(act="forget").select("memory_id", retired_now="occurred_at")
    return (
        rows.drop([name for name in changed.columns if name not in ("memory_id",)])
        .join(changed, on="memory_id", how="inner")
        .join(gone, on="memory_id", how="left")
        .with_columns(
            retired_at=pl.coalesce("retired_now", "retired_at"),
            updated_at=pl.coalesce("retired_now", "updated_at"),
        )
    )


def _states(around: Around, changes: Mapping[str, MemoryChange], chunks: pl.DataFrame) -> pl.DataFrame:
    """What the memories are now: the columns that admission decides, one row each."""
    counts = Counter(chunks["memory_id"].to_list())
    every = changes.values()
    found = [one.vector for one in every]
    whole = np.array(found) if found and all(one is not None for one in found) else found
    vectors = pl.Series(whole, dtype=pl.Array(pl.Float32, around.store.identity.dimension))
    sizes = [_count(around, one.record, one, counts) for one in every]
    return state_rows(every).with_columns(vector=vectors, chunk_count=pl.Series(sizes, dtype=pl.Int32))


def _count(around: Around, record: AdmissionRecord, change: MemoryChange, counts: Mapping[str, int]) -> int:
    """Chunks that a memory has in the search table."""
    if record.status == MERGED:
        return 0
    if change.content == record.content and record.memory_id in counts:
        return counts[record.memory_id]
    return around.cut(record.title, change.content).height
