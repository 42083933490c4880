"""Schedule changes and trusted sources of the save gate, read from the journal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from slowwave.journal import payload_of
from slowwave.journal.entry import EVERYBODY, GATE
from slowwave.journal.kinds.home import begins_in, trust_in
from slowwave.quality.gate_policy import Moved, Trusted

if TYPE_CHECKING:
    from slowwave.journal import Journal


def gate_changes(journal: Journal) -> tuple[tuple[Moved, ...], tuple[Trusted, ...], int]:
    """Return changes of the gate's start, trusted sources, and the count of both."""
    if not journal.count(EVERYBODY, GATE):
        return (), (), 0
    rows = journal.read(kinds=[GATE], namespace=EVERYBODY).select("occurred_at", "principal", "payload")
    moved: list[Moved] = []
    rules: dict[tuple[str, str], Trusted] = {}
    ended: list[Trusted] = []
    for at, principal, raw in rows.iter_rows():
        payload = payload_of(raw)
        if begins := begins_in(payload):
            moved.append(Moved(at, begins))
        if (trust := trust_in(payload)) is None:
            continue
        rule = rules.pop(trust[:2], None)
        if rule is not None and trust[2]:
            rules[trust[:2]] = rule  # it was trusted already
        elif trust[2]:
            rules[trust[:2]] = Trusted(*trust[:2], at, by=principal, why=payload.get("why", ""))
        elif rule is not None:
            ended.append(replace(rule, until=at))
    return tuple(moved), (*ended, *rules.values()), rows.height
