"""Rows of ``learned_triggers``: those that should be there, those that are due, and those taken back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import polars as pl

from slowwave.learning.acts import approved_namespaces
from slowwave.learning.applied import lessons_of
from slowwave.learning.evidence import Evidence
from slowwave.learning.gate import gates
from slowwave.learning.isolation import TABLE
from slowwave.learning.log import append
from slowwave.scoring.feedback.learned import Rollback, standing
from slowwave.store.database import batches
from slowwave.store.frames import one_of, quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.store import Store


def taught(evidence: Evidence, opened: Iterable[tuple[str, str]]) -> pl.DataFrame:
    """Rows of ``learned_triggers`` of the days on which the gate of a namespace was open.

    What was taken back or has expired by the moment of the question is not there.

    Args:
        evidence: up to the last of the days.
        opened: day and namespace.
    """
    pairs = pl.DataFrame(list(opened), schema={"day": pl.String, "namespace": pl.String}, orient="row")
    lessons = standing(evidence.decided.lessons, evidence.rollbacks, evidence.now)
    days = evidence.proposals.select("proposal_id", "day")
    rows = lessons.filter(pl.col("expires_at") > evidence.now).join(days, on="proposal_id")
    return (
        rows.join(pairs, on=["day", "namespace"], how="semi")
        .with_columns(
            trigger_id=pl.concat_str("proposal_id", "term", separator=":"),
            added_at="taught_at",
            weight=pl.lit(1.0),
        )
        .select(evidence.space.store.specs[TABLE].schema.names)
    )


def due_days(evidence: Evidence) -> list[str]:
    """Evaluated days of which something is to be learned that is not there yet; in order.

    Days so old that all they taught has expired are never due.

    Args:
        evidence: of all namespaces, up to today.
    """
    store = evidence.space.store
    first = (evidence.now - evidence.space.learning_policy.ttl).date().isoformat()
    days = sorted(day for day in evidence.evaluated if first <= day <= evidence.until)
    if not days or not approved_namespaces(evidence.acts):
        return []
    proposed = evidence.proposals.filter(pl.col("day").is_in(days), pl.col("refusal").is_null())
    wanted = taught(evidence, proposed.select("day", "namespace").unique().iter_rows())
    there = store.read(TABLE, columns=["trigger_id"])
    lacking = wanted.join(there, on="trigger_id", how="anti").select("day", "namespace").unique()
    if lacking.is_empty():
        return []
    on, among = (lacking[name].unique().to_list() for name in ("day", "namespace"))
    decided = gates(evidence, on, among=among)
    return sorted({day for day, namespace in lacking.iter_rows() if decided[day, namespace].open})


def taken_back(store: Store, act: Rollback, log: str = "") -> pl.DataFrame:
    """Delete what a rollback takes back; every row of it is in the audit log first.

    Args:
        store: of the table.
        act: the rollback; it is in the journal already.
        log: what the audit log says of it.

    Returns:
        The rows that are gone.
    """
    mine = store.read(TABLE, within(act.namespace))
    gone = mine.join(lessons_of(mine).filter(act.hits()), on=["proposal_id", "term"], how="semi")
    if gone.is_empty():
        return gone
    append(
        store,
        gone.select(
            "namespace", "memory_id", "term", "search_id", "principal",
            at=pl.lit(act.at), action=pl.lit("rollback"), reason=pl.lit(log or act.scope),
            detail=pl.concat_str(pl.lit(f"{act.scope} {act.value}".strip() + "; "), "trigger_id"),
        ),
    )  # fmt: skip
    _delete(store, gone["trigger_id"].to_list())
    return gone


def swept(store: Store, now: datetime) -> pl.DataFrame:
    """Delete what has expired; the audit log says it first. Returns the rows that are gone."""
    moment = now.astimezone(UTC).isoformat(timespec="microseconds")
    gone = store.read(TABLE, f"expires_at <= CAST({quote(moment)} AS TIMESTAMP)")
    if gone.is_empty():
        return gone
    append(
        store,
        gone.select(
            "namespace", "memory_id", "term", "search_id", "principal",
            at="expires_at", action=pl.lit("expire"), reason=pl.lit("ttl"), detail="trigger_id",
        ),
    )  # fmt: skip
    _delete(store, gone["trigger_id"].to_list())
    return gone


def _delete(store: Store, names: Sequence[str]) -> None:
    for part in batches(names):
        store.delete(TABLE, one_of("trigger_id", part))
