"""Correction of a memory's text: same id, history and labels kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.journal.kinds.note import text_in
from slowwave.quality.admission.statuses import HELD
from slowwave.quality.titles import from_first_words
from slowwave.store import one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slowwave.home.tenant import MemoryRecord, Tenant
    from slowwave.journal import Entry

_KEPT: Final = (
    "memory_type", "importance_tier", "retrieval_priority", "sensitivity", "state", "source_of_truth",
    "trigger_phrases", "tags", "aliases", "context", "follows",
)  # fmt: skip
_OF_ASSISTANTS: Final = ("memory_type", "tags", "follows")
"""Labels that an assistant may set when it saves."""


def file_of(tenant: Tenant, record: MemoryRecord) -> str:
    """Return the vault file that a memory is read from; empty if there is none."""
    where = tenant.mine(one_of("memory_id", [record.memory_id]))
    origin = tenant.store.read("memories", where, columns=["origin"])["origin"]
    return record.source if origin.fill_null("").ne("").any() else ""


def correction(
    tenant: Tenant, record: MemoryRecord, content: str, *, title: str = "", person: bool = True
) -> dict[str, Any]:
    """Return the arguments of `slowwave.Memory.save` that give a memory another text.

    Args:
        content: New text.
        title: New title. Empty keeps the present one; a title made of the first words follows the new
            text.
        person: Whether a person corrects it, who keeps all its labels and is trusted more than an
            assistant.

    Raises:
        SlowwaveError: Its text is that of a vault file, or it was merged or forgotten.
    """
    if file := file_of(tenant, record):
        raise SlowwaveError(
            f"Memory {record.memory_id} is read from the file {file}: change it there, and the next nightly "
            f"job ingests it. Nothing was changed."
        )
    if record.status in ("merged", "retired"):
        why = "was forgotten: unforget it" if record.status == "retired" else "was merged: undo that"
        raise SlowwaveError(f"Memory {record.memory_id} {why} before you correct it. Nothing was changed.")
    kept = _labels(stored_save(tenant, record.memory_id), person=person)
    return {"content": content, "key": record.source, "title": title or given_title(record), **kept}


def rewriting(tenant: Tenant, row: Mapping[str, Any], content: str, title: str) -> dict[str, Any]:
    """Return the arguments of `slowwave.Memory.save` that give a refused note another text.

    Args:
        row: Of ``quarantine``.
        content: New text.
        title: New title.

    Raises:
        SlowwaveError: Its text is that of a vault file.
    """
    if row["status"] != HELD:
        raise SlowwaveError(
            f"The note is {row['status']}, not held: a newer text, a release or a discard settled it. "
            "Nothing was changed."
        )
    if file := refused_file(tenant, row):
        raise SlowwaveError(
            f"The note is read from the file {file}: change it there, and the next nightly job ingests it. "
            "Nothing was changed."
        )
    kept = _labels(tenant.journal.get(ids.event_of(row["revision"])), person=True)
    return {"content": content, "key": row["source"], "title": title, **kept}


def refused_file(tenant: Tenant, row: Mapping[str, Any]) -> str:
    """Return the vault file that a refused note is read from; empty if there is none."""
    acts = tenant.journal.about(tenant.namespace, row["source"])
    return row["source"] if any(entry.origin for entry in acts) else ""


def stored_save(tenant: Tenant, memory_id: str) -> Entry | None:
    """Return the save that a memory's present text comes from; a later one may have been refused."""
    rows = tenant.store.read("memories", tenant.mine(one_of("memory_id", [memory_id])), columns=["revision"])
    revision = rows["revision"][0] if rows.height else None
    return tenant.journal.get(ids.event_of(revision)) if revision else None


def _labels(entry: Entry | None, *, person: bool) -> dict[str, Any]:
    """Return the labels of a save that a correction keeps."""
    is_save = entry is not None and entry.kind == "save" and text_in(entry.payload) is not None
    last: dict[str, Any] = dict(entry.payload) if entry is not None and is_save else {}
    kept = {name: last[name] for name in (_KEPT if person else _OF_ASSISTANTS) if last.get(name)}
    if person:
        kept["source_kind"] = "manual"
        if metadata := orjson.loads(last.get("metadata") or "{}"):
            kept["metadata"] = metadata
    return kept


def given_title(record: MemoryRecord) -> str:
    """Return the title that a user gave a memory; empty if it is its first words."""
    return "" if record.title == from_first_words(record.content) else record.title
