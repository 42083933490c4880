"""What a search has shown, from the journal: for whoever wants to say which result helped."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.common import ids
from slowwave.errors import NotFoundError
from slowwave.home.visibility import HIDDEN, closed_ids
from slowwave.journal.kinds.search import results_in
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ShownResult:
    """One result: its place from 1, and its score then; the title is today's, empty of what is no memory."""

    rank: int | None
    memory_id: str
    title: str
    score: float | None


@dataclass(frozen=True, slots=True)
class ShownSearch:
    """One search; of what is secret neither words nor titles are told, nor what it was asked for."""

    search_id: str
    query: str
    asked_at: datetime
    principal: str
    project: str
    results: tuple[ShownResult, ...]


def shown_by(space: Workspace, namespace: str, search_id: str) -> ShownSearch:
    """What a search of a namespace has shown.

    Raises:
        NotFoundError: the journal has no such search of this namespace.
    """
    entry = space.journal.get(search_id)
    if entry is None or entry.kind != "search" or entry.namespace != namespace:
        raise NotFoundError(f"Namespace {namespace!r} has no search {search_id!r}.")
    rows = results_in(entry.payload)
    names = [row["memory_id"] for row in rows]
    found = space.store.read_by(
        "memories", "memory_id", names, columns=["memory_id", "title"], also=within(namespace)
    )
    titles, closed = dict(found.iter_rows()), closed_ids(space.store, namespace)
    query = str(entry.payload.get("query") or "")
    hidden = ids.query_id(namespace, query) in closed or not closed.isdisjoint(names)
    return ShownSearch(
        search_id=search_id,
        query=HIDDEN if hidden else query,
        asked_at=entry.occurred_at,
        principal=entry.principal,
        project=HIDDEN if hidden and entry.origin else entry.origin,
        results=tuple(
            ShownResult(
                rank=row.get("rank"),
                memory_id=row["memory_id"],
                title=HIDDEN if row["memory_id"] in closed else titles.get(row["memory_id"]) or "",
                score=row.get("score"),
            )
            for row in rows
        ),
    )
