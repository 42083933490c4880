"""Keeping the number of files bounded: compaction, index upkeep, removal of old versions.

Every commit leaves a version, which lists all fragments of the table, a fragment, and what it replaced: a
table that is written a note at a time would grow with the square of the notes. So every few commits its small
fragments become one, its new rows come into the full-text index, and versions that nobody reads any more go.
Readers in other processes read the newest version at the time they ask, and have `KEPT` to finish. The
nightly job does the rest.

Old versions are removed through pylance, because LanceDB's own clean-up refuses to remove anything as
soon as one tagged (checkpointed) version is older than the limit. Tagged versions always stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from slowwave.store.database import Store

MOST_FRAGMENTS = 8  # a table without indexes is left alone up to so many files

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


@dataclass(frozen=True, slots=True)
class Maintained:
    """What maintenance did to one table."""

    table: str
    rows: int
    versions_removed: int
    bytes_removed: int


def maintain(store: Store, *, keep_versions: timedelta) -> list[Maintained]:
    """Compact every table, bring its indexes up to date, and drop versions older than `keep_versions`.

    Of tables that are saved to all day they go as soon as they do by day.
    """
    import lance

    by_day = {store.physical(spec.name) for spec in store.specs.values() if spec.partition is None}
    done = []
    for name in sorted(store.db.list_tables().tables):
        table = store.db.open_table(name)
        if table.list_indices() or table.stats()["fragment_stats"]["num_fragments"] > MOST_FRAGMENTS:
            compact(table)
        dataset = lance.dataset(
            f"{store.uri.rstrip('/')}/{name}.lance", storage_options=store.storage_options or None
        )
        kept = min(keep_versions, KEPT) if name in by_day else keep_versions
        stats = dataset.cleanup_old_versions(kept, error_if_tagged_old_versions=False)
        done.append(Maintained(name, int(table.count_rows()), stats.old_versions, stats.bytes_removed))
    return done


def compact(table: Any) -> bool:  # noqa: ANN401 - lancedb.Table
    """Compact a table and take new rows into its indexes; False when another process is just doing so."""
    try:
        table.optimize()
    except RuntimeError as error:
        if not is_conflict(error):
            raise
        return False
    return True


def is_conflict(error: Exception) -> bool:
    """Whether Lance refused a commit because another process changed the same rows before."""
    return "commit conflict" in str(error).lower()


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
