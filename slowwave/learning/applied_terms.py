"""What was learned and is applied: rows that should be there, those that are due, and those taken back.

Words are rows of ``learned_triggers``, search keys are rows of ``search_keys``; whatever is done with one is
done with the other.
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
    """Rows of the table of a kind, of days and namespaces whose gate lets them in.

    What was taken back or has expired by the moment of the question is not there.

    Args:
        evidence: up to the last of the days.
        opened: day and namespace.
        kind: of learning.
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
        rows = evidence.seen.views.join(evidence.views.select("view_id", "day"), on="view_id")
        rows = rows.with_columns(key_id="view_id")
    stand = standing(rows, evidence.rollbacks[kind], evidence.now).filter(pl.col("expires_at") > evidence.now)
    return stand.join(pairs, on=["day", "namespace"], how="semi").select(
        evidence.space.store.specs[TABLES[kind]].schema.names
    )


def opened(
    evidence: Evidence, days: Sequence[str], kind: Kind, *, among: Sequence[str] | None = None
) -> dict[tuple[str, str], GateDecision]:
    """What decides whether something of a day may be applied, by day and namespace.

    Words of a day come in by the gate at its end. Of keys, what was proposed before the gate opened comes in
    when it opens: it is what the evidence was measured with; and nothing does once it was withdrawn.

    Args:
        evidence: up to the last of the days; of keys up to today.
        days: in question.
        kind: of learning.
        among: namespaces; None is all.
    """
    decided = gates(evidence, days, kind, among=among)
    if kind == WORDS:
        return decided
    now = {namespace: decide(evidence, namespace, evidence.now, kind) for _, namespace in decided}
    return {
        (day, namespace): one if one.open and now[namespace].used else now[namespace]
        for (day, namespace), one in decided.items()
    }


def due_runs(evidence: Evidence) -> list[tuple[str, str]]:
    """The first and the last day of each run that applies what is due.

    Days of words are runs of their own, each behind the gate at its end; those of keys alone, which all come
    in when their gate opens, go together. Days so old that all they taught has expired are never due.

    Args:
        evidence: of all namespaces, up to today.
    """
    words, keys = (_due(evidence, kind) for kind in KINDS)
    return sorted([*((day, day) for day in words), *stretches(sorted(keys - words))])


def _due(evidence: Evidence, kind: Kind) -> set[str]:
    """Evaluated days of which something of a kind is to be applied that is not there yet."""
    store, space = evidence.space.store, evidence.space
    ttl = space.learning_policy.ttl if kind == WORDS else space.key_teaching.ttl
    first = (evidence.now - ttl).date().isoformat()
    days = sorted(day for day in evidence.evaluated if first <= day <= evidence.until)
    if not days or not (names := approved_namespaces(evidence.acts, kind)):
        return set()
    proposed = evidence.proposals if kind == WORDS else evidence.views
    wanted = proposed.filter(pl.col("day").is_in(days), pl.col("namespace").is_in(names))
    wanted = applied(evidence, wanted.select("day", "namespace").unique().iter_rows(), kind)
    there = store.scan(TABLES[kind], columns=[KEY[kind]])
    lacking = wanted.join(there, on=KEY[kind], how="anti").select("day", "namespace").unique()
    if lacking.is_empty():
        return set()
    on, among = (lacking[name].unique().sort().to_list() for name in ("day", "namespace"))
    decided = opened(evidence, on, kind, among=among)
    return {day for day, namespace in lacking.iter_rows() if decided[day, namespace].open}


def rolled_back(store: Store, act: Rollback, kind: Kind = WORDS, log: str = "") -> pl.DataFrame:
    """Delete what a rollback takes back; every row of it is in the audit log first.

    Args:
        store: of the tables.
        act: the rollback; it is in the journal already.
        kind: of learning.
        log: what the audit log says of it.

    Returns:
        The rows that are gone.
    """
    gone = affected(store.read(TABLES[kind], within(act.namespace)), act, kind)
    if gone.is_empty():
        return gone
    name = f"{act.scope} {act.value}".strip()
    append(
        store,
        described(gone, kind).with_columns(
            at=pl.lit(act.at), action=pl.lit("rollback"), reason=pl.lit(log or act.scope),
            detail=pl.concat_str(pl.lit(f"{name}; "), "detail"),
        ),
    )  # fmt: skip
    _delete(store, kind, gone)
    return gone


def affected(rows: pl.DataFrame, act: Rollback, kind: Kind) -> pl.DataFrame:
    """Those rows of the table of a kind that a rollback is about."""
    if kind == WORDS:
        return rows.join(lessons_of(rows).filter(act.hits()), on=["proposal_id", "term"], how="semi")
    return rows.with_columns(taught_at="at").filter(act.hits()).drop("taught_at")


def expired_terms(store: Store, now: datetime) -> int:
    """Delete what has expired, of every kind; the audit log says it first. Returns how much is gone."""
    moment = now.astimezone(UTC).isoformat(timespec="microseconds")
    return sum(_expired_terms(store, kind, moment) for kind in KINDS)


def _expired_terms(store: Store, kind: Kind, moment: str) -> int:
    gone = store.read(TABLES[kind], f"expires_at <= CAST({quote(moment)} AS TIMESTAMP)")
    if gone.height:
        told = described(gone, kind).with_columns(at="expires_at")
        append(store, told.with_columns(action=pl.lit("expire"), reason=pl.lit("ttl")))
        _delete(store, kind, gone)
    return gone.height


def _delete(store: Store, kind: Kind, rows: pl.DataFrame) -> None:
    for part in batches(rows[KEY[kind]].to_list()):
        store.delete(TABLES[kind], one_of(KEY[kind], part))
