"""Encoding of entries as rows of the database, and decoding.

A payload is JSON with sorted keys, compressed if that makes it smaller, behind one byte that names the
codec.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import orjson

from slowwave.journal.entry import Entry
from slowwave.journal.errors import JournalEntryError, JournalError
from slowwave.scoring.days import day_of, from_microseconds, to_microseconds

COMPRESS_ABOVE = 1024
"""Payloads with more bytes than this are compressed."""

_RAW = b"\x00"
_ZLIB = b"\x01"
_LEVEL = 1


def encode(payload: Mapping[str, Any], event_id: str) -> bytes:
    """Encode a payload as stored bytes; equal payloads give equal JSON.

    Raises:
        JournalEntryError: A value has no JSON type; the message names `event_id`.
    """
    try:
        plain = orjson.dumps(dict(payload), option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError) as error:
        raise JournalEntryError(
            f"the payload of entry {event_id!r} cannot be written as JSON: {error}; use JSON types only"
        ) from error
    if len(plain) > COMPRESS_ABOVE:
        packed = zlib.compress(plain, _LEVEL)
        if len(packed) < len(plain):
            return _ZLIB + packed
    return _RAW + plain


def decode(stored: bytes) -> bytes:
    """Return the JSON bytes of a stored payload.

    Raises:
        JournalError: The bytes are damaged, or were written by a newer version.
    """
    codec = stored[:1]
    if codec == _RAW:
        return stored[1:]
    if codec != _ZLIB:
        raise JournalError(
            f"a payload starts with the unknown codec byte {codec!r}; "
            "upgrade slowwave, or run `slowwave doctor`"
        )
    try:
        return zlib.decompress(memoryview(stored)[1:])
    except zlib.error as error:
        raise JournalError(
            f"a payload of {len(stored)} bytes cannot be decompressed ({error}); run `slowwave doctor`"
        ) from error


def readable(stored: bytes) -> bytes:
    """Return the JSON bytes of a stored payload; none of a damaged one, so that it stops no other entry."""
    try:
        return decode(stored)
    except JournalError:
        return b""


def payload_of(row_bytes: bytes) -> dict[str, Any]:
    """Parse the payload of one row of `Journal.read` (JSON bytes).

    A damaged one is empty, as a payload without any field, so its entry is refused as malformed.
    """
    try:
        payload = orjson.loads(row_bytes)
    except orjson.JSONDecodeError:
        return {}
    return payload if isinstance(payload, dict) else {}


def is_damaged(stored: bytes) -> bool:
    """Whether stored bytes hold no JSON object."""
    try:
        return not isinstance(orjson.loads(decode(stored)), dict)
    except (JournalError, orjson.JSONDecodeError):
        return True


def row_of(entry: Entry) -> dict[str, Any]:
    """Encode an entry as a row."""
    return {
        "event_id": entry.event_id,
        "kind": entry.kind,
        "namespace": entry.namespace,
        "subject": entry.subject,
        "occurred_at": to_microseconds(entry.occurred_at),
        "day": day_of(entry.occurred_at),
        "principal": entry.principal,
        "digest": entry.digest,
        "content_hash": entry.content_hash,
        "origin": entry.origin,
        "payload": encode(entry.payload, entry.event_id),
    }


def entry_of(row: dict[str, Any]) -> Entry:
    """Decode a whole row as an entry."""
    del row["day"]
    row["occurred_at"] = from_microseconds(row["occurred_at"])
    row["ordered_at"] = from_microseconds(row["ordered_at"])
    row["payload"] = payload_of(readable(row["payload"]))
    return Entry(**row)
