"""The memories as they are after a batch, written in one commit; their chunks follow."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from slowwave.lifecycle.admission.around import Around
from slowwave.lifecycle.admission.report import AdmissionReport
from slowwave.lifecycle.admission.rows import state_rows, tombstones, with_state_labels
from slowwave.lifecycle.quarantine import settle_held
from slowwave.lifecycle.reconcile import labelled, reconcile
from slowwave.quality.admission import LIVE, MERGED, RETIRED, Admission, Change, Record


def write(around: Around, admission: Admission, news: pl.DataFrame, chunks: pl.DataFrame) -> AdmissionReport:
    """Put the memories as they are now into the store, in one commit, and let their chunks follow."""
    store = around.store
    saves = news.filter(pl.col("act") == "save")
    forgets = news.filter(pl.col("act") == "forget")
    entered = _states(around, admission.entered, chunks)
    columns = store.specs["memories"].schema.names
    parts = []
    if not entered.is_empty():
        created = pl.coalesce("known_created", "created_at")
        parts.append(
            saves.drop("content", "revision")
            .join(entered, on="memory_id", how="inner", maintain_order="left")
            .with_columns(
                created_at=pl.when("dated").then("created_at").otherwise(created),
                dated=pl.when("dated").then("created_at"),
                updated_at="occurred_at",
            )
        )
    if admission.changes:
        rows = store.read_by("memories", "memory_id", list(admission.changes))
        changed = _states(around, admission.changes, chunks)
        gone = forgets.select("memory_id", retired_now="occurred_at")
        parts.append(
            rows.drop([name for name in changed.columns if name not in ("memory_id",)])
            .join(changed, on="memory_id", how="inner")
            .join(gone, on="memory_id", how="left")
            .with_columns(
                retired_at=pl.coalesce("retired_now", "retired_at"),
                updated_at=pl.coalesce("retired_now", "updated_at"),
            )
        )
    unknown = forgets.filter(pl.col("known_revision").is_null())
    if not unknown.is_empty():
        parts.append(tombstones(unknown))
    pieces = [part.select([name for name in columns if name in part.columns]) for part in parts]
    memories = pl.concat([store.empty("memories"), *pieces], how="diagonal_relaxed")
    every = admission.changes | admission.entered
    memories = with_state_labels(memories, every.values())
    store.upsert("memories", memories)
    plain = ~pl.col("revision").str.contains("+", literal=True)
    fresh = entered.filter((pl.col("status") == LIVE) & plain)
    store.upsert("chunks", labelled(chunks.join(fresh, on=["memory_id", "revision"], how="semi"), memories))
    known = saves.filter(pl.col("known_revision").is_not_null()).join(entered, on="memory_id", how="semi")
    whole = entered.join(fresh, on="memory_id", how="anti")
    follow = {*known["memory_id"], *whole["memory_id"], *admission.changes}
    reconcile(store, around.space.chunker, around.space.embedder, memory_ids=sorted(follow))
    settle_held(store, news, {one.memory_id for one in admission.decisions if one.refused})
    outcomes = [one.outcome for one in admission.decisions if not one.refused]
    return AdmissionReport(
        added=entered.height - known.height,
        changed=known.height,
        retired=len([1 for change in admission.changes.values() if change.record.status == RETIRED]),
        merged=outcomes.count("merge"),
        superseded=outcomes.count("supersede"),
        related=outcomes.count("related"),
        refused=len(admission.decisions) - len(outcomes),
        standing={name: (change.record.status, change.record.replaced_by) for name, change in every.items()},
    )


def _states(around: Around, changes: Mapping[str, Change], chunks: pl.DataFrame) -> pl.DataFrame:
    """What the memories are now: the columns that admission decides, one row each."""
    counts = dict(chunks.group_by("memory_id").len().iter_rows())
    every = changes.values()
    vectors = pl.Series(
        [one.vector for one in every], dtype=pl.Array(pl.Float32, around.store.identity.dimension)
    )
    sizes = [_count(around, one.record, one, counts) for one in every]
    return state_rows(every).with_columns(vector=vectors, chunk_count=pl.Series(sizes, dtype=pl.Int32))


def _count(around: Around, record: Record, change: Change, counts: dict[str, int]) -> int:
    """Chunks that a memory has in the search table."""
    if record.status == MERGED:
        return 0
    if change.content == record.content and record.memory_id in counts:
        return counts[record.memory_id]
    return around.cut(record.title, change.content).height
