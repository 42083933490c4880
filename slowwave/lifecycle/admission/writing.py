"""Writes of a batch: the decision log with its edges, then the memories in one commit.

The chunks of the memories follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl

from slowwave.common import ids
from slowwave.journal.entry import WORDS
from slowwave.lifecycle.admission.context_loader import ContextLoader
from slowwave.lifecycle.admission.rows import (
    state_rows,
    tombstones,
    with_saved_dates,
    with_state_labels,
)
from slowwave.lifecycle.ingest_pipeline import labelled
from slowwave.lifecycle.reconcile import reconcile
from slowwave.quality.admission.reasons import ACCEPTED, UNDONE_BY_HAND
from slowwave.quality.admission.statuses import LIVE, MERGED, RETIRED
from slowwave.quality.admission.types import (
    AdmissionRecord,
    AdmissionResult,
    MemoryChange,
)
from slowwave.store import Store, one_of

TIME = pl.Datetime("us", "UTC")
_DECISION = (
    "decision_id", "memory_id", "revision", "other_memory", "other_revision", "proposed", "outcome",
    "similarity", "reasons", "refused", "skipped", "evidence", "appended", "namespace", "policy", "day",
    "decided_at",
)  # fmt: skip
_EDGES = {"supersede": "supersedes", "related": "related"}
_HOLDS = "undone_at IS NULL AND outcome IN ('merge', 'supersede', 'related')"


@dataclass(frozen=True, slots=True)
class AdmissionReport:
    """Outcome of events: counts, and the decisions that were made (rows of ``decisions``).

    `standing` maps the id of every memory that entered or changed to its status and replacement.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    retired: int = 0
    merged: int = 0
    superseded: int = 0
    refused: int = 0
    related: int = 0
    undone: int = 0
    decisions: pl.DataFrame = field(default_factory=pl.DataFrame)
    warnings: tuple[str, ...] = ()
    standing: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)

    def __add__(self, other: AdmissionReport) -> AdmissionReport:
        counts = {
            part.name: getattr(self, part.name) + getattr(other, part.name)
            for part in fields(self)
            if part.name not in ("decisions", "warnings", "standing")
        }
        frames = [frame for frame in (self.decisions, other.decisions) if frame.width]
        return AdmissionReport(
            **counts,
            decisions=pl.concat(frames) if len(frames) > 1 else frames[0] if frames else pl.DataFrame(),
            warnings=tuple(dict.fromkeys(self.warnings + other.warnings)),
            standing={**self.standing, **other.standing},
        )


def write(
    around: ContextLoader, admission: AdmissionResult, news: pl.DataFrame, chunks: pl.DataFrame
) -> AdmissionReport:
    """Write the memories in one commit, then bring their chunks into agreement."""
    store = around.store
    saves = news.filter(pl.col("act") == "save")
    entered = _states(around, admission.entered, chunks)
    parts = [_rows(around, saves, entered)]
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
    follow, replaced = set(admission.changes), 0
    if saves["known_revision"].null_count() < saves.height:
        before = saves.filter(pl.col("known_revision").is_not_null())
        before = before.join(entered, on="memory_id", how="semi")
        follow |= {*before["memory_id"]}
        replaced = before.height
    if fresh.height < entered.height:
        follow |= {*entered.join(fresh, on="memory_id", how="anti")["memory_id"]}
    if follow:
        reconcile(store, around.space.chunker, around.space.embedder, memory_ids=sorted(follow))
    return report_of(admission, added=entered.height - replaced, changed=replaced)


def report_of(admission: AdmissionResult, *, added: int, changed: int) -> AdmissionReport:
    """Return the report of a batch, without its logged decisions.

    Args:
        added: New memories (count).
        changed: Memories with a new text (count).
    """
    outcomes = [decision.outcome for decision in admission.decisions if not decision.refused]
    every = admission.changes | admission.entered
    return AdmissionReport(
        added=added,
        changed=changed,
        retired=len([1 for change in admission.changes.values() if change.record.status == RETIRED]),
        merged=outcomes.count("merge"),
        superseded=outcomes.count("supersede"),
        related=outcomes.count("related"),
        refused=len(admission.decisions) - len(outcomes),
        standing={name: (change.record.status, change.record.replaced_by) for name, change in every.items()},
    )


def _rows(around: ContextLoader, saves: pl.DataFrame, entered: pl.DataFrame) -> pl.DataFrame:
    """Return the notes that entered as rows of ``memories``."""
    if entered.is_empty():
        return around.store.empty("memories")
    return (
        with_saved_dates(around.space.journal, saves)
        .drop("content", "revision")
        .join(entered, on="memory_id", how="inner", maintain_order="left")
        .with_columns(
            created_at=pl.when("dated")
            .then("created_at")
            .otherwise(pl.coalesce("known_created", "created_at")),
            dated=pl.when("dated").then("created_at"),
            said_at=pl.when(pl.col("dated") | pl.col("known_created").is_null() | (pl.col("origin") != ""))
            .then(None)
            .when(pl.col("content_hash") == pl.col("known_hash"))
            .then("known_said_at")
            .otherwise(pl.coalesce("saved_at", "occurred_at")),
            updated_at=pl.coalesce("saved_at", "occurred_at"),
        )
    )


def _changed(store: Store, changed: pl.DataFrame, news: pl.DataFrame) -> pl.DataFrame:
    """Return the existing memories that changed as rows of ``memories``."""
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


def _states(around: ContextLoader, changes: Mapping[str, MemoryChange], chunks: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of ``memories`` that admission decides, one row per memory."""
    counts = Counter(chunks["memory_id"].to_list())
    every = changes.values()
    given = [change.vector for change in every]
    complete = given and all(vector is not None for vector in given)
    kind = pl.Array(pl.Float32, around.store.identity.dimension)
    vectors = pl.Series(np.array(given) if complete else given, dtype=kind)
    sizes = [_count(around, change.record, change, counts) for change in every]
    return state_rows(every).with_columns(vector=vectors, chunk_count=pl.Series(sizes, dtype=pl.Int32))


def _count(
    around: ContextLoader, record: AdmissionRecord, change: MemoryChange, counts: Mapping[str, int]
) -> int:
    """Return the number of chunks that a memory has in the search table."""
    if record.status == MERGED:
        return 0
    if change.content == record.content and record.memory_id in counts:
        return counts[record.memory_id]
    return around.cut(record.title, change.content).height


def log(
    around: ContextLoader,
    admission: AdmissionResult,
    saves: pl.DataFrame,
    news: pl.DataFrame,
    *,
    look: str = "",
    again: bool = False,
) -> AdmissionReport:
    """Write decisions, edges and lapses; report the decisions and the count of undone ones.

    Args:
        admission: Outcome of the batch.
        saves: Notes of the batch (memory_id, revision, day, occurred_at).
        news: All events of the batch.
        look: Name of the reconsolidation run that the decisions belong to; empty for notes.
        again: Whether a killed run may have left edges of these decisions.
    """
    when = {revision: moment for revision, *moment in _columns(saves, "revision", "day", "occurred_at")}
    if "accept" in set(news["act"]):
        accepts = _columns(news, "source", "act", "day", "occurred_at")
        when |= {source: moment for source, act, *moment in accepts if act == "accept"}
    made = decision_rows(around, admission, when, look=look)
    undone = _lapse(around, admission, news)
    rows = decisions_frame(around, made)
    if made:
        around.store.upsert("decisions", rows)
    if again and made:  # a killed run may have left others
        around.store.delete("edges", one_of("decision_id", rows["decision_id"].to_list()))
    if edges := edge_rows(around, made):
        around.store.upsert("edges", pl.DataFrame(edges, schema=around.store.empty("edges").schema))
    return AdmissionReport(undone=undone, decisions=rows)


def decision_rows(
    around: ContextLoader, admission: AdmissionResult, when: Mapping[str, Sequence[Any]], *, look: str = ""
) -> list[dict[str, Any]]:
    """Return the rows of ``decisions`` that are logged; with reconsolidation off only refusals and the like.

    Args:
        when: Day and moment of each event, by the revision or decision that it is about.
        look: See `log`.
    """
    every = around.policy.reconsolidation != "off"
    made = []
    for decision in admission.decisions:
        if not (every or decision.reasons or decision.skipped or decision.proposed):
            continue
        day, at = when.get(decision.look or decision.revision, (None, None))
        made.append(
            {
                "decision_id": ids.decision_id(decision.memory_id, decision.revision, look or decision.look),
                "memory_id": decision.memory_id, "revision": decision.revision,
                "other_memory": decision.other, "other_revision": decision.other_revision,
                "proposed": decision.proposed or None,
                "outcome": decision.outcome, "similarity": decision.similarity,
                "reasons": list(decision.reasons), "refused": decision.refused,
                "skipped": decision.skipped, "evidence": decision.evidence,
                "appended": list(decision.appended), "namespace": around.namespace,
                "policy": around.policy.reconsolidation, "day": day, "decided_at": at,
            }
        )  # fmt: skip
    return made


def decisions_frame(around: ContextLoader, made: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return rows of `decision_rows` as the frame that a report has."""
    none = around.store.empty("decisions", _DECISION)
    return pl.DataFrame(made, schema=none.schema) if made else none


def edge_rows(around: ContextLoader, made: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of ``edges`` of logged decisions."""
    every = around.policy.reconsolidation != "off"
    return [
        {
            "namespace": row["namespace"], "decision_id": row["decision_id"],
            "similarity": row["similarity"], "evidence": row["evidence"], "edge_id": row["decision_id"],
            "from_memory": row["memory_id"], "to_memory": row["other_memory"],
            "kind": _EDGES[row["outcome"]], "created_at": row["decided_at"],
            "strength": 1.0 if row["outcome"] == "supersede" else row["similarity"],
        }
        for row in made
        if row["outcome"] in _EDGES and not row["refused"] and (every or row["outcome"] == "supersede")
    ]  # fmt: skip


def _columns(rows: pl.DataFrame, *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows[name].to_list() for name in names), strict=True)


def _lapse(around: ContextLoader, admission: AdmissionResult, news: pl.DataFrame) -> int:
    """Mark decisions that no longer hold, and delete their edges; return their count."""
    if not admission.lapses and not set(WORDS) & set(news["act"]):
        return 0
    accepted = {decision.look for decision in admission.decisions}
    undone = {
        row["source"]: row
        for row in news.filter(pl.col("act").is_in(WORDS)).iter_rows(named=True)
        if row["act"] == "undo" or row["source"] in accepted
    }
    lapsed = {(lapse.memory_id, lapse.revision): lapse for lapse in admission.lapses}
    frames = [around.store.empty("decisions")]
    if lapsed:
        holding = around.store.read_by(
            "decisions", "memory_id", [name for name, _ in lapsed], also=around.in_namespace(_HOLDS)
        )
        texts = [text in lapsed for text in holding.select("memory_id", "revision").iter_rows()]
        frames.append(holding.filter(pl.Series(texts, dtype=pl.Boolean)))
    if undone:
        frames.append(
            around.store.read_by(
                "decisions", "decision_id", list(undone), also=around.in_namespace("undone_at IS NULL")
            )
        )
    rows = pl.concat(frames).unique("decision_id", keep="last", maintain_order=True)
    if rows.is_empty():
        return 0
    times = dict(news.select("memory_id", "occurred_at").iter_rows())
    last: datetime = news["occurred_at"].max()  # type: ignore[assignment]
    marks = []
    for name, memory, revision in rows.select("decision_id", "memory_id", "revision").iter_rows():
        if name in undone:
            why = UNDONE_BY_HAND if undone[name]["act"] == "undo" else ACCEPTED
            mark = undone[name]["occurred_at"], undone[name]["principal"], why
        else:
            lapse = lapsed[memory, revision]
            mark = times.get(lapse.act, last), None, lapse.by
        marks.append((name, *mark))
    columns = ("decision_id", "undone_at", "undone_by", "undone_why")
    frame = pl.DataFrame(
        marks,
        schema=dict(zip(columns, (pl.String, TIME, pl.String, pl.String), strict=True)),
        orient="row",
    )
    # Edges first: a run killed after the marks would leave them.
    around.store.delete("edges", one_of("decision_id", rows["decision_id"].to_list()))
    around.store.upsert("decisions", rows.drop(columns[1:]).join(frame, on="decision_id"))
    return rows.height
