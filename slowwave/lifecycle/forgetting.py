"""To forget is not to lose: a person may take it back, and an assistant may not do it to everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from slowwave.common import ids
from slowwave.common.arguments import sound_text
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.home.visibility import Viewer, access_view
from slowwave.journal.kinds.note import released, text_in
from slowwave.lifecycle.reading import record_of
from slowwave.quality.admission.labels import Labels
from slowwave.store import one_of

if TYPE_CHECKING:
    from slowwave.home.tenant import MemoryRecord, Tenant
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry


class ProtectedError(SlowwaveError):
    """An assistant may not forget or overwrite what a person's word protects: a person has to."""


def require_forgettable(tenant: Tenant, record: MemoryRecord) -> None:
    """Raise where an assistant may not forget this memory.

    Args:
        tenant: of who is calling.
        record: of the memory, its tier as it counts.

    Raises:
        ProtectedError: it is protected (`Labels.protection`), or part of what is.
    """
    name = record.memory_id
    if why := _protected(tenant, record):
        raise ProtectedError(
            f"Memory {name} is {why}, so only a person may forget it; nothing was changed. Tell the user: "
            f"`slowwave forget {name}` does it."
        )


def require_replaceable(tenant: Tenant, key: str) -> None:
    """Raise where an assistant may not put another text in the place of what has this key.

    Args:
        tenant: of who is calling.
        key: that the new text would have.

    Raises:
        ProtectedError: what has that key, or had it until it was forgotten, is protected
            (`Labels.protection`) or part of what is, or an assistant may not read it.
    """
    try:
        record = record_of(tenant, ids.memory_id(tenant.namespace, sound_text("key", key)))
    except SlowwaveError:
        return  # no such memory, or no such key: the save says so
    why = _protected(tenant, record)
    if not why and not access_view(tenant.store, record.namespace, [record.memory_id], Viewer.ASSISTANT).sees(
        record.memory_id
    ):
        why = "not for assistants to read"
    if why:
        raise ProtectedError(
            f"The memory with the key {key!r} is {why}, so only a person may replace its text; nothing was "
            f"changed. Save the new text without a key: both stay, and a person decides what becomes of them."
        )


def require_undoable(row: Mapping[str, Any]) -> None:
    """Raise where an assistant may not take a decision back: one that is a person's.

    Args:
        row: of ``decisions``.

    Raises:
        ProtectedError: it waits for a person's word, or is one.
    """
    if row["proposed"]:
        waits = row["outcome"] == "related"
        raise ProtectedError(
            f"Decision {row['decision_id']} {'waits for' if waits else 'is the word of'} a person, who alone "
            f"may settle it; nothing was changed. Tell the user: "
            + ("`slowwave decisions --waiting` shows it." if waits else "`slowwave undo` takes it back.")
        )


def _protected(tenant: Tenant, record: MemoryRecord) -> str:
    """Why a memory needs a person's word, or nothing."""
    mine = one_of("memory_id", [record.memory_id])
    rows = tenant.store.read("memories", mine, columns=["source_of_truth", "state"])
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
    """The act of taking a forgetting back: what the memory said, saved again and let in as it is.

    Args:
        space: the home.
        record: of the memory that was forgotten.
        principal: who says so.

    Raises:
        NotFoundError: the journal has no text of it.
    """
    acts = space.journal.about(record.namespace, record.source)
    saves = [one for one in acts if one.kind == "save" and text_in(one.payload) is not None]
    said = [one for one in saves if one.payload["content"] == record.content]
    if not saves:
        raise NotFoundError(f"The journal has no text of memory {record.memory_id}, so it cannot come back.")
    last = (said or saves)[-1]
    return replace(
        last,
        event_id=ids.digest("remember", acts[-1].event_id),
        occurred_at=space.now(),
        principal=principal,
        payload=released(last.payload),
        seq=None,
        ordered_at=None,
    )
