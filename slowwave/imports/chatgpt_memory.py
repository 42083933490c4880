"""Explicit memories of ChatGPT: what it noted about a person (`bio`), and custom instructions.

Both are messages of conversations. The same instructions are in each conversation that had them, so that the
newest are imported once. A note is known by its text, because ChatGPT repeats one and edits none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from slowwave.imports.model import ImportItem, Read, Skipped, name_of, text_of
from slowwave.imports.moments import moment_in, written
from slowwave.notes.decoding import says_nothing

FORGOTTEN_THERE = "forgotten in ChatGPT"
SWITCHED_OFF = "custom instructions that are switched off"
_TO_MEMORY: Final = "bio"
_INSTRUCTIONS: Final = "user_editable_context"
_PARTS: Final = (
    ("profile", "About me: my work or profession, home, interests", "about_user_message", "user_profile"),
    ("instructions", "How ChatGPT should answer", "about_model_message", "user_instructions"),
)
"""Custom instructions: name, title with what ChatGPT asks for in that field, and their keys in exports."""
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_FENCED: Final = re.compile(r"\s*[^`]*:\s*```\s*(.*?)\s*```\s*", re.DOTALL)  # ChatGPT's words around a text
_UNSAY: Final = re.compile(
    r"(?:please\s+)?(?:forget|(?:delete|remove|erase)\s+(?:the|this|that)?\s*memory)\b"
    r"(?:\s+(?:that|about))?[\s:]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Sighting:
    """Text of a memory in one message; the order breaks a tie of dates, and an export is newest first."""

    item: ImportItem
    order: int

    @property
    def age(self) -> tuple[datetime, int]:
        return self.item.created_at or _EARLIEST, -self.order


@dataclass(slots=True)
class ExplicitMemories:
    """Collector of the explicit memories of an export.

    Attributes:
        source: First part of the keys.
        now: Current time.
    """

    source: str
    now: datetime
    _notes: dict[str, list[_Sighting]] = field(default_factory=dict)
    _instructions: dict[str, list[_Sighting]] = field(default_factory=dict)
    _unsaid: dict[str, datetime] = field(default_factory=dict)
    _skipped: dict[str, int] = field(default_factory=dict)
    _count: int = 0

    def add(self, message: Mapping[str, Any], conversation: str, place: str, began: datetime | None) -> bool:
        """Collect the memories of a message. Return whether it is for memories, not a turn."""
        content = message.get("content")
        if not isinstance(content, dict):
            return False
        at = moment_in(message.get("create_time"), self.now) or began
        item = ImportItem("", "", "memory", place, created_at=at, about={"in": conversation})
        self._count += 1
        if content.get("content_type") == _INSTRUCTIONS:
            self._add_instructions(content, message.get("metadata"), item)
        elif message.get("recipient") == _TO_MEMORY:
            self._add_note(_texts_of(content), item)
        else:
            return False
        return True

    def read(self) -> Iterator[Read]:
        """Yield each memory once, as dated by its first sighting."""
        for name, sightings in self._instructions.items():
            newest = max(sightings, key=lambda sighting: sighting.age)
            yield self._once(name, [each for each in sightings if each.item.content == newest.item.content])
            self._skip("the same or earlier custom instructions", len(sightings) - 1)
        for name, sightings in self._notes.items():
            unsaid = self._unsaid.get(name)
            if unsaid is not None and max(sightings, key=lambda each: each.age).age[0] <= unsaid:
                self._skip(FORGOTTEN_THERE, len(sightings))
                continue
            yield self._once(name, sightings)
            self._skip("the same memory again", len(sightings) - 1)
        yield from (Skipped(why, count) for why, count in self._skipped.items())

    def _add_note(self, text: str, item: ImportItem) -> None:
        unsaid = _UNSAY.match(text)
        if unsaid is not None:
            name = _plain(text[unsaid.end() :])
            self._unsaid[name] = max(self._unsaid.get(name, _EARLIEST), item.created_at or _EARLIEST)
            self._skip("a request to forget a memory")
        elif says_nothing(text):
            self._skip("an empty memory")
        else:
            item = replace(
                item, content=text.strip(), memory_type="fact", labels={"source_kind": "generated"}
            )
            self._notes.setdefault(_plain(text), []).append(_Sighting(item, self._count))

    def _add_instructions(self, content: Mapping[str, Any], metadata: object, item: ImportItem) -> None:
        data = metadata.get("user_context_message_data") if isinstance(metadata, dict) else None
        data = data if isinstance(data, dict) else {}
        if data.get("enabled") is False or content.get("enabled") is False:
            self._skip(SWITCHED_OFF)
            return
        texts = [
            (name, title, text_of(data.get(plain)) or _unwrapped(text_of(content.get(wrapped))))
            for name, title, plain, wrapped in _PARTS
        ]
        texts = [part for part in texts if not says_nothing(part[2])]
        for name, title, text in texts:
            found = replace(item, content=text.strip(), title=title, labels={"source_kind": "imported"})
            self._instructions.setdefault(name, []).append(_Sighting(found, self._count))
        if not texts:
            self._skip("empty custom instructions")

    def _once(self, name: str, sightings: list[_Sighting]) -> tuple[ImportItem]:
        dated = [each for each in sightings if each.item.created_at is not None] or sightings
        first, last = (pick(dated, key=lambda each: each.age).item for pick in (min, max))
        key = f"{self.source}:{name_of('memory', name)}"
        return (replace(first, key=key, updated=written(last.created_at)),)

    def _skip(self, why: str, count: int = 1) -> None:
        if count:
            self._skipped[why] = self._skipped.get(why, 0) + count


def _texts_of(content: Mapping[str, Any]) -> str:
    """Return the text of any content: parts of texts or objects, or one text."""
    parts = content.get("parts")
    if isinstance(parts, str):
        return parts
    if isinstance(parts, list):
        texts = [text_of(part.get("text")) if isinstance(part, dict) else text_of(part) for part in parts]
        return "\n\n".join(text for text in texts if text.strip()) or text_of(content.get("text"))
    return text_of(content.get("text"))


def _unwrapped(text: str) -> str:
    """Return the person's text without the words that ChatGPT puts around it."""
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced else text


def _plain(text: str) -> str:
    """Return the words of a memory in one form, by which it is known."""
    return " ".join(text.casefold().split()).rstrip(".!")
