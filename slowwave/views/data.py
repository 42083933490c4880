"""JSON data of any answer."""

from __future__ import annotations

from typing import Any

import orjson
import polars as pl

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def to_json(value: Any, *, indent: bool = False) -> bytes:  # noqa: ANN401 - any data
    """Return a JSON document: frames as lists of rows, NaN as null, unknown types as text."""
    return orjson.dumps(value, option=_OPTIONS | (orjson.OPT_INDENT_2 if indent else 0), default=_fallback)


def plain(value: Any) -> Any:  # noqa: ANN401 - any data
    """Return a value as plain data: mappings, lists, strings, numbers, booleans and nulls."""
    return orjson.loads(to_json(value))


def _fallback(value: object) -> object:
    return value.to_dicts() if isinstance(value, pl.DataFrame) else str(value)
