"""Decision log: lists, single decisions and the history of a memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.common import ids
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.home.visibility import (
    HIDDEN,
    UNKNOWN,
    Viewer,
    access_view,
    closed_versions,
    may_see,
    redact,
    seen_versions,
    sensitivities,
)
from slowwave.journal.kinds.note import is_released
from slowwave.quality.admission.reasons import ACCEPTED
from slowwave.store import one_of, quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry
    from slowwave.store import Store


CHANGED = "changed"
_CHANGES = ("merge", "supersede", "duplicate")
_NO_DECISION = (
    "Namespace {namespace!r} has no decision {decision_id!r}. `slowwave decisions` lists them. "
    "`slowwave forget ID` takes back a saved note."
)


def listed(
    space: Workspace, namespace: str, *, memory_id: str = "", outcome: str = "", limit: int = 50
) -> list[dict[str, Any]]:
    """Return decisions of a namespace with both titles, the newest first.

    Args:
        memory_id: Only about or against this memory.
        outcome: Only this outcome; empty: all but complements without a neighbour; ``any``: all;
            ``changed``: merged, superseded, or refused as a duplicate.
    """
    where = [within(namespace)]
    if memory_id:
        where.append(_about(memory_id))
    if outcome == CHANGED:
        where.append(one_of("outcome", _CHANGES))
    elif outcome != "any":
        # A note that an enforcing gate would refuse was stored; list its decision too.
        notable = "(outcome <> 'complement' OR array_length(reasons) > 0)"
        where.append(f"outcome = {quote(outcome)}" if outcome else notable)
    rows = space.store.read("decisions", " AND ".join(where))
    newest = rows.sort("decided_at", "revision", "decision_id", descending=True).head(limit)
    return titled(space, namespace, newest, named=[memory_id]).to_dicts()


def get_decision(space: Workspace, namespace: str, decision_id: str) -> dict[str, Any]:
    """Return one decision, with both titles.

    Raises:
        NotFoundError: This namespace has no such decision.
    """
    where = within(namespace, f"decision_id = {quote(decision_id)}")
    rows = space.store.read("decisions", where)
    if rows.is_empty():
        raise NotFoundError(_NO_DECISION.format(namespace=namespace, decision_id=decision_id))
    return titled(space, namespace, rows).row(0, named=True)


def count_related(store: Store, namespace: str) -> int:
    """Count the decisions of a namespace with outcome related."""
    return store.count("decisions", within(namespace, "outcome = 'related'"))


def undoable(
    space: Workspace, namespace: str, decision_id: str, viewer: Viewer | None = None
) -> dict[str, Any]:
    """Return one decision if it can be undone.

    Raises:
        NotFoundError: This namespace has no such decision that the viewer may see.
        SlowwaveError: It was undone already, or it changed nothing.
    """
    row = get_decision(space, namespace, decision_id)
    subject = pl.DataFrame([row]).select(
        pl.col("memory_id", "other_memory", "revision", "other_revision").cast(pl.String)
    )
    # A refused note's label is not trusted; here it is enough that it is not secret.
    if viewer is not None and any(map(pl.Series.any, _closed(space, namespace, subject, Viewer.REPORT))):
        raise NotFoundError(_NO_DECISION.format(namespace=namespace, decision_id=decision_id))
    if row["undone_at"] is not None:
        why = f"Decision {decision_id} ended at {row['undone_at']:%F %T} ({row['undone_why']})."
        if row["undone_why"] == ACCEPTED:
            made = ids.decision_id(row["memory_id"], row["revision"], decision_id)
            why += f" `slowwave undo {made}` reverses its result."
        raise SlowwaveError(why)
    if row["outcome"] == "complement" or not row["other_memory"]:
        raise SlowwaveError(f"Decision {decision_id} only stored the note; there is nothing to undo.")
    return row


def titled(
    space: Workspace, namespace: str, rows: pl.DataFrame, *,
    viewer: Viewer = Viewer.REPORT, named: Collection[str] = (),
) -> pl.DataFrame:  # fmt: skip
    """Return decisions with both titles (`title`, `other_title`), as far as the viewer may see them.

    Args:
        rows: Rows of ``decisions``.
        viewer: Evidence is shown only to viewers of both texts.
        named: Memories that a user named by their ids.
    """
    store = space.store
    names = [*rows["memory_id"], *rows["other_memory"].drop_nulls()]
    columns, where = ["memory_id", "title"], within(namespace)
    frames = [
        store.read_by(table, "memory_id", names, columns=columns, also=where)
        for table in ("memories", "quarantine")
    ]
    titles = pl.concat(frames).unique("memory_id", keep="first", maintain_order=True)
    joined = rows.join(titles, on="memory_id", how="left", maintain_order="left").join(
        titles.select(other_memory="memory_id", other_title="title"),
        on="other_memory",
        how="left",
        maintain_order="left",
    )
    return _veiled(space, namespace, joined, viewer, named)


def _veiled(
    space: Workspace, namespace: str, rows: pl.DataFrame, viewer: Viewer, named: Collection[str] = ()
) -> pl.DataFrame:
    """Return decisions with texts hidden that the viewer may not see."""
    notes, others = _closed(space, namespace, rows, viewer, named)
    rows = redact(rows, pl.lit(notes), "title")
    rows = redact(rows, pl.lit(others), "other_title")
    return redact(rows, pl.lit(notes | others), "evidence", "appended")


def _closed(
    space: Workspace, namespace: str, rows: pl.DataFrame, viewer: Viewer, named: Collection[str] = ()
) -> tuple[pl.Series, pl.Series]:
    """Return per decision whether its note, and whether the other memory, is hidden.

    A note is hidden by its present label, by the one of its time, and by a later version that closed it.
    """
    seen = access_view(
        space.store, namespace, [*rows["memory_id"], *rows["other_memory"]], viewer, named=named
    )
    labels = sensitivities(space.journal, rows["revision"].drop_nulls())
    since = closed_versions(space.journal, namespace, [*rows["revision"], *rows["other_revision"]], viewer)
    then = [
        memory not in named and (revision in since or not may_see(viewer, labels.get(revision, UNKNOWN)))
        for memory, revision in rows.select("memory_id", "revision").iter_rows()
    ]
    others = [
        bool(memory) and memory not in named and (memory in seen.hidden or revision in since)
        for memory, revision in rows.select("other_memory", "other_revision").iter_rows()
    ]
    notes = pl.Series(then, dtype=pl.Boolean) | rows["memory_id"].is_in(list(seen.hidden))
    return notes, pl.Series(others, dtype=pl.Boolean)


def history(
    space: Workspace, namespace: str, memory_id: str, *, viewer: Viewer = Viewer.OWNER
) -> list[dict[str, Any]]:
    """Return the history of a memory, the oldest event first.

    Args:
        viewer: Texts are hidden from viewers who may not see that version or a later one, and evidence
            from those who may not see the other memory. A text that was saved as open later is shown again.
            Decisions with a memory that an assistant may not see are left out.

    Returns:
        Mappings with ``at``, ``event`` (saved, forgotten, unreadable, refused, or a decision's outcome, or
        undone), ``by``, ``title``, ``text`` (of saves, also refused ones), ``other``, ``details`` and ``id``.

    Raises:
        NotFoundError: This namespace has no such memory.
    """
    store = space.store
    where = within(namespace, f"memory_id = {quote(memory_id)}")
    columns = ["source", "reasons", "occurred_at", "quarantine_id", "revision"]
    refused = store.read("quarantine", where, columns=columns)
    sources = pl.concat([store.read("memories", where, columns=["source"]), refused.select("source")])[
        "source"
    ].unique()
    if sources.is_empty():
        raise NotFoundError(
            f"Namespace {namespace!r} has no memory {memory_id!r}. `slowwave show` lists ids."
        )
    acts = space.journal.about(namespace, sources[0])
    events: list[dict[str, Any]] = []
    saved: Entry | None = None
    seen = seen_versions(acts, viewer)
    held = {ids.event_of(row["revision"]): row for row in refused.iter_rows(named=True)}
    for before, entry in zip([None, *acts], acts, strict=False):
        act = _act(entry, before, saved, seen)
        if row := held.pop(entry.event_id, None):
            act |= _refusal(row)
            if viewer is Viewer.ASSISTANT:  # the labels of a refused version are not trusted
                act |= {name: HIDDEN for name in ("title", "text") if act[name]}
        elif entry.kind == "save":
            saved = entry
        events.append(act)
    events += [_event(row["occurred_at"], 1, **_refusal(row)) for row in held.values()]
    for row in _decided(space, namespace, memory_id, viewer).iter_rows(named=True):
        other = row["other_memory"] if row["memory_id"] == memory_id else row["memory_id"]
        event = row["outcome"] if row["memory_id"] == memory_id else f"{row['outcome']} (by the other)"
        if not row["refused"]:
            details = {"other": other, "details": row["evidence"], "id": row["decision_id"]}
            events.append(_event(row["decided_at"], 2, event, **details))
        if row["undone_at"] is not None:
            what = "accepted" if row["undone_why"] == ACCEPTED else f"{row['outcome']} undone"
            events.append(
                _event(
                    row["undone_at"], 3, what, by=row["undone_by"] or "",
                    other=other, details=row["undone_why"], id=row["decision_id"],
                )
            )  # fmt: skip
    return sorted(events, key=lambda event: (event["at"], event.pop("order"), event["id"]))


def _decided(space: Workspace, namespace: str, memory_id: str, viewer: Viewer) -> pl.DataFrame:
    """Return the decisions about or against a memory that the viewer may see.

    An assistant does not learn that there is a memory that it may not see.
    """
    rows = space.store.read("decisions", within(namespace, _about(memory_id)))
    if viewer is Viewer.OWNER:
        return _veiled(space, namespace, rows, Viewer.REPORT, [memory_id])
    if viewer is Viewer.ASSISTANT:
        names = ("memory_id", "other_memory")
        seen = access_view(space.store, namespace, pl.concat([rows[name] for name in names]), viewer)
        rows = rows.filter(~pl.any_horizontal(pl.col(*names).is_in(list(seen.hidden)).fill_null(value=False)))
    return _veiled(space, namespace, rows, viewer)


def _refusal(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the history says of a version that the save gate refused."""
    return {"event": "refused", "details": ", ".join(row["reasons"]), "id": row["quarantine_id"]}


def _about(memory_id: str) -> str:
    return f"(memory_id = {quote(memory_id)} OR other_memory = {quote(memory_id)})"


def _act(entry: Entry, before: Entry | None, saved: Entry | None, seen: Collection[str]) -> dict[str, Any]:
    """Return an event of a source, with the changed labels of a save."""
    let_in = "remembered" if before is not None and before.kind == "forget" else "released"
    names = {"save": let_in if is_released(entry.payload) else "saved", "forget": "forgotten"}
    text = {"title": entry.payload.get("title", ""), "text": entry.payload.get("content", "")}
    details = ""
    if entry.event_id not in seen:
        text = {name: HIDDEN if value else "" for name, value in text.items()}
    elif entry.kind == "save" and saved is not None and saved.event_id in seen:
        details = "; ".join(label_changes(saved.payload, entry.payload))
    return _event(
        entry.occurred_at, 0, names.get(entry.kind, entry.kind), by=entry.principal, **text, details=details,
        id=ids.revision(entry.ordered_at or entry.occurred_at, entry.event_id),
    )  # fmt: skip


_LABELS = {
    "memory_type": "type", "importance_tier": "tier", "sensitivity": "sensitivity", "state": "state",
    "source_of_truth": "source of truth",
}  # fmt: skip


def label_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return in words how the labels of two saves differ."""
    had, has = (list(payload.get("tags") or ()) for payload in (before, after))
    gained, lost = [tag for tag in has if tag not in had], [tag for tag in had if tag not in has]
    lines = [f"tags added: {', '.join(gained)}"] if gained else []
    lines += [f"tags removed: {', '.join(lost)}"] if lost else []
    for name, word in _LABELS.items():
        old, new = before.get(name) or "none", after.get(name) or "none"
        if old != new:
            lines.append(f"{word}: {old} → {new}")
    return lines


def _event(at: datetime, order: int, event: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - text
    empty = {"by": "", "title": "", "text": "", "other": "", "details": "", "id": ""}
    return {"at": at, "event": event, "order": order, **empty, **fields}
