"""One look at a vault: each file beside what the journal last heard of it.

A place that cannot be looked at, and a file that cannot be read, say nothing about what they held: what is
known of it stays as it is, and the place is reported again at each look until it is mended.
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
from slowwave.notes.folder import Listing
from slowwave.notes.model import Note, NoteFailure, VaultFile
from slowwave.notes.reading import read_notes
from slowwave.settings import NotesSettings

_FILE_OF_LINE = re.compile(r"(.*?\.jsonl)#", re.IGNORECASE | re.DOTALL)
_NAME_CHARACTERS = 200  # of a place in a warning
_MORE = "slowwave quarantine list, and show ID, say more"


@dataclass(slots=True)
class ScanResult:
    """What one look at a vault found, in notes.

    Attributes:
        deleted: notes that are gone, and were retired.
        unreadable: notes, lines and places that cannot be read now, also those that could not be before; what
            is known of them stays as it was.
        later: modified after the day being staged: left for the next night.
        warnings: what a person should know, a sentence each; they name files and tell no content.
        nameless: those of them that are about the whole vault and name no file.
        acts: entries that went into the journal.
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
        """The warnings as they may be kept for ever: without the name of a file, which may be a secret."""
        more = len(self.warnings) - len(self.nameless)
        files = f"{counted(more, 'warning')} about single files"
        told = f"{files} of the vault {self.vault}: `slowwave ingest` names them."
        return [*self.nameless, *([told] if more else [])]


class VaultScanner:
    """Compares a vault, file after file, with what the journal last heard of it.

    Args:
        journal: asked, not written to.
        source: the vault.
        listing: what is in it.
        settings: limits.
        as_of: the moment that the acts get.
        principal: who the acts are attributed to.
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
        self._said: set[str] = set()  # hashes of the texts that are new in this look
        self._lost: set[str] = set()  # hashes of the texts that are no longer where they were
        for place in listing.unseen:
            kept = self._keep(place.source)
            if place.expected or kept:
                self._report(place.source, place.why)

    def acts_of(self, file: VaultFile) -> list[Entry]:
        """Acts that this file gives rise to."""
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
        most = self._settings.max_bytes
        notes = [_too_large(file, most)] if data is None else read_notes(data, file.source, max_bytes=most)
        acts: list[Entry] = []
        failures: list[NoteFailure] = []
        for note in notes:
            acts += self._acts_on(note, raw=None if many else raw, failures=failures)
        if failures:
            self._keep(file.source)
            first = failures[0]
            told = first.message if first.reason == "bad_name" else f"{first.reason} ({_MORE})"
            whole = len(notes) == 1
            what = "" if whole else f"{len(failures):,} of its {len(notes):,} lines; the first: "
            self._report(file.source, f"{what}{told}", count=len(failures))
        return acts

    def _is_ambiguous(self, file: VaultFile) -> bool:
        """Whether nobody can say that this one of several files of one name is the one that is known."""
        if file.source not in self._taken and not self._keep(file.source):
            return False
        self._taken.add(file.source)
        self._report(
            file.source,
            f"{file.path} and another have the same name but for its encoding; rename one of them",
        )
        return True

    def _acts_on(
        self, note: Note | NoteFailure, *, raw: str | None, failures: list[NoteFailure]
    ) -> list[Entry]:
        """The act that a note gives rise to, if any; whatever it brings about is about this note alone."""
        if isinstance(note, Note):
            try:
                return self._saved(note, raw)
            except Exception as error:
                note = _that_failed(note, error)
        failures.append(note)
        try:
            return self._found_unreadable(note, raw)
        except JournalEntryError:  # the journal has no room for its very name: it is told of, every time
            return []

    def _saved(self, note: Note, raw: str | None) -> list[Entry]:
        subject = self._subject(note.source)
        note = self._placed(note)
        plain = payload_digest(save_of(note))
        digest = raw or plain
        if self._is_known(subject, digest, "save"):
            self.result.unchanged += 1
            return []
        last = self._last.get(subject)
        entry = save_entry(note, digest=digest, **self._act(subject, digest))
        if last is None or last["kind"] != "save":
            self.result.new += 1
        else:
            self.result.changed += 1
            if last["content_hash"] != entry.content_hash:
                self._lost.add(last["content_hash"])
        self._said.add(entry.content_hash)
        return [self._made(entry)]

    def _found_unreadable(self, failed: NoteFailure, raw: str | None) -> list[Entry]:
        subject = self._subject(failed.source)
        digest = raw or ids.digest("failure", failed.reason, failed.message, failed.excerpt)
        if self._is_known(subject, digest, "unreadable"):
            return []
        return [self._made(unreadable_entry(failed, digest=digest, **self._act(subject, digest)))]

    def postpone(self, file: VaultFile) -> None:
        """The file was modified after the day being staged; what is known of it stays."""
        self.result.later += 1
        self._keep(file.source)

    def gone(self, *, believed: bool) -> list[Entry]:
        """Acts of forgetting what is no longer in the vault, unless that is suspiciously much.

        One note may always go, and up to a share of them; but not the last one, as an empty folder may be one
        whose disk is not there. What only moved is in the vault still and is no loss.

        Args:
            believed: a person says that the folder is complete.
        """
        known = [subject for subject, row in self._last.items() if row["kind"] != "forget"]
        missing = [subject for subject in known if subject not in self._seen]
        # What never could be read is no note: it makes no vault larger, and none less empty.
        live = [subject for subject in known if self._was_saved(subject)]
        were_notes = set(missing).intersection(live)
        lost = [one for one in were_notes if self._last[one]["content_hash"] not in self._said]
        left = self._said or not self._seen.isdisjoint(live)
        allowed = max(1.0, self._settings.max_retired_share * len(live)) if left else 0.0
        if len(lost) > allowed and not believed:
            self.result.nameless.append(
                f"{len(lost)} of {len(live)} notes of {self._source.name} are no longer in "
                f"{self._source.uri}. Nothing was retired: is the folder complete? If it is, run "
                f"`slowwave ingest {self._source.uri} --retire-missing`."
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
        """Whether a memory may have come of it; of a line that never could be read there is none."""
        if self._last[subject]["kind"] == "save":
            return True
        return any(one.kind == "save" for one in self._journal.about(self._source.namespace, subject))

    def again(self, file: VaultFile) -> Iterator[Entry]:
        """Acts for notes that say exactly what a note that is gone or changed said.

        They were refused as its duplicates; now they are the only ones that say it.
        """
        orphans = self._orphans.get(self._subject(file.source))
        if not orphans or file.source not in self._taken:
            return
        try:
            data = file.path.read_bytes()
        except OSError:  # it went away since it was read; the next look tells
            return
        for note in read_notes(data, file.source, max_bytes=self._settings.max_bytes):
            name = self._subject(note.source)
            if name in orphans and not isinstance(note, NoteFailure):
                digest = self._last[name]["digest"]
                act = self._act(name, f"again {digest}")
                yield self._made(save_entry(self._placed(note), digest=digest, **act))

    @cached_property
    def _orphans(self) -> dict[str, set[str]]:
        """Unchanged notes whose content was lost elsewhere in this look, by the file they are in."""
        found: dict[str, set[str]] = {}
        for subject, row in self._last.items():
            same = row["kind"] == "save" and row["content_hash"] in self._lost - {""}
            if same and subject in self._seen and subject not in self._acted:
                found.setdefault(_file_of(subject), set()).add(subject)
        return found

    @cached_property
    def _known_in(self) -> dict[str, list[str]]:
        """What is known of each file, and of all files under each folder."""
        found = defaultdict(list)
        for subject in self._last:
            file = _file_of(subject)
            found[file].append(subject)
            for at, character in enumerate(file):
                if character == "/":
                    found[file[:at]].append(subject)
        return found

    def _keep(self, source: str) -> bool:
        """What is known of a file or folder stays as it is; whether anything is known of it."""
        known = self._known_in.get(self._subject(source).rstrip("/"), [])
        self._seen.update(known)
        return any(self._last[subject]["kind"] != "forget" for subject in known)

    def _report(self, source: str, why: str, *, count: int = 1) -> None:
        self.result.unreadable += count
        place = self._subject(source) if source else self._source.uri
        short = place if len(place) <= _NAME_CHARACTERS else f"{place[:_NAME_CHARACTERS]}…"
        self.result.warnings.append(f"{short} cannot be read: {why}. What was known of it stays as it was.")

    def _is_known(self, subject: str, digest: str, kind: str) -> bool:
        self._seen.add(subject)
        last = self._last.get(subject)
        if last is None:  # what was erased is not taken in again while the file still says it
            return is_tombstoned(digest, self._erased.get(erased_name(self._source.namespace, subject), ()))
        return bool(last["kind"] == kind and last["digest"] == digest)

    def _subject(self, source: str) -> str:
        return f"{self._source.name}/{source}"

    def _placed(self, note: Note) -> Note:
        """The note with the whole source of the one that it follows, which is in the same vault."""
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


def _that_failed(note: Note, error: Exception) -> NoteFailure:
    """What stands in place of a note that the journal cannot hold; under a name that it can."""
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
