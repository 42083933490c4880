"""Which days have to be evaluated, or evaluated again.

Each evaluated day leaves a record of what it rested on: the chain of folded days up to it, the last judgment
of a person or a judge up to it, and the last note up to it that a night took in. When one of them is another
one by now, the day is due.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.feedback.pending import folded_days
from slowwave.journal.entry import JUDGMENT
from slowwave.store.frames import quote

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.store import Store

RECORD = "evaluated-"
NOTES = "night-"
"""Records of the last note of each day that a night took in."""
BEGUN = "evaluating"
Ground = Mapping[str, Any]


def grounds(journal: Journal, store: Store) -> dict[str, dict[str, Any]]:
    """What the evaluation of each day that was folded, or has notes or judgments, would rest on now."""
    folded = {day: one.chain for day, one in folded_days(store).items()}
    said = journal.days([JUDGMENT]).group_by("day").agg(pl.col("last_seq").max())
    last = dict(said.iter_rows())
    noted = {day: int(record["seq"]) for day, record in store.list_meta(NOTES).items()}
    found: dict[str, dict[str, Any]] = {}
    chain, seq, note = "", 0, 0
    for day in sorted({*folded, *last, *noted}):
        chain, seq = folded.get(day, chain), max(seq, last.get(day, 0))
        note = max(note, noted.get(day, 0))
        found[day] = {"chain": chain, "judgments": seq, "notes": note}
    return found


def due_days(journal: Journal, store: Store) -> list[str]:
    """The days that were never evaluated, or rest on something else by now; in order."""
    seen = store.list_meta(RECORD)
    return [day for day, ground in grounds(journal, store).items() if seen.get(day) != ground]


def begin(journal: Journal, store: Store, run: str) -> None:
    """Note what a run is going to rest on; what one that was killed has left there is replaced."""
    store.put_meta(BEGUN, {"run": run, "grounds": grounds(journal, store)})


def finish(store: Store, run: str, days: Sequence[str]) -> None:
    """Remember that the days of a run were evaluated."""
    begun = store.get_meta(BEGUN)
    if begun is None or begun["run"] != run:
        return
    store.put_metas({RECORD + day: begun["grounds"][day] for day in days if day in begun["grounds"]})
    store.delete("meta", f"name = {quote(BEGUN)}")
