"""Pool of open memories: one per caller, on one workspace."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import Lock, Thread
from typing import Final

from slowwave.home.workspace import Workspace
from slowwave.memory import Memory
from slowwave.serving.caller import Caller
from slowwave.serving.request import MemoryRequest
from slowwave.settings import Settings

LOG = logging.getLogger("slowwave.mcp")
MAX_READY: Final = 16
"""Namespaces that are loaded in advance (count)."""
MAX_OPEN: Final = 1_000
"""Open memories (count); a provider may have any number of users."""


class MemoryPool:
    """Pool of open memories, one per caller, on a shared workspace.

    Args:
        settings: of the home.
        caller: returns the current caller.
        namespace: of all callers, if they have only one.
        space: the open workspace, if there is one; `close` closes it for all users.
        session: returns the id of the current caller's session; empty: unknown.

    Attributes:
        space: the workspace.
        opening: lock held while it is opened.
    """

    def __init__(
        self,
        settings: Settings,
        caller: Callable[[], Caller],
        *,
        namespace: str = "",
        space: Workspace | None = None,
        session: Callable[[], str] = str,
    ) -> None:
        self._space = self.space = space or Workspace(settings, namespace=namespace)
        self.caller = caller
        self._session = session
        self._opened: OrderedDict[tuple[str, str], Memory] = OrderedDict()
        self._lock = self.opening = Lock()
        self._closed = False

    def request(self) -> MemoryRequest:
        """Open the request of the assistant that is calling now."""
        caller = self.caller()
        return MemoryRequest(caller.as_assistant, self.of(caller), self._session())

    def of(self, caller: Caller) -> Memory:
        """Return the memory of a caller."""
        who = caller.namespace, caller.principal
        with self._lock:
            if who not in self._opened:
                memory = self._memory(caller)
                # Load the model once: calls come in several threads.
                memory.prepare()
                self._opened[who] = memory
                if len(self._opened) > MAX_OPEN:
                    self._opened.popitem(last=False)  # it owns nothing that has to be closed
            self._opened.move_to_end(who)
            return self._opened[who]

    def begin(self, namespaces: Iterable[str]) -> Thread:
        """Load the model and the tables of namespaces in a thread.

        Calls wait for it. If it fails, the first call fails in the same way and reports the error.

        Args:
            namespaces: the likeliest first.

        Returns:
            The thread.
        """
        wanted = list(dict.fromkeys(namespaces))[:MAX_READY]
        thread = Thread(target=self._begin, args=(wanted,), name="slowwave-begin", daemon=True)
        thread.start()
        return thread

    def _begin(self, namespaces: Iterable[str]) -> None:
        for namespace in namespaces:
            with self._lock:  # one lock per namespace, so that a call waits for at most one
                if self._closed:
                    return
                try:
                    self._make_ready(namespace)
                except Exception as error:  # the first call reports it
                    LOG.warning("The memory is not ready: %s", error)
                    return

    def _make_ready(self, namespace: str) -> None:
        from slowwave.search.run import make_ready

        self._memory(Caller(namespace, "")).prepare()
        make_ready(self._space, namespace)

    def _memory(self, caller: Caller) -> Memory:
        settings, space = self._space.settings, self._space
        return Memory(settings, namespace=caller.namespace, principal=caller.principal, space=space)

    def close(self) -> None:
        """Close the workspace."""
        self._closed = True
        with self._lock:
            self._opened.clear()
            self._space.close()
