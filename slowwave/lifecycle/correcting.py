"""Letting a memory say something else: the same memory with another text, its history and labels kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from slowwave.errors import SlowwaveError
from slowwave.journal.kinds.note import text_in
from slowwave.quality.titles import from_first_words
from slowwave.store import one_of

if TYPE_CHECKING:
    from slowwave.home.tenant import MemoryRecord, Tenant

_KEPT: Final = (
    "memory_type", "importance_tier", "retrieval_priority", "sensitivity", "state", "source_of_truth",
    "trigger_phrases", "tags", "aliases", "context", "follows",
)  # fmt: skip
_OF_ASSISTANTS: Final = ("memory_type", "tags", "follows")
"""Labels that an assistant may set when it saves."""


def file_of(tenant: Tenant, record: MemoryRecord) -> str:
    """The file of a watched folder that a memory is read from; empty where it is none."""
    mine = tenant.mine(one_of("memory_id", [record.memory_id]))
    origin = tenant.store.read("memories", mine, columns=["origin"])["origin"]
    return record.source if origin.fill_null("").ne("").any() else ""


def correction(
    tenant: Tenant, record: MemoryRecord, content: str, *, title: str = "", person: bool = True
) -> dict[str, Any]:
    """The arguments of `slowwave.Memory.save` with which a memory says another text.

    Args:
        tenant: the namespace and who acts.
        record: of the memory.
        content: what it is to say.
        title: empty: the one that it has; where that is the first words of its text, those of the new one.
        person: whether a person corrects it, who keeps all its labels and is trusted more than an assistant.

    Raises:
        SlowwaveError: its text is that of a file, or it is no memory of its own any more.
    """
    if file := file_of(tenant, record):
        raise SlowwaveError(
            f"Memory {record.memory_id} is read from the file {file}: change it there, and the next night "
            f"takes it in. Nothing was changed."
        )
    if record.status in ("merged", "retired"):
        why = "was forgotten: bring it back" if record.status == "retired" else "was merged: undo that"
        raise SlowwaveError(f"Memory {record.memory_id} {why} before you correct it. Nothing was changed.")
    acts = tenant.journal.about(record.namespace, record.source)
    saves = [one.payload for one in acts if one.kind == "save" and text_in(one.payload) is not None]
    said: dict[str, Any] = dict(saves[-1]) if saves else {}
    kept = {name: said[name] for name in (_KEPT if person else _OF_ASSISTANTS) if said.get(name)}
    if person:
        kept["source_kind"] = "manual"
        if metadata := orjson.loads(said.get("metadata") or "{}"):
            kept["metadata"] = metadata
    return {"content": content, "key": record.source, "title": title or given_title(record), **kept}


def given_title(record: MemoryRecord) -> str:
    """The title of a memory where somebody gave it one; empty where it is the first words of its text."""
    return "" if record.title == from_first_words(record.content) else record.title
