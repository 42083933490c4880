"""Reads of some partitions of a table, fragment by fragment.

A run appends its days in order, batch by batch, so each fragment has few of them. A filter would read the
whole table for each batch, and take time that grows with the square of the days.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from slowwave.store.frames import frame_of, one_of
from slowwave.store.instrumentation import observe_query
from slowwave.store.reading import TableReader, matching
from slowwave.store.tenancy import Readable

_Values = dict[tuple[str, ...], frozenset[Any]]


@dataclass(frozen=True, slots=True)
class _Found:
    """Fragments of a dataset with rows of some partitions.

    Attributes:
        dataset: Version of the table.
        fragments: May have rows of these partitions; all others have none.
        whole: Whether they have no other rows.
    """

    dataset: Any
    fragments: Sequence[Any]
    whole: bool


def has_rows(store: TableReader, name: str, partitions: Sequence[str]) -> bool:
    """Return whether any row belongs to these partitions."""
    where = one_of(_column(store, name), partitions)
    if store.in_memory:
        return store.count(name, where) > 0
    with store.explaining(name):
        return bool(_found(store, name, partitions).fragments) and store.count(name, where) > 0


def any_before(store: Readable, name: str, partition: str) -> bool:
    """Return whether a table may have rows of earlier partitions, by its fragments."""
    if not isinstance(store, TableReader) or store.in_memory:
        return True
    with store.explaining(name):
        _, known = _known(store, name)
    return any(value is not None and value < partition for values in known.values() for value in values)


def rows_in(
    store: TableReader, name: str, partitions: Sequence[str], *, columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return the rows of some partitions, in no order."""
    where = one_of(_column(store, name), partitions)
    if store.in_memory:
        return matching(store, name, where, columns=columns)
    wanted = list(columns) if columns is not None else list(store.specs[name].schema.names)
    with observe_query("scan", name) as observed, store.explaining(name):
        found = _found(store, name, partitions)
        if not found.fragments:
            return store.empty(name, wanted)
        late: bool | None = False
        if not found.whole:
            scanner = found.dataset.scanner(fragments=found.fragments, filter=where, columns=[])
            rows = sum(fragment.physical_rows for fragment in found.fragments)
            late = None if 2 * scanner.count_rows() <= rows else False  # as in `matching`
        arrow = found.dataset.scanner(
            fragments=found.fragments,
            filter=None if found.whole else where,
            columns=wanted,
            late_materialization=late,
        ).to_table()
        observed.set(rows=arrow.num_rows)
    return frame_of(arrow)


def _found(store: TableReader, name: str, partitions: Sequence[str]) -> _Found:
    wanted = frozenset(partitions)
    dataset, known = _known(store, name)
    fragments = [
        fragment for fragment in dataset.get_fragments() if not known[_files(fragment)].isdisjoint(wanted)
    ]
    return _Found(dataset, fragments, all(known[_files(fragment)] <= wanted for fragment in fragments))


def _known(store: TableReader, name: str) -> tuple[Any, _Values]:
    """Return the latest version of a table, and the partitions in each of its fragments."""
    dataset, column = store.dataset(name), _column(store, name)
    cached, known = store.partitions_of_fragments.get(name, {}), _Values()
    for fragment in dataset.get_fragments():
        files = _files(fragment)
        values = cached.get(files)
        if values is None:  # a deletion takes values away, and adds none
            values = frozenset(fragment.to_table(columns=[column]).column(column).unique().to_pylist())
        known[files] = values
    store.partitions_of_fragments[name] = known
    return dataset, known


def _files(fragment: Any) -> tuple[str, ...]:  # noqa: ANN401 - lance.LanceFragment
    return tuple(file.path for file in fragment.data_files())  # they are never rewritten


def _column(store: TableReader, name: str) -> str:
    column = store.specs[name].partition
    if column is None:
        raise ValueError(f"{name} is not a partitioned table; read it with matching()")
    return column
