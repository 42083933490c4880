"""JSON data of any answer."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from typing import Any

import orjson
import polars as pl

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def to_json(value: Any, *, indent: bool = False) -> bytes:  # noqa: ANN401 - any data
    """Return a JSON document: frames as lists of rows, NaN as null, unknown types as text.

    A character that UTF-8 does not have is a question mark.
    """
    option = _OPTIONS | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        return orjson.dumps(value, option=option, default=_fallback)
    except orjson.JSONEncodeError:  # a name of a file that is not UTF-8
        text = json.dumps(value, default=_readable, ensure_ascii=False).encode("utf-8", "replace")
        return orjson.dumps(orjson.loads(text), option=option)


def plain(value: Any) -> Any:  # noqa: ANN401 - any data
    """Return a value as plain data: mappings, lists, strings, numbers, booleans and nulls."""
    return orjson.loads(to_json(value))


def _readable(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else _fallback(value)


def _fallback(value: object) -> object:
    return value.to_dicts() if isinstance(value, pl.DataFrame) else str(value)
