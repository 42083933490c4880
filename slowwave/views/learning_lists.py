"""Tables and texts of learning: gates, learned terms, search keys, audit log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from slowwave.common.pluralize import counted
from slowwave.views.moments import since
from slowwave.views.section import Column, Columns, Mark, Table, numbers

if TYPE_CHECKING:
    import polars as pl

    from slowwave.learning.review import TakenBack
    from slowwave.quality.learning_gate import GateDecision
    from slowwave.scoring.feedback.learned import Rollback

OF: Final[Mapping[str, str]] = {"words": "Learning of words", "keys": "Learning of search keys"}
"""Names of the kinds of learning."""
SELECTIONS: Final = {
    "feature_disabled": "while this was off", "no_provenance": "of an unknown search",
    "top_3_exclusion": "of the first results, which teach nothing",
    "memory_not_found": "of a memory that is gone", "memory_too_new": "of a text that is too new",
    "rate_limited": "over the limit", "no_learnable_terms": "without a word to learn",
    "shadow_period": "in the trial period", "gate_closed": "while the gate was closed", "applied": "applied",
    "order_to_assistant": "with orders to an assistant", "proposed": "proposed",
}  # fmt: skip
"""Outcomes of selections in words."""
WHEN: Final = (
    "Nightly jobs learn from `slowwave feedback` and `slowwave observe` if learning.enabled is true."
)
_UNUSED: Final = "nothing learned is applied."
_USED: Final = "nothing new is applied; what was applied before stays until it expires."


def gate_state(decision: GateDecision) -> tuple[Mark, str]:
    """Return the marked state of a gate (open, waits, closed, insufficient), and its consequence."""
    if decision.open:
        return Mark("open", "open"), "each nightly job applies what selections teach."
    then = _USED if decision.used else _UNUSED
    if decision.awaits_only_approval:
        return Mark("closed until a person approves", "waits"), then
    if decision.state == "closed":
        return Mark("closed", "closed"), then
    return Mark("closed until there is enough evidence", "insufficient"), then


def conditions(decision: GateDecision) -> Table:
    """Return the table of a gate's conditions."""
    columns: Columns = [Column("condition", whole=True), Column("state", whole=True), "is", "needs"]
    rows = [
        [row["condition"], Mark(row["state"], row["state"]), row["value"], row["bound"]]
        for row in decision.rows
    ]
    return Table(columns, rows)


def terms(rows: pl.DataFrame, most: int) -> Table:
    """Return the table of learned terms: first rows of `slowwave.learning.review.Learning.terms`."""
    return _leading(rows, most, {"term": "term", "memory": "title"}, "questions")


def keys(rows: pl.DataFrame, most: int) -> Table:
    """Return the table of search keys: first rows of `slowwave.learning.review.Learning.keys`."""
    return _leading(rows, most, {"question": "query", "leads to": "title"}, "times")


def _leading(rows: pl.DataFrame, most: int, names: Mapping[str, str], count: str) -> Table:
    """Return the table of learned terms or search keys.

    Args:
        rows: learned terms or search keys.
        most: rows to show (count).
        names: headings of the first columns, and the column of `rows` that each shows.
        count: column of how often it was taught.
    """
    columns: Columns = [
        *names, Column("id", whole=True), Column("state", whole=True),
        *numbers(count, "users", "weight", "until"),
    ]  # fmt: skip
    cells = [
        [*(row[name] for name in names.values()), row["memory_id"], row["state"], row[count],
         row["principals"], f"{row['weight']:.2f}", f"{row['expires_at']:%F}"]
        for row in rows.head(most).iter_rows(named=True)
    ]  # fmt: skip
    return first_rows(columns, cells, rows)


def decided(rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Split off selections that taught nothing, most of the log; return the rest and their count."""
    import polars as pl

    kept = rows.filter(pl.col("action") != "refuse")
    return kept, rows.height - kept.height


def log(rows: pl.DataFrame, most: int, now: datetime) -> Table:
    """Return the table of the audit log: rows of `slowwave.learning.review.Learning.log`."""
    whole = [Column(name, whole=True) for name in ("when", "action", "kind")]
    columns: Columns = [*whole, "reason", "user", "memory", "term"]
    cells = [
        [_moment(row["at"], now), row["action"], row["kind"] or "", row["reason"] or row["detail"],
         row["principal"], row["memory_id"], row["term"]]
        for row in rows.head(most).iter_rows(named=True)
    ]  # fmt: skip
    return first_rows(columns, cells, rows)


def _moment(at: datetime, now: datetime) -> Mark:
    return Mark(since(at, now), hover=f"{at:%Y-%m-%d %H:%M} UTC")


def preview_rollback(preview: TakenBack, most: int) -> tuple[str, Table]:
    """Return what a rollback of a kind would remove: a sentence, and a row per memory."""
    import polars as pl

    words, rows, rollback = preview.kind == "words", preview.proposed, preview.rollback
    noun, unit = ("lesson", "terms") if words else ("selection", "keys")
    deleted = preview.applied if words else preview.applied.filter(pl.col("taken") > 0)
    of = f"{rollback.scope} {rollback.value}".strip()
    summary = (
        f"{counted(rows.height, noun)} would be rolled back ({of}): {deleted.height:,} applied, "
        f"{rows.height - deleted.height:,} only proposed; {preview.live:,} {unit} lose their effect."
    )
    terms = pl.col("term").unique().sort() if words else pl.col("term").n_unique()
    by_memory = rows.group_by("memory_id").agg(
        lessons=pl.len(), terms=terms, who=pl.col("principal").unique().sort()
    )
    top = by_memory.sort("lessons", "memory_id", descending=[True, False]).head(most)
    names = ("lessons", "terms") if words else ("selections", "questions")
    columns: Columns = [Column("memory", whole=True), *names, "taught by"]
    return summary, Table(columns, top.rows(), left_out=by_memory.height - top.height)


def nothing_taught(rollback: Rollback) -> str:
    """Return the message of a rollback that would remove nothing."""
    of = f"{rollback.scope} {rollback.value}".strip()
    if rollback.value:
        return f"Nothing was learned from {of} yet."
    return "Nothing is proposed or learned yet."


def first_rows(columns: Columns, cells: list[list[object]], rows: pl.DataFrame) -> Table:
    """Return the table of the first rows of a frame; ``--limit`` shows more."""
    return Table(columns, cells, left_out=rows.height - len(cells), option="--limit")
