"""Tombstones of erased vault files: hashes that recognise a file, without name or text."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import TYPE_CHECKING

from slowwave.common import ids
from slowwave.journal.entry import ERASED, ERASURE

if TYPE_CHECKING:
    from slowwave.journal.journal import Journal

NAME = "erased:"
"""Prefix of the subject of an erased entry; its memory's id follows."""


def erased_name(namespace: str, source: str) -> str:
    """Return the subject of an erased entry, in place of the source."""
    return NAME + ids.memory_id(namespace, source)


def erased_names(journal: Journal, namespace: str) -> set[str]:
    """Return the subjects of all erased entries of a namespace."""
    if not journal.count(namespace, ERASURE):
        return set()
    return set(journal.read(kinds=[ERASED], namespace=namespace)["subject"].to_list())


def tombstone_digest(digest: str, salt: str = "") -> str:
    """Hash a vault file, or a line of one, with a salt of its own."""
    salt = salt or secrets.token_hex(16)
    return f"{salt}:{ids.digest('erased', salt, digest)}"


def is_tombstoned(digest: str, kept: Collection[str]) -> bool:
    """Whether the file with this digest was erased."""
    return any(tombstone_digest(digest, tombstone.partition(":")[0]) == tombstone for tombstone in kept)
