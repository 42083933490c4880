"""What was erased while it was on its way into the memory does not enter it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from slowwave.journal.entry import ERASURE

if TYPE_CHECKING:
    from slowwave.journal import Journal


def still_said(journal: Journal, namespace: str, acts: pl.DataFrame) -> pl.DataFrame:
    """The acts of one namespace without the saves that the journal does not have any more.

    Asked behind the lock that an erasure takes, too; a namespace of which nothing was ever erased is asked
    for that alone.
    """
    saves = acts.filter(pl.col("act") == "save")
    if saves.is_empty() or not journal.count(namespace, ERASURE):
        return acts
    event = pl.col("revision").str.splitn("-", 2).struct[1]
    known = journal.entries(saves.select(event).to_series().to_list())
    there = [name for name, entry in known.items() if entry.kind == "save"]
    return acts.filter((pl.col("act") != "save") | event.is_in(there))
