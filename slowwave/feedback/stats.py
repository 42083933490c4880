"""What use says of one memory: the tables' account of it, and what no night has taken up yet."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.feedback import aggregation
from slowwave.feedback.model import MemoryStats
from slowwave.feedback.recent_feedback import RECENT, VOTES, said
from slowwave.feedback.stale_days import processed_days, unseen_entries
from slowwave.feedback.states import states_in
from slowwave.feedback.text_attribution import in_force, of_text, texts_in
from slowwave.journal import projections
from slowwave.scoring.feedback.signals import most_certain
from slowwave.store import quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.tenant import MemoryRecord
    from slowwave.home.workspace import Workspace

_COLUMNS = (
    "signal_id", "tier", "verdict", "evidence", "principal", "search_id", "project", "occurred_at",
    "day", "namespace", "memory_id", "response", "event_id", "text",
)  # fmt: skip


def stats(space: Workspace, record: MemoryRecord, *, as_of: datetime) -> MemoryStats:
    """What use says of a memory; see `slowwave.Memory.stats`."""
    about = within(record.namespace, f"memory_id = {quote(record.memory_id)}")
    taken = space.store.read("usage_signals", about, columns=_COLUMNS)
    new = waiting(space, record.namespace).filter(pl.col("memory_id") == record.memory_id).select(_COLUMNS)
    new = new.join(taken, on="signal_id", how="anti")
    everything = _one_word(pl.concat([taken, new])).sort("occurred_at", "signal_id", descending=True)
    has = in_force(texts_in(space)([record.memory_id]))
    signals = of_text(everything, has)
    counted = signals.filter(pl.col("evidence") != "none")
    counts = dict(counted.group_by("verdict").len().iter_rows())
    used = counted.filter(pl.col("verdict") == "used")
    states = states_in(space).states(record.namespace, [record.memory_id])
    state = states.get(record.memory_id)
    rows = space.store.read("memory_state", about, columns=["strength", "stability", "last_at"])
    row = rows.row(0, named=True) if rows.height else {}
    return MemoryStats(
        memory_id=record.memory_id,
        title=record.title,
        tier=record.importance_tier,
        used=counts.get("used", 0),
        cited=used.filter(pl.col("evidence") == "citation").height,
        ignored=counts.get("ignored", 0),
        helpful=counts.get("helpful", 0),
        neutral=counts.get("neutral", 0),
        unhelpful=counts.get("unhelpful", 0),
        successes=counts.get("success", 0),
        failures=counts.get("failure", 0),
        effectiveness=state.effectiveness if state else space.feedback_policy.prior,
        feedback_count=state.feedback_count if state else 0,
        strength=_left(row, as_of),
        stability=row.get("stability"),
        last_used_at=used["occurred_at"].max(),  # type: ignore[arg-type]
        waiting=new.height,
        earlier=everything.filter(VOTES).height - signals.filter(VOTES).height,
        recent=tuple(said(one) for one in signals.filter(VOTES).head(RECENT).iter_rows(named=True)),
    )


def _one_word(signals: pl.DataFrame) -> pl.DataFrame:
    """The signals, of each answer the most certain: what waits may be surer than what was taken up."""
    looks = pl.col("tier") == "implicit"
    return pl.concat([signals.filter(~looks), most_certain(signals.filter(looks))])


def waiting(space: Workspace, namespace: str) -> pl.DataFrame:
    """Signals of the acts of a namespace that no night has taken up, as rows of ``usage_signals``."""
    folded = processed_days(space.store)
    seen = {day: record.seqs.events for day, record in folded.items()}
    events = projections.drain_events(space.journal, unseen_entries(space.journal, folded, namespace)).rows
    after = pl.col("day").replace_strict(seen, default=0, return_dtype=pl.Int64)
    events = events.filter((pl.col("namespace") == namespace) & (pl.col("seq") > after))
    policy, ratio = space.feedback_policy, space.usage_policy.used_ratio
    own = events.filter(pl.col("kind") != "outcome")
    if own.is_empty():
        return space.store.empty("usage_signals", _COLUMNS)
    return aggregation.signals(space.store, own, policy, ratio, texts_in(space))


def _left(row: dict[str, Any], as_of: datetime) -> float | None:
    from slowwave.scoring.feedback.strength import current

    if row.get("strength") is None:
        return None
    elapsed = (as_of - row["last_at"]).total_seconds()
    return float(current(row["strength"], row["stability"], elapsed))
