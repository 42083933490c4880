"""Which days have to be evaluated, or evaluated again.

Each evaluated day leaves a record (`slowwave.home.processing_watermarks`) of what it rested on: the chain of
folded days up to it, the last judgment of a person or a judge up to it, the last note up to it that a
night took in, and the evaluated day before it. When one of them is another one by now, the day is due.
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
"""Name, in the record of a day, of the digest of the evaluated day before it."""

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.store import Store


def grounds(journal: Journal, store: Store) -> dict[str, dict[str, Any]]:
    """What the evaluation of each day that was folded, or has notes or judgments, would rest on now."""
    folded = {day: one.chain for day, one in processed_days(store).items()}
    said = journal.days([JUDGMENT]).group_by("day").agg(pl.col("last_seq").max())
    last = dict(said.iter_rows())
    noted = {day: int(record["seq"]) for day, record in NOTES.finished(store).items()}
    found: dict[str, dict[str, Any]] = {}
    chain, seq, note = "", 0, 0
    for day in sorted({*folded, *last, *noted}):
        chain, seq = folded.get(day, chain), max(seq, last.get(day, 0))
        note = max(note, noted.get(day, 0))
        found[day] = {"chain": chain, "judgments": seq, "notes": note}
    return found


def due_days(journal: Journal, store: Store) -> list[str]:
    """The days that were never evaluated, or rest on something else by now; in order.

    A record of a version that did not know of the evaluated day before it holds without that. Days after one
    that a fault keeps open are not due by that.
    """
    done, faulty = EVALUATION.finished(store), {day for days in faults(store).values() for day in days}
    found, before, anew = list[str](), "", False
    for day, ground in sorted(grounds(journal, store).items()):
        record = done.get(day, {})
        holds = {**record, AFTER: ""} == {**ground, AFTER: ""}
        if not holds or (AFTER in record and (anew or record[AFTER] != before)):
            found.append(day)
            anew = anew or day not in faulty
        before = _chained(record) if record else before
    return found


def _chained(record: Mapping[str, Any]) -> str:
    """Digest of a record of an evaluated day and, through it, of those before."""
    return ids.digest("evaluated", *(f"{name}={value}" for name, value in sorted(record.items())))


def begin(journal: Journal, store: Store, run: str) -> None:
    """Note what a run is going to rest on."""
    EVALUATION.begin(store, run, grounds=grounds(journal, store))


def finish(store: Store, run: str, days: Sequence[str]) -> None:
    """Remember that the days of a run were evaluated."""
    if (begun := EVALUATION.begun_by(store, run)) is None:
        return
    rested_on, records = begun["grounds"], EVALUATION.finished(store)
    mine = sorted(day for day in days if day in rested_on)
    for day in mine:
        before = max((one for one in records if one < day), default="")
        records[day] = {**rested_on[day], AFTER: _chained(records[before]) if before else ""}
    EVALUATION.finish(store, {day: records[day] for day in mine})
