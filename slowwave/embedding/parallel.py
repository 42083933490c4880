"""Several pieces of work at a time, for models that let go of the interpreter while they compute."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

One = TypeVar("One")
Made = TypeVar("Made")


def core_count() -> int:
    """Cores that this process may use (count), where that is told; else those that there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def embed_in_parallel(work: Callable[[One], Made], items: Sequence[One], threads: int) -> Iterator[Made]:
    """What `work` makes of the items, in their order, made by so many threads.

    They last as long as this call: there are none that a forked process would miss. One thread, or one item,
    is the caller's own. No more is begun when the caller stops, or when a piece of work fails.
    """
    if threads == 1 or len(items) == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(min(threads, len(items) or 1), thread_name_prefix="slowwave-model")
    try:
        begun: deque[Future[Made]] = deque()
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) > 2 * threads:  # enough for none to wait, however many items there are
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
