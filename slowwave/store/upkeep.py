"""Keeping the tables small while notes are saved one by one; the night's maintenance does the rest.

Every commit leaves a version, which lists all fragments of the table, a fragment, and what it replaced: a
table that is written a note at a time would grow with the square of the notes. So every few commits its small
fragments become one, its new rows come into the full-text index, and versions that nobody reads any more go.
Readers in other processes read the newest version at the time they ask, and have `KEPT` to finish.
Checkpoints are tagged versions and stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from slowwave.store.database import Store, is_conflict

COMMITS = 32
"""A table is put in order whenever its version passes a multiple of this (count).

A query opens the files of many fragments at once, so this also bounds how many handles it needs.
"""

UNINDEXED_ROWS = 128
"""Rows outside the full-text index are found all the same, by a scan of about 0.07 ms a row (count)."""

FRAGMENT_ROWS = 1_024
"""Fragments of so many rows are left alone: writing all rows again each time is the night's work (count)."""

GROWTH = 4
"""A part of an index that is so many times as large as what is new is left alone (factor)."""

KEPT = timedelta(seconds=30)
"""For how long a version is kept that is not the last one: longer than any one query takes."""


def keep_fresh(store: Store) -> tuple[str, ...]:
    """Put the tables in order that were written since the last call and have had enough commits.

    The caller holds the writing lock, so that saves do not meet it.

    Returns:
        Names of the tables that were put in order.
    """
    written = store.take_commits()
    due = {name for name, (first, last) in written.items() if first // COMMITS != last // COMMITS}
    stale = {name for name in written if store.specs[name].full_text and _unindexed(store, name)}
    return tuple(
        name
        for name in sorted(due | stale)
        if _put_in_order(store, name, compact=name in due, index=name in stale)
    )


def _unindexed(store: Store, name: str) -> bool:
    """Whether many rows of a table are outside its full-text index, if it has one."""
    table = store.handle(name)
    index = next((index.name for index in table.list_indices() if index.index_type.upper() == "FTS"), None)
    return index is not None and int(table.index_stats(index).num_unindexed_rows) >= UNINDEXED_ROWS


def parts_to_merge(parts: Sequence[int], new: int) -> int:
    """How many of the last parts of an index are written again with rows that are new (count).

    Args:
        parts: rows of each part, the oldest first.
        new: rows that are in none.

    Returns:
        Those at the end that are no more than `GROWTH` times what is merged anyway. So parts grow by that
        factor: there are few of them, and a row is written again once for each, not once for each save.
    """
    count = 0
    for rows in reversed(parts):
        if rows > GROWTH * new:
            break
        new += rows
        count += 1
    return count


def _go_on_with(dataset: Any, index: str) -> None:  # noqa: ANN401 - Lance has no types
    """Take the rows that are new into an index."""
    try:
        known = dataset.stats.index_stats(index)
    except KeyError:  # another process has put an earlier version of the table in force, without it
        return
    merged = parts_to_merge(known["num_indexed_rows_per_delta"], known["num_unindexed_rows"])
    dataset.optimize.optimize_indices(index_names=[index], num_indices_to_merge=merged)


def _put_in_order(store: Store, name: str, *, compact: bool, index: bool) -> bool:
    """Compact, index, remove old versions; False when another process is changing the table."""
    import lance

    dataset = lance.dataset(
        f"{store.uri.rstrip('/')}/{store.physical(name)}.lance", storage_options=store.storage_options or None
    )
    try:
        if compact:
            dataset.optimize.compact_files(target_rows_per_fragment=FRAGMENT_ROWS, num_threads=1)
        # The vector index is left to the night: it is written whole each time, and rows that it does not have
        # are found by the scan that all small tables are searched by.
        if index:
            for one in store.handle(name).list_indices():
                if "vector" not in one.columns:
                    _go_on_with(dataset, one.name)
    except (RuntimeError, OSError) as error:
        if not is_conflict(error):
            raise
        return False
    dataset.cleanup_old_versions(KEPT, error_if_tagged_old_versions=False)
    return True
