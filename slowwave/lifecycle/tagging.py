"""Tags of several memories, added or removed without a change of their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from slowwave.common import ids
from slowwave.errors import ArgumentError
from slowwave.journal.kinds.note import of_author, payload_digest, text_in
from slowwave.lifecycle.correcting import file_of, stored_save
from slowwave.lifecycle.reading import record_of
from slowwave.lifecycle.write_path import append, apply, locked_write
from slowwave.notes.sensitivity import closing_words

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant
    from slowwave.journal import Entry

MAX_CHARACTERS: Final = 100  # of a tag (count)


def change_tag(tenant: Tenant, memory_ids: Sequence[str], tag: str, *, add: bool) -> list[str]:
    """Add a tag to current memories, or remove it; return the ids of those that changed.

    A person files them, so the save gate does not judge their texts again, and their authors stay. A memory
    that comes from a file of a vault, or is not current, stays unchanged.

    Args:
        tenant: Namespace of the memories.
        memory_ids: All are known, or nothing is changed.
        tag: Without "#".
        add: Whether to add it; else it is removed.

    Raises:
        ArgumentError: The tag is empty, too long, has a comma or a line break, or means "secret".
        NotFoundError: This namespace has no such memory.
    """
    tag = checked_tag(tag)
    records = [record_of(tenant, memory_id) for memory_id in memory_ids]
    changed = []
    for record in records:
        if record.status != "live" or file_of(tenant, record):
            continue

        def change(last: Mapping[str, int], memory_id: str = record.memory_id) -> bool:
            entry = _retagged(tenant, memory_id, tag, add=add)
            if entry is None:
                return False
            apply(tenant.space, append(tenant.space, [entry], after=last))
            return True

        if locked_write(tenant.space, tenant.namespace, [record.source], change):
            changed.append(record.memory_id)
    return changed


def checked_tag(tag: str) -> str:
    """Return a tag without its "#" and outer spaces.

    Raises:
        ArgumentError: As of `change_tag`.
    """
    tag = tag.strip().removeprefix("#").strip()
    if not tag or len(tag) > MAX_CHARACTERS or "," in tag or not tag.isprintable():
        raise ArgumentError(f"tag = {tag!r}: write 1 to {MAX_CHARACTERS} characters without a comma.")
    if any(closing_words({}, [tag], "")):
        raise ArgumentError(
            f"tag = {tag!r} means that a memory is secret; no tag was changed. Set the sensitivity on the "
            f"page of each memory."
        )
    return tag


def _retagged(tenant: Tenant, memory_id: str, tag: str, *, add: bool) -> Entry | None:
    """Return the save of the stored text with its new tags; None if it has them already."""
    last = stored_save(tenant, memory_id)
    if last is None or last.kind != "save" or text_in(last.payload) is None:
        return None
    tags = list(last.payload.get("tags") or ())
    if add == (tag in tags):
        return None
    kept = [*tags, tag] if add else [one for one in tags if one != tag]
    payload = of_author(last) | {"tags": kept}
    payload.pop("saved_at", None)
    return replace(
        last,
        event_id=ids.new_event_id(),
        occurred_at=tenant.space.now(),
        principal=tenant.principal,
        digest=payload_digest(payload),
        payload=payload,
        seq=None,
        ordered_at=None,
    )
