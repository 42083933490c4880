"""Decisions that wait for a person: preview, accept or decline (rule 2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.home.workspace import RECONSOLIDATION_CHECKPOINT
from slowwave.journal.entry_builders import word_entry
from slowwave.lifecycle import decisions
from slowwave.lifecycle.write_path import append_and_apply
from slowwave.quality.admission.reasons import UNDONE_BY_HAND
from slowwave.quality.admission.statuses import LIVE
from slowwave.store import quote
from slowwave.store.checkpoints import ensure_checkpoint

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant
    from slowwave.home.visibility import Viewer
    from slowwave.journal import Entry
    from slowwave.store import Store

COMMAND = "slowwave decisions --waiting"
_OPEN = "outcome = 'related' AND proposed IS NOT NULL AND undone_at IS NULL"
_ACCEPT = {
    "merge": "the lines that it lacks and the labels of the note go into the other memory, which stays",
    "supersede": "the note replaces the other memory, which leaves default search",
}
_DECLINE = "both stay as they are, and are never asked about again"


def waiting(store: Store, namespace: str = "") -> pl.DataFrame:
    """Return rows of ``decisions`` that wait for a person.

    Both memories are live and have the texts of the proposal.

    Args:
        namespace: Empty: all.
    """
    rows = (store.of(namespace) if namespace else store).read("decisions", _OPEN)
    if rows.is_empty():
        return rows
    rows = rows.sort("decided_at", "decision_id").unique(
        ["memory_id", "other_memory"], keep="last", maintain_order=True
    )
    return rows.filter(pl.Series([not why for why in _closing_reasons(store, rows)], dtype=pl.Boolean))


def _closing_reasons(store: Store, rows: pl.DataFrame) -> list[str]:
    """Return for each decision why it no longer waits; empty if it does."""
    names = [*rows["memory_id"], *rows["other_memory"]]
    memories = store.read_by("memories", "memory_id", names, columns=["memory_id", "revision", "status"])
    now = {name: (ids.note_revision(revision), status) for name, revision, status in memories.iter_rows()}
    parted = store.read_by(
        "decisions", "memory_id", names, columns=["memory_id", "other_memory"],
        also=f"undone_why = {quote(UNDONE_BY_HAND)}",
    )  # fmt: skip
    apart = {frozenset(pair) for pair in parted.iter_rows()}
    return [_closing_reason(row, now, apart) for row in rows.iter_rows(named=True)]


def _closing_reason(row: dict[str, Any], now: dict[str, tuple[str, str]], apart: set[frozenset[Any]]) -> str:
    if frozenset((row["memory_id"], row["other_memory"])) in apart:
        return "a person keeps the two apart"
    for name, then in ((row["memory_id"], row["revision"]), (row["other_memory"], row["other_revision"])):
        revision, status = now.get(name, ("", "gone"))
        if status != LIVE:
            return f"memory {name} is {'forgotten' if status == 'retired' else status} now"
        if then and revision != then:
            return f"memory {name} was saved again since"
    return ""


def listed(tenant: Tenant, *, memory_id: str = "", limit: int = 50) -> list[dict[str, Any]]:
    """Return waiting decisions of a namespace, the newest first, with both possible outcomes."""
    rows = waiting(tenant.store, tenant.namespace)
    if memory_id:
        rows = rows.filter((pl.col("memory_id") == memory_id) | (pl.col("other_memory") == memory_id))
    newest = rows.sort("decided_at", "decision_id", descending=True).head(limit)
    rows = decisions.titled(tenant.space, tenant.namespace, newest, named=[memory_id])
    return [
        row | {"accept": _ACCEPT[row["proposed"]], "decline": _DECLINE} for row in rows.iter_rows(named=True)
    ]


def settle(tenant: Tenant, decision_id: str, *, accept: bool, viewer: Viewer | None = None) -> dict[str, Any]:
    """Accept a waiting decision and carry it out, or decline it permanently.

    Args:
        decision_id: Of a waiting decision.
        viewer: A decision on memories that this viewer may not see counts as missing; None is the owner.

    Returns:
        The resulting decision.

    Raises:
        NotFoundError: This namespace has no such decision.
        SlowwaveError: It does not wait, or no longer; nothing was changed.
        StoreError: The checkpoint before the first change failed; nothing was changed.
    """
    space = tenant.space
    with space.writing():  # no other writer settles it meanwhile
        row = decisions.undoable(space, tenant.namespace, decision_id, viewer)
        if not row["proposed"] or row["outcome"] != "related":
            raise SlowwaveError(
                f"Decision {decision_id} does not wait for a person: its outcome is {row['outcome']}. "
                f"`{COMMAND}` lists those that do; `slowwave undo` undoes others."
            )
        (why,) = _closing_reasons(space.store, pl.DataFrame([row], infer_schema_length=None))
        if why:
            raise SlowwaveError(
                f"Decision {decision_id} waits no longer: {why}. `{COMMAND}` lists those that do."
            )
        if accept:
            ensure_checkpoint(space.store, RECONSOLIDATION_CHECKPOINT, space.now())
        append_and_apply(space, _settlement_entry(tenant, decision_id, accept=accept))
        made = ids.decision_id(row["memory_id"], row["revision"], decision_id) if accept else decision_id
        return decisions.get_decision(space, tenant.namespace, made)


def _settlement_entry(tenant: Tenant, decision_id: str, *, accept: bool) -> Entry:
    return word_entry(
        "accept" if accept else "undo", decision_id,
        namespace=tenant.namespace, occurred_at=tenant.space.now(), principal=tenant.principal,
    )  # fmt: skip
