"""Which days have to be evaluated, or evaluated again.

Each evaluated day leaves a record (`slowwave.home.ledger`) of what it rested on: the chain of folded days up
to it, the last judgment of a person or a judge up to it, and the last note up to it that a night took in.
When one of them is another one by now, the day is due.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.feedback.pending import folded_days
from slowwave.home.ledger import EVALUATION, NOTES
from slowwave.journal.entry import JUDGMENT

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.store import Store


def grounds(journal: Journal, store: Store) -> dict[str, dict[str, Any]]:
    """What the evaluation of each day that was folded, or has notes or judgments, would rest on now."""
    folded = {day: one.chain for day, one in folded_days(store).items()}
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
    """The days that were never evaluated, or rest on something else by now; in order."""
    return EVALUATION.due(store, grounds(journal, store), lambda record, ground: record == ground)


def begin(journal: Journal, store: Store, run: str) -> None:
    """Note what a run is going to rest on."""
    EVALUATION.begin(store, run, grounds=grounds(journal, store))


def finish(store: Store, run: str, days: Sequence[str]) -> None:
    """Remember that the days of a run were evaluated."""
    if (begun := EVALUATION.begun_by(store, run)) is not None:
        rested_on = begun["grounds"]
        EVALUATION.finish(store, {day: rested_on[day] for day in days if day in rested_on})
