"""Notes that an application gives as arguments: checked, and with the types a note has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import orjson

from slowwave.errors import SlowwaveError
from slowwave.notes.model import Note
from slowwave.notes.reading import plain_note
from slowwave.notes.turns import first_words

_TITLE_CHARACTERS = 80


def note_of(labels: Mapping[str, Any], number: int, *, fallback_key: str) -> Note:
    """A note from the arguments of `Memory.save`.

    Args:
        labels: content, title, key and the labels of a note.
        number: of the note in its call, for errors.
        fallback_key: its key where it brings none.

    Raises:
        SlowwaveError: a label is not known or has the wrong type; says which, of which note.
    """
    known = {part.name for part in fields(Note)} - {"source", "front_matter", "links"} | {"key"}
    if unknown := set(labels) - known:
        raise SlowwaveError(
            f"Note {number}: {sorted(unknown)} are not labels of a note. Known: {sorted(known)}."
        )
    content = _text(labels.get("content"), "content", number)
    key = _text(labels.get("key") or fallback_key, "key", number)
    note = plain_note(content, source=key)
    given = {name: value for name, value in labels.items() if name not in ("content", "key") and value}
    title = _text(given.pop("title", "") or note.title, "title", number)
    if not title or title == note.source:
        title = _first_words(content)
    return replace(note, title=title, **{"source_kind": "generated", **_typed(given, number)})


def _typed(given: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Labels with the types a note has."""
    typed: dict[str, Any] = {}
    for name, value in given.items():
        if name in ("tags", "trigger_phrases", "aliases"):
            typed[name] = _texts(value, name, number)
        elif name == "created_at":
            if not isinstance(value, datetime) or value.tzinfo is None:
                raise SlowwaveError(
                    f"Note {number}: created_at = {value!r} has to be a datetime with a zone."
                )
            typed[name] = value.astimezone(UTC)
        elif name == "context":
            typed[name] = first_words(_text(value, name, number))
        elif name == "follows":
            typed[name] = _text(value, name, number)
        elif name == "metadata":
            typed[name] = _json_mapping(value, number)
        elif name == "source_of_truth":
            if not isinstance(value, bool):
                raise SlowwaveError(f"Note {number}: source_of_truth = {value!r} has to be True or False.")
            typed[name] = value
        else:
            typed[name] = _text(value, name, number).strip().lower()
    return typed


def _text(value: object, name: str, number: int) -> str:
    """The value, if it is text that can be stored."""
    if not isinstance(value, str):
        raise SlowwaveError(f"Note {number}: {name} is {type(value).__name__}, it has to be text.")
    if "\0" in value:
        raise SlowwaveError(f"Note {number}: {name} has a NUL character at {value.index(chr(0))}.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise SlowwaveError(
            f"Note {number}: {name} is not valid Unicode at character {error.start}. Decode it first."
        ) from None
    return value


def _texts(value: object, name: str, number: int) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_text(value, name, number),)
    if not isinstance(value, Sequence | set | frozenset):
        raise SlowwaveError(f"Note {number}: {name} = {value!r} has to be a list of texts.")
    return tuple(_text(item, name, number) for item in value)


def _json_mapping(value: object, number: int) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise SlowwaveError(f"Note {number}: metadata = {value!r} has to be a mapping.")
    try:
        return dict(orjson.loads(orjson.dumps(dict(value))))
    except TypeError as error:
        raise SlowwaveError(f"Note {number}: metadata cannot be written as JSON: {error}.") from None


def _first_words(content: str) -> str:
    line = next((line.strip(" #*-\t") for line in content.splitlines() if line.strip(" #*-\t")), "")
    if len(line) <= _TITLE_CHARACTERS:
        return line
    return line[:_TITLE_CHARACTERS].rsplit(" ", 1)[0] + " …"
