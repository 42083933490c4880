"""Repetitions of a memory: equal text, merged, superseded, or refused as a duplicate."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import polars as pl

from slowwave.home.visibility import open_rows
from slowwave.lifecycle.quarantine import label_of, redacted
from slowwave.quality.admission.statuses import HELD
from slowwave.store import one_of, quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

_SAME = "outcome IN ('merge', 'duplicate', 'supersede')"


def repetitions(space: Workspace, namespace: str, memory_ids: Collection[str]) -> set[str]:
    """Return the ids of memories that decisions connect with these, over any number of steps."""
    pairs = space.store.read("decisions", within(namespace, _SAME), columns=["memory_id", "other_memory"])
    return connected(pairs.drop_nulls().iter_rows(), memory_ids) - set(memory_ids)


def connected(pairs: Iterable[tuple[str, str]], names: Collection[str]) -> set[str]:
    """Return the names, and all that pairs connect with them."""
    neighbours: dict[str, set[str]] = {}
    for one, other in pairs:
        neighbours.setdefault(one, set()).add(other)
        neighbours.setdefault(other, set()).add(one)
    reached, ahead = set(names), list(names)
    while ahead:
        new = neighbours.get(ahead.pop(), set()) - reached
        reached |= new
        ahead += new
    return reached


def same_text(space: Workspace, namespace: str, memory_id: str) -> set[str]:
    """Return the ids of live memories with exactly the text of a memory."""
    store = space.store
    own = store.read_by(
        "memories", "memory_id", [memory_id], columns=["content_hash"], also=within(namespace)
    )
    hashes = own["content_hash"].drop_nulls().to_list()
    if not hashes:
        return set()
    where = within(namespace, f"status = 'live' AND {one_of('content_hash', hashes)}")
    return set(store.read("memories", where, columns=["memory_id"])["memory_id"]) - {memory_id}


def labels_of(space: Workspace, namespace: str, memory_ids: Collection[str]) -> dict[str, str]:
    """Return title and status of memories by id, live ones first.

    Titles of secret memories are left out.
    """
    columns, names = ["memory_id", "title", "status", "sensitivity"], list(memory_ids)
    rows = space.store.read_by("memories", "memory_id", names, columns=columns, also=within(namespace))
    rows = rows.with_columns(title=pl.when(open_rows()).then("title")).sort(
        pl.col("status") != "live", "memory_id"
    )
    labels = {
        row["memory_id"]: f"{row['title'] or row['memory_id']} ({row['status']})"
        for row in rows.iter_rows(named=True)
    }
    held = space.store.read_by(
        "quarantine", "memory_id", [name for name in names if name not in labels],
        also=within(namespace, f"status = {quote(HELD)}"),
    )  # fmt: skip
    return labels | {
        row["memory_id"]: f"{label_of(row)} (in quarantine)"
        for row in redacted(space, held).iter_rows(named=True)
    }
