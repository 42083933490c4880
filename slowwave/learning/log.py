"""Audit log of learning: terms and keys added, refreshed, refused or rolled back (rule 5.7)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import polars as pl

from slowwave.common import ids
from slowwave.learning.events import LearningEvent
from slowwave.scoring.feedback.learned import PROPOSED, WORDS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from slowwave.learning.gate_evidence import Evidence
    from slowwave.store import Store

TABLE = "learning_log"
UNTAUGHT = "not taught any more"
_NAMED = ("action", "reason", "namespace", "at", "memory_id", "term", "search_id", "principal", "detail")
_KIND = "kind"


def append(store: Store, rows: pl.DataFrame) -> None:
    """Append audit rows that are not in the log yet.

    A row's id is the digest of its content, so appending is idempotent.

    Args:
        store: Store of the table.
        rows: Columns ``action``, ``reason``, ``namespace``, ``at`` (time). Optional: ``memory_id``, ``term``,
            ``search_id``, ``principal``, ``detail``, ``kind`` (of learning; default words).
    """
    if rows.is_empty():
        return
    empty = store.empty(TABLE)
    columns = (*_NAMED, _KIND)
    missing = [pl.lit(None, empty.schema[name]).alias(name) for name in columns if name not in rows.columns]
    full = rows.with_columns(missing)
    # Ids of words leave out the kind: they are older than the column.
    kinds = full[_KIND].replace(WORDS, None)
    names = [
        ids.digest(
            "learning log", *("" if part is None else str(part) for part in row), *filter(None, [kind])
        )
        for row, kind in zip(full.select(_NAMED).iter_rows(), kinds, strict=True)
    ]
    identified = full.with_columns(
        log_id=pl.Series(names, dtype=pl.String), day=pl.col("at").dt.strftime("%Y-%m-%d")
    ).select(empty.columns)
    existing = store.read_by(TABLE, "log_id", names, columns=["log_id"])
    new = identified.join(existing, on="log_id", how="anti")
    if new.height:
        store.upsert(TABLE, new, insert_only=True)


def log_acts(store: Store, decided: Iterable[LearningEvent]) -> None:
    """Append the decisions to the audit log."""
    schema = dict.fromkeys((*_NAMED, _KIND), pl.String()) | {"at": pl.Datetime("us", "UTC")}
    rows = [
        {
            "action": event.action, "reason": event.why, "namespace": event.namespace,
            "at": event.at.astimezone(UTC), "principal": event.who, "kind": event.detail.get("kind"),
            "detail": " ".join(str(event.detail[key]) for key in ("scope", "value") if key in event.detail),
        }
        for event in decided
    ]  # fmt: skip
    append(store, pl.DataFrame(rows, schema=schema, orient="row"))


def log_refusals(
    store: Store,
    evidence: Evidence,
    reasons: Mapping[tuple[str, str], str],
    days: list[str],
    kind: Kind = WORDS,
) -> None:
    """Append the reasons why the selections of some days teach nothing.

    Args:
        store: Store of the table.
        evidence: Evidence up to the last of the days.
        reasons: Reason of each closed gate, by day and namespace.
        days: Days of the selections (YYYY-MM-DD).
        kind: Kind of learning.
    """
    gate = pl.DataFrame(
        [(day, namespace, reason) for (day, namespace), reason in reasons.items()],
        schema={"day": pl.String, "namespace": pl.String, "gate": pl.String}, orient="row",
    )  # fmt: skip
    if kind == WORDS:
        selections, outcomes, detail = (
            evidence.proposals,
            evidence.decided.reasons,
            pl.col("terms").list.join(" "),
        )
    else:
        selections, outcomes, detail = evidence.views, evidence.decided_views.reasons, pl.lit(None, pl.String)
        selections = selections.rename({"at": "selected_at"})
    rows = (
        selections.filter(pl.col("day").is_in(days))
        .join(outcomes, on=outcomes.columns[0])
        .join(gate, on=["day", "namespace"], how="left")
        .with_columns(reason=pl.when(pl.col("reason") == PROPOSED).then("gate").otherwise("reason"))
        .filter(pl.col("reason").is_not_null())
    )
    append(
        store,
        rows.select(
            "namespace", "memory_id", "search_id", "principal", "reason",
            at="selected_at", action=pl.lit("refuse"), detail=detail, kind=pl.lit(kind),
        ),
    )  # fmt: skip


def log_taught(store: Store, rows: pl.DataFrame, previous: pl.DataFrame, kind: Kind = WORDS) -> None:
    """Append what was learned: an existing term or key of a memory is refreshed, another is added.

    Args:
        store: Store of the table.
        rows: New rows of the table of the kind.
        previous: Previous rows of that table.
        kind: Kind of learning.
    """
    rows, previous = described(rows, kind), described(previous, kind)
    item = ["namespace", "memory_id", "what"]
    new = rows.join(previous.select("detail"), on="detail", how="anti").sort("at", "detail")
    earlier = previous.group_by(item).agg(earliest=pl.col("at").min())
    repeated = pl.col("earliest").is_not_null() & (pl.col("earliest") < pl.col("at"))
    first = pl.int_range(pl.len()).over(item) == 0
    marked = new.join(earlier, on=item, how="left", maintain_order="left")
    action = pl.when(first & ~repeated).then(pl.lit("add")).otherwise(pl.lit("refresh"))
    append(store, marked.with_columns(action=action, reason=pl.lit("applied")))


def described(rows: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    """Return the audit columns of learned rows; of keys only those that led to a memory.

    Returns:
        Columns of the log as of the moment of learning, and ``expires_at``. Also ``what``: a term, or the id
        of a past question, which the log does not store.
    """
    key, at, what = ("trigger_id", "added_at", "term") if kind == WORDS else ("key_id", "at", "query_id")
    return (rows if kind == WORDS else rows.filter(pl.col("taken") > 0)).select(
        "namespace", "memory_id", "search_id", "principal", "expires_at",
        term=pl.col(what) if kind == WORDS else pl.lit(None, pl.String),
        what=what, at=at, detail=key, kind=pl.lit(kind),
    )  # fmt: skip


def log_untaught(store: Store, rows: pl.DataFrame, at: datetime, kind: Kind = WORDS) -> None:
    """Append rollbacks of rows that reprocessed days no longer teach.

    Args:
        store: Store of the table.
        rows: Rows of the table of the kind that will be deleted.
        at: Time of the rollback.
        kind: Kind of learning.
    """
    append(
        store,
        described(rows, kind).with_columns(
            at=pl.lit(at.astimezone(UTC)), action=pl.lit("rollback"), reason=pl.lit(UNTAUGHT)
        ),
    )
