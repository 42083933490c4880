"""Cache of values that are made from a table, each kept for as long as the table is the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

MAX_ENTRIES = 1_024
"""Values that one cache keeps at most; the least used go first (count)."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class TableCache(Generic[K, T]):
    """Values by key, usually a namespace, each made again when the mark of its source is another one.

    The mark is asked before the value is made. So a table that changes in between costs a second making, and
    never an old value. Threads wait for one another: nothing is made twice at once.

    Args:
        mark: Return what tells a state from another one, such as `Store.version` of a table.
        make: Make the value of a key; gets the mark, too, and the value that was kept before, if any.
        max_entries: values that are kept (count).
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
            mark, kept = self._mark(key), self._kept.get(key)
            if kept is None or kept[0] != mark:
                kept = self._kept[key] = mark, self._make(key, mark, None if kept is None else kept[1])
            self._kept.move_to_end(key)
            while len(self._kept) > self._max:
                _close(self._kept.popitem(last=False)[1][1])
            return kept[1]

    def close(self) -> None:
        """Forget all values, and close those that can be closed."""
        with self._lock:
            while self._kept:
                _close(self._kept.popitem()[1][1])


def _close(value: object) -> None:
    if hasattr(value, "close"):
        value.close()
