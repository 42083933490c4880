"""What was learned: rows of ``learned_triggers``, those that should be there and those taken back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl

from slowwave.feedback.texts import in_force, of_text, texts
from slowwave.learning.acts import Act, acts, approved_namespaces, as_said_by, rollbacks
from slowwave.scoring.feedback.learned import LESSON, PROPOSAL, Decided, Rollback, decide, live, standing
from slowwave.store.frames import one_of, quote

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.store import Store

TABLE = "learned_triggers"


def day_start(day: str) -> datetime:
    """00:00 UTC of a day."""
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


def day_end(day: str) -> datetime:
    """24:00 UTC of a day."""
    return day_start(day) + timedelta(days=1)


@dataclass(frozen=True)
class Known:
    """All proposals of some namespaces up to a day, and what they come to.

    Attributes:
        proposals: rows of ``learned_proposals``.
        decided: of them.
        acts: everything that was decided about learning in these namespaces, at any time.
        rollbacks: those that took something back.
        texts: of the memories that proposals are about.
    """

    proposals: pl.DataFrame
    decided: Decided
    acts: list[Act]
    rollbacks: list[Rollback]
    texts: pl.DataFrame


def known(space: Workspace, until: str, namespace: str | None = None) -> Known:
    """Go through all proposals up to the end of a day."""
    where = f"day <= {quote(until)}" + ("" if namespace is None else f" AND namespace = {quote(namespace)}")
    proposals = space.store.scan("learned_proposals", where)
    said = as_said_by(acts(space.journal, namespace), space.now())
    back = rollbacks(said)
    decided = decide(proposals.select(*PROPOSAL), back, space.learning_policy)
    return Known(proposals, decided, said, back, texts(space, proposals["memory_id"].unique().to_list()))


def would_be(space: Workspace, known: Known, as_of: datetime) -> pl.DataFrame:
    """Terms that would have an effect at a moment if every proposal before it had been applied."""
    lessons = of_text(known.decided.lessons, in_force(known.texts, as_of))
    return live(standing(lessons, known.rollbacks, as_of), as_of, space.learning_policy)


def taught(space: Workspace, known: Known, opened: Iterable[tuple[str, str]], now: datetime) -> pl.DataFrame:
    """Rows of ``learned_triggers`` of the days on which the gate of a namespace was open.

    Args:
        space: of the tables.
        known: all proposals up to the last of the days.
        opened: day and namespace.
        now: what was taken back or has expired by then is not there.
    """
    pairs = pl.DataFrame(list(opened), schema={"day": pl.String, "namespace": pl.String}, orient="row")
    lessons = standing(known.decided.lessons, known.rollbacks, now).filter(pl.col("expires_at") > now)
    days = known.proposals.select("proposal_id", "day")
    rows = lessons.join(days, on="proposal_id").join(pairs, on=["day", "namespace"], how="semi")
    return rows.with_columns(
        trigger_id=pl.concat_str("proposal_id", "term", separator=":"),
        added_at="taught_at",
        weight=pl.lit(1.0),
    ).select(space.store.specs[TABLE].schema.names)


def due_days(space: Workspace) -> list[str]:
    """Evaluated days of which something is to be learned that is not there yet; in order.

    Days so old that all they taught has expired are never due.
    """
    from slowwave.evaluation.due import RECORD
    from slowwave.learning.gate import gates

    now = space.now()
    first = (now - space.learning_policy.ttl).date().isoformat()
    days = sorted(day for day in space.store.list_meta(RECORD) if day >= first)
    if not days or not approved_namespaces(space.journal):
        return []
    all_of = known(space, days[-1])
    proposed = all_of.proposals.filter(pl.col("day").is_in(days), pl.col("refusal").is_null())
    pairs = list(proposed.select("day", "namespace").unique().iter_rows())
    wanted = taught(space, all_of, pairs, now)
    there = space.store.read(TABLE, columns=["trigger_id"])
    lacking = wanted.join(there, on="trigger_id", how="anti")
    if lacking.is_empty():
        return []
    wanted_on = lacking.select("day", "namespace").unique()
    decided = gates(
        space, wanted_on["day"].unique().to_list(), among=wanted_on["namespace"].unique().to_list()
    )
    return sorted({day for day, namespace in wanted_on.iter_rows() if decided[day, namespace].open})


def lessons_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of ``learned_triggers`` as lessons."""
    return rows.rename({"added_at": "taught_at"}).select(
        pl.col(name).cast(kind) for name, kind in LESSON.items()
    )


def taken_back(store: Store, act: Rollback, log: str = "") -> pl.DataFrame:
    """Delete what a rollback takes back; every row of it is in the audit log first.

    Args:
        store: of the table.
        act: the rollback; it is in the journal already.
        log: what the audit log says of it.

    Returns:
        The rows that are gone.
    """
    from slowwave.learning.log import append

    mine = store.read(TABLE, f"namespace = {quote(act.namespace)}")
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
    from slowwave.learning.log import append

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
    from slowwave.store.database import batches

    for part in batches(names):
        store.delete(TABLE, one_of("trigger_id", part))
