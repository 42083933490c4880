"""What the gate would say of notes, asked without writing anything.

The same rules that `Memory.save` runs, on the same rows. Two things are left to the save itself: whether a
note repeats another in other words, which needs its vector, and whether it echoes what a search just showed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from slowwave.common import ids
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
    """An item as a save would have it.

    Attributes:
        item: it.
        labels: arguments of `Memory.save`.
        entry: the act that a save would write.
        reasons: what the gate has against it; empty: nothing.
    """

    item: ImportItem
    labels: dict[str, Any]
    entry: Entry
    reasons: tuple[str, ...]


def labels_of(item: ImportItem) -> dict[str, Any]:
    """The arguments of `Memory.save` for an item; what is not there is left out."""
    about = {"from": item.key.partition(":")[0], "updated": item.updated, **item.about}
    given = {
        "content": item.content,
        "key": item.key,
        "title": item.title,
        "created_at": item.created_at,
        "memory_type": item.memory_type,
        "tags": list(item.tags),
        "metadata": {IMPORTED: {name: value for name, value in about.items() if value}},
        **item.labels,
    }
    return {name: value for name, value in given.items() if value or value is False}


def text_mark(entry: Entry) -> str:
    """What tells whether a memory still says what an import let it say."""
    return ids.digest(IMPORTED, text_in(entry.payload) or "", entry.payload.get("title") or "")


def prepare_notes(
    items: Sequence[ImportItem], namespace: str, *, now: datetime, max_bytes: int
) -> tuple[list[PreviewedNotes], list[Unread]]:
    """Items as the acts of saving them, not judged yet, and those that cannot be saved.

    Args:
        items: each of another key.
        namespace: where they go.
        now: the moment that the acts get.
        max_bytes: of a text (`notes.max_bytes`).
    """
    done, problems = [], []
    for number, item in enumerate(items, start=1):
        size = len(item.content.encode("utf-8", "replace"))
        if size > max_bytes:
            why = f"{size:,} bytes; the limit notes.max_bytes is {max_bytes:,}"
            problems.append(Unread(item.place, why))
            continue
        try:
            labels = labels_of(item)
            note = note_of(labels, number, fallback_key=item.key)
            entry = save_entry(
                note, namespace=namespace, source=note.source, origin="", occurred_at=now,
                principal=IMPORTED, event_id=ids.digest(IMPORTED, namespace, item.key),
            )  # fmt: skip
            labels["metadata"][IMPORTED][TEXT] = text_mark(entry)
        except SlowwaveError as error:  # it is about this record alone
            problems.append(Unread(item.place, str(error).removeprefix(f"Note {number}: ")))
        else:
            done.append(PreviewedNotes(item, labels, entry, ()))
    return done, problems


def preview_gate(notes: Sequence[PreviewedNotes], policy: GatePolicy) -> list[PreviewedNotes]:
    """The same notes with what the gate has against each.

    A turn of a conversation has to state something by itself, and not only ask, whatever the mode of the gate
    and the title of its conversation.
    """
    if not notes:
        return []
    verdicts = judge(staging.stage(entries_frame([one.entry for one in notes])), policy)
    found: Mapping[str, Sequence[str]] = dict(verdicts.select("memory_id", "reasons").iter_rows())
    done = []
    for one in notes:
        reasons = tuple(found[ids.memory_id(one.entry.namespace, one.entry.subject)])
        said = one.item.content
        hollow = one.item.spoken and (only_asks(said) or not states_something(said))
        if hollow and NO_STATEMENT not in reasons:
            reasons = (NO_STATEMENT, *reasons)
        done.append(one._replace(reasons=reasons))
    return done
