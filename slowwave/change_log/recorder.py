"""Recorder of table changes: each is in the journal before it is made."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from slowwave.change_log.columns import recorded, schema_of, written
from slowwave.common import ids
from slowwave.journal import Entry, JournalConflictError
from slowwave.journal.entry import EVERYBODY, RECORD
from slowwave.journal.kinds.home import TableChange, of_every_slice
from slowwave.store.frames import frame_of

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.store import Store

NO_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)
"""Moment of every record: a record must not come between events by its clock."""
ADOPTED = "tables adopted"
"""Event id of the first record of a home: the content of its tables at that time."""
ROWS_AT_ONCE = 5_000
"""Rows of one entry of the journal (count)."""


class Recorder:
    """Recorder that appends the changes of a store's tables to the journal.

    A home from before records existed is adopted with its first change: the content of all its tables is
    recorded once.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._adopted = False
        self._adopting = threading.Lock()

    def upsert(
        self, store: Store, name: str, rows: pa.Table, *, insert_only: bool = False, delete: str | None = None
    ) -> None:
        """Record an upsert; rows that match `delete` and are not in `rows` will be deleted."""
        spec = store.specs[name]
        if not spec.recorded:
            return
        self.adopt(store)
        texts = rows.drop_columns(["vector"]) if "vector" in rows.schema.names else rows
        kept = recorded(spec, frame_of(texts))
        if kept.is_empty() and delete is None:
            return
        change = TableChange(insert_only=True) if insert_only else TableChange()
        if delete is not None:
            change["delete"] = delete
        entries = _entries(name, kept, change)
        if kept.height > ROWS_AT_ONCE:
            self._journal.append_large(entries)
        else:
            self._journal.append(list(entries))

    def delete(self, store: Store, name: str, where: str) -> None:
        """Record the deletion of rows that match a filter."""
        if not store.specs[name].recorded:
            return
        self.adopt(store)
        self._journal.append([_entry(name, TableChange(delete=where))])

    def adopt(self, store: Store) -> None:
        """Record the content of all tables, unless the journal has records."""
        with self._adopting:
            if not self._adopted:
                if not has_records(self._journal):
                    backfill_existing(store, self._journal, first=True)
                self._adopted = True


def has_records(journal: Journal) -> bool:
    """Whether the journal has the content of the tables."""
    return journal.get(ADOPTED) is not None


def recorded_tables(journal: Journal) -> set[str]:
    """Return the names of all tables that the home ever recorded, empty ones included."""
    return journal.subjects_of(EVERYBODY, RECORD)


def backfill_existing(store: Store, journal: Journal, *, first: bool = False) -> None:
    """Record the whole content of the tables, in place of earlier records.

    Args:
        first: Whether these are the first records of the home; of two processes that write them, one
            succeeds.
    """
    from slowwave.change_log.rehydrate import is_equal, rehydrate

    entries: list[Entry] = []
    for name, spec in store.specs.items():
        if not spec.recorded:
            continue
        if first and store.is_new and name != "meta":  # nothing was written into it without a record
            entries.append(_entry(name, TableChange(whole=True, rows=0, columns={})))
            continue
        rows = store.read(name, columns=list(schema_of(spec)))
        if name == "meta" or rows.is_empty():
            heads, whole = rows, rows.clear()
        else:
            rebuilt = rehydrate(spec, _heads(spec, rows), journal)
            heads = rows.join(is_equal(spec, rows, rebuilt), on=spec.key, how="semi")
            whole = rows.join(heads, on=spec.key, how="anti")
        entries += _entries(name, recorded(spec, heads), TableChange(whole=True))
        if not whole.is_empty():
            entries += _entries(name, whole, TableChange(full=True))
    if first and entries:
        entries[0] = replace(entries[0], event_id=ADOPTED)
    try:
        journal.append(entries)
    except JournalConflictError:
        if not first:
            raise


def _heads(spec: Any, rows: pl.DataFrame) -> pl.DataFrame:  # noqa: ANN401 - TableSpec
    """Return rows as a replay has them: recorded columns, the others null."""
    kept = recorded(spec, rows)
    return pl.concat([pl.DataFrame(schema=schema_of(spec)), kept], how="diagonal").with_columns(
        full=pl.lit(value=False)
    )


def _entries(name: str, rows: pl.DataFrame, change: TableChange) -> Iterator[Entry]:
    """Yield the entries of rows in slices; the first one has the rest of the change."""
    for at in range(0, max(1, rows.height), ROWS_AT_ONCE):
        part = rows[at : at + ROWS_AT_ONCE]
        yield _entry(name, change | TableChange(rows=part.height, columns=written(part)))
        change = of_every_slice(change)


def _entry(table: str, change: TableChange) -> Entry:
    return Entry(ids.new_event_id(), RECORD, EVERYBODY, table, NO_MOMENT, "", payload=change)
