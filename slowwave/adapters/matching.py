"""Filters of LangGraph stores, as in its in-memory store and PostgreSQL's JSON."""

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
    """Whether a value matches a filter."""
    return all(_equal(value.get(name), expected) for name, expected in (wanted or {}).items())


def _equal(actual: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_holds(actual, name, item) for name, item in wanted.items())
        return isinstance(actual, Mapping) and all(
            _equal(actual.get(name), item) for name, item in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        same = isinstance(actual, list | tuple) and len(actual) == len(wanted)
        return same and all(_equal(item, other) for item, other in zip(actual, wanted, strict=True))
    return bool(actual == wanted)


def _holds(actual: Any, sign: str, wanted: Any) -> bool:
    if sign == "$eq":
        return bool(actual == wanted)
    if sign == "$ne":
        return bool(actual != wanted)
    if sign not in _ORDERED:
        raise ArgumentError(f"filter: unknown operator {sign!r}. Use $eq, $ne, {', '.join(_ORDERED)}.")
    try:
        return _ORDERED[sign](float(actual), float(wanted))
    except (TypeError, ValueError):
        return False  # not a number


def matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Whether a namespace has this prefix or suffix; `*` matches any part.

    Raises:
        ArgumentError: the type is neither prefix nor suffix.
    """
    path = tuple(condition.path)
    if condition.match_type == "prefix":
        actual = namespace[: len(path)]
    elif condition.match_type == "suffix":
        actual = namespace[len(namespace) - len(path) :] if len(namespace) >= len(path) else ()
    else:
        raise ArgumentError(f"match_type = {condition.match_type!r}: give prefix or suffix.")
    return len(actual) == len(path) and all(
        pattern in ("*", part) for pattern, part in zip(path, actual, strict=True)
    )
