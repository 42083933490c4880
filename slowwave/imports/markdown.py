"""Readers of Markdown folders, imported once: plain notes, and those of Basic Memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from slowwave.imports.model import ImportFailedError, ImportItem, ImportSource, Read, Remark, Unread, name_of
from slowwave.imports.moments import moment_in, written
from slowwave.notes.dates import date_of_file
from slowwave.notes.fields import unread_remark
from slowwave.notes.folder import list_vault, others_remark
from slowwave.notes.model import Note, NoteFailure, VaultFile
from slowwave.notes.reading import read_notes

MAX_NAME_CHARACTERS = 300
"""Maximum characters of a path that is a key; longer ones are hashed."""

_OBSERVATION = re.compile(r"^[ \t]*[-*][ \t]+\[([^\[\]\n]{2,60})\](?!\()[ \t]+\S", re.MULTILINE)
_RELATION = re.compile(r"^[ \t]*[-*][ \t]+([^\[\]\n]{1,80}?)[ \t]+\[\[([^\[\]\n]+)\]\]", re.MULTILINE)
_PERMALINK = "permalink"


class Markdown(ImportSource):
    """Folder of notes: Markdown, text, JSON lines, in the form that `slowwave ingest` reads."""

    title = "Markdown"
    expected = "a folder with .md, .markdown, .txt or .jsonl files"

    def read(self) -> Iterator[Read]:
        """Yield its notes; see `ImportSource`."""
        for note in _notes(self.path, self.max_bytes, self.expected, self.now):
            if isinstance(note, (Unread, Remark)):
                yield note
            else:
                yield (_item(note, f"{self.name}:{_place(self.path, note.source)}", "note", self.now),)
        yield Remark(f"To watch the folder from now on: slowwave ingest {self.path}")


class BasicMemory(ImportSource):
    """Project of Basic Memory: notes with a permalink, observations and relations."""

    title = "Basic Memory"
    expected = (
        "a folder of Markdown files with `permalink` in their front matter, observations (- [category] text) "
        "and relations (- type [[Target]])"
    )

    def read(self) -> Iterator[Read]:
        """Yield its notes; see `ImportSource`."""
        marked = False
        for note in _notes(self.path, self.max_bytes, self.expected, self.now):
            if isinstance(note, (Unread, Remark)):
                yield note
                continue
            permalink = str(note.metadata.get(_PERMALINK) or "").strip().strip("/")
            categories = [category.strip().lower() for category in _OBSERVATION.findall(note.content)]
            relations = [list(pair) for pair in _RELATION.findall(note.content)]
            marked = marked or bool(permalink or categories)
            name = name_of(*permalink.split("/")) if permalink else _place(self.path, note.source)
            item = _item(note, f"{self.name}:{name}", "note", self.now, more=categories)
            if relations:
                item.about["relations"] = relations
            yield (item,)
        if not marked:
            raise ImportFailedError(
                f"No note in {self.path} has a `permalink` or an observation, so they are not notes of Basic "
                f"Memory. `slowwave import markdown {self.path}` imports them once, `slowwave ingest "
                f"{self.path}` watches the folder. Expected: {self.expected}."
            )


def _notes(path: str, max_bytes: int, expected: str, now: datetime) -> Iterator[Note | Unread | Remark]:
    folder = Path(path).expanduser()
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise ImportFailedError(f"{path} {what}. Expected: {expected}.")
    listing = list_vault(folder)
    remarks = [remark for remark in (listing.copies_remark, others_remark(listing.others)) if remark]
    if not listing.files and not listing.copies:
        sentences = (f"There are no notes in {path}.", *remarks, f"Expected: {expected}.")
        raise ImportFailedError(" ".join(sentences))
    yield from map(Remark, remarks)
    for unseen in listing.unseen:
        if unseen.expected:
            yield Unread(unseen.source or path, unseen.why)
    for file in listing.files:
        try:
            data = file.path.read_bytes() if file.size <= max_bytes else None
        except OSError as error:
            yield Unread(file.source, f"cannot open it: {error.strerror}")
            continue
        if data is None:
            yield Unread(file.source, f"{file.size:,} bytes; the limit notes.max_bytes is {max_bytes:,}")
            continue
        for note in read_notes(data, file.source, max_bytes=max_bytes):
            yield from _dated(note, file, now)


def _dated(note: Note | NoteFailure, file: VaultFile, now: datetime) -> Iterator[Note | Unread | Remark]:
    """Yield a note, dated by its file if it states no date, after its remark."""
    if isinstance(note, NoteFailure):
        yield Unread(note.source, note.message)
        return
    if note.unread:
        yield Remark(unread_remark(note.source, note.unread))
    yield replace(note, created_at=note.created_at or date_of_file(file.source, file.mtime_ns, until=now))


def _item(note: Note, key: str, kind: str, now: datetime, more: list[str] | None = None) -> ImportItem:
    """Return a note as an item with its labels."""
    labels: dict[str, Any] = {
        name: getattr(note, name)
        for name in (
            "importance_tier", "retrieval_priority", "state", "source_of_truth", "trigger_phrases", "aliases",
            "context",
        )
    }  # fmt: skip
    if note.sensitivity != "internal":
        labels["sensitivity"] = note.sensitivity
    at = note.created_at
    return ImportItem(
        key=key,
        content=note.content.strip("\n"),
        kind=kind,
        place=note.source,
        title=note.title,
        created_at=at,
        updated=written(moment_in(note.metadata.get("modified") or note.metadata.get("updated"), now)),
        memory_type=note.memory_type,
        tags=tuple(dict.fromkeys([*note.tags, *(more or [])])),
        labels={**labels, "source_kind": note.source_kind},
        about=dict(note.metadata),
    )


def _place(path: str, source: str) -> str:
    """Return the place of a note: name of the folder and path in it, as for a watched folder."""
    name = Path(path).expanduser().resolve().name
    whole = f"{name}/{source}" if name else source
    fine = whole.isprintable() and len(whole) <= MAX_NAME_CHARACTERS
    return whole if fine else name_of(name, f"{whole}\n")
