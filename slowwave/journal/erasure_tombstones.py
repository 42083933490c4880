"""What is kept of an erased file of a vault, to know it again when it is looked at: no name and no text."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from slowwave.common import ids

NAME = "erased:"
"""What the subject of an erased act begins with; its memory's id follows."""


def erased_name(namespace: str, source: str) -> str:
    """Subject of an erased act, in place of the source."""
    return NAME + ids.memory_id(namespace, source)


def tombstone_digest(digest: str, salt: str = "") -> str:
    """What is kept of a vault's file, or of a line of one: a hash with a salt of its own."""
    salt = salt or secrets.token_hex(16)
    return f"{salt}:{ids.digest('erased', salt, digest)}"


def is_tombstoned(digest: str, kept: Collection[str]) -> bool:
    """Whether what has this digest was erased."""
    return any(tombstone_digest(digest, one.partition(":")[0]) == one for one in kept)
