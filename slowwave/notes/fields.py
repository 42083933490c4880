"""Fields of a note: their names, and their values in a note's types."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from slowwave.notes.model import NoteError

WORD_FIELDS = {
    "memory_type": "note",
    "importance_tier": "normal",
    "retrieval_priority": "normal",
    "sensitivity": "internal",
    "state": "accepted",
    "source_kind": "manual",
}
_TIME_FIELDS = ("created", "created_at", "date", "said_at")
_TURN_FIELDS = frozenset({"context", "follows"})
TEXT_FIELDS = frozenset({"title", "trigger_phrases", "tags", "aliases", *_TURN_FIELDS, *WORD_FIELDS})
_KNOWN_FIELDS = TEXT_FIELDS | {"source_of_truth", *_TIME_FIELDS}
_SYNONYMS = {"tag": "tags", "alias": "aliases"}
_FLAG_WORDS = {"true": True, "yes": True, "on": True, "1": True}
_FLAG_WORDS |= {"false": False, "no": False, "off": False, "0": False, "": False}

MAX_DEPTH = 64
"""Maximum nesting of a field."""

_WORD_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s\-]+")


@lru_cache(maxsize=1024)
def field_name(key: str) -> str:
    """Return the standard name of a field: `Trigger-Phrases` and `triggerPhrases` are `trigger_phrases`."""
    name = _WORD_BREAK.sub("_", key.strip()).lower()
    return _SYNONYMS.get(name, name)


class Fields:
    """Fields of one note: known ones by their standard name, the rest as metadata."""

    def __init__(self, raw: Mapping[str, Any], source: str) -> None:
        self.source = source
        self.rest: dict[str, Any] = {}
        self._known: dict[str, Any] = {}
        for key, value in raw.items():
            name = key if key in _KNOWN_FIELDS else field_name(key)
            # These two names have other uses too: a value that is not one text is metadata.
            structured = name in _TURN_FIELDS and isinstance(value, (dict, list, tuple, set, bytes))
            first = name not in self._known and (name == key or name not in raw)
            if name in _KNOWN_FIELDS and first and not structured:
                self._known[name] = value
            else:
                self.rest[self.checked("metadata", key)] = self.json_safe(value)

    def text(self, name: str) -> str:
        """Return the value of a field that is one text; empty if missing."""
        return self.scalar(name, self._known.get(name))

    def scalar(self, name: str, value: object) -> str:
        """Return the value as a stripped string.

        Raises:
            NoteError: If it is a list or a mapping.
        """
        if value is None:
            return ""
        if isinstance(value, (dict, list, tuple, set, bytes)):
            kind = "mapping" if isinstance(value, dict) else type(value).__name__
            raise NoteError(
                "wrong_type",
                f"{self.source}: field {name!r} holds a {kind} ({str(value)[:60]}) where one text belongs; "
                "put the text in quotes",
            )
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, (date, datetime)):
            return value.isoformat()
        return self.checked(name, str(value)).strip()

    def items(self, name: str, separator: re.Pattern[str]) -> tuple[str, ...]:
        """Return distinct items of a list field, in order; a single text is split at the separator."""
        value = self._known.get(name)
        if isinstance(value, (list, tuple)):
            entries = [self.scalar(name, item) for item in value]
        else:
            entries = [item.strip() for item in separator.split(self.scalar(name, value))]
        return tuple(dict.fromkeys(item for item in entries if item))

    def flag(self, name: str) -> bool:
        """Return the value of a yes or no field.

        Raises:
            NoteError: If it is neither.
        """
        word = self.text(name).lower()
        if word not in _FLAG_WORDS:
            raise NoteError("wrong_type", f"{self.source}: field {name!r} is {word!r}; write true or false")
        return _FLAG_WORDS[word]

    def moment(self) -> datetime | None:
        """Return the creation time from the first time field with a value; the others become metadata."""
        present = [name for name in _TIME_FIELDS if self._known.get(name) not in (None, "")]
        for name in present[1:]:
            self.rest[name] = self.json_safe(self._known[name])
        if not present:
            return None
        value = self._known[present[0]]
        moment = _to_utc(value)
        if moment is None:
            self.rest["created_invalid"] = self.json_safe(value)
        return moment

    def checked(self, name: str, text: str) -> str:
        """Return the text, if it has no NUL and no half surrogate pair.

        Raises:
            NoteError: If it has; databases refuse both.
        """
        if "\0" in text:
            raise NoteError("nul_bytes", f"{self.source}: NUL character in field {name!r}; remove it")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            half = f"half of a character (\\u{ord(text[error.start]):04x})"
            raise NoteError("not_utf8", f"{self.source}: {half} in field {name!r}; write all of it") from None
        return text

    def json_safe(self, value: object, depth: int = 0) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value in JSON's types: dates as ISO 8601, bytes as base64, sets as sorted lists.

        Raises:
            NoteError: If it is nested deeper than `MAX_DEPTH`.
        """
        if depth > MAX_DEPTH:
            raise NoteError("wrong_type", f"{self.source}: a field is nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, dict):
            return {
                self.checked("metadata", key): self.json_safe(item, depth + 1) for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.json_safe(item, depth + 1) for item in value]
        if isinstance(value, set):
            return sorted(self.json_safe(item, depth + 1) for item in value)
        if isinstance(value, (date, datetime)):
            return value.isoformat()
        if isinstance(value, bytes):
            return base64.b64encode(value).decode("ascii")
        return self.checked("metadata", value) if isinstance(value, str) else value


def _to_utc(value: object) -> datetime | None:
    """Convert a date, datetime, or ISO 8601 string to UTC; None if invalid. Naive means UTC."""
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, date):
        moment = datetime(value.year, value.month, value.day, tzinfo=UTC)
    elif isinstance(value, (str, int)) and not isinstance(value, bool):
        try:
            moment = datetime.fromisoformat(str(value).strip())
        except ValueError:
            return None
    else:
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:  # the offset leads before year 1 or after year 9999
        return None
