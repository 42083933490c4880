"""Pool of open memories: one per caller, over the parts of one home."""

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
"""Namespaces that are made ready before anybody asks (count)."""
MAX_OPEN: Final = 1_000
"""Callers whose memories are kept; a provider may know any number of people (count)."""


class MemoryPool:
    """Pool of open memories, one per caller; all share the parts of the home.

    Args:
        settings: of the home.
        caller: who is calling now.
        namespace: of all callers, where they have one.
        space: the parts of that home where they are open already; `close` closes them for all who share them.

    Attributes:
        space: the parts of the home.
        opening: held while they are being opened.
    """

    def __init__(
        self,
        settings: Settings,
        caller: Callable[[], Caller],
        *,
        namespace: str = "",
        space: Workspace | None = None,
    ) -> None:
        self._space = self.space = space or Workspace(settings, namespace=namespace)
        self.caller = caller
        self._opened: OrderedDict[tuple[str, str], Memory] = OrderedDict()
        self._lock = self.opening = Lock()
        self._closed = False

    def request(self) -> MemoryRequest:
        """Open the request of the assistant that is calling now."""
        caller = self.caller()
        return MemoryRequest(caller.as_assistant, self.of(caller))

    def of(self, caller: Caller) -> Memory:
        """The memory of a caller."""
        who = caller.namespace, caller.principal
        with self._lock:
            if who not in self._opened:
                memory = self._memory(caller)
                # Calls come in several threads, which would each load a model of their own.
                memory.prepare()
                self._opened[who] = memory
                if len(self._opened) > MAX_OPEN:
                    self._opened.popitem(last=False)  # it has nothing of its own that would have to be closed
            self._opened.move_to_end(who)
            return self._opened[who]

    def begin(self, namespaces: Iterable[str]) -> Thread:
        """Load the model, and the tables of these namespaces, while nobody calls yet.

        A call that comes meanwhile waits for it. Where it fails, the call fails as it would have without it,
        and its caller is told why.

        Args:
            namespaces: that are going to be called, the likeliest first.

        Returns:
            The thread that does it.
        """
        wanted = list(dict.fromkeys(namespaces))[:MAX_READY]
        thread = Thread(target=self._begin, args=(wanted,), name="slowwave-begin", daemon=True)
        thread.start()
        return thread

    def _begin(self, namespaces: Iterable[str]) -> None:
        for namespace in namespaces:
            with self._lock:  # one after the other, so that a caller waits for one of them at most
                if self._closed:
                    return
                try:
                    self._make_ready(namespace)
                except Exception as error:  # whatever it is, the first call meets it and tells its caller
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
        """Release what was opened."""
        self._closed = True
        with self._lock:
            self._opened.clear()
            self._space.close()
