"""The decision log, as people ask for it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.common import ids
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.home.visibility import HIDDEN, UNKNOWN, Viewer, access_view, may_see, redact, sensitivities
from slowwave.journal.kinds.note import is_released
from slowwave.quality.admission.types import ACCEPTED
from slowwave.store import one_of, quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.store import Store


CHANGED = "changed"
_CHANGES = ("merge", "supersede", "duplicate")
_NO_DECISION = "Namespace {namespace!r} has no decision {decision_id!r}. `slowwave decisions` lists them."


def listed(
    space: Workspace, namespace: str, *, memory_id: str = "", outcome: str = "", limit: int = 50
) -> list[dict[str, Any]]:
    """Decisions of a namespace, the newest first, with the titles of both memories.

    Args:
        space: the home.
        namespace: whose.
        memory_id: only about or against this memory.
        outcome: only these; empty: all but complements that nothing was found beside; ``any``: all;
            ``changed``: what was merged, superseded, or refused as a duplicate.
        limit: how many.
    """
    where = [within(namespace)]
    if memory_id:
        where.append(_about(memory_id))
    if outcome == CHANGED:
        where.append(one_of("outcome", _CHANGES))
    elif outcome != "any":
        # What would be refused if the gate did more than warn was stored, and is told all the same.
        told = "(outcome <> 'complement' OR array_length(reasons) > 0)"
        where.append(f"outcome = {quote(outcome)}" if outcome else told)
    rows = space.store.read("decisions", " AND ".join(where))
    newest = rows.sort("decided_at", "revision", "decision_id", descending=True).head(limit)
    return titled(space, namespace, newest, named=[memory_id]).to_dicts()


def one(space: Workspace, namespace: str, decision_id: str) -> dict[str, Any]:
    """One decision.

    Raises:
        NotFoundError: this namespace has no such decision.
    """
    where = within(namespace, f"decision_id = {quote(decision_id)}")
    rows = space.store.read("decisions", where)
    if rows.is_empty():
        raise NotFoundError(_NO_DECISION.format(namespace=namespace, decision_id=decision_id))
    return titled(space, namespace, rows).row(0, named=True)


def count_related(store: Store, namespace: str) -> int:
    """How many decisions of a namespace say that a note is only related to another (count)."""
    return store.count("decisions", within(namespace, "outcome = 'related'"))


def undoable(
    space: Workspace, namespace: str, decision_id: str, viewer: Viewer | None = None
) -> dict[str, Any]:
    """One decision, if there is something to take back.

    Raises:
        NotFoundError: this namespace has no such decision that the viewer may know of.
        SlowwaveError: it was taken back already, or it changed nothing.
    """
    row = one(space, namespace, decision_id)
    about = pl.DataFrame([row]).select(pl.col("memory_id", "other_memory", "revision").cast(pl.String))
    # A refused note has no label that was trusted; here it is enough that it does not say to be secret.
    if viewer is not None and any(map(pl.Series.any, _closed(space, namespace, about, Viewer.REPORT))):
        raise NotFoundError(_NO_DECISION.format(namespace=namespace, decision_id=decision_id))
    if row["undone_at"] is not None:
        told = f"Decision {decision_id} holds no longer since {row['undone_at']:%F %T} ({row['undone_why']})."
        if row["undone_why"] == ACCEPTED:
            made = ids.decision_id(row["memory_id"], row["revision"], decision_id)
            told += f" `slowwave undo {made}` takes back what came of it."
        raise SlowwaveError(told)
    if row["outcome"] == "complement" or not row["other_memory"]:
        raise SlowwaveError(f"Decision {decision_id} only stored the note; there is nothing to take back.")
    return row


def titled(
    space: Workspace, namespace: str, rows: pl.DataFrame, *,
    viewer: Viewer = Viewer.REPORT, named: Collection[str] = (),
) -> pl.DataFrame:  # fmt: skip
    """Decisions with the titles of both memories (`title`, `other_title`), as far as the viewer may see them.

    Args:
        space: the home.
        namespace: whose they are.
        rows: of ``decisions``.
        viewer: who looks; evidence is shown to those who may see both texts.
        named: memories that a person named by their ids.
    """
    store = space.store
    names = [*rows["memory_id"], *rows["other_memory"].drop_nulls()]
    columns, mine = ["memory_id", "title"], within(namespace)
    found = [
        store.read_by(table, "memory_id", names, columns=columns, also=mine)
        for table in ("memories", "quarantine")
    ]
    known = pl.concat(found).unique("memory_id", keep="first", maintain_order=True)
    told = rows.join(known, on="memory_id", how="left", maintain_order="left").join(
        known.select(other_memory="memory_id", other_title="title"),
        on="other_memory",
        how="left",
        maintain_order="left",
    )
    return _veiled(space, namespace, told, viewer, named)


def _veiled(
    space: Workspace, namespace: str, rows: pl.DataFrame, viewer: Viewer, named: Collection[str] = ()
) -> pl.DataFrame:
    """Decisions, with or without titles, as far as the viewer may see them."""
    notes, others = _closed(space, namespace, rows, viewer, named)
    told = redact(rows, pl.lit(notes), "title")
    told = redact(told, pl.lit(others), "other_title")
    return redact(told, pl.lit(notes | others), "evidence", "appended")


def _closed(
    space: Workspace, namespace: str, rows: pl.DataFrame, viewer: Viewer, named: Collection[str] = ()
) -> tuple[pl.Series, pl.Series]:
    """Of each decision, whether its note (as it is, or was then) and the other memory may not be seen."""
    seen = access_view(
        space.store, namespace, [*rows["memory_id"], *rows["other_memory"]], viewer, named=named
    )
    said = sensitivities(space.journal, rows["revision"].drop_nulls())
    then = [
        memory not in named and not may_see(viewer, said.get(revision, UNKNOWN))
        for memory, revision in rows.select("memory_id", "revision").iter_rows()
    ]
    mine = pl.Series(then, dtype=pl.Boolean) | rows["memory_id"].is_in(list(seen.hidden))
    return mine, rows["other_memory"].is_in(list(seen.hidden)).fill_null(value=False)


def history(
    space: Workspace, namespace: str, memory_id: str, *, viewer: Viewer = Viewer.OWNER
) -> list[dict[str, Any]]:
    """What happened to a memory, the oldest first.

    Args:
        space: the home.
        namespace: whose.
        memory_id: the memory.
        viewer: who looks; what a text says is hidden from those who may not see that version of it, and what
            was found beside another memory from those who may not see that one.

    Returns:
        Mappings with ``at``, ``event`` (saved, forgotten, unreadable, refused, or a decision's outcome, or
        undone), ``by``, ``title``, ``text`` (of saves), ``other``, ``details`` and ``id``.

    Raises:
        NotFoundError: this namespace has no such memory.
    """
    store = space.store
    mine = within(namespace, f"memory_id = {quote(memory_id)}")
    refused = store.read("quarantine", mine, columns=["source", "reasons", "occurred_at", "quarantine_id"])
    sources = pl.concat([store.read("memories", mine, columns=["source"]), refused.select("source")])[
        "source"
    ].unique()
    if sources.is_empty():
        raise NotFoundError(
            f"Namespace {namespace!r} has no memory {memory_id!r}. `slowwave show` lists ids."
        )
    acts = space.journal.about(namespace, sources[0])
    events = [_act(entry, before, viewer) for before, entry in pairwise((None, *acts))]
    for row in refused.iter_rows(named=True):
        why = ", ".join(row["reasons"])
        events.append(_event(row["occurred_at"], 1, "refused", details=why, id=row["quarantine_id"]))
    about = within(namespace, _about(memory_id))
    owner = viewer is Viewer.OWNER
    decided = _veiled(
        space, namespace, store.read("decisions", about), Viewer.REPORT if owner else viewer,
        [memory_id] if owner else [],
    )  # fmt: skip
    for row in decided.iter_rows(named=True):
        other = row["other_memory"] if row["memory_id"] == memory_id else row["memory_id"]
        event = row["outcome"] if row["memory_id"] == memory_id else f"{row['outcome']} (by the other)"
        if not row["refused"]:
            told = {"other": other, "details": row["evidence"], "id": row["decision_id"]}
            events.append(_event(row["decided_at"], 2, event, **told))
        if row["undone_at"] is not None:
            what = "accepted" if row["undone_why"] == ACCEPTED else f"{row['outcome']} undone"
            events.append(
                _event(
                    row["undone_at"], 3, what, by=row["undone_by"] or "",
                    other=other, details=row["undone_why"], id=row["decision_id"],
                )
            )  # fmt: skip
    return sorted(events, key=lambda event: (event["at"], event.pop("order"), event["id"]))


def _about(memory_id: str) -> str:
    return f"(memory_id = {quote(memory_id)} OR other_memory = {quote(memory_id)})"


def _act(entry: Any, before: Any, viewer: Viewer) -> dict[str, Any]:  # noqa: ANN401 - journal.Entry
    let_in = "remembered" if before is not None and before.kind == "forget" else "released"
    names = {"save": let_in if is_released(entry.payload) else "saved", "forget": "forgotten"}
    told = {"title": entry.payload.get("title", ""), "text": entry.payload.get("content", "")}
    sensitivity = entry.payload.get("sensitivity") if entry.kind == "save" else UNKNOWN
    if not may_see(viewer, sensitivity):
        told = {name: HIDDEN if text else "" for name, text in told.items()}
    return _event(
        entry.occurred_at, 0, names.get(entry.kind, entry.kind), by=entry.principal, **told,
        id=ids.revision(entry.ordered_at or entry.occurred_at, entry.event_id),
    )  # fmt: skip


def _event(at: datetime, order: int, event: str, **told: Any) -> dict[str, Any]:  # noqa: ANN401 - text
    empty = {"by": "", "title": "", "text": "", "other": "", "details": "", "id": ""}
    return {"at": at, "event": event, "order": order, **empty, **told}
