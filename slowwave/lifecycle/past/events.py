"""Events up to a past day, in the order in which they were applied."""

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
    """Return every event on memories of a namespace up to a day, as ``staged_notes`` rows.

    `saved_at` is the moment of a text that was brought back.
    """
    days = journal.days(KINDS).filter((pl.col("namespace") == namespace) & (pl.col("day") <= day.isoformat()))
    entries = journal.read(kinds=KINDS, days=days["day"].to_list(), namespace=namespace)
    # Staging keeps the last event of a day; with a day of its own, each event is the last.
    staged = staging.stage(entries.with_columns(day="event_id"))
    dates = staging.saved_dates(entries)
    kept = pl.Series("saved_at", [dates.get(event) for event in staged["day"]], pl.Datetime("us", "UTC"))
    readable = staged.with_columns(kept).filter(pl.col("act").is_in(KINDS))
    return readable.with_columns(day=pl.col("occurred_at").dt.strftime("%Y-%m-%d"))


@dataclass(frozen=True, slots=True)
class PastEvent:
    """Event of the journal, or a later reconsolidation decision.

    Attributes:
        at: Row of the event; -1 for a reconsolidation decision.
        subject: Of an undo the decision.
    """

    at: int
    kind: str
    day: str
    memory_id: str
    revision: str
    subject: str
    occurred_at: datetime


def batches(acts: pl.DataFrame, looks: list[PastEvent]) -> list[list[PastEvent]]:
    """Return the events in the order of application; those applied together are one batch.

    The journal's order is the order of arrival. The notes of one save_many() belong together: they are a
    microsecond apart, up to a repeated key. So do the notes of one vault scan, which share its moment. Order
    and precedence within a batch are those of `slowwave.lifecycle.admission`.
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
    for moment in sorted({look.occurred_at for look in looks}):  # each after all earlier events
        place = max((at for at, batch in enumerate(batches) if batch[0].occurred_at <= moment), default=-1)
        batches.insert(place + 1, [look for look in looks if look.occurred_at == moment])
    return batches


def _numbered(begins: pl.DataFrame) -> Iterator[int]:
    """Yield the batch number of each event (memory_id, act, vault, apart).

    A repeated key begins a new batch.
    """
    number, seen = 0, set[str]()
    for name, act, vault, apart in begins.iter_rows():
        again = act == "save" and not vault and name in seen
        if apart or again:
            number += 1
            seen = set()
        seen.add(name)
        yield number
