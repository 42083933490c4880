"""What an erasure takes away, and what it cannot reach, before it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from slowwave.common.pluralize import counted
from slowwave.views.section import Section, Table

if TYPE_CHECKING:
    from slowwave.maintenance.erasure import Plan

ELSEWHERE: Final = "Backups, and copies that others have, are not reached from here."
NO_WAY_BACK: Final = "There is no way back."


def goes(planned: Plan, most: int) -> list[Section]:
    """The memories that go, and where they are."""
    cells = [
        [one.memory_id, one.title, one.source, "says the same" if one.copy else "named"]
        for one in planned.memories[:most]
    ]
    title = f"Goes for good: {counted(len(planned.memories), 'memory', 'memories')} of {planned.namespace}"
    memories = Table(["id", "title", "source", "why"], cells, left_out=len(planned.memories) - len(cells))
    places = Table(["place", "rows"], [[name, count] for name, count in planned.places.items()])
    return [Section(title, [memories]), Section("Where", [places])]


def beside(planned: Plan, most: int) -> list[str]:
    """What goes with them, and what stays although it may say the same, in sentences."""
    return [
        *(f"Checkpoint that goes, too: {name}" for name in planned.checkpoints),
        *(f"Stays, and still says it until you delete it: {path}" for path in planned.files[:most]),
        *(f"Stays, and may say something alike: {name}" for name in planned.beside[:most]),
    ]
