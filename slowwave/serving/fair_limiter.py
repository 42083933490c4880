"""Fair limiter: one caller's work does not keep the others waiting."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

import anyio

READ_AT_ONCE: Final = 4  # calls that read or note something, of all callers (count)
WRITE_AT_ONCE: Final = 1  # calls that write tables, which have one writer at a time (count)


class FairLimiter:
    """Work for so many at a time; those who wait come in turn, one call of each caller after the other.

    Args:
        at_once: calls that work at a time (count).
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._line: OrderedDict[Hashable, deque[anyio.Event]] = OrderedDict()

    @asynccontextmanager
    async def of(self, caller: Hashable) -> AsyncIterator[None]:
        """Wait for a turn, and have it until the block ends."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(caller)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, caller: Hashable) -> None:
        turn = anyio.Event()
        self._line.setdefault(caller, deque()).append(turn)
        try:
            await turn.wait()
        except BaseException:  # who waits was cancelled
            if turn.is_set():
                self._pass_on()
            else:
                self._line[caller].remove(turn)
                if not self._line[caller]:
                    del self._line[caller]
            raise

    def _pass_on(self) -> None:
        if not self._line:
            self._free += 1
            return
        caller, turns = self._line.popitem(last=False)
        turns.popleft().set()
        if turns:
            self._line[caller] = turns  # behind the others


class Turns:
    """Turns of all calls of one server: a few read at a time, one writes tables."""

    def __init__(self) -> None:
        self._reads, self._writes = FairLimiter(READ_AT_ONCE), FairLimiter(WRITE_AT_ONCE)

    def of(self, caller: Hashable, *, writes: bool) -> AbstractAsyncContextManager[None]:
        """Wait for a turn, and have it until the block ends.

        Args:
            caller: Whose call it is.
            writes: Whether it writes tables.
        """
        return (self._writes if writes else self._reads).of(caller)
