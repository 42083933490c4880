"""Digests of texts, for versions and repeatable random draws."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

_RANGE = 2.0**64


def digest(parts: Iterable[str]) -> str:
    """Return the BLAKE2b-128 digest of the parts as 32 hex digits.

    Each part is preceded by its length, so different splits give different digests.
    """
    state = blake2b(digest_size=16)
    for part in parts:
        data = part.encode()
        state.update(len(data).to_bytes(8, "big") + data)
    return state.hexdigest()


def uniform(*parts: str) -> float:
    """Return a pseudo-random number in (0, 1) that depends only on the parts."""
    return (int(digest(parts)[:16], 16) + 0.5) / _RANGE
