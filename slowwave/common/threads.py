"""Ordered mapping in threads, for work that releases the interpreter lock, such as compression."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")

THREADS = min(4, os.cpu_count() or 1)


def side_by_side(work: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
    """Map items in threads, in order, a few at a time.

    Items are consumed only when a thread is free, so that few are in memory.

    Args:
        work: Thread-safe.
        items: Its inputs.
    """
    with ThreadPoolExecutor(THREADS) as pool:
        begun: deque[Future[B]] = deque()
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) > THREADS:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
