"""An erasure: that it began and that it is finished; and what is left of the acts that it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, TypeGuard

ERASED = "erased"
"""Field of the payload of an act that was erased: the id of the erasure. It says nothing else of use."""


class ErasedPayload(TypedDict):
    """What is left of an act: which erasure took it, and of what kind it was."""

    erased: str
    was: str


class Begun(TypedDict):
    """What is erased: `scope`, memories and searches by their ids, why, and how many acts go (count)."""

    scope: str
    memories: Sequence[str]
    searches: Sequence[str]
    why: str
    acts: int


class Finished(TypedDict):
    """That it is done; `remains` says in sentences what could not be."""

    finished: bool
    remains: Sequence[str]


def is_erased(payload: Mapping[str, Any]) -> bool:
    """Whether a person had the act erased."""
    return ERASED in payload


def begins(payload: object) -> TypeGuard[Begun]:
    """Whether an act of this kind says that an erasure began."""
    return isinstance(payload, Mapping) and {"scope", "memories", "why"} <= payload.keys()


def ends(payload: object) -> TypeGuard[Finished]:
    """Whether an act of this kind says that an erasure is finished."""
    return isinstance(payload, Mapping) and bool(payload.get("finished"))


def memories_in(payload: Mapping[str, Any]) -> Sequence[str]:
    """Ids of the memories that an erasure takes; none where it says that one is finished."""
    found: Sequence[str] = payload.get("memories", ())
    return found


def searches_in(payload: Mapping[str, Any]) -> Sequence[str]:
    """Ids of the searches that an erasure takes."""
    found: Sequence[str] = payload.get("searches", ())
    return found
