"""The audit log of learning: what was added, refreshed, refused and taken back, and why (rule 5.7)."""

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
    """Write rows that are not there yet; one with the same content is the same row.

    Args:
        store: of the table.
        rows: ``action``, ``reason``, ``namespace``, ``at`` (time); and, where they are known, ``memory_id``,
            ``term``, ``search_id``, ``principal``, ``detail``, ``kind`` (of learning; words, where it is not
            said).
    """
    if rows.is_empty():
        return
    empty = store.empty(TABLE)
    named = (*_NAMED, _KIND)
    lacking = [pl.lit(None, empty.schema[name]).alias(name) for name in named if name not in rows.columns]
    full = rows.with_columns(lacking)
    # What is said of words has the name that it had before there was anything else.
    kinds = full[_KIND].replace(WORDS, None)
    names = [
        ids.digest(
            "learning log", *("" if part is None else str(part) for part in row), *filter(None, [kind])
        )
        for row, kind in zip(full.select(_NAMED).iter_rows(), kinds, strict=True)
    ]
    made = full.with_columns(
        log_id=pl.Series(names, dtype=pl.String), day=pl.col("at").dt.strftime("%Y-%m-%d")
    ).select(empty.columns)
    there = store.read_by(TABLE, "log_id", names, columns=["log_id"])
    new = made.join(there, on="log_id", how="anti")
    if new.height:
        store.upsert(TABLE, new, insert_only=True)


def log_acts(store: Store, decided: Iterable[LearningEvent]) -> None:
    """Write what was decided."""
    schema = dict.fromkeys((*_NAMED, _KIND), pl.String()) | {"at": pl.Datetime("us", "UTC")}
    rows = [
        {
            "action": act.action, "reason": act.why, "namespace": act.namespace, "at": act.at.astimezone(UTC),
            "principal": act.who, "kind": act.detail.get("kind"),
            "detail": " ".join(str(act.detail[name]) for name in ("scope", "value") if name in act.detail),
        }
        for act in decided
    ]  # fmt: skip
    append(store, pl.DataFrame(rows, schema=schema, orient="row"))


def log_refusals(
    store: Store,
    evidence: Evidence,
    reasons: Mapping[tuple[str, str], str],
    days: list[str],
    kind: Kind = WORDS,
) -> None:
    """Write why the selections of some days teach nothing.

    Args:
        store: of the table.
        evidence: up to the last of the days.
        reasons: of the gate, by day and namespace, where it was not open.
        days: whose selections.
        kind: of learning.
    """
    gate = pl.DataFrame(
        [(day, namespace, reason) for (day, namespace), reason in reasons.items()],
        schema={"day": pl.String, "namespace": pl.String, "gate": pl.String}, orient="row",
    )  # fmt: skip
    if kind == WORDS:
        of, became, detail = evidence.proposals, evidence.decided.reasons, pl.col("terms").list.join(" ")
    else:
        of, became, detail = evidence.views, evidence.seen.reasons, pl.lit(None, pl.String)
        of = of.rename({"at": "selected_at"})
    rows = (
        of.filter(pl.col("day").is_in(days))
        .join(became, on=became.columns[0])
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


def log_taught(store: Store, rows: pl.DataFrame, before: pl.DataFrame, kind: Kind = WORDS) -> None:
    """Write what was learned: what the memory held already is refreshed, another term or key is added.

    Args:
        store: of the table.
        rows: of the table of a kind, new ones.
        before: those that were there.
        kind: of learning.
    """
    rows, before = described(rows, kind), described(before, kind)
    held = ["namespace", "memory_id", "what"]
    new = rows.join(before.select("detail"), on="detail", how="anti").sort("at", "detail")
    earlier = before.group_by(held).agg(earliest=pl.col("at").min())
    again = pl.col("earliest").is_not_null() & (pl.col("earliest") < pl.col("at"))
    first = pl.int_range(pl.len()).over(held) == 0
    marked = new.join(earlier, on=held, how="left", maintain_order="left")
    action = pl.when(first & ~again).then(pl.lit("add")).otherwise(pl.lit("refresh"))
    append(store, marked.with_columns(action=action, reason=pl.lit("applied")))


def described(rows: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    """Return what the log says of rows of the table of a kind; of keys, of those that led somewhere.

    Returns:
        Columns of the log, at the moment when they were taught; ``expires_at``, and ``what`` was learned: a
        term, or the id of a past question, which the log does not name.
    """
    key, at, what = ("trigger_id", "added_at", "term") if kind == WORDS else ("key_id", "at", "query_id")
    return (rows if kind == WORDS else rows.filter(pl.col("taken") > 0)).select(
        "namespace", "memory_id", "search_id", "principal", "expires_at",
        term=pl.col(what) if kind == WORDS else pl.lit(None, pl.String),
        what=what, at=at, detail=key, kind=pl.lit(kind),
    )  # fmt: skip


def log_untaught(store: Store, rows: pl.DataFrame, at: datetime, kind: Kind = WORDS) -> None:
    """Write what days that were worked on again do not teach any more.

    Args:
        store: of the table.
        rows: of the table of a kind, about to be gone.
        at: when.
        kind: of learning.
    """
    append(
        store,
        described(rows, kind).with_columns(
            at=pl.lit(at.astimezone(UTC)), action=pl.lit("rollback"), reason=pl.lit(UNTAUGHT)
        ),
    )
