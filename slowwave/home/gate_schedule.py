"""Schedule changes of the save gate, read from the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.journal import payload_of
from slowwave.journal.entry import EVERYBODY, GATE
from slowwave.journal.kinds.home import begins_in
from slowwave.quality.gate_policy import Moved

if TYPE_CHECKING:
    from slowwave.journal import Journal


def moved(journal: Journal) -> tuple[Moved, ...]:
    """Return the changes of the gate's start, in journal order."""
    if not journal.count(EVERYBODY, GATE):
        return ()
    rows = journal.read(kinds=[GATE], namespace=EVERYBODY).select("occurred_at", "payload")
    changes = ((at, begins_in(payload_of(payload))) for at, payload in rows.iter_rows())
    return tuple(Moved(at, begins) for at, begins in changes if begins)
