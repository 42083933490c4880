"""Work on several things at once, in order: for what leaves the interpreter free, as compression does."""

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
    """What the work makes of each item, in their order; a few are under way at a time.

    An item is asked for when a thread is free for it, so that no more than those few are in memory.

    Args:
        work: safe to run in several threads.
        items: what it is done on.
    """
    with ThreadPoolExecutor(THREADS) as pool:
        begun: deque[Future[B]] = deque()
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) > THREADS:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
