"""Fair concurrency limiter: callers take turns."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

import anyio

READ_AT_ONCE: Final = 4  # concurrent calls that read or append events, of all callers (count)
WRITE_AT_ONCE: Final = 1  # concurrent calls that write tables (count)


class FairLimiter:
    """Concurrency limit with round-robin over callers.

    Args:
        at_once: concurrent calls (count).
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._line: OrderedDict[Hashable, deque[anyio.Event]] = OrderedDict()

    @asynccontextmanager
    async def of(self, caller: Hashable) -> AsyncIterator[None]:
        """Wait for a turn, and hold it until the block ends."""
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
        except BaseException:  # the waiting call was cancelled
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
    """Limiters of one server: a few concurrent reads, one writer of tables."""

    def __init__(self) -> None:
        self._reads, self._writes = FairLimiter(READ_AT_ONCE), FairLimiter(WRITE_AT_ONCE)

    def of(self, caller: Hashable, *, writes: bool) -> AbstractAsyncContextManager[None]:
        """Wait for a turn, and hold it until the block ends.

        Args:
            caller: of the call.
            writes: whether it writes tables.
        """
        return (self._writes if writes else self._reads).of(caller)
