"""Closing of memories whose new version says that it is secret, and is refused.

The refused version does not enter, but its label counts: the text that was let in before becomes secret.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from slowwave.common import ids
from slowwave.home.visibility import is_open
from slowwave.journal.kinds.note import released, text_in
from slowwave.notes.sensitivity import SENSITIVITIES, SENSITIVITY
from slowwave.quality.admission.statuses import RETIRED
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry

EARLIER_CLOSED: Final = (
    "It was not saved, but it says that it is secret: the earlier text of this note is secret now."
)


def closes(entry: Entry) -> bool:
    """Whether an event saves a text as secret."""
    return entry.kind == "save" and not is_open(entry.payload.get(SENSITIVITY))


def close_earlier_texts(space: Workspace, refused: Iterable[Entry]) -> list[Entry]:
    """Journal that the earlier texts of refused secret versions are secret; return the events to apply.

    Idempotent. A memory that is forgotten, closed already, or newer than the refused version stays as it is.
    """
    closing = [entry for entry in refused if closes(entry)]
    done = []
    for entry in closing:
        name = ids.memory_id(entry.namespace, entry.subject)
        rows = space.store.read_by(
            "memories", "memory_id", [name], columns=["revision", SENSITIVITY, "status"],
            also=within(entry.namespace),
        )  # fmt: skip
        version = ids.revision(entry.ordered_at or entry.occurred_at, entry.event_id)
        for revision, sensitivity, status in rows.select("revision", SENSITIVITY, "status").iter_rows():
            stored = ids.note_revision(revision)
            is_older = stored < version and status != RETIRED and is_open(sensitivity)
            text = space.journal.get(ids.event_of(stored)) if is_older else None
            if text is None or text.kind != "save" or text_in(text.payload) is None:
                continue
            # It was let in before, so it counts as released. Its digest is that of the refused file: a scan
            # does not read that file again.
            closed = replace(
                text, payload=released({**text.payload, SENSITIVITY: SENSITIVITIES[-1]}),
                event_id=ids.closing_event(version), occurred_at=entry.occurred_at,
                principal=entry.principal, digest=entry.digest, seq=None, ordered_at=None,
            )  # fmt: skip
            done += space.journal.append_next([closed], {})
    return done
