"""Progress reporting of long work to a listener: a terminal bar, a log, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

WORKERS = 4
"""Threads for work that mostly waits for files (count)."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class ProgressListener(Protocol):
    """Listener for the start, progress and end of tasks."""

    def start(self, what: str, total: int | None) -> int:
        """Start a task of `total` units. Return its number."""

    def advance(self, task: int, units: int) -> None:
        """Report finished units."""

    def end(self, task: int, *, done: bool) -> None:
        """End a task, finished or given up."""


_listener: ContextVar[ProgressListener | None] = ContextVar("slowwave_progress", default=None)


@contextmanager
def listening(listener: ProgressListener | None) -> Iterator[None]:
    """Send the progress of everything inside to `listener`; None: to nobody."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def task(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Report a task; the yielded function takes the number of units just done."""
    listener = _listener.get()
    if listener is None:
        yield lambda units: None
        return
    number = listener.start(what, total)
    done = False
    try:
        yield lambda units: listener.advance(number, units)
        done = True
    finally:
        listener.end(number, done=done)


def map_in_threads(what: str, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Map items in `WORKERS` threads, in order, with progress; the first error cancels pending items."""
    results = []
    with task(what, len(items)) as advance, ThreadPoolExecutor(WORKERS) as workers:
        try:
            for result in workers.map(work, items):
                results.append(result)
                advance(1)
        except BaseException:
            workers.shutdown(wait=True, cancel_futures=True)
            raise
    return results
