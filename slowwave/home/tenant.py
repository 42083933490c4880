"""Tenant: one namespace of a home and the acting user, with the answers of calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal
    from slowwave.store import Store


@dataclass(frozen=True, slots=True)
class Tenant:
    """Namespace and acting user of a call.

    Attributes:
        space: The home.
        namespace: No call reads or writes another one.
        principal: Acting user, recorded with every event.
    """

    space: Workspace
    namespace: str
    principal: str

    @property
    def store(self) -> Store:
        """Tables of the home."""
        return self.space.store

    @property
    def journal(self) -> Journal:
        """Journal of the home."""
        return self.space.journal

    def mine(self, condition: str) -> str:
        """Return the condition, restricted to this namespace."""
        return within(self.namespace, condition)

    def memories(self, memory_ids: Sequence[str], *columns: str, where: str = "true") -> pl.DataFrame:
        """Return columns of this namespace's memories by id."""
        also = self.mine(where)
        return self.store.read_by("memories", "memory_id", memory_ids, columns=[*columns], also=also)


@dataclass(frozen=True, slots=True)
class Saved:
    """Outcome of one saved note.

    Attributes:
        memory_id: Id of the memory, also if the note was refused.
        status: ``live`` (searchable now), ``merged`` (its content is in another memory now),
            ``superseded`` (a newer memory contradicts it), or ``quarantined``. ``replaced``: a later
            note of the call had the same key. The memory has that text now, and `warnings` names the
            note.
        reasons: All reasons why it was quarantined; of a stored note, why it would be if the gate
            enforced.
        duplicate_of: Live memory with the same content.
        outcome: Result of reconsolidation: merge, supersede, related, duplicate, superseded or empty.
        other: Memory that it was merged into, supersedes, is related to or is superseded by.
        decision_id: For `Memory.undo`.
        quality: Content score of the save gate (L2), in [0, 1].
        warnings: Messages for the user.
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
    """One memory with all its fields.

    `context` is searchable text beside its content; `follows` is the memory before it. `sources` are its own
    and those of all memories that it absorbed, in order. `outdated_by`, `newer_title` and `valid_until` name
    the memory with a newer value of the same thing, as search results do.
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
    outdated_by: str = ""
    newer_title: str = ""
    valid_until: datetime | None = None
