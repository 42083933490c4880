"""Digests of texts, for versions and for draws that anyone can repeat."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

_RANGE = 2.0**64


def digest(parts: Iterable[str]) -> str:
    """BLAKE2b-128 of the parts as 32 hex digits; each has its length before it, so none can run together."""
    state = blake2b(digest_size=16)
    for part in parts:
        data = part.encode()
        state.update(len(data).to_bytes(8, "big") + data)
    return state.hexdigest()


def uniform(*parts: str) -> float:
    """A number in (0, 1) that only these parts decide, as if it were drawn."""
    return (int(digest(parts)[:16], 16) + 0.5) / _RANGE
