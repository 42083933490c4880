"""Preview of the save gate's verdicts, without writing anything.

It runs the rules of `Memory.save` on the same rows. Two checks are left to the save itself: near-duplicates,
which need the vector, and echoes of recently returned results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from slowwave.common import ids
from slowwave.common.arguments import on_one_line
from slowwave.errors import SlowwaveError
from slowwave.imports.model import IMPORTED, TEXT, ImportItem, Unread
from slowwave.journal import Entry
from slowwave.journal.entry_builders import entries_frame, save_entry
from slowwave.journal.kinds.note import text_in
from slowwave.notes.arguments import note_of
from slowwave.quality.gate import judge
from slowwave.quality.gate_policy import GatePolicy
from slowwave.quality.statement import NO_STATEMENT, only_asks, states_something
from slowwave.store import staging


class PreviewedNotes(NamedTuple):
    """Item as a save would have it.

    Attributes:
        item: The item.
        labels: Arguments of `Memory.save`.
        entry: Journal entry that a save would append.
        reasons: Faults that the gate finds; empty: none.
    """

    item: ImportItem
    labels: dict[str, Any]
    entry: Entry
    reasons: tuple[str, ...]


def labels_of(item: ImportItem) -> dict[str, Any]:
    """Return the arguments of `Memory.save` for an item, without empty ones."""
    about = {"from": item.key.partition(":")[0], "updated": item.updated, **item.about}
    labels = {
        "content": item.content,
        "key": item.key,
        "title": item.title,
        "created_at": item.created_at,
        "memory_type": item.memory_type,
        "tags": [on_one_line(tag) for tag in item.tags],
        "metadata": {IMPORTED: {name: value for name, value in about.items() if value}},
        **item.labels,
    }
    return {name: value for name, value in labels.items() if value or value is False}


def text_mark(entry: Entry) -> str:
    """Return a hash that shows whether a memory still has the imported text."""
    return ids.digest(IMPORTED, text_in(entry.payload) or "", entry.payload.get("title") or "")


def prepare_notes(
    items: Sequence[ImportItem], namespace: str, *, now: datetime, max_bytes: int
) -> tuple[list[PreviewedNotes], list[Unread]]:
    """Convert items to save entries, not judged yet. Return them, and the items that cannot be saved.

    Args:
        items: With distinct keys.
        namespace: Of the new memories.
        now: Time of the entries.
        max_bytes: Of a text (`notes.max_bytes`).
    """
    done, problems = [], []
    for item in items:
        size = len(item.content.encode("utf-8", "replace"))
        if size > max_bytes:
            why = f"{size:,} bytes; the limit notes.max_bytes is {max_bytes:,}"
            problems.append(Unread(item.place, why))
            continue
        try:
            labels = labels_of(item)
            note = note_of(labels, fallback_key=item.key)
            entry = save_entry(
                note, namespace=namespace, source=note.source, origin="", occurred_at=now,
                principal=IMPORTED, event_id=ids.digest(IMPORTED, namespace, item.key),
            )  # fmt: skip
            labels["metadata"][IMPORTED][TEXT] = text_mark(entry)
        except SlowwaveError as error:  # affects this record only
            problems.append(Unread(item.place, str(error)))
        else:
            done.append(PreviewedNotes(item, labels, entry, ()))
    return done, problems


def preview_gate(notes: Sequence[PreviewedNotes], policy: GatePolicy) -> list[PreviewedNotes]:
    """Return the notes with the faults that the gate finds in each.

    Turns of a conversation must state something, and not only ask, in every mode of the gate and whatever the
    title of the conversation says.
    """
    if not notes:
        return []
    verdicts = judge(staging.stage(entries_frame([note.entry for note in notes])), policy)
    reasons_of: Mapping[str, Sequence[str]] = dict(verdicts.select("memory_id", "reasons").iter_rows())
    done = []
    for note in notes:
        reasons = tuple(reasons_of[ids.memory_id(note.entry.namespace, note.entry.subject)])
        content = note.item.content
        hollow = note.item.spoken and (only_asks(content) or not states_something(content))
        if hollow and NO_STATEMENT not in reasons:
            reasons = (NO_STATEMENT, *reasons)
        done.append(note._replace(reasons=reasons))
    return done
