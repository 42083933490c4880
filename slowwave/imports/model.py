"""Model of an import: items, threads of conversation turns, and records that cannot be read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from slowwave.common import ids
from slowwave.errors import SlowwaveError

MESSAGE, REPLY = "message", "reply"
"""Kinds of conversation turns: by the person, and by the assistant."""

IMPORTED = "imported"
TEXT = "text"
"""Metadata field with the hash of the imported text."""
"""Field of the metadata of a note that says where it comes from."""

_PLAIN = re.compile(r"[\w.\-]{1,120}")


class ImportFailedError(SlowwaveError):
    """Error for a file of another form, damaged, or beyond the limits."""


@dataclass(frozen=True, slots=True)
class ImportItem:
    """Item of an export that may become a memory.

    Attributes:
        key: Made of the source's own ids, so it is equal in every export.
        content: Whole text.
        kind: message or reply (conversation turns), else memory, document, entity or note.
        place: Location in the export, for a person.
        title: Explicit title.
        created_at: UTC.
        updated: Last change (ISO 8601, UTC); of two versions the newer is imported. Empty: unknown.
        memory_type: Of the note.
        tags: Of the note.
        labels: Further labels of `Memory.save`.
        about: Further metadata.
    """

    key: str
    content: str
    kind: str
    place: str
    title: str = ""
    created_at: datetime | None = None
    updated: str = ""
    memory_type: str = "note"
    tags: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def spoken(self) -> bool:
        """Whether it is a conversation turn, and not an explicit memory."""
        return self.kind in (MESSAGE, REPLY)


Thread = tuple[ImportItem, ...]
"""Related items in order: the turns of a conversation, or a single memory."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Record that cannot be read, with its place and the reason."""

    place: str
    why: str


@dataclass(frozen=True, slots=True)
class Repaired:
    """Record with replaced characters that are not Unicode: its place and their count."""

    place: str
    characters: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """Records that were skipped, with the reason and their count."""

    why: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Remark:
    """Remark about an export for a person."""

    text: str


Read = Thread | Unread | Repaired | Skipped | Remark


@dataclass(frozen=True)
class ImportSource(ABC):
    """Export of one form, with the options of its import.

    Attributes:
        name: First part of the keys.
        path: Of the export.
        now: Current time.
        max_bytes: Maximum size of a note in a folder.
        assistant: Import turns of the assistant too.
        user: Import only items of this user; empty: all.
        title: Name for people.
        expected: Description of such an export, for an error.
    """

    title: ClassVar[str]
    expected: ClassVar[str]

    name: str
    path: str
    now: datetime
    max_bytes: int
    assistant: bool = False
    user: str = ""

    def require(self, files: Sequence[object], names: str) -> None:
        """Refuse an export without any file.

        Args:
            files: Files that were found.
            names: What was looked for, with its verb ("is no conversations.json").

        Raises:
            ImportFailedError: There are no files.
        """
        if not files:
            raise ImportFailedError(f"There {names} in {self.path}. Expected: {self.expected}.")

    @abstractmethod
    def read(self) -> Iterator[Read]:
        """Yield everything in the export, in order.

        Raises:
            ImportFailedError: It is of another form, or damaged.
            OSError: It cannot be opened.
        """


def isolated(place: str, read: Iterable[Read]) -> Iterator[Read]:
    """Yield what one record has; values that no reader expects cost this record only."""
    try:
        yield from list(read)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError) as error:
        yield Unread(place, f"it has an unexpected value ({type(error).__name__}: {error})")


def name_of(*parts: object) -> str:
    """Build a key from ids of a source; unusual parts are hashed."""
    return "/".join(_plain(str(part)) for part in parts)


def _plain(part: str) -> str:
    sound = _PLAIN.fullmatch(part) and ".." not in part
    return part if sound else ids.digest(IMPORTED, part.encode("utf-8", "replace").decode())[:20]


def text_of(value: object) -> str:
    """Return the value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""
