"""Preview of an erasure: what it deletes, and what it cannot reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from slowwave.common.pluralize import counted
from slowwave.views.section import Section, Table

if TYPE_CHECKING:
    from slowwave.maintenance.erasure import Plan

ELSEWHERE: Final = "Backups and copies elsewhere are not erased."
NO_WAY_BACK: Final = "This cannot be undone."


def goes(planned: Plan, most: int) -> list[Section]:
    """Return the memories to erase, and the places that have them."""
    cells = [
        [
            planned_memory.memory_id,
            planned_memory.title,
            planned_memory.source,
            "same text" if planned_memory.copy else "named",
        ]
        for planned_memory in planned.memories[:most]
    ]
    title = f"To be erased: {counted(len(planned.memories), 'memory', 'memories')} of {planned.namespace}"
    memories = Table(["id", "title", "source", "reason"], cells, left_out=len(planned.memories) - len(cells))
    places = Table(["place", "rows"], [[name, count] for name, count in planned.places.items()])
    return [Section(title, [memories]), Section("Where", [places])]


def beside(planned: Plan, most: int) -> list[str]:
    """Return checkpoints to delete, and what stays although it may have the text."""
    return [
        *(f"Checkpoint to be deleted: {name}" for name in planned.checkpoints),
        *(f"Stays, and has the text until you delete it: {path}" for path in planned.files[:most]),
        *(f"Stays, and may have a similar text: {name}" for name in _labelled(planned)[:most]),
    ]


def _labelled(planned: Plan) -> list[str]:
    """Return what stays with title and status, live memories first."""
    ordered = [*planned.labels, *(name for name in planned.beside if name not in planned.labels)]
    return [f"{planned.labels[name]} [{name}]" if name in planned.labels else name for name in ordered]
