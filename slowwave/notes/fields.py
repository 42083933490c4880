"""Fields of a note: their names, and their values in a note's types."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from slowwave.notes.dates import read_date
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
LIST_FIELDS = frozenset({"trigger_phrases", "tags", "aliases"})
TEXT_FIELDS = frozenset({"title", *LIST_FIELDS, *_TURN_FIELDS, *WORD_FIELDS})
KNOWN_FIELDS = TEXT_FIELDS | {"source_of_truth", *_TIME_FIELDS}
LEFT_OUT = "labels_left_out"
"""Metadata with the labels of a note that could not be read."""
DAMAGED = "damaged_characters"
"""Metadata with the characters of a note that are not kept as written."""
CREATED_INVALID = "created_invalid"
"""Metadata with a creation time that could not be read."""
_SYNONYMS = {"tag": "tags", "alias": "aliases"}
_FLAG_WORDS = {"true": True, "yes": True, "on": True, "1": True}
_FLAG_WORDS |= {"false": False, "no": False, "off": False, "0": False, "": False}

MAX_DEPTH = 64
"""Maximum nesting of a field."""

NO_DATE = "is no date with one meaning"
"""End of a remark on a date."""
_BAD_VALUES = {
    "wrong_type": "has a list or a mapping where one text belongs, or is nested too deeply",
    "nul_bytes": "has a NUL character",
    "not_utf8": "has half of a character",
}
_REMARKS = 5  # in a sentence for people
_NAME_CHARACTERS = 40  # of a label in a remark
_TEMPLATE = re.compile(r"\s*(?:<%.*%>|\{\{.*\}\})\s*", re.DOTALL)
_WORD_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s\-]+")


@lru_cache(maxsize=1024)
def field_name(key: str) -> str:
    """Return the standard name of a field: `Trigger-Phrases` and `triggerPhrases` are `trigger_phrases`."""
    name = _WORD_BREAK.sub("_", key.strip()).lower()
    return _SYNONYMS.get(name, name)


def is_template(value: object) -> bool:
    """Whether a value is a template that no tool has filled in: `<% tp.date %>`, `{{date}}`."""
    return isinstance(value, str) and _TEMPLATE.fullmatch(value) is not None


def unread_remark(place: str, unread: Sequence[str]) -> str:
    """Return the sentence about labels and characters that are not kept as written."""
    remarks = list(dict.fromkeys(unread))
    more = f" and {len(remarks) - _REMARKS:,} more" if len(remarks) > _REMARKS else ""
    return f"{place}: its text is read, but not as written: {'; '.join(remarks[:_REMARKS])}{more}."


class Fields:
    """Fields of one note: known ones by their standard name, the rest as metadata.

    A label that cannot be read is left out, and `unread` has a remark on it. A value of the wrong type is
    metadata. `damages` has the remarks on characters.
    """

    def __init__(self, raw: Mapping[str, Any], source: str, damages: Sequence[str] = ()) -> None:
        self.source = source
        self.damages = tuple(damages)
        self.rest: dict[str, Any] = {}
        self.unread: list[str] = []
        self._known: dict[str, Any] = {}
        for key, value in raw.items():
            name = key if key in KNOWN_FIELDS else field_name(key)
            # These two names have other uses too: a value that is not one text is metadata.
            structured = name in _TURN_FIELDS and isinstance(value, (dict, list, tuple, set, bytes))
            first = name not in self._known and (name == key or name not in raw)
            if name in KNOWN_FIELDS and first and not structured:
                self._known[name] = value
            else:
                self._keep(key, value)

    def leave_out(self, name: str, why: str) -> None:
        """Leave a label out, with its value as metadata if that can be stored."""
        self.unread.append(f"{name[:_NAME_CHARACTERS]} {why}")
        if name in self._known:
            with suppress(NoteError):
                self.rest[name] = self.json_safe(self._known.pop(name))

    def _keep(self, name: str, value: object) -> None:
        try:
            self.rest[self.checked("metadata", name)] = self.json_safe(value)
        except NoteError as error:
            short = name.encode("utf-8", "replace").decode().replace("\0", "")[:_NAME_CHARACTERS]
            self.unread.append(f"{short} {_BAD_VALUES.get(error.reason, 'cannot be stored')}")

    def text(self, name: str) -> str:
        """Return the value of a field that is one text; empty if missing or left out."""
        value = self._known.get(name)
        try:
            text = self.scalar(name, value)
        except NoteError as error:
            self.leave_out(name, _BAD_VALUES.get(error.reason, "cannot be stored"))
            return ""
        if is_template(text):
            self.leave_out(name, "is a template that was not filled in")
            return ""
        return text

    def word(self, name: str, known: Collection[str]) -> str:
        """Return the value of a field of known words, in lower case; empty if missing or left out."""
        word = self.text(name).lower()
        if word and word not in known:
            self.leave_out(name, f"is none of {', '.join(sorted(known))}")
            return ""
        return word

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
        if not isinstance(value, (list, tuple)):
            entries = [item.strip() for item in separator.split(self.text(name))]
            return tuple(dict.fromkeys(item for item in entries if item))
        entries, bad = [], ""
        for item in value:
            while isinstance(item, (list, tuple)) and len(item) == 1:  # YAML reads a link `[[a]]` as lists
                item = item[0]
            try:
                entries.append(self.scalar(name, item))
            except NoteError as error:
                bad = _BAD_VALUES.get(error.reason, "cannot be stored")
        if bad or any(map(is_template, entries)):
            self.unread.append(f"{name}: an item {bad or 'is a template that was not filled in'}")
        return tuple(dict.fromkeys(item for item in entries if item and not is_template(item)))

    def flag(self, name: str) -> bool:
        """Return the value of a yes or no field; no if it is neither."""
        word = self.text(name).lower()
        if word not in _FLAG_WORDS:
            self.leave_out(name, "is neither true nor false")
        return _FLAG_WORDS.get(word, False)

    def moment(self) -> datetime | None:
        """Return the creation time from the first time field that can be read; the others become metadata.

        If none can be read, the first one is the metadata `created_invalid`.
        """
        present = [name for name in _TIME_FIELDS if self._known.get(name) not in (None, "")]
        moments = {name: moment for name in present if (moment := read_date(self._known[name])) is not None}
        chosen = next(iter(moments or present), "")
        for name in present:
            if name != chosen:
                self._keep(name, self._known[name])
            if name not in moments:
                self.unread.append(f"{name} {NO_DATE}")
        if chosen and not moments:
            self._keep(CREATED_INVALID, self._known[chosen])
        return moments.get(chosen)

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
