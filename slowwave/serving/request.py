"""Request of a caller with the open memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slowwave.common.arguments import bounded
from slowwave.home.tenant import MemoryRecord
from slowwave.home.visibility import Viewer, access_view
from slowwave.memory import Memory
from slowwave.serving.caller import Caller
from slowwave.store import one_of
from slowwave.views.calls import TOOLS, Calls


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """Request to any server.

    Attributes:
        caller: user, namespace and rights.
        memory: open for the caller.
        client_session: id of the client's session; empty: unknown.
        calls: call names of the interface, for texts that name the next one.
    """

    caller: Caller
    memory: Memory
    client_session: str = ""
    calls: Calls = TOOLS

    @property
    def person(self) -> bool:
        """Whether the caller has a person's rights."""
        return self.caller.is_person

    @property
    def viewer(self) -> Viewer | None:
        """Viewer for calls of `Memory`; None is the owner."""
        return None if self.person else Viewer.ASSISTANT

    @property
    def lists(self) -> Viewer:
        """Viewer for lists."""
        return Viewer.REPORT if self.person else Viewer.ASSISTANT

    def require_visible(self, memory_id: str) -> None:
        """Require that the caller may see a memory.

        Raises:
            ArgumentError: the id is malformed.
            NotFoundError: there is no memory that the caller may see.
        """
        bounded("memory_id", memory_id)
        if self.viewer is not None:
            namespace = self.memory.namespace
            access_view(self.memory.store, namespace, [memory_id], self.viewer).require(memory_id, namespace)

    def record(self, memory_id: str) -> MemoryRecord:
        """Return a memory in full; it names no memory that the caller may not see.

        Raises:
            ArgumentError: the id is malformed.
            NotFoundError: there is no memory that the caller may see.
        """
        self.require_visible(memory_id)
        record = self.memory.get(memory_id)
        if self.viewer is None:
            return record
        names = (record.replaced_by, *record.absorbed)
        seen = access_view(self.memory.store, self.memory.namespace, names, self.viewer)
        return replace(
            record,
            replaced_by=record.replaced_by if seen.sees(record.replaced_by) else None,
            absorbed=tuple(name for name in record.absorbed if seen.sees(name)),
        )

    def revision(self, memory_id: str) -> str:
        """Return the current revision of a memory."""
        where = self.memory.tenant.mine(one_of("memory_id", [memory_id]))
        rows = self.memory.store.read("memories", where, columns=["revision"])
        return str(rows["revision"][0])
