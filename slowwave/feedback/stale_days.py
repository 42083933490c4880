"""Stale days of feedback: days that the nightly job has to aggregate, or to aggregate again.

Each aggregated day leaves a record (`slowwave.home.processing_watermarks`): the last events of the journal
that it read, the last note up to it that was staged by then, and a chain over itself and the aggregated day
before it. A late event or note makes its day stale. Aggregating it again breaks the chain of later days.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from slowwave.common import ids
from slowwave.home.processing_watermarks import FEEDBACK, NOTES
from slowwave.journal import FEEDBACK_KINDS

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.store import Store

SEARCHES = ("search",)
KINDS = (*SEARCHES, *FEEDBACK_KINDS)
MAX_GAP = timedelta(days=7)  # days without feedback cost little, and a run of its own more


class Seqs(NamedTuple):
    """Seq of the last search and of the last act of feedback of a day; 0 where there is none.

    They are two because a night reads the one after the other: what comes between the two looks may have a
    lower seq than what the second one sees.
    """

    searches: int = 0
    events: int = 0

    def covers(self, other: Seqs) -> bool:
        """Whether who has seen these has seen the others."""
        return self.searches >= other.searches and self.events >= other.events


@dataclass(frozen=True, slots=True)
class ProcessedDay:
    """What was folded of a day.

    Attributes:
        seqs: of the last entries that it saw.
        after: chain of the folded day before it; empty for the first one.
        chain: over that, the day, `seqs` and `notes`.
        notes: seq of the last note up to the day that was staged when it was folded: a promotion rests on the
            tier that a note gave its memory; None: not recorded, by a version that did not.
    """

    seqs: Seqs
    after: str
    chain: str
    notes: int | None = None

    @classmethod
    def of(cls, day: str, seqs: Seqs, after: str, notes: int | None = None) -> ProcessedDay:
        """The record of a day that was folded after another one."""
        rests_on = [*seqs, *([] if notes is None else [notes])]
        return cls(seqs, after, ids.digest("fold", after, day, *map(str, rests_on)), notes)

    def holds(self, after: str, seqs: Seqs, notes: int) -> bool:
        """Whether folding the day again would rest on the same: day before it, entries and notes."""
        return self.after == after and self.seqs.covers(seqs) and (self.notes is None or self.notes >= notes)


def unprocessed(
    entries: Mapping[str, Seqs], folded: Mapping[str, ProcessedDay], notes: Mapping[str, int] | None = None
) -> list[str]:
    """The days to fold, from the first one that misses something on: each rests on those before it.

    Args:
        entries: last seqs of every day that has entries.
        folded: records of the days that were folded.
        notes: seq of the last note of each day that a night took in.
    """
    after, note, due = "", 0, list[str]()
    for day in sorted({*entries, *folded, *(notes or {})}):
        note = max(note, (notes or {}).get(day, 0))
        if day not in entries and day not in folded:
            continue
        record = folded.get(day)
        if record is None or due or not record.holds(after, entries.get(day, Seqs()), note):
            due.append(day)
        else:
            after = record.chain
    return due


def stretches(days: Sequence[str]) -> list[tuple[str, str]]:
    """First and last of the days that belong together: no gap between them is longer than `MAX_GAP`."""
    found: list[tuple[str, str]] = []
    for day in sorted(days):
        if found and date.fromisoformat(day) - date.fromisoformat(found[-1][1]) <= MAX_GAP:
            found[-1] = found[-1][0], day
        else:
            found.append((day, day))
    return found


def stale_days(journal: Journal, store: Store) -> list[str]:
    """The days with searches or feedback that no night has taken up, and those that rest on such a day."""
    taken_in = {day: int(record["seq"]) for day, record in NOTES.finished(store).items()}
    return unprocessed(last_seqs(journal), processed_days(store), taken_in)


def processed_days(store: Store) -> dict[str, ProcessedDay]:
    """Records of the days that were folded."""
    return {
        day: ProcessedDay(Seqs(*record["seqs"]), record["after"], record["chain"], record.get("notes"))
        for day, record in FEEDBACK.finished(store).items()
    }


def begin(store: Store, run: str, seqs: Mapping[str, Seqs], first: str) -> None:
    """Note what a run is going to fold, from what the searches, events and notes that it rests on are.

    Args:
        store: the memory.
        run: id of the run.
        seqs: last seqs of each of its days that has entries.
        first: its first day.
    """
    earlier = [(day, one) for day, one in processed_days(store).items() if day < first]
    after = max(earlier)[1].chain if earlier else ""
    FEEDBACK.begin(store, run, seqs=dict(seqs), after=after, notes=_staged(store, run))


def _staged(store: Store, run: str) -> dict[str, int]:
    """Seq of the last note of each day that was staged, also by a run that has not finished."""
    rows = pl.concat(
        [store.read("staged_notes", columns=["day", "seq"]), NOTES.seen(store, run, "staged_notes")]
    )
    finished = {day: int(record["seq"]) for day, record in NOTES.finished(store).items()}
    last = dict(rows.drop_nulls("seq").group_by("day").agg(pl.col("seq").max()).iter_rows())
    return {day: max(last.get(day, 0), finished.get(day, 0)) for day in {*last, *finished}}


def finish(store: Store, run: str) -> bool:
    """Remember that the days of a run were folded; False where the run folded nothing."""
    if (begun := FEEDBACK.begun_by(store, run)) is None:
        return False
    after, records, staged = begun["after"], dict[str, dict[str, Any]](), begun.get("notes", {})
    for day, seqs in sorted(begun["seqs"].items()):
        notes = max((seq for on, seq in staged.items() if on <= day), default=0)
        done = ProcessedDay.of(day, Seqs(*seqs), after, notes)
        records[day] = asdict(done)
        after = done.chain
    FEEDBACK.finish(store, records)
    return True


def last_seqs(journal: Journal, namespace: str | None = None) -> dict[str, Seqs]:
    """Seqs of the last entries of each day that has any, of one namespace or of all."""
    ours = True if namespace is None else pl.col("namespace") == namespace
    searches, events = (
        journal.days(kinds).filter(ours).rename({"last_seq": "seq"}) for kinds in (SEARCHES, FEEDBACK_KINDS)
    )
    return last_of(searches, events)


def last_of(searches: pl.DataFrame, events: pl.DataFrame) -> dict[str, Seqs]:
    """The greatest seqs of each day.

    Args:
        searches: day and seq.
        events: day and seq.
    """
    last = [dict(rows.group_by("day").agg(pl.col("seq").max()).iter_rows()) for rows in (searches, events)]
    return {day: Seqs(*(seqs.get(day, 0) for seqs in last)) for day in {*last[0], *last[1]}}


def unseen_entries(journal: Journal, folded: Mapping[str, ProcessedDay], namespace: str) -> list[str]:
    """The days of which a namespace has entries that no night has taken up."""
    return sorted(
        day
        for day, seqs in last_seqs(journal, namespace).items()
        if day not in folded or not folded[day].seqs.covers(seqs)
    )
