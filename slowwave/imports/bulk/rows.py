"""What the columns of rows are, and a row as an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, Final

from slowwave.common import ids
from slowwave.errors import ArgumentError
from slowwave.imports.model import ImportItem, Unread, name_of
from slowwave.imports.moments import moment_in, written

NOTE = "note"
NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text", "content", "body"),
    "key": ("key", "id", "source"),
    "title": ("title", "name"),
    "date": ("date", "created_at", "timestamp"),
    "tags": ("tags",),
    "type": ("memory_type",),
    "context": ("context",),
    "sensitivity": ("sensitivity",),
}
"""Columns that each part of a note is looked for in, where nobody says which."""

Fields = dict[str, tuple[str, ...]]


def fields_of(said: Sequence[str]) -> Fields:
    """The columns of each part of a note.

    Args:
        said: PART=COLUMN.

    Raises:
        ArgumentError: another form, or no such part.
    """
    found = dict(NAMES)
    for one in said:
        part, equals, column = one.partition("=")
        if not equals or not column or part not in NAMES:
            raise ArgumentError(f"--map {one!r}: write PART=COLUMN, where PART is one of {', '.join(NAMES)}.")
        found[part] = (column,)
    return found


def item_of(
    row: Mapping[str, Any], fields: Fields, name: str, place: str, now: datetime
) -> Unread | ImportItem:
    """A row as an item, or what is wrong with it.

    Args:
        row: values by column.
        fields: columns of each part.
        name: what stands before the key.
        place: where the row stands, for a person.
        now: the present; a date beyond it cannot be right.
    """
    value = {
        part: next((row[column] for column in columns if row.get(column) is not None), None)
        for part, columns in fields.items()
    }
    text = value["text"]
    if not isinstance(text, str) or not text.strip():
        return Unread(place, f"no text in {' or '.join(fields['text'])}")
    when = value["date"]
    if isinstance(when, date) and not isinstance(when, datetime):
        when = datetime.combine(when, time())
    moment = moment_in(when, now)
    if when is not None and moment is None:
        return Unread(place, f"{str(when)[:40]!r} is no date, or one ahead")
    title = "" if value["title"] is None else str(value["title"])
    key = value["key"]
    own = name_of(key) if key is not None else ids.digest(name, title, text)[:20]
    tags = value["tags"]
    tags = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else ()
    labels = {part: value[part] for part in ("context", "sensitivity") if value[part] is not None}
    return ImportItem(
        key=f"{name}:{own}", content=text, kind=NOTE, place=place, title=title, created_at=moment,
        updated=written(moment), memory_type=str(value["type"] or "note"),
        tags=tuple(str(tag).strip() for tag in tags if tag is not None and str(tag).strip()), labels=labels,
    )  # fmt: skip
