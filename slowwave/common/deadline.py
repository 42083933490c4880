"""Deadlines of calls over a network, and cancellation when their client disconnects.

Work runs in threads, which nothing can end from outside. So it looks itself, before each query of the tables
and each step of a loop: `check` raises once the time is over or the client has gone. What was written to the
journal before is taken in later, as after any other end.
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
    """Of one call.

    Attributes:
        seconds: that it may take.
        until: moment at which they are over (`time.monotonic`).
        is_left: whether its client has gone.
        is_ending: whether the program that works for it is ending.
    """

    seconds: float
    until: float
    is_left: bool = False
    is_ending: bool = False


_NOW: ContextVar[Deadline | None] = ContextVar("slowwave_deadline", default=None)


@contextmanager
def within(seconds: float) -> Iterator[Deadline]:
    """Bound the work of this block; one that is bounded already keeps its deadline."""
    if (known := _NOW.get()) is not None:
        yield known
        return
    made = Deadline(seconds, monotonic() + seconds)
    token = _NOW.set(made)
    try:
        yield made
    finally:
        _NOW.reset(token)


def check() -> None:
    """Go on, if anybody waits for it and there is time.

    Raises:
        OverdueError: the call has worked for too long, or its client has gone.
    """
    if (one := _NOW.get()) is None:
        return
    if one.is_left:
        raise OverdueError("Nobody waits for this answer any more: its work was ended.")
    if monotonic() > one.until:
        if one.is_ending:
            raise OverdueError("The program is ending, and with it the work of this call. Call again later.")
        raise OverdueError(
            f"This call was ended after {one.seconds:g} s of work (mcp.work_seconds). Ask for less at a time."
        )
