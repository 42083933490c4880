"""Decoding of many payloads into columns of a frame."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin, get_type_hints

import polars as pl

from slowwave.journal.kinds.erasure import ERASED

Small = Annotated[int, pl.Int32]
"""Integer of 32 bits; a greater one is read as null."""

_TYPES: dict[Any, Any] = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}


def struct(payload: type | tuple[type, ...], *names: str, **others: pl.DataType) -> pl.Struct:
    """Return the Polars type of a payload's fields.

    A field that is not read cannot make an entry unreadable, so a reader names only the fields it uses.

    Args:
        payload: A `TypedDict`, or several whose fields are read together.
        names: Field names, those of a part after a dot ("shown.rank"); none: all fields.
        others: Fields whose type the caller gives.
    """
    every = payload if isinstance(payload, tuple) else (payload,)
    hints = {name: hint for kind in every for name, hint in get_type_hints(kind, include_extras=True).items()}
    parts: dict[str, list[str]] = {}
    for name in names or hints:
        head, _, rest = name.partition(".")
        parts.setdefault(head, []).extend([rest] if rest else [])
    return pl.Struct({name: _type(hints[name], inner) for name, inner in parts.items()} | others)


def _type(hint: Any, names: list[str]) -> Any:  # noqa: ANN401 - a type as it is annotated
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Required, NotRequired):
        return _type(inner[0], names)
    if origin is Annotated:
        return inner[1]
    if origin in (Union, types.UnionType):  # every field may be null
        return _type(next(kind for kind in inner if kind is not types.NoneType), names)
    if origin is Sequence:
        return pl.List(_type(inner[0], names))
    return _TYPES[hint] if hint in _TYPES else struct(hint, *names)


def read(entries: pl.DataFrame, payload: pl.Struct) -> tuple[pl.DataFrame, list[tuple[pl.DataFrame, str]]]:
    """Decode the payloads of entries into columns.

    Args:
        entries: As `Journal.read` returns them.
        payload: Wanted fields.

    Returns:
        Readable entries that were not erased, and each unreadable entry with the reason.
    """
    fields = pl.Struct([*payload.fields, pl.Field(ERASED, pl.String)])
    parsed = pl.col("payload").cast(pl.String).str.json_decode(fields)
    try:
        rows = entries.with_columns(parsed=parsed).drop("payload").unnest("parsed")
        # Erased entries have no content, and nothing is wrong with them.
        if rows[ERASED].null_count() < rows.height:
            rows = rows.filter(pl.col(ERASED).is_null())
        return rows.drop(ERASED), []
    except pl.exceptions.PolarsError as error:
        if entries.height == 1:
            return read(entries.clear(), payload)[0], [(entries, str(error).splitlines()[0])]
        half = entries.height // 2
        (first, broken), (second, more) = read(entries[:half], payload), read(entries[half:], payload)
        return pl.concat([first, second]), broken + more


def decoded(entries: pl.DataFrame, payload: pl.Struct) -> tuple[pl.DataFrame, list[str]]:
    """Return the readable entries of `read`, and the ids of the unreadable ones."""
    rows, broken = read(entries, payload)
    return rows, [entry["event_id"].item() for entry, _ in broken]


def all_sound(rows: str, sound: pl.Expr) -> pl.Expr:
    """Return whether there is a list of which every element is sound, as an expression."""
    return pl.col(rows).is_not_null() & pl.col(rows).list.eval(sound.fill_null(value=False)).list.all()


def is_number(value: pl.Expr) -> pl.Expr:
    """Return whether a value is a finite number or null, as an expression."""
    return value.is_null() | value.is_finite()
