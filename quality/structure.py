"""Structure check: L1 of the save gate, with every fault of a note (rule 1)."""

from __future__ import annotations

import re
import unicodedata

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


def structure_faults(notes: pl.DataFrame, *, min_characters: int) -> list[list[str]]:
    """Return the faults of each note as reason names, in the order of the notes.

    Args:
        notes: columns title, content, namespace, source and those of `KNOWN_WORDS`.
        min_characters: minimum length of the trimmed content.
    """
    columns = ("title", "content", "namespace", "source", *KNOWN_WORDS)
    plain = zip(*(notes[name].to_list() for name in columns), strict=True)
    return [_faults(min_characters, *row) for row in plain]


def _faults(
    least: int, title: str | None, content: str | None, namespace: str | None, source: str | None,
    *labels: str | None,
) -> list[str]:  # fmt: skip
    faults = []
    if not (title or "").strip():
        faults.append("empty_title")
    if len((content or "").strip()) < least:
        faults.append("too_short")
    if not _is_namespace(namespace or ""):
        faults.append("bad_namespace")
    if _BAD_PATH.search(source or ""):
        faults.append("bad_path")
    for (column, words), label in zip(KNOWN_WORDS.items(), labels, strict=True):
        if label not in words:
            faults.append(f"unknown_{column}")
    return faults


def _is_namespace(name: str) -> bool:
    if not name.isascii():
        # Combining marks count as letters, but Python's \w does not match them.
        name = "".join(letter for letter in name if not unicodedata.category(letter).startswith("M"))
    return _NAMESPACE.fullmatch(name) is not None
