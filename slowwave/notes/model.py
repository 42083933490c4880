"""What a note is, and what stands in its place when it cannot be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from slowwave.errors import SlowwaveError

Reason = Literal[
    "broken_front_matter",
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
    """A note cannot be read.

    Attributes:
        reason: One of the words of `Reason`.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True)
class NoteFailure:
    """A note, or a line of a JSONL file, that could not be read.

    Attributes:
        source: As in `Note`; `facts.jsonl#L12` for line 12 of a JSONL file.
        reason: One of the words of `Reason`.
        message: What is wrong, where, and what to do about it.
        excerpt: The first 500 characters, undecodable bytes replaced.
        size_bytes: Size of the whole note or line.
    """

    source: str
    reason: Reason
    message: str
    excerpt: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it was written: fields are read, not judged; words are only lower-cased and stripped.

    Attributes:
        source: POSIX path relative to the vault, `facts.jsonl#ID` for a JSONL line, or the caller's key.
        title: Front-matter title, else the first level 1 heading, else the file name as words.
        content: Body without front matter, line breaks as LF.
        created_at: Moment of creation in UTC, if one was given that can be read.
        memory_type: Kind of memory.
        importance_tier: Importance tier.
        retrieval_priority: Retrieval priority.
        sensitivity: Sensitivity.
        state: Life-cycle state.
        source_kind: How the note came about.
        source_of_truth: Whether the note claims to be authoritative.
        trigger_phrases: Phrases that should find this note.
        tags: Tags of the front matter, then those in the text.
        aliases: Other names of the note.
        links: Targets of wiki links and of relative Markdown links, in order of appearance.
        metadata: All other fields, safe to write as JSON; `created_invalid` holds an unreadable date.
        front_matter: Whether the note brought fields of its own.
        context: What has to be known to understand the note; it is found by these words, they are not shown.
        follows: Source of the note that this one comes after, in a conversation or a series.
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


@dataclass(frozen=True, slots=True)
class VaultFile:
    """A readable file of a vault.

    Attributes:
        source: POSIX path relative to the vault root, in Unicode normal form C.
        path: Where to open it.
        size: Bytes.
        mtime_ns: Last modification (nanoseconds since 1970).
    """

    source: str
    path: Path
    size: int
    mtime_ns: int
