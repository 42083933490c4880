"""Assignment of new and changed notes to the known notes that they are.

A note is known by its text: an equal one first, then the most similar. One that was rewritten in place stays
the same note, unless its old text is elsewhere now or its new text comes from elsewhere: then files changed
places. An equal text counts more than a similar one in place: notes of one template are all similar.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from slowwave.journal import Entry, Journal
from slowwave.journal.kinds.note import text_in
from slowwave.notes.model import Note, VaultFile
from slowwave.vaults.known_notes import KnownNotes
from slowwave.vaults.moves import SAME_NOTE, Located, pair_edited, pair_equal, similarity, word_pairs


@dataclass(frozen=True, slots=True)
class FoundNote:
    """New or changed note.

    Attributes:
        note: As read.
        file: With its name and time.
        raw: Digest of its file; None for a line of a JSONL file.
        place: Path with the vault's name.
        content_hash: Of its text.
    """

    note: Note
    file: VaultFile
    raw: str | None
    place: str
    content_hash: str


class MoveFinder:
    """Assignment of found notes to known ones.

    Args:
        journal: Has the texts of the known notes; read only.
        namespace: Of the vault.
        known: Notes before the scan.
        seen: Subjects whose places were found.
    """

    def __init__(self, journal: Journal, namespace: str, known: KnownNotes, seen: Collection[str]) -> None:
        self._journal, self._namespace, self._known = journal, namespace, known
        self._last = known.last
        self.seen = set(seen)
        self._pairs: dict[str, str] = {}

    def subjects(self, found: Sequence[FoundNote], waiting: Sequence[FoundNote]) -> dict[str, str]:
        """Return the subject of each found note, by place; `seen` then has all that are still there.

        Args:
            found: New and changed notes.
            waiting: Notes that the next scan saves: the known notes that they are stay until then.
        """
        at = {note.place: self._known.at[note.place] for note in found if note.place in self._known.at}
        edited = {place: name for place, name in at.items() if self._kind(name) == "save"}
        mended = {place: name for place, name in at.items() if self._is_mended(name)}
        missing = [name for name in self._last if self._kind(name) == "save" and name not in self.seen]
        forgotten = [name for name in self._last if self._kind(name) == "forget"]
        rewritten = dict.fromkeys(self._rewritten(found, edited, missing, forgotten))
        staying = {place: name for place, name in edited.items() if place not in rewritten}
        self._pairs = staying | mended
        left = [*missing, *(edited[place] for place in rewritten)]
        appeared = [note for note in found if note.place not in self._pairs]
        self._pairs |= pair_equal(self._located(left), map(_located, appeared))
        gone = set(self._pairs.values())  # a note whose own text is elsewhere now is fresh at its place
        fresh = [
            note
            for note in self._without(appeared)
            if note.place not in rewritten or edited[note.place] in gone
        ]
        self._pairs |= pair_equal(self._located(forgotten), map(_located, fresh))
        self.seen.update(pair_equal(self._located(self._unclaimed(left)), map(_located, waiting)).values())
        self._pair_edited(left, appeared, waiting)
        for place in rewritten:  # its text went nowhere and comes from nowhere: it was edited
            if place not in self._pairs and edited[place] not in self._pairs.values():
                self._pairs[place] = edited[place]
        self._name(appeared)
        names = set(self._pairs.values())
        self.seen = (self.seen - (set(at.values()) - names)) | names
        return self._pairs

    def entries_before(self, subjects: Collection[str]) -> dict[str, Entry]:
        """Return the newest event on each of these known notes, also of a user."""
        return self._journal.latest(self._namespace, subjects) if subjects else {}

    def _kind(self, name: str) -> str:
        return str(self._last[name]["kind"])

    def _is_mended(self, name: str) -> bool:
        """Whether a note that could not be read had a text before."""
        return self._kind(name) == "unreadable" and self._known.was_saved(name)

    def _rewritten(
        self,
        found: Sequence[FoundNote],
        edited: dict[str, str],
        missing: Sequence[str],
        forgotten: Sequence[str],
    ) -> list[str]:
        """Return places whose text is another note's, or unlike the last."""
        if len(found) + len(missing) == 1:  # there is no other place
            return []
        last = {name: self._last[name]["content_hash"] for name in (*edited.values(), *missing, *forgotten)}
        changed = [
            note for note in found if note.place in edited and last[edited[note.place]] != note.content_hash
        ]
        left = {last[name] for name in (*missing, *forgotten, *(edited[note.place] for note in changed))}
        unequal = [note for note in changed if note.content_hash not in left]
        texts = self._texts(edited[note.place] for note in unequal)
        kept = {
            note.place
            for note in unequal
            if similarity(word_pairs(texts.get(edited[note.place], "")), word_pairs(note.note.content))
            >= SAME_NOTE
        }
        return [note.place for note in changed if note.place not in kept]

    def _pair_edited(
        self, left: Sequence[str], appeared: Sequence[FoundNote], waiting: Sequence[FoundNote]
    ) -> None:
        """Pair what is left by similarity."""
        for notes, wait in ((self._without(appeared), False), (waiting, True)):
            names = [name for name in self._unclaimed(left) if name not in self.seen or not wait]
            if not names or not notes:
                continue
            texts = self._texts(names)
            old = [
                Located(name, self._known.places[name], words=word_pairs(text))
                for name, text in texts.items()
            ]
            new = [Located(at.place, at.place, words=word_pairs(at.note.content)) for at in notes]
            pairs = pair_edited(old, new)
            if wait:
                self.seen.update(pairs.values())
            else:
                self._pairs |= pairs

    def _name(self, appeared: Sequence[FoundNote]) -> None:
        """Give the other notes subjects of their own."""
        taken = set(self._pairs.values())
        for note in self._without(appeared):
            subject = self._known.subject_at(note.place, taken)
            self._pairs[note.place] = subject
            taken.add(subject)

    def _unclaimed(self, names: Iterable[str]) -> list[str]:
        claimed = set(self._pairs.values())
        return [name for name in names if name not in claimed]

    def _without(self, notes: Sequence[FoundNote]) -> list[FoundNote]:
        """Return the notes that have no subject yet."""
        return [note for note in notes if note.place not in self._pairs]

    def _located(self, names: Iterable[str]) -> list[Located]:
        places = self._known.places
        return [Located(name, places[name], self._last[name]["content_hash"]) for name in names]

    def _texts(self, names: Iterable[str]) -> dict[str, str]:
        """Return the last text of each of these notes that has one."""
        events = {self._last[name]["event_id"]: name for name in names}
        entries = self._journal.entries(list(events)) if events else {}
        return {events[event]: text_in(entry.payload) or "" for event, entry in entries.items()}


def _located(note: FoundNote) -> Located:
    return Located(note.place, note.place, note.content_hash)
