"""The decision log: what was decided, which edges follow, and what holds no longer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import polars as pl

from slowwave.common import ids
from slowwave.journal.entry import WORDS
from slowwave.lifecycle.admission.around import Around
from slowwave.lifecycle.admission.report import AdmissionReport
from slowwave.quality.admission import ACCEPTED, UNDONE_BY_HAND, Admission
from slowwave.store import one_of

TIME = pl.Datetime("us", "UTC")
_DECISION = (
    "decision_id", "memory_id", "revision", "other_memory", "other_revision", "proposed", "outcome",
    "similarity", "reasons", "refused", "skipped", "evidence", "appended", "namespace", "policy", "day",
    "decided_at",
)  # fmt: skip
_EDGES = {"supersede": "supersedes", "related": "related"}
_HOLDS = "undone_at IS NULL AND outcome IN ('merge', 'supersede', 'related')"


def log(
    around: Around,
    admission: Admission,
    saves: pl.DataFrame,
    news: pl.DataFrame,
    *,
    look: str = "",
    again: bool = False,
) -> AdmissionReport:
    """Write the decisions, the edges and what lapsed; gives the decisions of this batch and what was undone.

    Args:
        around: the namespace and its tables.
        admission: what the batch came to.
        saves: the notes of the batch (memory_id, revision, day, occurred_at).
        news: all its acts.
        look: names the look at what is live already that the decisions belong to.
        again: whether a run that was killed may have left edges of these decisions.
    """
    every = around.policy.reconsolidation != "off"
    wanted = [one for one in admission.decisions if every or one.reasons or one.skipped or one.proposed]
    when = {revision: told for revision, *told in _columns(saves, "revision", "day", "occurred_at")}
    if "accept" in set(news["act"]):
        words = _columns(news, "source", "act", "day", "occurred_at")
        when |= {source: told for source, act, *told in words if act == "accept"}
    made = []
    for one in wanted:
        day, at = when.get(one.look or one.revision, (None, None))
        made.append(
            {
                "decision_id": ids.decision_id(one.memory_id, one.revision, look or one.look),
                "memory_id": one.memory_id, "revision": one.revision, "other_memory": one.other,
                "other_revision": one.other_revision, "proposed": one.proposed or None,
                "outcome": one.outcome, "similarity": one.similarity, "reasons": list(one.reasons),
                "refused": one.refused, "skipped": one.skipped, "evidence": one.evidence,
                "appended": list(one.appended), "namespace": around.namespace,
                "policy": around.policy.reconsolidation, "day": day, "decided_at": at,
            }
        )  # fmt: skip
    rows = pl.DataFrame(made, schema=around.store.empty("decisions", _DECISION).schema)
    undone = _lapse(around, admission, news)
    if not rows.is_empty():
        around.store.upsert("decisions", rows)
    edges = pl.DataFrame(
        [
            {
                "namespace": row["namespace"], "decision_id": row["decision_id"],
                "similarity": row["similarity"], "evidence": row["evidence"], "edge_id": row["decision_id"],
                "from_memory": row["memory_id"], "to_memory": row["other_memory"],
                "kind": _EDGES[row["outcome"]], "created_at": row["decided_at"],
                "strength": 1.0 if row["outcome"] == "supersede" else row["similarity"],
            }
            for row in made
            if row["outcome"] in _EDGES and not row["refused"] and (every or row["outcome"] == "supersede")
        ],
        schema=around.store.empty("edges").schema,
    )  # fmt: skip
    if again and not rows.is_empty():  # a killed run may have left others
        around.store.delete("edges", one_of("decision_id", rows["decision_id"].to_list()))
    if not edges.is_empty():
        around.store.upsert("edges", edges)
    return AdmissionReport(undone=undone, decisions=rows)


def _columns(rows: pl.DataFrame, *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows[name].to_list() for name in names), strict=True)


def _lapse(around: Around, admission: Admission, news: pl.DataFrame) -> int:
    """Note in the log which decisions hold no longer, and take their edges away; how many they are."""
    if not admission.lapses and not set(WORDS) & set(news["act"]):
        return 0
    done = {one.look for one in admission.decisions}
    undone = {
        row["source"]: row
        for row in news.filter(pl.col("act").is_in(WORDS)).iter_rows(named=True)
        if row["act"] == "undo" or row["source"] in done
    }
    lapsed = {(one.memory_id, one.revision): one for one in admission.lapses}
    found = [around.store.empty("decisions")]
    if lapsed:
        about = around.store.read_by(
            "decisions", "memory_id", [name for name, _ in lapsed], also=around.mine(_HOLDS)
        )
        texts = [text in lapsed for text in about.select("memory_id", "revision").iter_rows()]
        found.append(about.filter(pl.Series(texts, dtype=pl.Boolean)))
    if undone:
        found.append(
            around.store.read_by(
                "decisions", "decision_id", list(undone), also=around.mine("undone_at IS NULL")
            )
        )
    rows = pl.concat(found).unique("decision_id", keep="last", maintain_order=True)
    if rows.is_empty():
        return 0
    times = dict(news.select("memory_id", "occurred_at").iter_rows())
    last: datetime = news["occurred_at"].max()  # type: ignore[assignment]
    marks = []
    for name, memory, revision in rows.select("decision_id", "memory_id", "revision").iter_rows():
        if name in undone:
            why = UNDONE_BY_HAND if undone[name]["act"] == "undo" else ACCEPTED
            told = undone[name]["occurred_at"], undone[name]["principal"], why
        else:
            lapse = lapsed[memory, revision]
            told = times.get(lapse.act, last), None, lapse.by
        marks.append((name, *told))
    columns = ("decision_id", "undone_at", "undone_by", "undone_why")
    frame = pl.DataFrame(
        marks,
        schema=dict(zip(columns, (pl.String, TIME, pl.String, pl.String), strict=True)),
        orient="row",
    )
    # Edges first, or a run that is killed after the marks would leave them.
    around.store.delete("edges", one_of("decision_id", rows["decision_id"].to_list()))
    around.store.upsert("decisions", rows.drop(columns[1:]).join(frame, on="decision_id"))
    return rows.height
