"""Deadlines of calls over a network, and cancellation when their client disconnects.

Work runs in threads, which cannot be stopped from outside. It calls `check` before each query of the tables
and each step of a loop. `check` raises once the time is over or the client has disconnected. Events in the
journal by then are applied later, as after any other interruption.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic

from slowwave.errors import OverdueError


@dataclass(slots=True, eq=False)
class Deadline:
    """Deadline of one call.

    Attributes:
        seconds: Maximum duration.
        until: End (`time.monotonic`).
        is_left: Whether the client has disconnected.
        is_ending: Whether the program is shutting down.
    """

    seconds: float
    until: float
    is_left: bool = False
    is_ending: bool = False


_NOW: ContextVar[Deadline | None] = ContextVar("slowwave_deadline", default=None)


@contextmanager
def within(seconds: float) -> Iterator[Deadline]:
    """Bound the work of this block; an outer deadline stays in force."""
    if (outer := _NOW.get()) is not None:
        yield outer
        return
    deadline = Deadline(seconds, monotonic() + seconds)
    token = _NOW.set(deadline)
    try:
        yield deadline
    finally:
        _NOW.reset(token)


def check() -> None:
    """Raise if the current call is overdue.

    Raises:
        OverdueError: The call worked for too long, or its client has disconnected.
    """
    if (deadline := _NOW.get()) is None:
        return
    if deadline.is_left:
        raise OverdueError("The client has disconnected, so the call was cancelled.")
    if monotonic() > deadline.until:
        if deadline.is_ending:
            raise OverdueError("The server is shutting down, so the call was cancelled. Call again later.")
        raise OverdueError(
            f"The call was cancelled after {deadline.seconds:g} s of work (mcp.work_seconds). Request less "
            "at a time."
        )
