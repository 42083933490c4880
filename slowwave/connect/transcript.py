"""Parser of a Claude Code session file: messages of the user, one JSON object per line.

Claude Code declares the format as internal and unstable. So everything unknown is skipped, and nothing is
guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from slowwave.common.json_repair import REPLACEMENT, Damaged, records, replaced_characters

MAX_CHARACTERS = 4_000
"""Maximum length of a message; a longer one counts as pasted."""
# User entries that the program wrote: notes, tool results, prompts of subagents.
_NOT_BY_USER = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "toolUseResult")
_MARKUP = re.compile(r"\s*(?:<[a-zA-Z][\w-]*[\s>]|\[Request interrupted|Caveat: )")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Message:
    """Message of the user.

    Attributes:
        id: of the message in its session.
        text: as it was written.
        at: its time, if known.
    """

    id: str
    text: str
    at: datetime | None


@dataclass(slots=True)
class Losses:
    """Remarks on what could not be read in a session file, with its line.

    Attributes:
        broken: on lines, or parts of lines, that are not JSON.
        replaced: on messages of the user with characters that are not Unicode.
    """

    broken: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)


def messages(lines: Iterable[str], losses: Losses | None = None) -> Iterator[Message]:
    """Yield the messages of the user, in order; other lines are skipped.

    Args:
        lines: of the file.
        losses: gets what could not be read.
    """
    losses = losses or Losses()
    for place, entry, replaced in _entries(lines, losses):
        if entry.get("type") != "user" or any(entry.get(name) for name in _NOT_BY_USER):
            continue
        message = entry.get("message")
        if not isinstance(message, Mapping) or message.get("role", "user") != "user":
            continue
        text = _REMINDER.sub("", _text(message.get("content"))).strip()
        if text and len(text) <= MAX_CHARACTERS and not _MARKUP.match(text):
            if count := replaced + text.count("\0"):
                losses.replaced.append(f"line {place.partition('.')[0]}: {replaced_characters(count)}")
            name = entry.get("uuid")
            text = text.replace("\0", REPLACEMENT)
            yield Message(name if isinstance(name, str) and name else place, text, _moment(entry))


def _entries(lines: Iterable[str], losses: Losses) -> Iterator[tuple[str, Mapping[str, Any], int]]:
    """Yield the objects with their places and replaced characters (count)."""
    for number, line in enumerate(lines, start=1):
        part = 0
        for record in records(line) if line.strip() else ():
            if isinstance(record, Damaged):
                losses.broken.append(f"line {number}: {record.why}")
            elif isinstance(record.value, Mapping):
                yield f"{number}.{part}" if part else str(number), record.value, record.replaced
                part += 1


def _text(content: object) -> str:
    """Return the text of a message; "" for a tool result."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(block, Mapping) for block in content):
        return ""
    if any(block.get("type") not in ("text", "image", "document") for block in content):
        return ""
    texts = [block["text"] for block in content if isinstance(block.get("text"), str)]
    return "\n\n".join(text for text in texts if not _MARKUP.match(text))


def _moment(entry: Mapping[str, Any]) -> datetime | None:
    written = entry.get("timestamp")
    try:
        at = datetime.fromisoformat(written) if isinstance(written, str) else None
    except ValueError:
        return None
    return at.astimezone(UTC) if at is not None and at.tzinfo is not None else None
