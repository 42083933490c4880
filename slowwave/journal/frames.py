"""Rows of the journal as Polars frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from slowwave.journal.codec import readable

_MOMENT = pl.Datetime("us", "UTC")
_TEXT = pl.String()

ENTRY_SCHEMA = pl.Schema(
    {
        "seq": pl.Int64(),
        "event_id": _TEXT,
        "kind": _TEXT,
        "namespace": _TEXT,
        "subject": _TEXT,
        "occurred_at": _MOMENT,
        "ordered_at": _MOMENT,
        "day": _TEXT,
        "principal": _TEXT,
        "digest": _TEXT,
        "content_hash": _TEXT,
        "origin": _TEXT,
        "payload": pl.Binary(),
    }
)

DAY_SCHEMA = pl.Schema({"day": _TEXT, "namespace": _TEXT, "entries": pl.Int64(), "last_seq": pl.Int64()})

SAVE_SCHEMA = pl.Schema(
    {
        "subject": _TEXT,
        "event_id": _TEXT,
        "occurred_at": _MOMENT,
        "principal": _TEXT,
        "content_hash": _TEXT,
    }
)

FORGET_SCHEMA = pl.Schema({"subject": _TEXT, "occurred_at": _MOMENT})

SOURCE_SCHEMA = pl.Schema(
    {
        "subject": _TEXT,
        "kind": _TEXT,
        "digest": _TEXT,
        "content_hash": _TEXT,
        "occurred_at": _MOMENT,
        "event_id": _TEXT,
    }
)


def entry_frame(
    parts: Iterable[Sequence[Sequence[Any]]], columns: Sequence[str] = tuple(ENTRY_SCHEMA)
) -> pl.DataFrame:
    """Return rows of these columns with decoded payloads; each part is freed before the next is read."""
    schema = pl.Schema({name: ENTRY_SCHEMA[name] for name in columns})
    frames = [to_frame(part, schema) for part in parts] or [schema.to_frame()]
    return frames[0] if len(frames) == 1 else pl.concat(frames)


def to_frame(rows: Sequence[Sequence[Any]], schema: pl.Schema) -> pl.DataFrame:
    """Return rows in column order of `schema` as a frame; moments are microseconds.

    Payloads come as stored.
    """
    columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pl.DataFrame(
        [_series(name, values, dtype) for (name, dtype), values in zip(schema.items(), columns, strict=True)]
    )


def _series(name: str, values: Sequence[Any], dtype: pl.DataType) -> pl.Series:
    if dtype == _MOMENT:
        return pl.Series(name, values, pl.Int64).cast(_MOMENT)
    if name == "payload":
        return pl.Series(name, [readable(value) for value in values], pl.Binary)
    return pl.Series(name, values, dtype)
