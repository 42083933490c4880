"""Saves, and files that could not be read; to forget says nothing but what its entry says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import orjson
import polars as pl

from slowwave.common import ids
from slowwave.journal.kinds.fields import struct
from slowwave.scoring.days import to_microseconds

if TYPE_CHECKING:
    from slowwave.notes.model import Note


class Save(TypedDict, total=False):
    """A note as the journal keeps it.

    `created_at` is the date that it carries, in microseconds; `metadata` is JSON; `context` is what it was
    lent by the note that it `follows`, which is named by its source; `released`: a person let it in.
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


class Unreadable(TypedDict):
    """Why a file could not be read as a note, with how it begins."""

    title: str
    content: str
    reason: str
    message: str
    size_bytes: int


NOTE = struct((Save, Unreadable))
"""Fields of both."""
LISTS = ("trigger_phrases", "tags", "aliases", "links")
FREE_TEXT = (
    "title", "content", "context", "tags", "aliases", "trigger_phrases", "links", "front_matter", "metadata",
)  # fmt: skip
"""Fields of a saved note that a person may have written anything into."""

_YEARS = (-62_135_596_800_000_000, 253_402_300_799_999_999)  # microseconds: what a date can be
_named = pl.all_horizontal(pl.col(name).is_not_null() for name in ("title", "content", "sensitivity"))
_dated = pl.col("created_at").is_null() | pl.col("created_at").is_between(*_YEARS)
SOUND = _dated & ((pl.col("kind") != "save") | _named)
"""Of decoded acts on a source: a save has title, text and sensitivity, and no date is beyond all years."""

_OF_THE_NOTE = (
    "title", "content", "memory_type", "importance_tier", "retrieval_priority", "sensitivity", "state",
    "source_kind", "source_of_truth", *LISTS, "front_matter",
)  # fmt: skip


def save_of(note: Note) -> dict[str, Any]:
    """The payload of a save of a note."""
    payload: dict[str, Any] = {name: getattr(note, name) for name in _OF_THE_NOTE}
    payload["created_at"] = to_microseconds(note.created_at) if note.created_at else None
    payload["metadata"] = orjson.dumps(note.metadata, option=orjson.OPT_SORT_KEYS).decode()
    payload["size_bytes"] = len(note.content.encode())
    # Only where there are any: the digest of a note that has none is what it always was.
    payload |= {name: value for name in ("context", "follows") if (value := getattr(note, name))}
    return payload


def payload_digest(payload: Mapping[str, Any]) -> str:
    """Hash of a payload, the same for the same content."""
    return ids.digest("payload", orjson.dumps(payload, option=orjson.OPT_SORT_KEYS).decode())


def released(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload of a note that a person lets in as it is."""
    return {**payload, "released": True}


def is_released(payload: Mapping[str, Any]) -> bool:
    """Whether a person let the note in."""
    return bool(payload.get("released"))


def text_in(payload: Mapping[str, Any]) -> str | None:
    """The text that an act has; None where it was erased or is malformed."""
    content = payload.get("content")
    return content if isinstance(content, str) else None


def texts_in(payload: Mapping[str, Any]) -> Iterable[str]:
    """All that a note says, of the payload of a save."""
    for name in FREE_TEXT:
        value = payload.get(name)
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | dict):
            yield orjson.dumps(value).decode()


def without_follows(payload: Mapping[str, Any], lent: Collection[str | None]) -> dict[str, Any]:
    """The payload of a note without what it follows, and without a context that it was lent by that."""
    drop = {"follows"} | ({"context"} if payload.get("context") in lent else set())
    return {name: value for name, value in payload.items() if name not in drop}
