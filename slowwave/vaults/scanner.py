"""Scanner of a vault: compares each file with its last journal entry.

An unreadable folder or file is no evidence that its notes are gone. Its memories stay, and each scan reports
it again until it is fixed.

A note that is found at another path is the same note (`slowwave.vaults.moves`): its events keep the source
under which it was first saved, and their payload has the path where it is now.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from slowwave.common import ids
from slowwave.common.pluralize import counted
from slowwave.journal import Entry, Journal, JournalEntryError, WatchedVault
from slowwave.journal.entry_builders import closing_entry, forget_entry, save_entry, unreadable_entry
from slowwave.journal.erasure_tombstones import is_tombstoned
from slowwave.journal.kinds.note import payload_digest, save_of
from slowwave.notes.decoding import content_hash
from slowwave.notes.fields import unread_remark
from slowwave.notes.folder import Listing
from slowwave.notes.model import Note, NoteFailure, VaultFile
from slowwave.notes.reading import read_notes
from slowwave.settings import NotesSettings
from slowwave.vaults.known_notes import KnownNotes
from slowwave.vaults.move_finder import FoundNote, MoveFinder
from slowwave.vaults.note_files import NAME_CHARACTERS, dated, failure_of, file_of, raw_digest, too_large

_MORE = "for details: slowwave quarantine list, and show ID"


@dataclass(slots=True)
class ScanResult:
    """Counts and warnings of one vault scan.

    Attributes:
        moved: Notes that are at another path now, edited or not; they are the same memories.
        deleted: Notes that are gone; their memories were forgotten.
        unreadable: Notes, lines and folders that cannot be read now, also known ones; their memories stay.
        later: Files modified after the staged day, left for the next nightly job.
        warnings: Sentences for a person; they name files and have no content.
        nameless: Those of them that are about the whole vault and name no file.
        acts: Entries appended to the journal.
        others: Files of types that are no notes: counts by suffix.
    """

    vault: str
    new: int = 0
    changed: int = 0
    moved: int = 0
    deleted: int = 0
    unreadable: int = 0
    unchanged: int = 0
    later: int = 0
    warnings: list[str] = field(default_factory=list)
    nameless: list[str] = field(default_factory=list)
    acts: int = 0
    others: dict[str, int] = field(default_factory=dict)

    @property
    def recorded(self) -> list[str]:
        """Warnings to store for ever: without file names, which may be secret."""
        more = len(self.warnings) - len(self.nameless)
        files = f"{counted(more, 'warning')} about single files of the vault {self.vault}"
        return [*self.nameless, *([f"{files}. Run `slowwave ingest FOLDER` to list them."] if more else [])]


class VaultScanner:
    """Comparison of a vault with the journal, file by file.

    Args:
        journal: Read only.
        source: The vault.
        listing: Its files.
        settings: Limits.
        as_of: Time of the new entries.
        principal: User of the new entries.
    """

    def __init__(
        self,
        journal: Journal,
        source: WatchedVault,
        listing: Listing,
        settings: NotesSettings,
        *,
        as_of: datetime,
        principal: str,
    ) -> None:
        self.result = ScanResult(source.name, others=dict(listing.others))
        self._journal = journal
        self._source = source
        self._settings = settings
        self._as_of = as_of
        self._principal = principal
        self._known = KnownNotes(journal, source.namespace, source.name)
        self._last = self._known.last
        self._erased = set().union(*journal.erased_sources(source.namespace, source.name).values())
        self._named = Counter(file.source for file in listing.files)
        self._seen: set[str] = set()
        self._acted: set[str] = set()
        self._taken: set[str] = set()  # files, by source
        self._new_texts: set[str] = set()  # hashes of texts that are new in this scan
        self._unread: list[str] = []  # remarks on the file that is being read
        self._lost: set[str] = set()  # hashes of texts that are no longer in their note
        self._found: list[FoundNote] = []  # new and changed notes
        self._postponed: list[VaultFile] = []  # files that are not known yet
        for place in listing.unseen:
            kept = self._keep(place.source)
            if place.expected or kept:
                self._report(place.source, place.why)

    def acts_of(self, file: VaultFile) -> list[Entry]:
        """Return the entries for a file."""
        if self._named[file.source] > 1 and self._is_ambiguous(file):
            return []
        self._taken.add(file.source)
        try:
            data = file.path.read_bytes() if file.size <= self._settings.max_bytes else None
        except OSError as error:
            self._keep(file.source)
            self._report(file.source, f"it cannot be opened: {error.strerror}")
            return []
        many = PurePosixPath(file.source).suffix.lower() == ".jsonl"
        raw = raw_digest(file, data)
        if not many and self._is_known(self._place(file.source), raw, "save"):
            self.result.unchanged += 1
            return []
        if data is None:
            notes: list[Note | NoteFailure] = [too_large(file, self._settings.max_bytes)]
        else:
            notes = read_notes(data, file.source, max_bytes=self._settings.max_bytes)
        acts: list[Entry] = []
        failures: list[NoteFailure] = []
        self._unread = []
        for note in notes:
            acts += self._acts_on(note, file, raw=None if many else raw, failures=failures)
        if self._unread:
            self.result.warnings.append(unread_remark(self._short(file.source), self._unread))
        if failures:
            self._keep(file.source)
            first = failures[0]
            reason = first.message if first.reason == "bad_name" else f"{first.reason} ({_MORE})"
            what = f"{len(failures):,} of its {len(notes):,} lines; the first: " if len(notes) > 1 else ""
            closes = any(failed.closes for failed in failures)
            self._report(file.source, f"{what}{reason}", count=len(failures), closes=closes)
        return acts

    def _is_ambiguous(self, file: VaultFile) -> bool:
        """Whether a known note's file is ambiguous, because several have its name."""
        if file.source not in self._taken and not self._keep(file.source):
            return False
        self._taken.add(file.source)
        why = f"{file.path} and another file have names that differ in their encoding only: rename one"
        self._report(file.source, why)
        return True

    def _acts_on(
        self, note: Note | NoteFailure, file: VaultFile, *, raw: str | None, failures: list[NoteFailure]
    ) -> list[Entry]:
        """Return the entry for a note, if any; an error affects this note only."""
        try:
            if isinstance(note, Note):
                return self._saved(note, file, raw)
        except Exception as error:
            note = failure_of(note, error)  # type: ignore[arg-type]  # only a note is saved
        failures.append(note)
        try:
            return self._found_unreadable(note, raw)
        except JournalEntryError:  # its name cannot be stored: each scan reports it
            return []

    def _saved(self, note: Note, file: VaultFile, raw: str | None) -> list[Entry]:
        place, placed = self._place(note.source), self._placed(note)
        if self._is_known(place, raw or payload_digest(save_of(placed)), "save"):
            self.result.unchanged += 1
            return []
        self._unread += note.unread
        found = FoundNote(note, file, raw, place, content_hash(note.content))
        if not self._last:  # of a new vault, nothing can have moved
            return [self._save_found(found, place)]
        self._entry_of(found, place)  # its name may be one that the journal cannot keep
        self._found.append(found)
        return []

    def settle(self) -> list[Entry]:
        """Return the entries of new and changed notes, after all files were read."""
        finder = MoveFinder(self._journal, self._source.namespace, self._known, self._seen)
        missing = any(row["kind"] == "save" and name not in self._seen for name, row in self._last.items())
        waiting = [found for file in self._postponed if missing for found in self._waiting_in(file)]
        subjects = finder.subjects(self._found, waiting)
        self._seen = finder.seen
        self._known.at.update(subjects)
        kept = finder.entries_before(
            [subjects[found.place] for found in self._found if self._is_moved(found, subjects)]
        )
        acts: list[Entry] = []
        for found in self._found:
            subject = subjects[found.place]
            before = kept.get(subject)
            entry = self._save_found(found, subject, before)
            acts.append(entry)
            if before is not None and before.kind == "forget" and self._last[subject]["kind"] == "save":
                # A user forgot it: it stays forgotten at its new place.
                forgotten = ids.digest("still forgotten", entry.event_id)
                acts.append(replace(before, event_id=forgotten, occurred_at=self._as_of, seq=None))
        return acts

    def _is_moved(self, found: FoundNote, subjects: dict[str, str]) -> bool:
        """Whether the text is at another place than at the last scan."""
        subject = subjects[found.place]
        return subject in self._last and self._known.places.get(subject) != found.place

    def _waiting_in(self, file: VaultFile) -> list[FoundNote]:
        """Return the notes of a file that the next scan saves; it may be a known note that moved."""
        try:
            data = file.path.read_bytes()
        except OSError:
            return []
        notes = read_notes(data, file.source, max_bytes=self._settings.max_bytes)
        return [
            FoundNote(note, file, None, self._place(note.source), content_hash(note.content))
            for note in notes
            if isinstance(note, Note)
        ]

    def _save_found(self, found: FoundNote, subject: str, before: Entry | None = None) -> Entry:
        """Return the save of a note; `before` is the newest event of a note that has moved."""
        entry = self._entry_of(found, subject, before)
        last = self._last.get(subject)
        if before is not None and last is not None:
            self.result.moved += 1
        elif last is None or last["kind"] != "save":
            self.result.new += 1
        else:
            self.result.changed += 1
        if last is not None and last["kind"] == "save" and last["content_hash"] != entry.content_hash:
            self._lost.add(last["content_hash"])
        self._new_texts.add(entry.content_hash)
        return self._made(entry)

    def _entry_of(self, found: FoundNote, subject: str, before: Entry | None = None) -> Entry:
        note = self._placed(found.note)
        raw = found.raw or payload_digest(save_of(note))
        act = self._act(subject, raw if found.place == subject else f"{raw} {found.place}")
        last = self._last.get(subject)
        is_new = last is None or last["kind"] != "save"
        note = dated(note, found.file, is_new=is_new, until=self._as_of)
        return save_entry(note, digest=raw, path=found.place, before=before, **act)

    def _found_unreadable(self, failed: NoteFailure, raw: str | None) -> list[Entry]:
        place = self._place(failed.source)
        digest = raw or ids.digest("failure", failed.reason, failed.message, failed.excerpt)
        if self._is_known(place, digest, "unreadable"):
            return []
        known = self._known.subject_at(self._place(failed.closes)) if failed.closes else ""
        closing = closing_entry(self._journal, **self._act(known, "closed")) if known in self._last else None
        act = self._act(self._known.subject_at(place), digest)
        failure = unreadable_entry(failed, digest=digest, path=place, **act)
        return [self._made(entry) for entry in (closing, failure) if entry is not None]

    def postpone(self, file: VaultFile) -> None:
        """Leave a file that was modified after the staged day; its memories stay."""
        self.result.later += 1
        if not self._keep(file.source):
            self._postponed.append(file)

    def gone(self, *, believed: bool) -> list[Entry]:
        """Return forget entries for missing notes, unless suspiciously many are missing.

        One note may always go, and up to a share of them. The last one may not: an empty folder may be an
        unmounted disk. A note that moved within the vault is no loss.

        Args:
            believed: A person confirms that the folder is complete.
        """
        known = [subject for subject, row in self._last.items() if row["kind"] != "forget"]
        missing = [subject for subject in known if subject not in self._seen]
        # A file that never could be read is no note and does not count.
        live = [subject for subject in known if self._known.was_saved(subject)]
        were_notes = set(missing).intersection(live)
        lost = [
            subject for subject in were_notes if self._last[subject]["content_hash"] not in self._new_texts
        ]
        remains = self._new_texts or not self._seen.isdisjoint(live)
        allowed = max(1.0, self._settings.max_retired_share * len(live)) if remains else 0.0
        if len(lost) > allowed and not believed:
            self.result.nameless.append(
                f"{len(lost)} of {len(live)} notes of {self._source.name} are no longer in "
                f"{self._source.uri}. Nothing was forgotten, because the folder may be incomplete. If it is "
                f"complete, run `slowwave ingest {self._source.uri} --delete-missing`."
            )
            self.result.warnings.append(self.result.nameless[-1])
            missing = [subject for subject in missing if subject not in were_notes]
        acts = []
        for subject in missing:
            text = self._last[subject]["content_hash"]  # by which it is known if it comes back elsewhere
            if subject in were_notes:
                self.result.deleted += 1
                self._lost.add(text)
            acts.append(self._made(forget_entry(content_hash=text, **self._act(subject, "gone"))))
        return acts

    def again(self, file: VaultFile) -> Iterator[Entry]:
        """Yield save entries for notes that equal a note that is gone or changed.

        They were refused as its duplicates, and now are the only ones with this text.
        """
        orphans = self._orphans.get(self._place(file.source))
        if not orphans or file.source not in self._taken:
            return
        try:
            data = file.path.read_bytes()
        except OSError:  # deleted since it was read; the next scan reports it
            return
        for note in read_notes(data, file.source, max_bytes=self._settings.max_bytes):
            place = self._place(note.source)
            name = self._known.subject_at(place)
            if name in orphans and not isinstance(note, NoteFailure):
                digest = self._last[name]["digest"]
                act = self._act(name, f"again {digest}")
                note = dated(self._placed(note), file, is_new=True, until=self._as_of)
                yield self._made(save_entry(note, digest=digest, path=place, **act))

    @cached_property
    def _orphans(self) -> dict[str, set[str]]:
        """Unchanged notes whose original was lost in this scan, by file."""
        by_file: dict[str, set[str]] = {}
        for subject, row in self._last.items():
            same = row["kind"] == "save" and row["content_hash"] in self._lost - {""}
            if same and subject in self._seen and subject not in self._acted:
                by_file.setdefault(file_of(self._known.places[subject]), set()).add(subject)
        return by_file

    @cached_property
    def _known_in(self) -> dict[str, list[str]]:
        """Known notes of each file, and of all files under each folder."""
        subjects = defaultdict(list)
        for subject, place in self._known.places.items():
            file = file_of(place)
            subjects[file].append(subject)
            for at, character in enumerate(file):
                if character == "/":
                    subjects[file[:at]].append(subject)
        return subjects

    def _keep(self, source: str) -> bool:
        """Mark a file or folder as seen, so its memories stay. Return whether any exist."""
        known = self._known_in.get(self._place(source).rstrip("/"), [])
        self._seen.update(known)
        return any(self._last[subject]["kind"] != "forget" for subject in known)

    def _report(self, source: str, why: str, *, count: int = 1, closes: bool = False) -> None:
        self.result.unreadable += count
        then = "Its label makes its memory secret." if closes else "Its memories stay unchanged."
        self.result.warnings.append(f"{self._short(source)} cannot be read: {why}. {then}")

    def _short(self, source: str) -> str:
        place = self._place(source) if source else self._source.uri
        return f"{place[:NAME_CHARACTERS]}{'…' * (len(place) > NAME_CHARACTERS)}"

    def _is_known(self, place: str, digest: str, kind: str) -> bool:
        subject = self._known.subject_at(place)
        self._seen.add(subject)
        last = self._last.get(subject)
        if last is None:  # erased texts are not imported again from an unchanged or moved file
            return is_tombstoned(digest, self._erased)
        return bool(last["kind"] == kind and last["digest"] == digest)

    def _place(self, source: str) -> str:
        return f"{self._source.name}/{source}"

    def _placed(self, note: Note) -> Note:
        """Return the note with the full source of its predecessor in the vault."""
        if not note.follows:
            return note
        return replace(note, follows=self._known.subject_at(self._place(note.follows)))

    def _made(self, entry: Entry) -> Entry:
        self._acted.add(entry.subject)
        self.result.acts += 1
        return entry

    def _act(self, subject: str, digest: str) -> dict[str, Any]:
        previous = self._last.get(subject, {}).get("event_id", "")
        return {
            "namespace": self._source.namespace,
            "source": subject,
            "origin": self._source.name,
            "occurred_at": self._as_of,
            "principal": self._principal,
            "event_id": ids.digest("scan", self._source.namespace, subject, digest, previous),
        }
