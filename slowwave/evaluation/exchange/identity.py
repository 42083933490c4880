"""Ids of imported acts: the same log gives the same ids, on every machine and every time."""

from __future__ import annotations

import re

from slowwave.common import ids

_OURS = re.compile(r"[0-9a-f]{32}")
_MEMORY = re.compile(r"[a-z2-7]{26}")


def own_id(what: str, namespace: str, given: str) -> str:
    """The id that a search or an act has here.

    An id of Slowwave (32 hex digits) stays what it is, so that what one home exports is the same act in
    another. Any other becomes a hash with the namespace: two tenants may both have a search ``1``, and its
    length does not matter.
    """
    return given if _OURS.fullmatch(given) else ids.digest(what, namespace, given)


def is_memory_id(text: str) -> bool:
    """Whether it has the form of a memory's id."""
    return _MEMORY.fullmatch(text) is not None
