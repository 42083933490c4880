"""Column mapping of bulk rows, and conversion of a row to an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, Final

from slowwave.common import ids
from slowwave.errors import ArgumentError
from slowwave.imports.model import ImportItem, Unread, name_of
from slowwave.imports.moments import moment_in, written
from slowwave.notes.sensitivity import SENSITIVITIES, SENSITIVITY, most_closed, words_in_fields

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
"""Default columns of each part of a note, in order of preference."""

Fields = dict[str, tuple[str, ...]]


def fields_of(pairs: Sequence[str]) -> Fields:
    """Parse the column mapping of a note's parts.

    Args:
        pairs: PART=COLUMN.

    Raises:
        ArgumentError: Another form, or no such part.
    """
    mapping = dict(NAMES)
    for pair in pairs:
        part, equals, column = pair.partition("=")
        if not equals or not column or part not in NAMES:
            raise ArgumentError(
                f"--map {pair!r}: write PART=COLUMN, where PART is one of {', '.join(NAMES)}."
            )
        mapping[part] = (column,)
    return mapping


def item_of(
    row: Mapping[str, Any], fields: Fields, name: str, place: str, now: datetime
) -> Unread | ImportItem:
    """Convert a row to an item, or return why it cannot be one.

    Args:
        row: Values by column.
        fields: Columns of each part.
        name: Prefix of the key.
        place: Location of the row, for a person.
        now: A later date is invalid.
    """
    value = {
        part: next((row[column] for column in columns if row.get(column) is not None), None)
        for part, columns in fields.items()
    }
    text = value["text"]
    if not isinstance(text, str) or not text.strip():
        return Unread(place, f"no text in {' or '.join(fields['text'])}")
    value_date = value["date"]
    if isinstance(value_date, date) and not isinstance(value_date, datetime):
        value_date = datetime.combine(value_date, time())
    moment = moment_in(value_date, now)
    if value_date is not None and moment is None:
        return Unread(place, f"{str(value_date)[:40]!r} is not a date, or in the future")
    title = "" if value["title"] is None else str(value["title"])
    key = value["key"]
    own = name_of(key) if key is not None else ids.digest(name, title, text)[:20]
    tags = value["tags"]
    tags = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else ()
    labels = {part: value[part] for part in ("context", SENSITIVITY) if value[part] is not None}
    texts = {*fields["text"], *fields["title"], *fields["context"]}
    stated = list(words_in_fields({name: cell for name, cell in row.items() if name not in texts}))
    if most_closed([None, *stated]) == SENSITIVITIES[-1] and SENSITIVITY not in labels:
        labels[SENSITIVITY] = SENSITIVITIES[-1]  # a column in another spelling
    return ImportItem(
        key=f"{name}:{own}", content=text, kind=NOTE, place=place, title=title, created_at=moment,
        updated=written(moment), memory_type=str(value["type"] or "note"),
        tags=tuple(str(tag).strip() for tag in tags if tag is not None and str(tag).strip()), labels=labels,
    )  # fmt: skip
