"""What a reader makes of an export: items, some of them turns of a conversation, and what it cannot read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from slowwave.common import ids
from slowwave.errors import SlowwaveError

MESSAGE, REPLY = "message", "reply"
"""Kinds of what was said in a conversation: by the person, and by the assistant."""

IMPORTED = "imported"
TEXT = "text"
"""Where an import notes in a memory which text it let in."""
"""Field of the metadata of a note that says where it comes from."""

_PLAIN = re.compile(r"[\w.\-]{1,120}")


class ImportFailedError(SlowwaveError):
    """A file is of another form than it was said to be, damaged, or beyond the limits."""


@dataclass(frozen=True, slots=True)
class ImportItem:
    """One thing that may become a memory.

    Attributes:
        key: its name, made of the source's own ids: the same thing has the same key in every export.
        content: text, whole.
        kind: message or reply (said in a conversation), or what else it is: memory, document, entity, note.
        place: where in the export it stands, for a person.
        title: a title that somebody gave.
        created_at: when it was said or written, in UTC.
        updated: when it was changed last (ISO 8601, UTC); of two versions the newer holds. Empty: unknown.
        memory_type: of the note.
        tags: of the note.
        labels: further labels of `Memory.save`.
        about: what else is worth keeping, as metadata.
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
        """Whether it was said in a conversation, and nobody said that it is to be remembered."""
        return self.kind in (MESSAGE, REPLY)


Thread = tuple[ImportItem, ...]
"""What belongs together, in order: the turns of a conversation; a memory stands alone."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A record that cannot be read: where it is, and why."""

    place: str
    why: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Records that are none of what is asked for: why, and how many."""

    why: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Remark:
    """What a person should know of an export."""

    text: str


Read = Thread | Unread | Skipped | Remark


@dataclass(frozen=True)
class ImportSource(ABC):
    """An export of one form, and what is asked of it.

    Attributes:
        name: first part of the keys.
        path: where it is.
        now: the present.
        max_bytes: above which a note of a folder is refused.
        assistant: whether what the assistant of a conversation said is taken, too.
        user: only what is of this user; empty: all.
        title: its name for people.
        expected: what such an export looks like, for an error.
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
        """Refuse an export in which nothing was found.

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
        """Everything in it, in its order.

        Raises:
            ImportFailedError: it is no such export, or damaged.
            OSError: it cannot be opened.
        """


def name_of(*parts: object) -> str:
    """A key from ids of a source: parts that are plain stay as they are, of others a hash is used."""
    return "/".join(_plain(str(part)) for part in parts)


def _plain(part: str) -> str:
    sound = _PLAIN.fullmatch(part) and ".." not in part
    return part if sound else ids.digest(IMPORTED, part.encode("utf-8", "replace").decode())[:20]


def text_of(value: object) -> str:
    """The value if it is a text, else nothing."""
    return value if isinstance(value, str) else ""
