"""Encoding of entries as rows of the database, and decoding.

A payload is JSON with sorted keys, compressed if that makes it smaller, behind one byte that names the
codec. Records of tables are megabytes: Zstandard compresses them at a fifth of zlib's time. It needs PyArrow,
which a process that reads short payloads only does not load.
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

ZSTD_ABOVE = 131_072
"""Payloads with more bytes than this are compressed by Zstandard, others by zlib."""

_RAW = b"\x00"
_ZLIB = b"\x01"
_ZSTD = b"\x02"  # then the number of JSON bytes, in `_SIZE_BYTES`
_SIZE_BYTES = 8
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
        packed = _compressed(plain)
        if len(packed) < len(plain):
            return packed
    return _RAW + plain


def _compressed(plain: bytes) -> bytes:
    if len(plain) <= ZSTD_ABOVE:
        return _ZLIB + zlib.compress(plain, _LEVEL)
    import pyarrow as pa

    packed: bytes = pa.Codec("zstd", _LEVEL).compress(plain, asbytes=True)
    return _ZSTD + len(plain).to_bytes(_SIZE_BYTES, "big") + packed


def decode(stored: bytes) -> bytes:
    """Return the JSON bytes of a stored payload.

    Raises:
        JournalError: The bytes are damaged, or were written by a newer version.
    """
    codec = stored[:1]
    if codec == _RAW:
        return stored[1:]
    if codec == _ZSTD:
        return _unpacked(stored)
    if codec != _ZLIB:
        raise JournalError(
            f"a payload starts with the unknown codec byte {codec!r}; "
            "upgrade slowwave, or run `slowwave doctor`"
        )
    try:
        return zlib.decompress(memoryview(stored)[1:])
    except zlib.error as error:
        raise _damaged(stored, error) from error


def _unpacked(stored: bytes) -> bytes:
    import pyarrow as pa

    begin = 1 + _SIZE_BYTES
    size = int.from_bytes(stored[1:begin], "big")
    if size <= ZSTD_ABOVE:
        raise _damaged(stored, f"it names a size of {size} bytes")
    try:
        plain: bytes = pa.decompress(memoryview(stored)[begin:], size, "zstd", asbytes=True)
    except (pa.ArrowException, OSError, OverflowError, MemoryError) as error:
        raise _damaged(stored, error) from error
    return plain


def _damaged(stored: bytes, error: object) -> JournalError:
    return JournalError(
        f"a payload of {len(stored)} bytes cannot be decompressed ({error}); run `slowwave doctor`"
    )


def payload_of(row_bytes: bytes) -> dict[str, Any]:
    """Parse the payload of one row of `Journal.read` (JSON bytes)."""
    payload: dict[str, Any] = orjson.loads(row_bytes)
    return payload


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
    row["payload"] = payload_of(decode(row["payload"]))
    return Entry(**row)
