"""Recovery of events that are in the journal and missing from the tables.

Rows of a save may be lost from the write-ahead log: the machine stopped before they reached the disk, or a
damaged file was set aside. The journal had the event before.
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
MIN_CHECKED: Final = 16_384
"""Last events that are looked up in the tables, at least (count); more than wait in the log."""


def lacking(space: Workspace) -> list[Entry]:
    """Return the last journal events that are missing from the tables, in order.

    A save under way looks missing until its turn ends. Vault files are left out: they wait for their nightly
    job.
    """
    journal, store = space.journal, space.store
    last = after = journal.last_seq()
    acts = pl.DataFrame()
    while after and acts.height < MIN_CHECKED:  # most entries of a journal may be searches
        after = max(0, min(2 * after - last, last - MIN_CHECKED))
        acts = journal.read(kinds=KINDS, after_seq=after).filter(pl.col("origin") == "").sort("seq")
    if acts.is_empty():
        return []
    newest = acts.group_by("namespace", "subject", maintain_order=True).last()
    moments = pl.coalesce("ordered_at", "occurred_at").alias("moment")
    rows = newest.select("namespace", "subject", moments, "event_id").iter_rows()
    expected = pl.DataFrame(
        [(ids.memory_id(*row[:2]), ids.revision(*row[2:]), *row[:2]) for row in rows],
        schema=["memory_id", "expected", "namespace", "subject"], orient="row",
    )  # fmt: skip
    names = expected["memory_id"].to_list()
    stored = pl.concat(
        store.read_by(table, "memory_id", names, columns=["memory_id", "revision"])
        for table in ("memories", "quarantine")
    )
    own = pl.col("revision").str.extract(r"^([^+]*)")  # as `ids.note_revision`
    has = stored.group_by("memory_id").agg(has=own.max())
    missing = expected.join(has, on="memory_id", how="left").filter(
        pl.col("has").is_null() | (pl.col("has") < pl.col("expected"))
    )
    entries: list[Entry] = []
    for namespace, source in missing.select("namespace", "subject").iter_rows():
        entries += entries_after(space, namespace, source, journal.about(namespace, source))[1]
    return sorted(entries, key=lambda entry: entry.seq or 0)
