"""Watching a vault: what changed since the last look goes into the journal as acts.

The present state of a folder can only be observed now; the journal keeps every observation, so a night
of the past can be run again and gives what it gave.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from slowwave import ids, progress
from slowwave.entries import forget_entry, note_payload, payload_digest, save_entry, unreadable_entry
from slowwave.errors import SlowwaveError
from slowwave.journal import Entry, Journal, JournalEntryError, Source
from slowwave.notes import Note, NoteFailure, VaultFile, content_hash, iter_vault, read_notes
from slowwave.settings import NotesSettings

_MANY_ITEMS = ".jsonl"
_BATCH = 500
_FEW = 20  # a vault this small may lose any share of its notes


@dataclass(slots=True)
class Scan:
    """What one look at a vault found, in notes."""

    vault: str
    new: int = 0
    changed: int = 0
    deleted: int = 0
    unreadable: int = 0
    unchanged: int = 0
    later: int = 0  # modified after the day being staged: left for the next night
    warnings: list[str] = field(default_factory=list)

    @property
    def acts(self) -> int:
        """Entries that went into the journal."""
        return self.new + self.changed + self.deleted + self.unreadable


def watch(
    journal: Journal, namespace: str, folder: Path, *, name: str, as_of: datetime, principal: str
) -> Source:
    """Remember a folder as a vault of the namespace, to be looked at every night.

    Raises:
        FileNotFoundError: no such folder.
        NotADirectoryError: it is a file.
        SlowwaveError: the namespace has another vault of this name.
    """
    folder = folder.expanduser().resolve()
    if not folder.exists():
        raise FileNotFoundError(f"There is no folder {folder}. Give the path of a vault (a folder of notes).")
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file. Give the folder that it is in.")
    name = name or folder.name
    for known in journal.sources():
        if (known.namespace, known.name) == (namespace, name) and known.uri != str(folder):
            if Path(known.uri).is_dir():
                raise SlowwaveError(
                    f"Namespace {namespace!r} watches a vault {name!r} at {known.uri} already. Give this "
                    f"one another name: slowwave ingest {folder} --name OTHER"
                )
            journal.remove_source(namespace, known.name)  # it has moved
    journal.add_source(namespace, name, str(folder), added_at=as_of, principal=principal)
    return next(one for one in journal.sources() if (one.namespace, one.name) == (namespace, name))


def scan(
    journal: Journal,
    source: Source,
    settings: NotesSettings,
    *,
    as_of: datetime,
    before: datetime | None = None,
    principal: str = "vault",
    allow_mass_retire: bool = False,
) -> Scan:
    """Look at a vault and put what changed since the last look into the journal.

    Args:
        journal: where the acts go.
        source: the vault, as :func:`watch` gave it.
        settings: limits.
        as_of: the moment that the acts get.
        before: files modified at this moment or later are left for another look.
        principal: who the acts are attributed to.
        allow_mass_retire: retire any share of the notes.

    Raises:
        FileNotFoundError: the folder is gone (nothing is retired then).
    """
    look = _Look(journal, source, settings, as_of, principal)
    files = list(iter_vault(Path(source.uri)))
    limit = before.timestamp() * 1e9 if before is not None else float("inf")
    batch: list[Entry] = []
    with progress.task(f"reading {source.name}", len(files)) as advance:
        for file in files:
            if file.mtime_ns >= limit:
                look.postpone(file)
            else:
                batch.extend(look.acts_of(file))
            advance(1)
            if len(batch) >= _BATCH:
                journal.append(batch)
                batch = []
    batch.extend(look.gone(allow_mass_retire))
    batch.extend(entry for file in files for entry in look.again(file))
    journal.append(batch)
    return look.result


class _Look:
    """One look at one vault: compares each file with what the journal last heard of it."""

    def __init__(
        self, journal: Journal, source: Source, settings: NotesSettings, as_of: datetime, principal: str
    ) -> None:
        self.result = Scan(source.name)
        self._source = source
        self._settings = settings
        self._as_of = as_of
        self._principal = principal
        latest = journal.latest_sources(source.namespace, source.name)
        self._last = {row["subject"]: row for row in latest.iter_rows(named=True)}
        self._seen: set[str] = set()
        self._acted: set[str] = set()
        self._files: dict[str, Path] = {}
        self._lost_hashes: set[str] = set()

    def acts_of(self, file: VaultFile) -> list[Entry]:
        """Acts that this file gives rise to; one that the journal cannot name is a warning."""
        if file.source in self._files:
            self.result.warnings.append(
                f"{file.path} was left out: {self._files[file.source]} has the same name but for its "
                f"encoding. Rename one of them."
            )
            return []
        self._files[file.source] = file.path
        try:
            return list(self._at(file))
        except JournalEntryError as error:
            self.result.warnings.append(f"{file.path} was left out: {error}")
            return []

    def _at(self, file: VaultFile) -> Iterator[Entry]:
        subject = self._subject(file.source)
        try:
            data = file.path.read_bytes() if file.size <= self._settings.max_bytes else None
        except OSError as error:
            self.result.warnings.append(f"{subject} could not be opened: {error.strerror}")
            self._seen.add(subject)
            return
        raw = (
            hashlib.blake2b(data, digest_size=16).hexdigest()
            if data is not None
            else ids.digest("size", str(file.size), str(file.mtime_ns))
        )
        if self._unchanged(subject, raw):
            return
        notes = (
            read_notes(data, file.source, max_bytes=self._settings.max_bytes)
            if data is not None
            else [_too_large(file, self._settings.max_bytes)]
        )
        many = file.source.endswith(_MANY_ITEMS)
        for note in notes:
            yield from self._entry(note, raw if not many else None)

    def _entry(self, note: Note | NoteFailure, raw: str | None) -> Iterator[Entry]:
        if isinstance(note, NoteFailure):
            subject = self._subject(note.source)
            digest = raw or ids.digest("failure", note.reason, note.message, note.excerpt)
            if not self._unchanged(subject, digest):
                self.result.unreadable += 1
                yield unreadable_entry(note, digest=digest, **self._act(subject, digest))
            return
        subject = self._subject(note.source)
        note = self._placed(note)
        digest = raw or payload_digest(note_payload(note))
        if self._unchanged(subject, digest):
            return
        last = self._last.get(subject)
        if last is None or last["kind"] != "save":
            self.result.new += 1
        else:
            self.result.changed += 1
            if last["content_hash"] != content_hash(note.content):
                self._lost_hashes.add(last["content_hash"])
        yield save_entry(note, digest=digest, **self._act(subject, digest))

    def postpone(self, file: VaultFile) -> None:
        """The file was modified after the day being staged; what is known of it stays."""
        self.result.later += 1
        subject = self._subject(file.source)
        self._seen.update(
            known for known in self._last if known == subject or known.startswith(f"{subject}#")
        )

    def gone(self, allow_mass_retire: bool) -> Iterator[Entry]:
        """Acts of forgetting what is no longer in the vault, unless that is suspiciously much."""
        live = [subject for subject, row in self._last.items() if row["kind"] != "forget"]
        missing = [subject for subject in live if subject not in self._seen]
        allowed = max(_FEW, self._settings.max_retired_share * len(live))
        if len(missing) > allowed and not allow_mass_retire:
            self.result.warnings.append(
                f"{len(missing)} of {len(live)} notes of {self._source.name} are no longer in "
                f"{self._source.uri}. Nothing was retired: is the folder complete? If it is, run "
                f"`slowwave ingest {self._source.uri} --retire-missing`."
            )
            return
        for subject in missing:
            self.result.deleted += 1
            self._lost_hashes.add(self._last[subject]["content_hash"])
            yield forget_entry(**self._act(subject, "gone"))

    def again(self, file: VaultFile) -> Iterator[Entry]:
        """Acts for notes that say exactly what a note that is gone or changed said.

        They were refused as its duplicates; now they are the only ones that say it.
        """
        subject = self._subject(file.source)
        orphans = self._orphans.get(subject)
        if not orphans:
            return
        for note in read_notes(file.path.read_bytes(), file.source, max_bytes=self._settings.max_bytes):
            name = self._subject(note.source)
            if name in orphans and not isinstance(note, NoteFailure):
                digest = self._last[name]["digest"]
                yield save_entry(self._placed(note), digest=digest, **self._act(name, f"again {digest}"))

    @cached_property
    def _orphans(self) -> dict[str, set[str]]:
        """Unchanged notes whose content was lost elsewhere in this look, by the file they are in."""
        found: dict[str, set[str]] = {}
        for subject, row in self._last.items():
            same = row["kind"] == "save" and row["content_hash"] in self._lost_hashes - {""}
            if same and subject in self._seen and subject not in self._acted:
                found.setdefault(subject.split("#")[0], set()).add(subject)
        return found

    def _unchanged(self, subject: str, digest: str) -> bool:
        self._seen.add(subject)
        last = self._last.get(subject)
        same = last is not None and last["kind"] != "forget" and last["digest"] == digest
        self.result.unchanged += same
        return same

    def _subject(self, source: str) -> str:
        return f"{self._source.name}/{source}"

    def _placed(self, note: Note) -> Note:
        """The note with the whole source of the one that it follows, which is in the same vault."""
        return replace(note, follows=self._subject(note.follows)) if note.follows else note

    def _act(self, subject: str, digest: str) -> dict[str, Any]:
        self._acted.add(subject)
        last = self._last.get(subject)
        moment = self._as_of
        if last is not None:  # never at or before what is known already
            moment = max(moment, last["occurred_at"] + timedelta(microseconds=1))
        previous = "" if last is None else last["event_id"]
        return {
            "namespace": self._source.namespace,
            "source": subject,
            "origin": self._source.name,
            "occurred_at": moment,
            "principal": self._principal,
            "event_id": ids.digest("scan", self._source.namespace, subject, digest, previous),
        }


def _too_large(file: VaultFile, limit: int) -> NoteFailure:
    with file.path.open("rb") as stream:
        head = stream.read(500).decode("utf-8", "replace")
    return NoteFailure(
        source=file.source,
        reason="too_large",
        message=f"{file.size:,} bytes; the limit notes.max_bytes is {limit:,}. Split it or raise the limit.",
        excerpt=head,
        size_bytes=file.size,
    )


def fingerprint(folder: Path) -> str:
    """Changes when a file of the vault is added, removed or modified; reads no file."""
    parts = [f"{file.source}:{file.size}:{file.mtime_ns}" for file in iter_vault(folder)]
    return ids.digest("fingerprint", *parts)


def scan_summary(scans: list[Scan]) -> pl.DataFrame:
    """One row per vault, for people."""
    return pl.DataFrame(
        [
            {
                "vault": scan.vault, "new": scan.new, "changed": scan.changed, "deleted": scan.deleted,
                "unreadable": scan.unreadable, "unchanged": scan.unchanged, "later": scan.later,
            }
            for scan in scans
        ]
    )  # fmt: skip
