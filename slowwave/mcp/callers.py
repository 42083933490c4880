"""Who calls, and the memory that is open to them."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

from slowwave.home.workspace import Workspace
from slowwave.memory import Memory
from slowwave.settings import Settings


class Caller(NamedTuple):
    """Who acts, and in which namespace; nothing that a client sends decides either."""

    namespace: str
    principal: str


class Memories:
    """One memory per caller, opened when it is first needed; all share the parts of the home.

    Args:
        settings: of the home.
        caller: who is calling now.
        namespace: of all callers, where they have one.
    """

    def __init__(self, settings: Settings, caller: Callable[[], Caller], *, namespace: str = "") -> None:
        self._space = Workspace(settings, namespace=namespace)
        self.caller = caller
        self._opened: dict[Caller, Memory] = {}
        self._lock = Lock()

    def mine(self) -> Memory:
        """The memory of who is calling now."""
        caller = self.caller()
        with self._lock:
            if caller not in self._opened:
                memory = Memory(
                    self._space.settings,
                    namespace=caller.namespace,
                    principal=caller.principal,
                    space=self._space,
                )
                # Calls come in several threads, which would each load a model of their own.
                memory.prepare()
                self._opened[caller] = memory
            return self._opened[caller]

    def close(self) -> None:
        """Release what was opened."""
        with self._lock:
            self._opened.clear()
            self._space.close()
