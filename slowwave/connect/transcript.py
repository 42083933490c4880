"""What a person wrote in a session of Claude Code: pure reading of its file, one JSON object per line.

Claude Code says where the file is and that its form is its own and may change. So whatever is not known is
passed over, and nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

LONGEST = 4_000
"""Characters of a message above which it counts as pasted, not written."""
# Entries of the person's side that the program wrote: its notes, answers of tools, prompts of its helpers.
_NOT_A_PERSONS = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "toolUseResult")
_MARKUP = re.compile(r"\s*(?:<[a-zA-Z][\w-]*[\s>]|\[Request interrupted|Caveat: )")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Message:
    """What a person wrote.

    Attributes:
        id: of the message in its session.
        text: as it was written.
        at: when, if the session says so.
    """

    id: str
    text: str
    at: datetime | None


def messages(lines: Iterable[str]) -> Iterator[Message]:
    """The messages that a person wrote, in their order; lines that are no such message are passed over."""
    for number, line in enumerate(lines, start=1):
        entry = _entry(line)
        if entry.get("type") != "user" or any(entry.get(name) for name in _NOT_A_PERSONS):
            continue
        message = entry.get("message")
        if not isinstance(message, Mapping) or message.get("role", "user") != "user":
            continue
        text = _REMINDER.sub("", _text(message.get("content"))).strip()
        if text and len(text) <= LONGEST and not _MARKUP.match(text):
            name = entry.get("uuid")
            yield Message(name if isinstance(name, str) and name else str(number), text, _moment(entry))


def _entry(line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, Mapping) else {}


def _text(content: object) -> str:
    """The text of a message; none of one that brings what a tool answered."""
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
