"""Structure check: L1 of the save gate, with every fault of a note (rule 1)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import polars as pl

NAMESPACE = r"^\w[\w\-./]*$"
_NAMESPACE = re.compile(NAMESPACE)
# An absolute path, one with "..", or C0 and C1 control characters; spaces and emoji are normal in vaults.
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

STRUCTURE_FIELDS = ("title", "content", "namespace", "source", *KNOWN_WORDS)
"""Columns that the check reads."""


def structure_faults(notes: pl.DataFrame, *, min_characters: int) -> list[list[str]]:
    """Return the faults of each note as reason names, in the order of the notes.

    Args:
        notes: columns title, content, namespace, source and those of `KNOWN_WORDS`.
        min_characters: minimum length of the trimmed content.
    """
    rows = notes.select(STRUCTURE_FIELDS).rows(named=True)
    return [faults_of(row, min_characters=min_characters) for row in rows]


def faults_of(note: Mapping[str, Any], *, min_characters: int) -> list[str]:
    """Return the faults of one note, with the columns of `structure_faults`."""
    faults = []
    if not (note["title"] or "").strip():
        faults.append("empty_title")
    if len((note["content"] or "").strip()) < min_characters:
        faults.append("too_short")
    if not _is_namespace(note["namespace"] or ""):
        faults.append("bad_namespace")
    if _BAD_PATH.search(note["source"] or ""):
        faults.append("bad_path")
    return faults + [
        f"unknown_{column}" for column, words in KNOWN_WORDS.items() if note[column] not in words
    ]


def _is_namespace(name: str) -> bool:
    if not name.isascii():
        # Combining marks count as letters, but Python's \w does not match them.
        name = "".join(letter for letter in name if not unicodedata.category(letter).startswith("M"))
    return _NAMESPACE.fullmatch(name) is not None
