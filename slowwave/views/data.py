"""What programs are given: anything that a call answers, as JSON has it."""

from __future__ import annotations

from typing import Any

import orjson
import polars as pl

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def to_json(value: Any, *, indent: bool = False) -> bytes:  # noqa: ANN401 - any data
    """A JSON document: frames as lists of rows, what is no number as null, what it does not know as text."""
    return orjson.dumps(value, option=_OPTIONS | (orjson.OPT_INDENT_2 if indent else 0), default=_known)


def plain(value: Any) -> Any:  # noqa: ANN401 - any data
    """The same as data: only mappings, lists, texts, numbers, truth values and nulls."""
    return orjson.loads(to_json(value))


def _known(value: object) -> object:
    return value.to_dicts() if isinstance(value, pl.DataFrame) else str(value)
