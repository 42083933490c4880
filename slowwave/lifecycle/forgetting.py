"""Forgetting and unforgetting, with protection from assistants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from slowwave.common import ids
from slowwave.common.arguments import sound_text
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.home.visibility import Viewer, access_view
from slowwave.journal.kinds.note import brought_back, text_in
from slowwave.lifecycle.closing import closes
from slowwave.lifecycle.reading import record_of
from slowwave.notes.sensitivity import SENSITIVITIES, SENSITIVITY
from slowwave.quality.admission.labels import Labels
from slowwave.quality.admission.statuses import RETIRED
from slowwave.store import one_of

if TYPE_CHECKING:
    from slowwave.home.tenant import MemoryRecord, Tenant
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry


class ProtectedError(SlowwaveError):
    """Refusal of an assistant's change to a memory that only a person may change."""


def require_forgettable(tenant: Tenant, record: MemoryRecord) -> None:
    """Raise if an assistant may not forget this memory.

    Args:
        record: Of the memory, with its effective tier.

    Raises:
        ProtectedError: It is protected (`Labels.protection`), or part of a protected one.
    """
    name = record.memory_id
    if why := _protected(tenant, record):
        raise ProtectedError(
            f"Memory {name} is {why}, so only a person may forget it; nothing was changed. Tell the user: "
            f"`slowwave forget {name}` does it."
        )


def require_replaceable(tenant: Tenant, key: str) -> None:
    """Raise if an assistant may not replace the text under this key.

    Raises:
        ProtectedError: The memory with that key is protected (`Labels.protection`), part of a protected
            one, hidden from assistants, or forgotten.
    """
    try:
        record = record_of(tenant, ids.memory_id(tenant.namespace, sound_text("key", key)))
    except SlowwaveError:
        return  # no such memory, or an invalid key: the save reports it
    why = _protected(tenant, record)
    name = record.memory_id
    view = access_view(tenant.store, record.namespace, [name], Viewer.ASSISTANT, forgotten=True)
    if not why and not view.sees(name):
        why = "not for assistants to read"
    if not why and record.status == RETIRED:
        why = "forgotten"
    if why:
        raise ProtectedError(
            f"The memory with the key {key!r} is {why}, so only a person may replace its text; nothing was "
            f"changed. Save the new text without a key: both stay, and a person decides between them."
        )


def require_undoable(row: Mapping[str, Any]) -> None:
    """Raise if an assistant may not undo a decision because it is a person's.

    Args:
        row: Row of ``decisions``.

    Raises:
        ProtectedError: It waits for a person, or a person made it.
    """
    if row["proposed"]:
        waits = row["outcome"] == "related"
        raise ProtectedError(
            f"Decision {row['decision_id']} {'waits for' if waits else 'was made by'} a person, and only "
            f"a person may settle it; nothing was changed. Tell the user: "
            + ("`slowwave decisions --waiting` shows it." if waits else "`slowwave undo` undoes it.")
        )


def _protected(tenant: Tenant, record: MemoryRecord) -> str:
    """Return why only a person may change a memory; empty if anybody may."""
    where = one_of("memory_id", [record.memory_id])
    rows = tenant.store.read("memories", where, columns=["source_of_truth", "state"])
    for truth, state in rows.iter_rows():
        labels = Labels(
            importance_tier=record.importance_tier, source_of_truth=bool(truth), state=state or "accepted"
        )
        if labels.protection:
            return labels.protection
    if record.status == "merged" and record.replaced_by:
        why = _protected(tenant, record_of(tenant, record.replaced_by))
        return f"part of {record.replaced_by}, which is {why}" if why else ""
    return ""


def remember_entry(space: Workspace, record: MemoryRecord, *, principal: str) -> Entry:
    """Return the event that unforgets a memory: its text, saved again and released.

    Its author and the moment of its last save stay. It is secret if a later version, which was refused,
    says so.

    Args:
        record: Of the forgotten memory.

    Raises:
        NotFoundError: The journal has no text of it.
    """
    acts = space.journal.about(record.namespace, record.source)
    saves = [entry for entry in acts if entry.kind == "save" and text_in(entry.payload) is not None]
    same = [entry for entry in saves if entry.payload["content"] == record.content]
    if not saves:
        raise NotFoundError(f"The journal has no text of memory {record.memory_id}, so it cannot come back.")
    last = (same or saves)[-1]
    payload = brought_back(last)
    if any(closes(entry) for entry in acts[acts.index(last) + 1 :]):
        payload = {**payload, SENSITIVITY: SENSITIVITIES[-1]}
    return replace(
        last,
        event_id=ids.digest("remember", acts[-1].event_id),
        occurred_at=space.now(),
        principal=principal,
        payload=payload,
        seq=None,
        ordered_at=None,
    )
