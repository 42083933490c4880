"""Learning in words and tables: what its gates say, what was learned, and the log."""

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
"""The kinds of learning by name."""
WHEN: Final = (
    "Nights learn from what `slowwave feedback` and `slowwave observe` say was used, once learning.enabled "
    "is true."
)
_UNUSED: Final = "nothing that was learned is used."
_USED: Final = "nothing more is applied; what was applied before is used until it expires."


def says(decision: GateDecision) -> tuple[Mark, str]:
    """How a gate stands, marked (open, waits, closed, insufficient), and what follows from that."""
    if decision.open:
        return Mark("open", "open"), "what selections teach is applied, night by night."
    then = _USED if decision.used else _UNUSED
    if decision.awaits_only_approval:
        return Mark("closed until a person approves", "waits"), then
    if decision.state == "closed":
        return Mark("closed", "closed"), then
    return Mark("closed until there is enough evidence", "insufficient"), then


def conditions(decision: GateDecision) -> Table:
    """What a gate looks at, and what it has to be."""
    columns: Columns = [Column("condition", whole=True), Column("state", whole=True), "is", "needs"]
    rows = [
        [one["condition"], Mark(one["state"], one["state"]), one["value"], one["bound"]]
        for one in decision.rows
    ]
    return Table(columns, rows)


def terms(rows: pl.DataFrame, most: int) -> Table:
    """Words that lead to memories: the first rows of `slowwave.learning.review.Learning.terms`."""
    return _leading(rows, most, {"term": "term", "memory": "title"}, "questions")


def keys(rows: pl.DataFrame, most: int) -> Table:
    """Past questions that lead to memories: the first rows of `slowwave.learning.review.Learning.keys`."""
    return _leading(rows, most, {"question": "query", "leads to": "title"}, "times")


def _leading(rows: pl.DataFrame, most: int, names: Mapping[str, str], count: str) -> Table:
    """Build the table of what leads to memories.

    Args:
        rows: Learned terms or search keys.
        most: Rows to show (count).
        names: Headings of the first columns, and the column of `rows` that each shows.
        count: Column of how often it was taught.
    """
    columns: Columns = [
        *names, Column("id", whole=True), Column("state", whole=True),
        *numbers(count, "people", "weight", "until"),
    ]  # fmt: skip
    cells = [
        [*(row[name] for name in names.values()), row["memory_id"], row["state"], row[count],
         row["principals"], f"{row['weight']:.2f}", f"{row['expires_at']:%F}"]
        for row in rows.head(most).iter_rows(named=True)
    ]  # fmt: skip
    return first_rows(columns, cells, rows)


def decided(rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """A log without the selections of which nothing came, which are most of it, and how many they are."""
    import polars as pl

    kept = rows.filter(pl.col("action") != "refuse")
    return kept, rows.height - kept.height


def log(rows: pl.DataFrame, most: int, now: datetime) -> Table:
    """What was learned, refused, taken back and decided: rows of `slowwave.learning.review.Learning.log`."""
    whole = [Column(name, whole=True) for name in ("when", "what", "of")]
    columns: Columns = [*whole, "why", "who", "memory", "term"]
    cells = [
        [since(row["at"], now), row["action"], row["kind"] or "", row["reason"] or row["detail"],
         row["principal"], row["memory_id"], row["term"]]
        for row in rows.head(most).iter_rows(named=True)
    ]  # fmt: skip
    return first_rows(columns, cells, rows)


def preview_rollback(tried: TakenBack, most: int) -> tuple[str, Table]:
    """What a rollback takes back of a kind, in a sentence and a row a memory."""
    import polars as pl

    words, rows, asked = tried.kind == "words", tried.proposed, tried.rollback
    what, unit = ("lesson", "terms") if words else ("selection", "keys")
    deleted = tried.applied if words else tried.applied.filter(pl.col("taken") > 0)
    of = f"{asked.scope} {asked.value}".strip()
    said = (
        f"{counted(rows.height, what)} would be taken back ({of}): {deleted.height:,} applied, "
        f"{rows.height - deleted.height:,} only proposed; {tried.live:,} {unit} lose their effect."
    )
    terms = pl.col("term").unique().sort() if words else pl.col("term").n_unique()
    by = rows.group_by("memory_id").agg(
        lessons=pl.len(), terms=terms, who=pl.col("principal").unique().sort()
    )
    top = by.sort("lessons", "memory_id", descending=[True, False]).head(most)
    names = ("lessons", "terms") if words else ("selections", "questions")
    columns: Columns = [Column("memory", whole=True), *names, "taught by"]
    return said, Table(columns, top.rows(), left_out=by.height - top.height)


def nothing_taught(rollback: Rollback) -> str:
    """What is said where a rollback would take nothing back."""
    of = f"{rollback.scope} {rollback.value}".strip()
    if rollback.value:
        return f"Nothing that is known yet was taught by {of}."
    return "Nothing is proposed or learned yet."


def first_rows(columns: Columns, cells: list[list[object]], rows: pl.DataFrame) -> Table:
    """Build the table of the first rows of a frame, of which ``--limit`` shows more."""
    return Table(columns, cells, left_out=rows.height - len(cells), option="--limit")
