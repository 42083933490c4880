"""One namespace of a home and who acts in it, and what calls about its memories answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal
    from slowwave.store import Store


@dataclass(frozen=True, slots=True)
class Tenant:
    """Whose memories a call is about.

    Attributes:
        space: the home.
        namespace: no call reads or writes another one.
        principal: who acts, recorded with every act.
    """

    space: Workspace
    namespace: str
    principal: str

    @property
    def store(self) -> Store:
        """The tables."""
        return self.space.store

    @property
    def journal(self) -> Journal:
        """The journal."""
        return self.space.journal

    def mine(self, condition: str) -> str:
        """The condition, within this namespace only."""
        return within(self.namespace, condition)


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of one saved note.

    Attributes:
        memory_id: the memory's id, also when it was refused.
        status: ``live`` (searchable now), ``merged`` (another memory says it now), ``superseded`` (a newer
            one says otherwise), ``quarantined``, or ``replaced`` (a later note of the call had the same key:
            the memory has that text now, and `warnings` says which note it is).
        reasons: why it was quarantined, all of it; of a stored note, why it would be if the gate did more
            than warn.
        duplicate_of: the memory that says the same already.
        outcome: what reconsolidation made of it: merge, supersede, related, duplicate, superseded or nothing.
        other: the memory that it was merged into, superseded, is related to or was superseded by.
        decision_id: for `Memory.undo`.
        quality: the content score of the gate (L2), in [0, 1].
        warnings: what a person should know.
    """

    memory_id: str
    source: str
    status: str
    reasons: tuple[str, ...] = ()
    duplicate_of: str | None = None
    outcome: str = ""
    other: str | None = None
    decision_id: str | None = None
    quality: float | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One memory, whole; `context` is what it is found by beside its text, `follows` the memory before it.

    `sources` are its own and those of all that it absorbed, in order.
    """

    memory_id: str
    namespace: str
    source: str
    title: str
    content: str
    status: str
    memory_type: str
    importance_tier: str
    sensitivity: str
    tags: tuple[str, ...]
    trigger_phrases: tuple[str, ...]
    metadata: str
    created_at: datetime
    updated_at: datetime
    chunk_count: int
    frequency: int = 1
    replaced_by: str | None = None
    absorbed: tuple[str, ...] = ()
    context: str | None = None
    follows: str | None = None
    sources: tuple[str, ...] = ()
