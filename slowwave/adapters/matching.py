"""Filters of LangGraph's stores: as its own store in memory has them, and PostgreSQL's JSON."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from slowwave.errors import ArgumentError

if TYPE_CHECKING:
    from langgraph.store.base import MatchCondition

_ORDERED: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le,
}  # fmt: skip


def fits(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value has what a filter wants of each of its names."""
    return all(_equal(value.get(name), one) for name, one in (wanted or {}).items())


def _equal(there: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_holds(there, name, one) for name, one in wanted.items())
        return isinstance(there, Mapping) and all(
            _equal(there.get(name), one) for name, one in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        same = isinstance(there, list | tuple) and len(there) == len(wanted)
        return same and all(_equal(one, other) for one, other in zip(there, wanted, strict=True))
    return bool(there == wanted)


def _holds(there: Any, sign: str, wanted: Any) -> bool:
    if sign == "$eq":
        return bool(there == wanted)
    if sign == "$ne":
        return bool(there != wanted)
    if sign not in _ORDERED:
        raise ArgumentError(f"filter: {sign!r} is not known. There are $eq, $ne, {', '.join(_ORDERED)}.")
    try:
        return _ORDERED[sign](float(there), float(wanted))
    except (TypeError, ValueError):
        return False  # what is no number is neither more nor less


def matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Whether a namespace begins or ends so; `*` stands for any one part.

    Raises:
        ArgumentError: it is neither prefix nor suffix.
    """
    path = tuple(condition.path)
    if condition.match_type == "prefix":
        there = namespace[: len(path)]
    elif condition.match_type == "suffix":
        there = namespace[len(namespace) - len(path) :] if len(namespace) >= len(path) else ()
    else:
        raise ArgumentError(f"match_type = {condition.match_type!r}: give prefix or suffix.")
    return len(there) == len(path) and all(one in ("*", part) for one, part in zip(path, there, strict=True))
