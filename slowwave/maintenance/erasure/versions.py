"""Removal of old table versions, indexes and leftover files that keep deleted data."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.index.incremental_snapshot import searched_in_table
from slowwave.maintenance.erasure.tables import physical_tables
from slowwave.store.indexes import refresh_vector_index
from slowwave.store.maintenance import latest_dataset, table_uri
from slowwave.store.text import create_full_text_indexes

if TYPE_CHECKING:
    from slowwave.store import Store, TableSpec

SETTLED_S = 900
"""Minimum age (seconds) of an unreferenced file that no running write can own."""


def drop_tags(store: Store) -> None:
    """Delete every checkpoint, because each holds an earlier state of the tables."""
    for name in store.db.list_tables().tables:
        table = store.db.open_table(name)
        for tag in table.tags.list():
            table.tags.delete(tag)
    store.delete("meta", "starts_with(name, 'checkpoint-')")


def rewrite(store: Store, *, vectors_from: int, wanted_recall: float, max_bytes: int) -> int:
    """Rewrite every table without deleted rows, with new indexes and no older version.

    Returns:
        Files of writes that may still be in progress, which were left in place (count).
    """
    young = 0
    for name, spec in physical_tables(store):
        table = latest_dataset(store, name)
        if table.version == 1:  # never written since its creation
            continue
        table.optimize.compact_files(materialize_deletions=True, materialize_deletions_threshold=0.0)
        _renew_indexes(store.db.open_table(name), spec)
        table = latest_dataset(store, name)
        table.cleanup_old_versions(timedelta(0), error_if_tagged_old_versions=False)
        young += 0 if "://" in store.uri else _sweep(Path(table_uri(store, name)), table)
    store.refresh()
    store.delete("meta", "name = 'vector_index'")
    refresh_vector_index(
        store, minimum_rows=vectors_from, wanted_recall=wanted_recall,
        needed=bool(searched_in_table(store, max_bytes)),
    )  # fmt: skip
    return young


def _renew_indexes(table: Any, spec: TableSpec) -> None:  # noqa: ANN401 - lancedb.Table
    """Recreate every index: a word stays in an index after the last row with it is deleted."""
    create_full_text_indexes(table, spec, again=bool(spec.full_text))
    for index in table.list_indices():
        if index.index_type.upper() != "FTS":
            table.drop_index(index.name)  # vector indexes are recreated when worth it


def _sweep(folder: Path, table: Any) -> int:  # noqa: ANN401 - lance.LanceDataset
    """Remove leftovers of killed writes. Return the number of files that are too young to tell."""
    young = 0
    for path in _leftovers(folder, table):
        if time.time() - path.stat().st_mtime < SETTLED_S:
            young += 1
        elif path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return young


def _leftovers(folder: Path, table: Any) -> Iterator[Path]:  # noqa: ANN401 - lance.LanceDataset
    named = {file.path for fragment in table.get_fragments() for file in fragment.metadata.files}
    yield from (path for path in sorted(folder.glob("data/*")) if path.name not in named)
    indexes = {part.uuid for index in table.describe_indices() for part in index.segments}
    yield from (path for path in sorted(folder.glob("_indices/*")) if path.name not in indexes)
