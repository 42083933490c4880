"""Payloads of many entries as columns of a frame."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin, get_type_hints

import polars as pl

from slowwave.journal.kinds.erasure import ERASED

Small = Annotated[int, pl.Int32]
"""A whole number of 32 bits; one that is greater is read as null."""

_TYPES: dict[Any, Any] = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}


def struct(payload: type | tuple[type, ...], *names: str, **others: pl.DataType) -> pl.Struct:
    """Fields of a payload as Polars reads them from JSON.

    A field that is not read cannot make an entry unreadable, so a reader names no more than it uses.

    Args:
        payload: a `TypedDict`, or several whose fields are read together.
        names: its fields, those of a part after a dot ("shown.rank"); none at all: every one.
        others: fields whose type is left to the caller.
    """
    every = payload if isinstance(payload, tuple) else (payload,)
    hints = {name: hint for one in every for name, hint in get_type_hints(one, include_extras=True).items()}
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
        return _type(next(one for one in inner if one is not types.NoneType), names)
    if origin is Sequence:
        return pl.List(_type(inner[0], names))
    return _TYPES[hint] if hint in _TYPES else struct(hint, *names)


def read(entries: pl.DataFrame, payload: pl.Struct) -> tuple[pl.DataFrame, list[tuple[pl.DataFrame, str]]]:
    """Entries with the fields of their payloads as columns.

    Args:
        entries: as `Journal.read` gives them.
        payload: the fields wanted.

    Returns:
        Those that have such a payload and were not erased, and each of those that have none, with why.
    """
    fields = pl.Struct([*payload.fields, pl.Field(ERASED, pl.String)])
    said = pl.col("payload").cast(pl.String).str.json_decode(fields)
    try:
        found = entries.with_columns(said=said).drop("payload").unnest("said")
        # What was erased says nothing any more, and nothing is wrong with it.
        if found[ERASED].null_count() < found.height:
            found = found.filter(pl.col(ERASED).is_null())
        return found.drop(ERASED), []
    except pl.exceptions.PolarsError as error:
        if entries.height == 1:
            return read(entries.clear(), payload)[0], [(entries, str(error).splitlines()[0])]
        half = entries.height // 2
        (first, one), (second, two) = read(entries[:half], payload), read(entries[half:], payload)
        return pl.concat([first, second]), one + two


def decoded(entries: pl.DataFrame, payload: pl.Struct) -> tuple[pl.DataFrame, list[str]]:
    """What `read` gives, with the ids of the entries that have no such payload."""
    found, broken = read(entries, payload)
    return found, [one["event_id"].item() for one, _ in broken]


def all_sound(rows: str, sound: pl.Expr) -> pl.Expr:
    """Whether there is a list and every element of it is sound."""
    return pl.col(rows).is_not_null() & pl.col(rows).list.eval(sound.fill_null(value=False)).list.all()


def is_number(value: pl.Expr) -> pl.Expr:
    """Whether a value is a finite number or none at all."""
    return value.is_null() | value.is_finite()
