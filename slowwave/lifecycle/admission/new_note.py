"""Admission of one new note as a record: the usual save, without frames.

A save of a text that no memory has, under a key that none has, changes no other memory unless the decision
says so. Then a few mappings are all that is written. `admit_new_note` leaves everything else to
`slowwave.lifecycle.admission.apply`, which admits any batch of events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from slowwave.journal.entry import ERASURE
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission.apply import carry_out, enters_only, follow_texts_of
from slowwave.lifecycle.admission.context_loader import TIME, ContextLoader
from slowwave.lifecycle.admission.rows import note_record, state_row
from slowwave.lifecycle.admission.writing import (
    AdmissionReport,
    decision_rows,
    decisions_frame,
    edge_rows,
    report_of,
)
from slowwave.quality.admission.state_machine import admit
from slowwave.quality.admission.statuses import DEFAULT_SENSITIVITY
from slowwave.quality.admission.types import AdmissionAct, AdmissionPolicy, AdmissionResult
from slowwave.store import staging
from slowwave.store.vectors import mean_rows

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

Row = Mapping[str, Any]
Columns = Mapping[str, list[Any]]


def admit_new_note(
    space: Workspace, note: Row, scored: Row, cut: Columns, vectors: np.ndarray
) -> AdmissionReport | None:
    """Admit a note that passed the gate, if it is new.

    If a memory may have its text or key, it does nothing and returns None.

    Args:
        note: Row of ``staged_notes``, of `staging.stage_save`.
        scored: Its score and parts from the gate.
        cut: Its chunks, of `ingest_pipeline.cut_columns`; at least one.
        vectors: Of the chunks (n, dimension).
    """
    policy, warnings = space.admission()
    with space.writing():
        namespace = note["namespace"]
        if space.journal.count(namespace, ERASURE):
            return None
        around = ContextLoader(space, namespace, policy)
        standing = around.standing
        if standing is None or standing.knows([note["memory_id"], *_hashes(note, policy)]):
            return None
        with space.store.one_look():  # nothing is written before the decision
            admission = _decide(around, note, vectors)
        done = AdmissionReport(warnings=warnings)
        if _enters_alone(admission):
            done += _enter(around, admission, note, cut, vectors)
        else:
            news = _news(note, scored)
            chunks = ingest_pipeline.chunks_frame(cut, vectors)
            done += carry_out(around, admission, news, chunks, again=False, later=True)
    follow_texts_of(space, [(namespace, note["memory_id"], note["source"])])
    return done


def _hashes(note: Row, policy: AdmissionPolicy) -> list[str]:
    return [note["content_hash"]] if policy.gate and note["content_hash"] is not None else []


def _decide(around: ContextLoader, note: Row, vectors: np.ndarray) -> AdmissionResult:
    """Decide on the note alone, as `apply` does on a batch."""
    name = note["memory_id"]
    batch = mean_rows(vectors.astype(np.float64), np.zeros(1, np.int64))
    kind = note["sensitivity"] or DEFAULT_SENSITIVITY
    neighbours = around.neighbours([name], [kind], batch, acts=1)
    warned = not around.space.gate_policy.enforces_at(note["occurred_at"])
    record = note_record(dict(note), batch[0], warned=warned)
    around.check_order([record], acts=1)
    return admit([AdmissionAct("save", name, note=record)], around.surroundings([], neighbours))


def _enters_alone(admission: AdmissionResult) -> bool:
    """Whether the note enters with its own text and labels, and nothing else changes."""
    return (
        enters_only(admission)
        and len(admission.entered) == 1
        and all(
            change.content == change.record.content and change.labels == change.record.labels
            for change in admission.entered.values()
        )
    )


def _news(note: Row, scored: Row) -> pl.DataFrame:
    """Return the note as `ContextLoader.news` does: no memory is known."""
    return staging.staged_frame(note).with_columns(
        pl.Series("score", [scored["score"]], pl.Float64), pl.Series("parts", [scored["parts"]], pl.String),
        known_revision=pl.lit(None, pl.String), known_status=pl.lit(None, pl.String),
        known_created=pl.lit(None, TIME), known_said_at=pl.lit(None, TIME),
        known_hash=pl.lit(None, pl.String), is_news=pl.lit(value=True),
    )  # fmt: skip


def _enter(
    around: ContextLoader, admission: AdmissionResult, note: Row, cut: Columns, vectors: np.ndarray
) -> AdmissionReport:
    """Log the decision and write the memory with its chunks."""
    store = around.store
    made = decision_rows(around, admission, {note["revision"]: (note["day"], note["occurred_at"])})
    memory = memory_row(around, admission, note, len(vectors))
    chunks = chunk_columns(memory, cut, vectors)
    with store.later():
        for name, rows in (("decisions", made), ("edges", edge_rows(around, made))):
            if rows:
                store.upsert(name, {column: [row[column] for row in rows] for column in rows[0]})
        vector = memory["vector"]
        columns = {column: [value] for column, value in memory.items() if column != "vector"}
        store.upsert("memories", {**columns, "vector": vector[None]})
        store.upsert("chunks", chunks)
    if around.may_be_held([note["memory_id"]]):
        from slowwave.lifecycle.quarantine import settle_held

        settle_held(store, _news(note, {"score": None, "parts": None}), set())
    return report_of(admission, added=1, changed=0) + AdmissionReport(decisions=decisions_frame(around, made))


def memory_row(around: ContextLoader, admission: AdmissionResult, note: Row, chunks: int) -> dict[str, Any]:
    """Return the row of ``memories`` of a note that enters as it is."""
    (change,) = admission.entered.values()
    assert change.vector is not None
    row = {
        **note, **state_row(change), "vector": np.asarray(change.vector, np.float32), "chunk_count": chunks,
        "dated": note["created_at"] if note["dated"] else None, "updated_at": note["occurred_at"],
    }  # fmt: skip
    names = around.store.specs["memories"].schema.names
    return {name: row[name] for name in names if name in row}


def chunk_columns(memory: Row, cut: Columns, vectors: np.ndarray) -> dict[str, Sequence[Any] | np.ndarray]:
    """Return the columns of ``chunks`` of a memory (row of ``memories``)."""
    labels = {name: [value] * len(vectors) for name, value in ingest_pipeline.chunk_labels(memory).items()}
    own = {name: values for name, values in cut.items() if name != ingest_pipeline.TO_EMBED}
    return {**own, "vector": vectors, **labels}
