"""L1 of the save gate: structure (rule 1). Every fault of a note is listed, not just the first."""

from __future__ import annotations

import re
import unicodedata

import orjson
import polars as pl

NAMESPACE = r"^\w[\w\-./]*$"
_NAMESPACE = re.compile(NAMESPACE)
# An absolute path, one that climbs, or C0 and C1 control characters; spaces and emoji are normal in vaults.
_BAD_PATH = re.compile(r"\A(?:[/\\]|[A-Za-z]:[/\\]|\Z)|(?:\A|[/\\])\.\.(?:[/\\]|\Z)|[\x00-\x1f\x7f-\x9f]")

KNOWN_WORDS: dict[str, frozenset[str]] = {
    "memory_type": frozenset(
        {
            "note", "constraint", "decision", "project", "preference", "fact", "procedure",
            "incident", "meeting", "reference", "person", "document", "chat",
        }
    ),
    "importance_tier": frozenset({"temporary", "normal", "important", "critical"}),
    "retrieval_priority": frozenset({"low", "normal", "high"}),
    "sensitivity": frozenset({"public", "internal", "secret"}),
    "state": frozenset({"draft", "candidate", "accepted", "canonical"}),
    "source_kind": frozenset({"manual", "imported", "generated"}),
}  # fmt: skip


def structure_faults(notes: pl.DataFrame, *, min_characters: int) -> list[list[str]]:
    """Faults of each note as reason names (none: it has none), in the order of the notes.

    Args:
        notes: columns title, content, namespace, source, metadata (JSON text) and those of `KNOWN_WORDS`.
        min_characters: least length of the content after trimming.
    """
    columns = ("title", "content", "namespace", "source", "metadata", *KNOWN_WORDS)
    plain = zip(*(notes[name].to_list() for name in columns), strict=True)
    return [_faults(min_characters, *row) for row in plain]


def _faults(
    least: int, title: str | None, content: str | None, namespace: str | None, source: str | None,
    metadata: str | None, *labels: str | None,
) -> list[str]:  # fmt: skip
    found = []
    if not (title or "").strip():
        found.append("empty_title")
    if len((content or "").strip()) < least:
        found.append("too_short")
    if not _is_namespace(namespace or ""):
        found.append("bad_namespace")
    if _BAD_PATH.search(source or ""):
        found.append("bad_path")
    if metadata and '"created_invalid"' in metadata and "created_invalid" in _mapping(metadata):
        found.append("bad_timestamp")
    for (column, words), label in zip(KNOWN_WORDS.items(), labels, strict=True):
        if label not in words:
            found.append(f"unknown_{column}")
    return found


def _is_namespace(name: str) -> bool:
    if not name.isascii():
        # Marks of a script that needs them are as good as letters; Python does not count them among \w.
        name = "".join(letter for letter in name if not unicodedata.category(letter).startswith("M"))
    return _NAMESPACE.fullmatch(name) is not None


def _mapping(metadata: str) -> dict[str, object]:
    try:
        found = orjson.loads(metadata)
    except ValueError:
        return {}
    return {name: value for name, value in found.items() if value is not None} if type(found) is dict else {}
