"""Progress of long work, told to whoever listens: a terminal bar, a log, or nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

WORKERS = 4
"""Threads of work that mostly waits for files (count)."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class ProgressListener(Protocol):
    """Hears of work: it starts, it advances, it ends."""

    def start(self, what: str, total: int | None) -> int:
        """Work of `total` units begins; returns its number."""

    def advance(self, task: int, units: int) -> None:
        """Some units are done."""

    def end(self, task: int, *, done: bool) -> None:
        """The work is done, or given up."""


_listener: ContextVar[ProgressListener | None] = ContextVar("slowwave_progress", default=None)


@contextmanager
def listening(listener: ProgressListener | None) -> Iterator[None]:
    """Send the progress of everything inside to `listener`; None: nobody hears of it."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def task(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Announce work; the value is called with the number of units just done."""
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
    """Map items in `WORKERS` threads, in order, with progress; the first error cancels what has not begun."""
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
