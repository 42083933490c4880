"""The decision log, as people ask for it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave import ids
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.store import Store, quote

if TYPE_CHECKING:
    from slowwave.workspace import Workspace


def listed(
    store: Store, namespace: str, *, memory_id: str = "", outcome: str = "", limit: int = 50
) -> list[dict[str, Any]]:
    """Decisions of a namespace, the newest first, with the titles of both memories.

    Args:
        store: the memory.
        namespace: whose.
        memory_id: only about or against this memory.
        outcome: only these; empty: all but complements, which changed nothing; ``any``: all.
        limit: how many.
    """
    where = [f"namespace = {quote(namespace)}"]
    if memory_id:
        where.append(f"(memory_id = {quote(memory_id)} OR other_memory = {quote(memory_id)})")
    if outcome != "any":
        where.append(f"outcome = {quote(outcome)}" if outcome else "outcome <> 'complement'")
    rows = store.read("decisions", " AND ".join(where))
    newest = rows.sort("decided_at", "revision", "decision_id", descending=True).head(limit)
    return titled(store, newest).to_dicts()


def one(store: Store, namespace: str, decision_id: str) -> dict[str, Any]:
    """One decision.

    Raises:
        NotFoundError: this namespace has no such decision.
    """
    where = f"namespace = {quote(namespace)} AND decision_id = {quote(decision_id)}"
    rows = store.read("decisions", where)
    if rows.is_empty():
        raise NotFoundError(
            f"Namespace {namespace!r} has no decision {decision_id!r}. `slowwave decisions` lists them."
        )
    return titled(store, rows).row(0, named=True)


def undoable(store: Store, namespace: str, decision_id: str) -> dict[str, Any]:
    """One decision, if there is something to take back.

    Raises:
        NotFoundError: this namespace has no such decision.
        SlowwaveError: it was taken back already, or it changed nothing.
    """
    row = one(store, namespace, decision_id)
    if row["undone_at"] is not None:
        raise SlowwaveError(
            f"Decision {decision_id} holds no longer since {row['undone_at']:%F %T} ({row['undone_why']})."
        )
    if row["outcome"] == "complement" or not row["other_memory"]:
        raise SlowwaveError(f"Decision {decision_id} only stored the note; there is nothing to take back.")
    return row


def titled(store: Store, rows: pl.DataFrame) -> pl.DataFrame:
    """Decisions with the titles of both memories (`title`, `other_title`)."""
    names = [*rows["memory_id"], *rows["other_memory"].drop_nulls()]
    titles = store.read_by("memories", "memory_id", names, columns=["memory_id", "title"])
    held = store.read_by(
        "quarantine", "memory_id", rows["memory_id"].to_list(), columns=["memory_id", "title"]
    )
    known = pl.concat([titles, held]).unique("memory_id", keep="first", maintain_order=True)
    return rows.join(known, on="memory_id", how="left", maintain_order="left").join(
        known.select(other_memory="memory_id", other_title="title"),
        on="other_memory",
        how="left",
        maintain_order="left",
    )


def history(space: Workspace, namespace: str, memory_id: str) -> list[dict[str, Any]]:
    """What happened to a memory, the oldest first.

    Returns:
        Mappings with ``at``, ``event`` (saved, forgotten, unreadable, refused, or a decision's outcome, or
        undone), ``by``, ``title``, ``text`` (of saves), ``other``, ``details`` and ``id``.

    Raises:
        NotFoundError: this namespace has no such memory.
    """
    store = space.store
    mine = f"namespace = {quote(namespace)} AND memory_id = {quote(memory_id)}"
    sources = pl.concat([store.read(name, mine, columns=["source"]) for name in ("memories", "quarantine")])[
        "source"
    ].unique()
    if sources.is_empty():
        raise NotFoundError(f"Namespace {namespace!r} has no memory {memory_id!r}. Ids come from save().")
    events = [_act(entry) for entry in space.journal.about(namespace, sources[0])]
    for row in store.read("quarantine", mine).iter_rows(named=True):
        why = ", ".join(row["reasons"])
        events.append(_event(row["occurred_at"], 1, "refused", details=why, id=row["quarantine_id"]))
    for row in listed(store, namespace, memory_id=memory_id, outcome="any", limit=1_000_000):
        other = row["other_memory"] if row["memory_id"] == memory_id else row["memory_id"]
        event = row["outcome"] if row["memory_id"] == memory_id else f"{row['outcome']} (by the other)"
        if not row["refused"]:
            told = {"other": other, "details": row["evidence"], "id": row["decision_id"]}
            events.append(_event(row["decided_at"], 2, event, **told))
        if row["undone_at"] is not None:
            events.append(
                _event(
                    row["undone_at"], 3, f"{row['outcome']} undone", by=row["undone_by"] or "",
                    other=other, details=row["undone_why"], id=row["decision_id"],
                )
            )  # fmt: skip
    return sorted(events, key=lambda event: (event["at"], event.pop("order"), event["id"]))


def _act(entry: Any) -> dict[str, Any]:  # noqa: ANN401 - journal.Entry
    names = {"save": "released" if entry.payload.get("released") else "saved", "forget": "forgotten"}
    return _event(
        entry.occurred_at, 0, names.get(entry.kind, entry.kind), by=entry.principal,
        title=entry.payload.get("title", ""), text=entry.payload.get("content", ""),
        id=ids.revision(entry.occurred_at, entry.event_id),
    )  # fmt: skip


def _event(at: datetime, order: int, event: str, **told: Any) -> dict[str, Any]:  # noqa: ANN401 - text
    empty = {"by": "", "title": "", "text": "", "other": "", "details": "", "id": ""}
    return {"at": at, "event": event, "order": order, **empty, **told}
