"""What happened up to a day, in the order in which it was taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl

from slowwave.journal.entry import WORDS
from slowwave.lifecycle.admission.rows import ORDER, moment_of_acts
from slowwave.store import staging

if TYPE_CHECKING:
    from slowwave.journal import Journal

KINDS = ("save", "forget", *WORDS)
_STEP = timedelta(microseconds=1)  # between the notes of one save_many()


def events_until(journal: Journal, namespace: str, day: date) -> pl.DataFrame:
    """Every act on the memories of a namespace up to a day, as rows of ``staged_notes``."""
    days = journal.days(KINDS).filter((pl.col("namespace") == namespace) & (pl.col("day") <= day.isoformat()))
    entries = journal.read(kinds=KINDS, days=days["day"].to_list(), namespace=namespace)
    # A stage keeps the last act of a day; of a day of its own each one is the last.
    staged = staging.stage(entries.with_columns(day="event_id"))
    readable = staged.filter(pl.col("act").is_in(KINDS))
    return readable.with_columns(day=pl.col("occurred_at").dt.strftime("%Y-%m-%d"))


@dataclass(frozen=True, slots=True)
class PastEvent:
    """One act as the journal has it, or a later look at a memory.

    Attributes:
        at: its row among the acts; of a look -1.
        subject: of an undo the decision.
    """

    at: int
    kind: str
    day: str
    memory_id: str
    revision: str
    subject: str
    occurred_at: datetime


def batches(acts: pl.DataFrame, looks: list[PastEvent]) -> list[list[PastEvent]]:
    """The acts as they were taken: one after the other, and what was taken at once as one batch.

    The journal's order is the order of arrival. Together went the notes of one save_many(), which are a
    microsecond apart up to the one whose key came before, and those of one look at a vault, which have its
    moment; within a batch the order and what counts are those of `slowwave.lifecycle.admission`.
    """
    vault = pl.col("origin").fill_null("") != ""
    step = pl.when(vault).then(timedelta()).otherwise(_STEP)
    together = (
        (vault == vault.shift())
        & (pl.col("occurred_at").diff() == step)
        & (pl.col("day") == pl.col("day").shift())
        & (vault | ((pl.col("act") == "save") & (pl.col("act").shift() == "save")))
    )
    order = pl.col("act").replace_strict(ORDER, return_dtype=pl.Int8)
    arrived = acts.with_row_index("at").sort("seq")
    begins = arrived.select("memory_id", "act", vault=vault, apart=~together.fill_null(value=False))
    rows = (
        arrived.with_columns(group=pl.Series(_numbered(begins), dtype=pl.UInt32), order=order)
        .sort("revision")
        .unique(["group", "memory_id"], keep="last", maintain_order=True)
        .sort("group", "order", moment_of_acts(), "revision", "memory_id")
    )
    columns = ("at", "act", "day", "memory_id", "revision", "source", "occurred_at")
    batches = [
        [PastEvent(*row) for row in part.select(columns).iter_rows()]
        for _, part in rows.group_by("group", maintain_order=True)
    ]
    for moment in sorted({look.occurred_at for look in looks}):  # each after all that happened before it
        place = max((at for at, batch in enumerate(batches) if batch[0].occurred_at <= moment), default=-1)
        batches.insert(place + 1, [look for look in looks if look.occurred_at == moment])
    return batches


def _numbered(begins: pl.DataFrame) -> Iterator[int]:
    """The batch of each act (memory_id, act, vault, apart): saved again, a key begins another one."""
    number, seen = 0, set[str]()
    for name, act, vault, apart in begins.iter_rows():
        again = act == "save" and not vault and name in seen
        if apart or again:
            number += 1
            seen = set()
        seen.add(name)
        yield number
