"""Notes of a vault as its last scan left them: their last events, and their places.

A note keeps the source under which it was first saved, its subject. Its place is the path where it is now;
only for a note that has moved the two differ.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from slowwave.journal import Journal
from slowwave.journal.entry_builders import MOVED

_ORDER = {"save": 0, "unreadable": 1, "forget": 2}  # of those that may be at one place


class KnownNotes:
    """Known notes of a vault.

    Attributes:
        last: Row of `Journal.latest_sources` by subject.
        places: Place by subject.
        at: Subject by place.
    """

    def __init__(self, journal: Journal, namespace: str, vault: str) -> None:
        self._journal, self._namespace = journal, namespace
        rows = list(journal.latest_sources(namespace, vault).iter_rows(named=True))
        moved = [row["event_id"] for row in rows if row["digest"].startswith(MOVED)]
        entries = journal.entries(moved).values() if moved else ()
        paths = {entry.subject: entry.payload.get("path") for entry in entries}
        self.last: dict[str, dict[str, Any]] = {
            row["subject"]: {**row, "digest": row["digest"].removeprefix(MOVED)} for row in rows
        }
        self.places: dict[str, str] = {name: paths.get(name) or name for name in self.last}
        self.at: dict[str, str] = {}
        for name in sorted(self.last, key=lambda name: _ORDER[self.last[name]["kind"]]):
            self.at.setdefault(self.places[name], name)

    def subject_at(self, place: str, taken: Collection[str] = ()) -> str:
        """Return the subject of the note at a place; a new note gets its path, or a free name like it.

        Args:
            taken: Subjects that this place cannot have, because their notes are elsewhere.
        """
        subject = self.at.get(place, place if place not in self.last else "")
        number = 2
        while not subject or subject in taken:
            name = f"{place}#{number}"
            subject = "" if name in self.last else name
            number += 1
        return subject

    def was_saved(self, subject: str) -> bool:
        """Whether a memory may exist for it; a line that never could be read has none."""
        if self.last[subject]["kind"] == "save":
            return True
        return any(entry.kind == "save" for entry in self._journal.about(self._namespace, subject))
