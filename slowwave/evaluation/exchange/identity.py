"""Ids of imported events: the same log gives the same ids on every machine."""

from __future__ import annotations

import re

from slowwave.common import ids

_OURS = re.compile(r"[0-9a-f]{32}")
_MEMORY = re.compile(r"[a-z2-7]{26}")


def own_id(kind: str, namespace: str, foreign_id: str) -> str:
    """Return the local id of an imported search or event.

    A Slowwave id (32 hex digits) stays, so an export is the same event in another home. Any other id is
    hashed with the namespace, because two tenants may both have a search ``1``.
    """
    return foreign_id if _OURS.fullmatch(foreign_id) else ids.digest(kind, namespace, foreign_id)


def is_memory_id(text: str) -> bool:
    """Return whether the text has the form of a memory id."""
    return _MEMORY.fullmatch(text) is not None
