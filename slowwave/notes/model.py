"""Data model of notes, and of notes that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from slowwave.errors import SlowwaveError

Reason = Literal[
    "not_utf8",
    "nul_bytes",
    "too_large",
    "empty",
    "bad_json_line",
    "wrong_type",
    "bad_name",
    "unexpected",
]

NOTE_SUFFIXES = frozenset({".md", ".markdown", ".txt", ".jsonl"})


class NoteError(SlowwaveError, ValueError):
    """Error for a note that cannot be read.

    Attributes:
        reason: One of the words of `Reason`.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True)
class NoteFailure:
    """Note, or line of a JSONL file, that could not be read.

    Attributes:
        source: As in `Note`; `facts.jsonl#L12` for line 12 of a JSONL file.
        reason: One of the words of `Reason`.
        message: What is wrong, where, and what to do about it.
        excerpt: The first 500 characters, undecodable bytes replaced.
        size_bytes: Size of the whole note or line.
        closes: Source of the note that it says is secret; empty if it does not.
    """

    source: str
    reason: Reason
    message: str
    excerpt: str
    size_bytes: int
    closes: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Note as written: fields are parsed, not judged; words are only lower-cased and stripped.

    Attributes:
        source: POSIX path relative to the vault, `facts.jsonl#ID` for a JSONL line, or the caller's key.
        title: Front-matter title, else the first level 1 heading, else the file name as words.
        content: Body without front matter, line breaks as LF.
        created_at: Creation time in UTC, if a valid one was given.
        memory_type: Kind of memory.
        importance_tier: Importance tier.
        retrieval_priority: Retrieval priority.
        sensitivity: Sensitivity.
        state: Life-cycle state.
        source_kind: Origin of the note.
        source_of_truth: Whether the note claims to be authoritative.
        trigger_phrases: Phrases that should find this note.
        tags: Tags of the front matter, then those in the text.
        aliases: Other names of the note.
        links: Targets of wiki links and of relative Markdown links, in order of appearance.
        metadata: All other fields, safe to write as JSON; `created_invalid` holds an unreadable date.
        front_matter: Whether the note brought fields of its own.
        context: Words needed to understand the note; searched, but not shown.
        follows: Source of the previous note, in a conversation or a series.
        unread: Remarks on labels and characters that are not kept as written, without their values.
    """

    source: str
    title: str
    content: str
    created_at: datetime | None = None
    memory_type: str = "note"
    importance_tier: str = "normal"
    retrieval_priority: str = "normal"
    sensitivity: str = "internal"
    state: str = "accepted"
    source_kind: str = "manual"
    source_of_truth: bool = False
    trigger_phrases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    front_matter: Literal["ok", "none"] = "none"
    context: str = ""
    follows: str = ""
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VaultFile:
    """Readable file of a vault.

    Attributes:
        source: POSIX path relative to the vault root, in Unicode normal form C.
        path: Path of the file.
        size: Bytes.
        mtime_ns: Last modification (nanoseconds since 1970).
    """

    source: str
    path: Path
    size: int
    mtime_ns: int
