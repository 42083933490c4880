"""Payloads of saves and unreadable files; a forget has none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import orjson
import polars as pl

from slowwave.common import ids
from slowwave.journal.kinds.fields import struct
from slowwave.scoring.days import to_microseconds

if TYPE_CHECKING:
    from slowwave.journal.entry import Entry
    from slowwave.notes.model import Note


class Save(TypedDict, total=False):
    """Note as stored.

    `created_at` is the date that its text carries, in microseconds; `metadata` is JSON; `context` is
    inherited from the note that it `follows`, which is named by its source; `released`: a user released it
    from quarantine; `path`: where a note of a vault is now, if that is not its source. `saved_by` and
    `saved_at` (microseconds): author and moment of a text that somebody else brings back or only labels.
    """

    title: str
    content: str
    created_at: int | None
    memory_type: str
    importance_tier: str
    retrieval_priority: str
    sensitivity: str
    state: str
    source_kind: str
    source_of_truth: bool
    trigger_phrases: Sequence[str]
    tags: Sequence[str]
    aliases: Sequence[str]
    links: Sequence[str]
    metadata: str
    front_matter: str
    size_bytes: int
    context: str
    follows: str
    released: bool
    path: str
    saved_by: str
    saved_at: int | None


class Unreadable(TypedDict, total=False):
    """Reason why a file could not be read as a note, with its beginning; `path` as in `Save`."""

    title: str
    content: str
    reason: str
    message: str
    size_bytes: int
    path: str


class Discard(TypedDict, total=False):
    """Discard of a quarantined note; `restored`: its undo."""

    restored: bool


NOTE = struct((Save, Unreadable))
"""Fields of both."""
LISTS = ("trigger_phrases", "tags", "aliases", "links")
FREE_TEXT = (
    "title", "content", "context", "tags", "aliases", "trigger_phrases", "links", "front_matter", "metadata",
    "path",
)  # fmt: skip
"""Fields of a saved note with free text."""

_YEARS = (-62_135_596_800_000_000, 253_402_300_799_999_999)  # microseconds: range of a date
_NEEDED = ("title", "content", "sensitivity")
_named = pl.all_horizontal(pl.col(name).is_not_null() for name in _NEEDED)
_dated = pl.col("created_at").is_null() | pl.col("created_at").is_between(*_YEARS)
SOUND = _dated & ((pl.col("kind") != "save") | _named)
"""Soundness of decoded entries on a source: saves have title, text and sensitivity; dates are in range."""


def is_sound(note: Mapping[str, Any]) -> bool:
    """Whether a decoded save is sound, as `SOUND`."""
    dated = note["created_at"] is None or _YEARS[0] <= note["created_at"] <= _YEARS[1]
    return dated and all(note[name] is not None for name in _NEEDED)


_OF_THE_NOTE = (
    "title", "content", "memory_type", "importance_tier", "retrieval_priority", "sensitivity", "state",
    "source_kind", "source_of_truth", *LISTS, "front_matter",
)  # fmt: skip


def save_of(note: Note) -> dict[str, Any]:
    """Build the payload of a note's save."""
    payload: dict[str, Any] = {name: getattr(note, name) for name in _OF_THE_NOTE}
    payload["created_at"] = to_microseconds(note.created_at) if note.created_at else None
    payload["metadata"] = orjson.dumps(note.metadata, option=orjson.OPT_SORT_KEYS).decode()
    payload["size_bytes"] = len(note.content.encode())
    # Only if set: the digest of a note without them stays as in earlier versions.
    payload |= {name: value for name in ("context", "follows") if (value := getattr(note, name))}
    return payload


def payload_digest(payload: Mapping[str, Any]) -> str:
    """Hash a payload; equal content gives equal hashes."""
    return ids.digest("payload", orjson.dumps(payload, option=orjson.OPT_SORT_KEYS).decode())


def released(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload of a note that a user releases."""
    return {**payload, "released": True}


def of_author(entry: Entry) -> dict[str, Any]:
    """Return the payload of a save as released, with its author; another user saves it again."""
    return released(entry.payload) | {"saved_by": entry.payload.get("saved_by") or entry.principal}


def brought_back(entry: Entry) -> dict[str, Any]:
    """Return the payload of a save as released, with its author and moment."""
    at = entry.payload.get("saved_at") or to_microseconds(entry.occurred_at)
    return of_author(entry) | {"saved_at": at}


def is_released(payload: Mapping[str, Any]) -> bool:
    """Whether a user released the note."""
    return bool(payload.get("released"))


def text_in(payload: Mapping[str, Any]) -> str | None:
    """Return the text of an entry; None if it was erased or is malformed."""
    content = payload.get("content")
    return content if isinstance(content, str) else None


def texts_in(payload: Mapping[str, Any]) -> Iterable[str]:
    """Yield all free text of a save's payload."""
    for name in FREE_TEXT:
        value = payload.get(name)
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | dict):
            yield orjson.dumps(value).decode()


def without_follows(payload: Mapping[str, Any], lent: Collection[str | None]) -> dict[str, Any]:
    """Return a note's payload without what it follows, and without context inherited from it."""
    drop = {"follows"} | ({"context"} if payload.get("context") in lent else set())
    return {name: value for name, value in payload.items() if name not in drop}
