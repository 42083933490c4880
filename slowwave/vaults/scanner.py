"""Scanner of a vault: compares each file with its last journal entry.

An unreadable folder or file is no evidence that its notes are gone. Its memories stay, and each scan reports
it again until it is fixed.
"""

from __future__ import annotations

import hashlib
import re
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
from slowwave.journal.entry_builders import forget_entry, save_entry, unreadable_entry
from slowwave.journal.erasure_tombstones import erased_name, is_tombstoned
from slowwave.journal.kinds.note import payload_digest, save_of
from slowwave.notes.dates import date_of_file
from slowwave.notes.fields import labels_remark
from slowwave.notes.folder import Listing
from slowwave.notes.model import Note, NoteFailure, VaultFile
from slowwave.notes.reading import read_notes
from slowwave.settings import NotesSettings

_FILE_OF_LINE = re.compile(r"(.*?\.jsonl)#", re.IGNORECASE | re.DOTALL)
_NAME_CHARACTERS = 200  # of a path in a warning
_MORE = "for details: slowwave quarantine list, and show ID"


@dataclass(slots=True)
class ScanResult:
    """Counts and warnings of one vault scan.

    Attributes:
        deleted: Notes that are gone; their memories were forgotten.
        unreadable: Notes, lines and folders that cannot be read now, also known ones; their memories stay.
        later: Files modified after the staged day, left for the next nightly job.
        warnings: Sentences for a person; they name files and have no content.
        nameless: Those of them that are about the whole vault and name no file.
        acts: Entries appended to the journal.
    """

    vault: str
    new: int = 0
    changed: int = 0
    deleted: int = 0
    unreadable: int = 0
    unchanged: int = 0
    later: int = 0
    warnings: list[str] = field(default_factory=list)
    nameless: list[str] = field(default_factory=list)
    acts: int = 0

    @property
    def recorded(self) -> list[str]:
        """Warnings to store for ever: without file names, which may be secret."""
        more = len(self.warnings) - len(self.nameless)
        files = f"{counted(more, 'warning')} about single files"
        summary = f"{files} of the vault {self.vault}. Run `slowwave ingest` to list them."
        return [*self.nameless, *([summary] if more else [])]


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
        self.result = ScanResult(source.name)
        self._journal = journal
        self._source = source
        self._settings = settings
        self._as_of = as_of
        self._principal = principal
        latest = journal.latest_sources(source.namespace, source.name)
        self._last = {row["subject"]: row for row in latest.iter_rows(named=True)}
        self._erased = journal.erased_sources(source.namespace, source.name)
        self._named = Counter(file.source for file in listing.files)
        self._seen: set[str] = set()
        self._acted: set[str] = set()
        self._taken: set[str] = set()  # files, by source
        self._new_texts: set[str] = set()  # hashes of texts that are new in this scan
        self._unread_labels: list[str] = []  # remarks on the file that is being read
        self._lost: set[str] = set()  # hashes of texts that are no longer in their note
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
        raw = _raw_digest(file, data)
        if not many and self._is_known(self._subject(file.source), raw, "save"):
            self.result.unchanged += 1
            return []
        max_bytes = self._settings.max_bytes
        notes = (
            [_too_large(file, max_bytes)]
            if data is None
            else read_notes(data, file.source, max_bytes=max_bytes)
        )
        acts: list[Entry] = []
        failures: list[NoteFailure] = []
        self._unread_labels = []
        for note in notes:
            acts += self._acts_on(note, file, raw=None if many else raw, failures=failures)
        if self._unread_labels:
            self.result.warnings.append(labels_remark(self._short(file.source), self._unread_labels))
        if failures:
            self._keep(file.source)
            first = failures[0]
            reason = first.message if first.reason == "bad_name" else f"{first.reason} ({_MORE})"
            whole = len(notes) == 1
            what = "" if whole else f"{len(failures):,} of its {len(notes):,} lines; the first: "
            self._report(file.source, f"{what}{reason}", count=len(failures))
        return acts

    def _is_ambiguous(self, file: VaultFile) -> bool:
        """Whether a known note's file is ambiguous, because several have its name."""
        if file.source not in self._taken and not self._keep(file.source):
            return False
        self._taken.add(file.source)
        self._report(
            file.source,
            f"{file.path} and another file have names that differ only in their encoding; rename one of them",
        )
        return True

    def _acts_on(
        self, note: Note | NoteFailure, file: VaultFile, *, raw: str | None, failures: list[NoteFailure]
    ) -> list[Entry]:
        """Return the entry for a note, if any; an error affects this note only."""
        if isinstance(note, Note):
            try:
                return self._saved(note, file, raw)
            except Exception as error:
                note = _failure_of(note, error)
        failures.append(note)
        try:
            return self._found_unreadable(note, raw)
        except JournalEntryError:  # its name cannot be stored: each scan reports it
            return []

    def _saved(self, note: Note, file: VaultFile, raw: str | None) -> list[Entry]:
        subject = self._subject(note.source)
        note = self._placed(note)
        plain = payload_digest(save_of(note))
        digest = raw or plain
        if self._is_known(subject, digest, "save"):
            self.result.unchanged += 1
            return []
        last = self._last.get(subject)
        first = last is None or last["kind"] != "save"
        self._unread_labels += note.unread
        note = self._dated(note, file, first=first)
        entry = save_entry(note, digest=digest, **self._act(subject, digest))
        if last is None or last["kind"] != "save":
            self.result.new += 1
        else:
            self.result.changed += 1
            if last["content_hash"] != entry.content_hash:
                self._lost.add(last["content_hash"])
        self._new_texts.add(entry.content_hash)
        return [self._made(entry)]

    def _found_unreadable(self, failed: NoteFailure, raw: str | None) -> list[Entry]:
        subject = self._subject(failed.source)
        digest = raw or ids.digest("failure", failed.reason, failed.message, failed.excerpt)
        if self._is_known(subject, digest, "unreadable"):
            return []
        return [self._made(unreadable_entry(failed, digest=digest, **self._act(subject, digest)))]

    def postpone(self, file: VaultFile) -> None:
        """Leave a file that was modified after the staged day; its memories stay."""
        self.result.later += 1
        self._keep(file.source)

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
        live = [subject for subject in known if self._was_saved(subject)]
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
            if subject in were_notes:
                self.result.deleted += 1
                self._lost.add(self._last[subject]["content_hash"])
            acts.append(self._made(forget_entry(**self._act(subject, "gone"))))
        return acts

    def _was_saved(self, subject: str) -> bool:
        """Whether a memory may exist for it; a line that never could be read has none."""
        if self._last[subject]["kind"] == "save":
            return True
        return any(entry.kind == "save" for entry in self._journal.about(self._source.namespace, subject))

    def again(self, file: VaultFile) -> Iterator[Entry]:
        """Yield save entries for notes that equal a note that is gone or changed.

        They were refused as its duplicates, and now are the only ones with this text.
        """
        orphans = self._orphans.get(self._subject(file.source))
        if not orphans or file.source not in self._taken:
            return
        try:
            data = file.path.read_bytes()
        except OSError:  # deleted since it was read; the next scan reports it
            return
        for note in read_notes(data, file.source, max_bytes=self._settings.max_bytes):
            name = self._subject(note.source)
            if name in orphans and not isinstance(note, NoteFailure):
                digest = self._last[name]["digest"]
                act = self._act(name, f"again {digest}")
                note = self._dated(self._placed(note), file, first=True)
                yield self._made(save_entry(note, digest=digest, **act))

    @cached_property
    def _orphans(self) -> dict[str, set[str]]:
        """Unchanged notes whose original was lost in this scan, by file."""
        by_file: dict[str, set[str]] = {}
        for subject, row in self._last.items():
            same = row["kind"] == "save" and row["content_hash"] in self._lost - {""}
            if same and subject in self._seen and subject not in self._acted:
                by_file.setdefault(_file_of(subject), set()).add(subject)
        return by_file

    @cached_property
    def _known_in(self) -> dict[str, list[str]]:
        """Known notes of each file, and of all files under each folder."""
        subjects = defaultdict(list)
        for subject in self._last:
            file = _file_of(subject)
            subjects[file].append(subject)
            for at, character in enumerate(file):
                if character == "/":
                    subjects[file[:at]].append(subject)
        return subjects

    def _keep(self, source: str) -> bool:
        """Mark a file or folder as seen, so its memories stay. Return whether any exist."""
        known = self._known_in.get(self._subject(source).rstrip("/"), [])
        self._seen.update(known)
        return any(self._last[subject]["kind"] != "forget" for subject in known)

    def _report(self, source: str, why: str, *, count: int = 1) -> None:
        self.result.unreadable += count
        self.result.warnings.append(
            f"{self._short(source)} cannot be read: {why}. Its memories stay unchanged."
        )

    def _short(self, source: str) -> str:
        place = self._subject(source) if source else self._source.uri
        return place if len(place) <= _NAME_CHARACTERS else f"{place[:_NAME_CHARACTERS]}…"

    def _is_known(self, subject: str, digest: str, kind: str) -> bool:
        self._seen.add(subject)
        last = self._last.get(subject)
        if last is None:  # erased texts are not imported again from an unchanged file
            return is_tombstoned(digest, self._erased.get(erased_name(self._source.namespace, subject), ()))
        return bool(last["kind"] == kind and last["digest"] == digest)

    def _dated(self, note: Note, file: VaultFile, *, first: bool) -> Note:
        """Return the note with the date of its file, if it states none.

        Its last modification counts for a note that is new. A change of a known note is as old as its
        scan, and the memory keeps its creation time.
        """
        if note.created_at is not None:
            return note
        date = date_of_file(file.source, file.mtime_ns if first else None, until=self._as_of)
        return replace(note, created_at=date)

    def _subject(self, source: str) -> str:
        return f"{self._source.name}/{source}"

    def _placed(self, note: Note) -> Note:
        """Return the note with the full source of its predecessor in the vault."""
        return replace(note, follows=self._subject(note.follows)) if note.follows else note

    def _made(self, entry: Entry) -> Entry:
        self._acted.add(entry.subject)
        self.result.acts += 1
        return entry

    def _act(self, subject: str, digest: str) -> dict[str, Any]:
        last = self._last.get(subject)
        previous = "" if last is None else last["event_id"]
        return {
            "namespace": self._source.namespace,
            "source": subject,
            "origin": self._source.name,
            "occurred_at": self._as_of,
            "principal": self._principal,
            "event_id": ids.digest("scan", self._source.namespace, subject, digest, previous),
        }


def _file_of(subject: str) -> str:
    line = _FILE_OF_LINE.match(subject)
    return subject if line is None else line[1]


def _raw_digest(file: VaultFile, data: bytes | None) -> str:
    if data is None:
        return ids.digest("size", str(file.size), str(file.mtime_ns))
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _failure_of(note: Note, error: Exception) -> NoteFailure:
    """Return the failure for a note that cannot be stored, under a valid name."""
    file = _FILE_OF_LINE.match(note.source)
    source = note.source if file is None else f"{file[1]}#{ids.digest('line', note.source)[:12]}"
    named = isinstance(error, JournalEntryError)
    message = str(error) if named else f"{type(error).__name__}: {str(error)[:_NAME_CHARACTERS]}"
    size = len(note.content.encode("utf-8", "replace"))
    return NoteFailure(source, "bad_name" if named else "unexpected", message, note.content[:500], size)


def _too_large(file: VaultFile, limit: int) -> NoteFailure:
    try:
        with file.path.open("rb") as stream:
            head = stream.read(500).decode("utf-8", "replace")
    except OSError as error:
        head = f"({error.strerror})"
    message = f"{file.size:,} bytes; the limit notes.max_bytes is {limit:,}. Split it or raise the limit."
    return NoteFailure(file.source, "too_large", message, excerpt=head, size_bytes=file.size)
