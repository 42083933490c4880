"""Payloads of erasures: beginning, end, and the remains of erased entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, TypeGuard

ERASED = "erased"
"""Payload field of an erased entry: the id of the erasure; nothing else is left."""


class ErasedPayload(TypedDict):
    """Remains of an erased entry: the erasure, and its previous kind."""

    erased: str
    was: str


class Begun(TypedDict):
    """Scope of an erasure: memories and searches by id, reason, and entries to erase (count)."""

    scope: str
    memories: Sequence[str]
    searches: Sequence[str]
    why: str
    acts: int


class Finished(TypedDict):
    """End of an erasure; `remains` says in sentences what could not be erased."""

    finished: bool
    remains: Sequence[str]


def is_erased(payload: Mapping[str, Any]) -> bool:
    """Whether a user had the entry erased."""
    return ERASED in payload


def begins(payload: object) -> TypeGuard[Begun]:
    """Whether an entry of this kind begins an erasure."""
    return isinstance(payload, Mapping) and {"scope", "memories", "why"} <= payload.keys()


def ends(payload: object) -> TypeGuard[Finished]:
    """Whether an entry of this kind ends an erasure."""
    return isinstance(payload, Mapping) and bool(payload.get("finished"))
