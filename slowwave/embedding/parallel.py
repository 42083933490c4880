"""Parallel map for models that release the interpreter lock while they compute."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

One = TypeVar("One")
Made = TypeVar("Made")


def core_count() -> int:
    """Return the number of cores that this process may use, else of all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def embed_in_parallel(work: Callable[[One], Made], items: Sequence[One], threads: int) -> Iterator[Made]:
    """Yield the results of `work` for the items, in order, computed by `threads` threads.

    The threads last as long as this call, so a forked process is missing none. One thread, or one item, runs
    in the caller. No more work starts after the caller stops or a piece fails.
    """
    if threads == 1 or len(items) == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(min(threads, len(items) or 1), thread_name_prefix="slowwave-model")
    try:
        begun: deque[Future[Made]] = deque()
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) > 2 * threads:  # keeps all threads busy with bounded memory
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
