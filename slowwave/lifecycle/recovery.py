"""Recovery of acts that are in the journal and missing from the tables.

What a save wrote may be gone from the write-ahead log: the machine stopped before the disk had it, or a file
was damaged and set aside. The journal had it before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.common import ids
from slowwave.lifecycle.source_state import entries_after

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry

KINDS: Final = ("save", "forget")
LOOKED_AT: Final = 16_384
"""Last acts of the journal that are looked for in the tables, or more (count): more than wait in the log."""


def lacking(space: Workspace) -> list[Entry]:
    """The last acts of the journal that are not in the tables, in their order.

    What is in the middle of being saved looks so, too, until its turn is over. Files of vaults are none of
    these: they wait for their night.

    Args:
        space: the home.
    """
    journal, store = space.journal, space.store
    last = after = journal.last_seq()
    acts = pl.DataFrame()
    while after and acts.height < LOOKED_AT:  # most entries of a journal may be searches
        after = max(0, min(2 * after - last, last - LOOKED_AT))
        acts = journal.read(kinds=KINDS, after_seq=after).filter(pl.col("origin") == "").sort("seq")
    if acts.is_empty():
        return []
    newest = acts.group_by("namespace", "subject", maintain_order=True).last()
    moments = pl.coalesce("ordered_at", "occurred_at").alias("moment")
    rows = newest.select("namespace", "subject", moments, "event_id").iter_rows()
    said = pl.DataFrame(
        [(ids.memory_id(*row[:2]), ids.revision(*row[2:]), *row[:2]) for row in rows],
        schema=["memory_id", "said", "namespace", "subject"], orient="row",
    )  # fmt: skip
    names = said["memory_id"].to_list()
    known = pl.concat(
        store.read_by(table, "memory_id", names, columns=["memory_id", "revision"])
        for table in ("memories", "quarantine")
    )
    own = pl.col("revision").str.extract(r"^([^+]*)")  # as `ids.note_revision`
    has = known.group_by("memory_id").agg(has=own.max())
    apart = said.join(has, on="memory_id", how="left").filter(
        pl.col("has").is_null() | (pl.col("has") < pl.col("said"))
    )
    found: list[Entry] = []
    for namespace, source in apart.select("namespace", "subject").iter_rows():
        found += entries_after(space, namespace, source, journal.about(namespace, source))[1]
    return sorted(found, key=lambda one: one.seq or 0)
