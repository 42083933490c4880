"""Maintenance that bounds the number of files: compaction, index updates, removal of old versions.

Every commit leaves a version that lists all fragments of the table, a fragment, and what it replaced. A
table written one note at a time would grow with the square of the notes. So every few commits small
fragments are merged, new rows enter the full-text index, and unread versions are removed. Readers in other
processes read the newest version at the time of their query, and have `KEPT` to finish. The nightly job does
the rest.

Old versions are removed through pylance: LanceDB's own clean-up removes nothing once one tagged
(checkpointed) version is older than the limit. Tagged versions always stay.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from slowwave.store.database import Store

MAX_FRAGMENTS = 8  # fragments up to which a table without indexes is not compacted

COMMITS = 32
"""A table is maintained whenever its version passes a multiple of this (count).

A query opens the files of many fragments at once, so this also bounds how many handles it needs.
"""

UNINDEXED_ROWS = 128
"""Rows outside the full-text index that trigger an update (count); each costs a scan of 0.07 ms."""

FRAGMENT_ROWS = 1_024
"""Rows from which a fragment is not merged by day (count); the nightly job rewrites all rows."""

GROWTH = 4
"""Factor by which a part of an index must exceed the new rows to be left unmerged."""

KEPT = timedelta(seconds=30)
"""Time for which an old version is kept: longer than any one query takes."""

WORTH_WAITING = 32 * 2**20
"""Replaced files for which `remove_replaced` waits (bytes)."""


@dataclass(frozen=True, slots=True)
class Maintained:
    """Result of maintenance on one table."""

    table: str
    rows: int
    versions_removed: int
    bytes_removed: int


def maintain(store: Store, *, keep_versions: timedelta) -> list[Maintained]:
    """Compact every table, update its indexes, and drop versions older than `keep_versions`.

    Tables that direct saves write to, and those that follow from others, drop them after `KEPT`.
    """
    briefly = _briefly_kept(store)
    done = []
    for name in sorted(store.db.list_tables().tables):
        table = store.db.open_table(name)
        if table.list_indices() or table.stats()["fragment_stats"]["num_fragments"] > MAX_FRAGMENTS:
            compact(table)
        dataset = latest_dataset(store, name)
        kept = min(keep_versions, KEPT) if name in briefly else keep_versions
        stats = dataset.cleanup_old_versions(kept, error_if_tagged_old_versions=False)
        done.append(Maintained(name, int(table.count_rows()), stats.old_versions, stats.bytes_removed))
    return done


def remove_replaced(
    store: Store, since: float, *, worth: int = WORTH_WAITING, pause: Callable[[float], None] = time.sleep
) -> int:
    """Remove the files that a compaction replaced; return their size (bytes).

    A compaction writes large tables again, and readers may need the replaced files for `KEPT`. Without this
    call they would stay until the next maintenance, and the tables take twice their size.

    Args:
        store: Its tables were compacted.
        since: When the compaction ended (`time.monotonic`); waits until `KEPT` after it.
        worth: With less to remove, there is no wait, and nothing is removed.
        pause: Waits for so many seconds.
    """
    replaced = {}
    for name in sorted(_briefly_kept(store)):
        removable = latest_dataset(store, name).explain_cleanup_old_versions(
            timedelta(0), error_if_tagged_old_versions=False
        )
        replaced[name] = int(removable.stats.bytes_removed)
    if sum(replaced.values()) < worth:
        return 0
    pause(max(0.0, since + KEPT.total_seconds() - time.monotonic()))
    removed = 0
    for name in (name for name, size in replaced.items() if size):
        stats = latest_dataset(store, name).cleanup_old_versions(KEPT, error_if_tagged_old_versions=False)
        removed += int(stats.bytes_removed)
    return removed


def _briefly_kept(store: Store) -> set[str]:
    """Return the physical names of the tables whose old versions are kept only for `KEPT`.

    Saves and searches write to them all day, or their rows follow from other tables.
    """
    return {
        store.physical(spec.name)
        for spec in store.specs.values()
        if spec.partition is None or not spec.recorded
    }


def table_uri(store: Store, name: str) -> str:
    """Return the location of a table."""
    return f"{store.uri.rstrip('/')}/{name}.lance"


def latest_dataset(store: Store, name: str) -> Any:  # noqa: ANN401 - lance.LanceDataset
    """Open a table with Lance, at its latest version."""
    import lance

    return lance.dataset(table_uri(store, name), storage_options=store.storage_options or None)


def compact(table: Any) -> bool:  # noqa: ANN401 - lancedb.Table
    """Compact a table and update its indexes; return False if another process is doing so."""
    try:
        table.optimize()
    except RuntimeError as error:
        if not is_conflict(error):
            raise
        return False
    return True


def is_conflict(error: Exception) -> bool:
    """Whether Lance refused a commit because another process changed the same rows first."""
    return "commit conflict" in str(error).lower()


def keep_fresh(store: Store, *, indexed_from: int = 0) -> tuple[str, ...]:
    """Maintain the tables written since the last call that have had enough commits.

    The caller holds the writing lock, so that saves do not collide with it.

    Args:
        store: Store of the tables.
        indexed_from: Rows from which the full-text index of a table is updated (count). A smaller table is
            not searched itself; the nightly job updates its index.

    Returns:
        Names of the maintained tables.
    """
    written = store.take_commits()
    due = {name for name, (first, last) in written.items() if first // COMMITS != last // COMMITS}
    stale = {
        name for name in written if store.specs[name].full_text and _unindexed(store, name, indexed_from)
    }
    return tuple(
        name
        for name in sorted(due | stale)
        if _maintain_table(store, name, compact=name in due, index=name in stale)
    )


def _unindexed(store: Store, name: str, indexed_from: int) -> bool:
    """Whether many rows of a large table are outside its full-text index."""
    table = store.handle(name)
    if table.count_rows() < indexed_from:
        return False
    index = next((index.name for index in table.list_indices() if index.index_type.upper() == "FTS"), None)
    return index is not None and int(table.index_stats(index).num_unindexed_rows) >= UNINDEXED_ROWS


def parts_to_merge(parts: Sequence[int], new: int) -> int:
    """Return the number of an index's last parts to merge with its new rows.

    Args:
        parts: Rows of each part, the oldest first.
        new: Rows in no part.

    Returns:
        Count of parts at the end that have at most `GROWTH` times the rows merged so far. So parts grow by
        that factor: there are few of them, and a row is rewritten once per part, not once per save.
    """
    count = 0
    for rows in reversed(parts):
        if rows > GROWTH * new:
            break
        new += rows
        count += 1
    return count


def _update_index(dataset: Any, index: str) -> None:  # noqa: ANN401 - Lance has no types
    """Add the new rows to an index."""
    try:
        stats = dataset.stats.index_stats(index)
    except KeyError:  # another process has restored a version of the table without it
        return
    merged = parts_to_merge(stats["num_indexed_rows_per_delta"], stats["num_unindexed_rows"])
    dataset.optimize.optimize_indices(index_names=[index], num_indices_to_merge=merged)


def _maintain_table(store: Store, name: str, *, compact: bool, index: bool) -> bool:
    """Compact, index, remove old versions; return False if another process changes the table."""
    dataset = latest_dataset(store, store.physical(name))
    try:
        if compact:
            dataset.optimize.compact_files(target_rows_per_fragment=FRAGMENT_ROWS, num_threads=1)
        # The vector index is left to the nightly job: each update rewrites all of it, and a scan finds the
        # rows that are not in it yet.
        if index:
            for existing in store.handle(name).list_indices():
                if "vector" not in existing.columns:
                    _update_index(dataset, existing.name)
    except (RuntimeError, OSError) as error:
        if not is_conflict(error):
            raise
        return False
    dataset.cleanup_old_versions(KEPT, error_if_tagged_old_versions=False)
    return True
