"""Stale days of the evaluation.

Each evaluated day leaves a record of its inputs (`slowwave.home.processing_watermarks`). They are the chain
of aggregated days, the last judgment, the last ingested note and the previous evaluated day. A day is stale
when one of them has changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from slowwave.common import ids
from slowwave.feedback.stale_days import processed_days
from slowwave.home.processing_watermarks import EVALUATION, NOTES, faults
from slowwave.journal.entry import JUDGMENT

AFTER: Final = "after"
"""Field of a day's record: digest of the previous evaluated day."""

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.store import Store


def grounds(journal: Journal, store: Store) -> dict[str, dict[str, Any]]:
    """Return the current inputs of each day's evaluation.

    Days that are aggregated, or have notes or judgments, are included.
    """
    chains = {day: processed.chain for day, processed in processed_days(store).items()}
    judged = journal.days([JUDGMENT]).group_by("day").agg(pl.col("last_seq").max())
    last = dict(judged.iter_rows())
    noted = {day: int(record["seq"]) for day, record in NOTES.finished(store).items()}
    inputs: dict[str, dict[str, Any]] = {}
    chain, seq, note = "", 0, 0
    for day in sorted({*chains, *last, *noted}):
        chain, seq = chains.get(day, chain), max(seq, last.get(day, 0))
        note = max(note, noted.get(day, 0))
        inputs[day] = {"chain": chain, "judgments": seq, "notes": note}
    return inputs


def due_days(journal: Journal, store: Store) -> list[str]:
    """Return the stale and the never evaluated days, in order.

    A record of an older version may not name the previous evaluated day; it is valid without it. Days after
    one that a fault keeps open are not stale because of it.
    """
    records, faulty = EVALUATION.finished(store), {day for days in faults(store).values() for day in days}
    stale, previous, redone = list[str](), "", False
    for day, ground in sorted(grounds(journal, store).items()):
        record = records.get(day, {})
        holds = {**record, AFTER: ""} == {**ground, AFTER: ""}
        if not holds or (AFTER in record and (redone or record[AFTER] != previous)):
            stale.append(day)
            redone = redone or day not in faulty
        previous = _chained(record) if record else previous
    return stale


def _chained(record: Mapping[str, Any]) -> str:
    """Return the digest of a day's record and, through it, of all earlier ones."""
    return ids.digest("evaluated", *(f"{name}={value}" for name, value in sorted(record.items())))


def begin(journal: Journal, store: Store, run: str) -> None:
    """Record the inputs of a run before it starts."""
    EVALUATION.begin(store, run, grounds=grounds(journal, store))


def finish(store: Store, run: str, days: Sequence[str]) -> None:
    """Record the days of a run as evaluated."""
    if (begun := EVALUATION.begun_by(store, run)) is None:
        return
    rested_on, records = begun["grounds"], EVALUATION.finished(store)
    own_days = sorted(day for day in days if day in rested_on)
    for day in own_days:
        previous = max((recorded for recorded in records if recorded < day), default="")
        records[day] = {**rested_on[day], AFTER: _chained(records[previous]) if previous else ""}
    EVALUATION.finish(store, {day: records[day] for day in own_days})
