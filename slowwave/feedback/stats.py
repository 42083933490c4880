"""Usage statistics of one memory, including feedback that is not aggregated yet."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.feedback import aggregation
from slowwave.feedback.model import MemoryStats
from slowwave.feedback.recent_feedback import RECENT, VOTES, vote_row
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
    """Compute the usage statistics of a memory; see `slowwave.Memory.stats`."""
    where = within(record.namespace, f"memory_id = {quote(record.memory_id)}")
    processed = space.store.read("usage_signals", where, columns=_COLUMNS)
    new = waiting(space, record.namespace).filter(pl.col("memory_id") == record.memory_id).select(_COLUMNS)
    new = new.join(processed, on="signal_id", how="anti")
    everything = _most_certain_only(pl.concat([processed, new])).sort(
        "occurred_at", "signal_id", descending=True
    )
    has = in_force(texts_in(space)([record.memory_id]))
    signals = of_text(everything, has)
    counted = _last_ratings(signals.filter(pl.col("evidence") != "none"))
    counts = dict(counted.group_by("verdict").len().iter_rows())
    used = counted.filter(pl.col("verdict") == "used")
    states = states_in(space).states(record.namespace, [record.memory_id])
    state = states.get(record.memory_id)
    rows = space.store.read("memory_state", where, columns=["strength", "stability", "last_at"])
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
        strength=_current_strength(row, as_of),
        stability=row.get("stability"),
        last_used_at=used["occurred_at"].max(),  # type: ignore[arg-type]
        waiting=new.height,
        earlier=everything.filter(VOTES).height - signals.filter(VOTES).height,
        recent=tuple(vote_row(vote) for vote in signals.filter(VOTES).head(RECENT).iter_rows(named=True)),
    )


def _last_ratings(signals: pl.DataFrame) -> pl.DataFrame:
    """Keep the last rating of each search by each user, which replaces earlier ones."""
    votes = signals.filter(VOTES).sort("occurred_at", "signal_id")
    by = ["principal", "tier", pl.coalesce("search_id", "signal_id").alias("search")]
    last = votes.group_by(by, maintain_order=True).tail(1).select(signals.columns)
    return pl.concat([signals.filter(~VOTES), last])


def _most_certain_only(signals: pl.DataFrame) -> pl.DataFrame:
    """Keep the most certain signal of each answer; a waiting one may be more certain."""
    looks = pl.col("tier") == "implicit"
    return pl.concat([signals.filter(~looks), most_certain(signals.filter(looks))])


def waiting(space: Workspace, namespace: str) -> pl.DataFrame:
    """Return the ``usage_signals`` rows of a namespace's feedback that is not aggregated yet."""
    processed = processed_days(space.store)
    last_seqs = {day: record.seqs.events for day, record in processed.items()}
    events = projections.drain_events(space.journal, unseen_entries(space.journal, processed, namespace)).rows
    after = pl.col("day").replace_strict(last_seqs, default=0, return_dtype=pl.Int64)
    events = events.filter((pl.col("namespace") == namespace) & (pl.col("seq") > after))
    policy, ratio = space.feedback_policy, space.usage_policy.used_ratio
    ratings_and_uses = events.filter(pl.col("kind") != "outcome")
    if ratings_and_uses.is_empty():
        return space.store.empty("usage_signals", _COLUMNS)
    return aggregation.signals(space.store, ratings_and_uses, policy, ratio, texts_in(space))


def _current_strength(row: dict[str, Any], as_of: datetime) -> float | None:
    from slowwave.scoring.feedback.strength import current

    if row.get("strength") is None:
        return None
    elapsed = (as_of - row["last_at"]).total_seconds()
    return float(current(row["strength"], row["stability"], elapsed))
