"""Request of a caller: who asks, and the memory that is open to them."""

from __future__ import annotations

from dataclasses import dataclass

from slowwave.common.arguments import bounded
from slowwave.home.visibility import Viewer, access_view
from slowwave.memory import Memory
from slowwave.serving.caller import Caller
from slowwave.store import one_of
from slowwave.views.calls import TOOLS, Calls


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """One request, whatever server it came to.

    Attributes:
        caller: Who asks, and with what rights.
        memory: That is open to them.
        calls: Names of what they can call next, for answers that say so.
    """

    caller: Caller
    memory: Memory
    calls: Calls = TOOLS

    @property
    def person(self) -> bool:
        """Whether a person asks."""
        return self.caller.is_person

    @property
    def viewer(self) -> Viewer | None:
        """Who asks, as calls of `Memory` want it: None is the owner."""
        return None if self.person else Viewer.ASSISTANT

    @property
    def lists(self) -> Viewer:
        """Who looks at a list."""
        return Viewer.REPORT if self.person else Viewer.ASSISTANT

    def require_visible(self, memory_id: str) -> None:
        """Raise where the caller may not see a memory, or there is none.

        Raises:
            ArgumentError: It can be no id.
            NotFoundError: There is none that the caller may see.
        """
        bounded("memory_id", memory_id)
        if self.viewer is not None:
            namespace = self.memory.namespace
            access_view(self.memory.store, namespace, [memory_id], self.viewer).require(memory_id, namespace)

    def revision(self, memory_id: str) -> str:
        """Return the revision of a memory's present text."""
        mine = self.memory.tenant.mine(one_of("memory_id", [memory_id]))
        rows = self.memory.store.read("memories", mine, columns=["revision"])
        return str(rows["revision"][0])
