"""Evidence on refused notes for the person who decides: their senders, and what they repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from slowwave.common import ids
from slowwave.journal.entry_builders import entries_frame
from slowwave.lifecycle.echo_window import served_passages
from slowwave.quality.echo import ECHO, find_echoes
from slowwave.quality.gate import NEVER_TRUSTED
from slowwave.quality.gate_policy import source_name
from slowwave.store import staging

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant


class Sender(NamedTuple):
    """Sender of a refused note.

    Attributes:
        principal: User who saved it.
        source: As of `source_name`; empty if no rule may let it in.
    """

    principal: str
    source: str


def senders(tenant: Tenant, rows: Sequence[Mapping[str, Any]]) -> dict[str, Sender]:
    """Return the sender of each quarantined note whose event the journal has, by quarantine id."""
    events = {row["quarantine_id"]: ids.event_of(row["revision"]) for row in rows}
    entries = tenant.journal.entries(set(events.values()))
    found = {}
    for row in rows:
        entry = entries.get(events[row["quarantine_id"]])
        if entry is None:
            continue
        can_pass = entry.kind == "save" and NEVER_TRUSTED.isdisjoint(row["reasons"])
        source = source_name(entry.origin, entry.principal) if can_pass else ""
        found[row["quarantine_id"]] = Sender(entry.principal, source)
    return found


def repeated_memory(tenant: Tenant, row: Mapping[str, Any]) -> str:
    """Return the memory that a refused note duplicates or echoes; empty if there is none.

    Args:
        row: Row of ``quarantine``.
    """
    if row["duplicate_of"]:
        return str(row["duplicate_of"])
    entry = tenant.journal.get(ids.event_of(row["revision"])) if ECHO in row["reasons"] else None
    if entry is None or entry.kind != "save":
        return ""
    policy = tenant.space.gate_policy
    note = staging.stage(entries_frame([entry]))
    served = served_passages(tenant.space).of_days([row["day"]], policy.echo_window)
    served = served.filter(pl.col("namespace") == tenant.namespace)
    echoes = find_echoes(note, served, window=policy.echo_window, share=policy.echo_share)
    return str(echoes["echo_of"][0]) if echoes.height else ""
