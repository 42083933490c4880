"""Nearest passages of stored memories, whatever else is asked at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from slowwave.index.channels import Channels, Vector
from slowwave.index.lancedb_channels import TableChannels
from slowwave.index.partitioned_vectors import Rows
from slowwave.index.snapshot import Snapshot
from slowwave.store import quote
from slowwave.telemetry import carried

COLUMNS = ("chunk_id", "memory_id", "title", "text", "sensitivity", "ordinal", "created_at", "updated_at")
SLACK = 1e-5
"""Error bound of a product of 32-bit vectors; it differs with the number of vectors in one call."""
AT_ONCE_IN_TABLE = 8  # queries at a time (count)
AT_ONCE = 32  # vectors of one product (count)
MAX_OF_ALL = 10_000  # chunks of several memories read at once from a table (count)


@dataclass(frozen=True, slots=True)
class NearPassages:
    """Passages of memories and those nearest to them.

    Attributes:
        table: Each passage once, columns `COLUMNS`.
        own: Rows of each memory that passes, its first passage first.
        near: Rows of others that are nearest to one of these.
    """

    table: pa.Table
    own: Mapping[str, Sequence[int]]
    near: Mapping[str, Sequence[int]]


def near_passages(
    channels: Channels[Any], memory_ids: Sequence[str], where: str, *, own: int, near: int,
    is_asked: Callable[[str], bool],
) -> NearPassages:  # fmt: skip
    """Return the first passages of memories, and the passages nearest to each of them.

    Args:
        channels: Of the namespace.
        memory_ids: Memories; those that do not pass are left out.
        where: Condition on all passages.
        own: Maximum passages of a memory (count).
        near: Nearest passages of other memories to one of them (count).
        is_asked: Whether the nearest passages to a text are wanted.
    """
    if isinstance(channels, Snapshot):
        return _in_snapshot(channels, memory_ids, where, own, near, is_asked)
    if isinstance(channels, TableChannels):
        return _in_table(channels, memory_ids, where, own, near, is_asked)
    raise TypeError(type(channels).__name__)


def _in_snapshot(
    snapshot: Snapshot, memory_ids: Sequence[str], where: str, own: int, near: int,
    is_asked: Callable[[str], bool],
) -> NearPassages:  # fmt: skip
    passing = snapshot.passing(where)
    every = {name: snapshot.rows_of.of(name) for name in dict.fromkeys(memory_ids)}
    rows_of: dict[str, list[int]] = {}
    for name, rows in every.items():
        present = [row for row in rows if row < len(passing) and passing[row]]
        if present:
            names = snapshot.named("chunk_id", present)
            rows_of[name] = [row for _, row in sorted(zip(names, present, strict=True))][:own]
    order = [row for rows in rows_of.values() for row in rows]
    texts = dict(zip(order, snapshot.named("text", order), strict=True)) if near else {}
    asked = [(name, row) for name, rows in rows_of.items() for row in rows if near and is_asked(texts[row])]
    near_of: dict[str, list[int]] = {name: [] for name in rows_of}
    for start in range(0, len(asked), AT_ONCE):
        part = asked[start : start + AT_ONCE]
        vectors = snapshot.vectors[np.array([row for _, row in part], dtype=np.int64)]
        products = snapshot.vectors.products(vectors)
        products[~passing] = -np.inf
        for at, (name, _) in enumerate(part):
            near_of[name] += _nearest(snapshot, products[:, at].copy(), vectors[at], every[name], near)
    order = list(dict.fromkeys([*order, *(row for rows in near_of.values() for row in rows)]))
    place = {row: number for number, row in enumerate(order)}
    return NearPassages(
        snapshot.columns.select(COLUMNS).take(np.array(order, dtype=np.int64)),
        {name: [place[row] for row in rows] for name, rows in rows_of.items()},
        {name: list(dict.fromkeys(place[row] for row in rows)) for name, rows in near_of.items()},
    )


def _nearest(
    snapshot: Snapshot, products: Vector, vector: Vector, own: Sequence[int], near: int
) -> list[int]:
    """Return the rows nearest to a passage of another memory; equal ones by chunk id.

    Args:
        snapshot: Has the rows.
        products: Of all of them with the vector, about; -inf where a row does not pass.
        vector: Of a passage.
        own: Rows of the passage's memory.
        near: Rows to return (count).
    """
    if not vector.any():
        return []
    products[[row for row in own if row < len(products)]] = -np.inf
    size = min(near, len(products))
    least = np.partition(products, len(products) - size)[len(products) - size]
    rows: Rows = np.flatnonzero((products >= least - SLACK) & (products > -np.inf))
    exact = np.vecdot(snapshot.vectors[rows], vector)  # the same whatever else is asked
    if len(rows) > near:
        kept = exact >= np.partition(exact, len(exact) - near)[len(exact) - near]
        rows, exact = rows[kept], exact[kept]
    names = snapshot.named("chunk_id", rows)
    ranked = sorted(zip((-exact).tolist(), names, rows.tolist(), strict=True))
    return [row for _, _, row in ranked[:near]]


def _in_table(
    channels: TableChannels, memory_ids: Sequence[str], where: str, own: int, near: int,
    is_asked: Callable[[str], bool],
) -> NearPassages:  # fmt: skip
    found = channels.of(list(dict.fromkeys(memory_ids)), where, MAX_OF_ALL).table
    pieces, count = [found.select(COLUMNS)], found.num_rows
    rows_of: dict[str, list[int]] = {}
    for at, name in enumerate(found.column("memory_id").to_pylist()):
        rows_of.setdefault(name, []).append(at)
    rows_of = {name: rows[:own] for name, rows in rows_of.items()}
    near_of: dict[str, list[int]] = {name: [] for name in rows_of}
    texts, vectors = found.column("text").to_pylist(), found.column("vector")
    asked = [(name, at) for name, rows in rows_of.items() for at in rows if near and is_asked(texts[at])]

    def nearest(one: tuple[str, int]) -> pa.Table:
        name, at = one
        vector = np.array(vectors[at].as_py(), dtype=np.float32)
        hits = channels.nearest(vector, f"{where} AND memory_id <> {quote(name)}", near)
        return hits.table.select(COLUMNS)

    with ThreadPoolExecutor(AT_ONCE_IN_TABLE) as pool:
        found_near = list(pool.map(carried(nearest), asked))
    for (name, _), hits in zip(asked, found_near, strict=True):
        pieces.append(hits)
        near_of[name] += range(count, count + hits.num_rows)
        count += hits.num_rows
    return NearPassages(pa.concat_tables(pieces), rows_of, near_of)
