"""Cache of values derived from a table, valid while the table is unchanged."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

MAX_ENTRIES = 1_024
"""Maximum values of one cache (count); the least recently used are dropped."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class TableCache(Generic[K, T]):
    """Values by key, usually a namespace, recomputed when the source's mark changes.

    The mark is read before the value is computed. So a table that changes in between causes a second
    computation, and never a stale value. Threads wait for one another: nothing is computed twice at once.

    Args:
        mark: Returns what identifies a state, such as `Store.version` of a table.
        make: Computes the value of a key, given the mark and the previous value, if any.
        max_entries: Maximum values (count).
    """

    def __init__(
        self,
        mark: Callable[[K], Any],
        make: Callable[[K, Any, T | None], T],
        *,
        max_entries: int = MAX_ENTRIES,
    ) -> None:
        self._mark, self._make, self._max = mark, make, max_entries
        self._lock = threading.Lock()
        self._kept: OrderedDict[K, tuple[Any, T]] = OrderedDict()

    def of(self, key: K) -> T:
        """Return the value of a key as of now."""
        with self._lock:
            mark, cached = self._mark(key), self._kept.get(key)
            if cached is None or cached[0] != mark:
                cached = self._kept[key] = mark, self._make(key, mark, None if cached is None else cached[1])
            self._kept.move_to_end(key)
            while len(self._kept) > self._max:
                _close(self._kept.popitem(last=False)[1][1])
            return cached[1]

    def close(self) -> None:
        """Drop all values, and close those that can be closed."""
        with self._lock:
            while self._kept:
                _close(self._kept.popitem()[1][1])


def _close(value: object) -> None:
    if hasattr(value, "close"):
        value.close()
