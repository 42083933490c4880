"""Rows of applied learning: wanted, missing and rolled back.

Words are rows of ``learned_triggers``, search keys are rows of ``search_keys``. Both are processed alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.feedback.stale_days import stretches
from slowwave.learning.active_boosts import TABLES, lessons_of
from slowwave.learning.events import approved_namespaces
from slowwave.learning.gate import decide, gates
from slowwave.learning.gate_evidence import Evidence
from slowwave.learning.log import append, described
from slowwave.scoring.feedback.learned import KEYS, KINDS, WORDS, Kind, Rollback, standing
from slowwave.store.frames import batches, one_of, quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.quality.learning_gate import GateDecision
    from slowwave.store import Store

KEY: Final[Mapping[Kind, str]] = {WORDS: "trigger_id", KEYS: "key_id"}
"""Key of the table of each kind."""


def applied(evidence: Evidence, opened: Iterable[tuple[str, str]], kind: Kind = WORDS) -> pl.DataFrame:
    """Return the wanted rows of a kind for days and namespaces with an open gate.

    Rows that are rolled back or expired at the moment of the evidence are left out.

    Args:
        evidence: Evidence up to the last of the days.
        opened: Pairs of day and namespace.
        kind: Kind of learning.
    """
    pairs = pl.DataFrame(list(opened), schema={"day": pl.String, "namespace": pl.String}, orient="row")
    if kind == WORDS:
        rows = evidence.decided.lessons.join(
            evidence.proposals.select("proposal_id", "day"), on="proposal_id"
        ).with_columns(
            trigger_id=pl.concat_str("proposal_id", "term", separator=":"),
            added_at="taught_at", weight=pl.lit(1.0),
        )  # fmt: skip
    else:
        rows = evidence.decided_views.views.join(evidence.views.select("view_id", "day"), on="view_id")
        rows = rows.with_columns(key_id="view_id")
    stand = standing(rows, evidence.rollbacks[kind], evidence.now).filter(pl.col("expires_at") > evidence.now)
    return stand.join(pairs, on=["day", "namespace"], how="semi").select(
        evidence.space.store.specs[TABLES[kind]].schema.names
    )


def opened(
    evidence: Evidence, days: Sequence[str], kind: Kind, *, among: Sequence[str] | None = None
) -> dict[tuple[str, str], GateDecision]:
    """Return the gate decision that applies to each day and namespace.

    Words of a day follow the gate at the end of that day. Keys proposed before the gate opened are applied
    when it opens, because the evidence was measured with them. After a withdrawal no key is applied.

    Args:
        evidence: Evidence up to the last of the days; of keys up to today.
        days: Days in question (YYYY-MM-DD).
        kind: Kind of learning.
        among: Namespaces; None is all.
    """
    decided = gates(evidence, days, kind, among=among)
    if kind == WORDS:
        return decided
    now = {namespace: decide(evidence, namespace, evidence.now, kind) for _, namespace in decided}
    return {
        (day, namespace): decision if decision.open and now[namespace].used else now[namespace]
        for (day, namespace), decision in decided.items()
    }


def due_runs(evidence: Evidence) -> list[tuple[str, str]]:
    """Return the first and last day of each run that applies missing rows.

    Each day of words is a run, because each follows the gate at its own end. Adjacent days of keys alone
    share a run. Days whose rows have all expired are never stale.

    Args:
        evidence: Evidence of all namespaces, up to today.
    """
    words, keys = (_due(evidence, kind) for kind in KINDS)
    return sorted([*((day, day) for day in words), *stretches(sorted(keys - words))])


def _due(evidence: Evidence, kind: Kind) -> set[str]:
    """Return the evaluated days with missing rows of a kind."""
    store, space = evidence.space.store, evidence.space
    ttl = space.learning_policy.ttl if kind == WORDS else space.key_teaching.ttl
    first = (evidence.now - ttl).date().isoformat()
    days = sorted(day for day in evidence.evaluated if first <= day <= evidence.until)
    if not days or not (names := approved_namespaces(evidence.acts, kind)):
        return set()
    proposed = evidence.proposals if kind == WORDS else evidence.views
    wanted = proposed.filter(pl.col("day").is_in(days), pl.col("namespace").is_in(names))
    wanted = applied(evidence, wanted.select("day", "namespace").unique().iter_rows(), kind)
    existing = store.scan(TABLES[kind], columns=[KEY[kind]])
    missing = wanted.join(existing, on=KEY[kind], how="anti").select("day", "namespace").unique()
    if missing.is_empty():
        return set()
    on, among = (missing[name].unique().sort().to_list() for name in ("day", "namespace"))
    decided = opened(evidence, on, kind, among=among)
    return {day for day, namespace in missing.iter_rows() if decided[day, namespace].open}


def rolled_back(store: Store, rollback: Rollback, kind: Kind = WORDS, log: str = "") -> pl.DataFrame:
    """Delete the rows of a rollback, after writing each to the audit log.

    Args:
        store: Store of the tables.
        rollback: Rollback, already in the journal.
        kind: Kind of learning.
        log: Reason in the audit log; empty is the scope.

    Returns:
        The deleted rows.
    """
    deleted = affected(store.read(TABLES[kind], within(rollback.namespace)), rollback, kind)
    if deleted.is_empty():
        return deleted
    name = f"{rollback.scope} {rollback.value}".strip()
    append(
        store,
        described(deleted, kind).with_columns(
            at=pl.lit(rollback.at), action=pl.lit("rollback"), reason=pl.lit(log or rollback.scope),
            detail=pl.concat_str(pl.lit(f"{name}; "), "detail"),
        ),
    )  # fmt: skip
    _delete(store, kind, deleted)
    return deleted


def affected(rows: pl.DataFrame, rollback: Rollback, kind: Kind) -> pl.DataFrame:
    """Return the rows of the table of a kind that a rollback covers."""
    if kind == WORDS:
        return rows.join(lessons_of(rows).filter(rollback.hits()), on=["proposal_id", "term"], how="semi")
    return rows.with_columns(taught_at="at").filter(rollback.hits()).drop("taught_at")


def expired_terms(store: Store, now: datetime) -> int:
    """Delete expired rows of every kind, after writing them to the audit log; return their number."""
    moment = now.astimezone(UTC).isoformat(timespec="microseconds")
    return sum(_expired_terms(store, kind, moment) for kind in KINDS)


def _expired_terms(store: Store, kind: Kind, moment: str) -> int:
    expired = store.read(TABLES[kind], f"expires_at <= CAST({quote(moment)} AS TIMESTAMP)")
    if expired.height:
        log_rows = described(expired, kind).with_columns(at="expires_at")
        append(store, log_rows.with_columns(action=pl.lit("expire"), reason=pl.lit("ttl")))
        _delete(store, kind, expired)
    return expired.height


def _delete(store: Store, kind: Kind, rows: pl.DataFrame) -> None:
    for part in batches(rows[KEY[kind]].to_list()):
        store.delete(TABLES[kind], one_of(KEY[kind], part))
