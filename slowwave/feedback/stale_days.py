"""Stale days of feedback: days that the nightly job has to aggregate, or to aggregate again.

Each aggregated day leaves a record (`slowwave.home.processing_watermarks`). It holds the last journal events
that were read, the last staged note, and a chain over the previous day. A late event or note makes its day
stale. Aggregating it again breaks the chain of later days.
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
MAX_GAP = timedelta(days=7)  # days without feedback cost less than a separate run


class Seqs(NamedTuple):
    """Seq of a day's last search and of its last feedback event; 0 if there is none.

    There are two because the nightly job reads one after the other. An entry between the two reads may have a
    lower seq than the second one covers.
    """

    searches: int = 0
    events: int = 0

    def covers(self, other: Seqs) -> bool:
        """Return whether a reader of these entries has read the others."""
        return self.searches >= other.searches and self.events >= other.events


@dataclass(frozen=True, slots=True)
class ProcessedDay:
    """Record of an aggregated day.

    Attributes:
        seqs: Last entries that it read.
        after: Chain of the previous aggregated day; empty for the first one.
        chain: Digest over that, the day, `seqs` and `notes`.
        notes: Seq of the last note up to the day that was staged at that time, because a promotion depends on
            a note's tier. None: recorded by an older version.
    """

    seqs: Seqs
    after: str
    chain: str
    notes: int | None = None

    @classmethod
    def of(cls, day: str, seqs: Seqs, after: str, notes: int | None = None) -> ProcessedDay:
        """Build the record of a day aggregated after another one."""
        rests_on = [*seqs, *([] if notes is None else [notes])]
        return cls(seqs, after, ids.digest("fold", after, day, *map(str, rests_on)), notes)

    def holds(self, after: str, seqs: Seqs, notes: int) -> bool:
        """Return whether the inputs are unchanged: previous day, entries and notes."""
        return self.after == after and self.seqs.covers(seqs) and (self.notes is None or self.notes >= notes)


def unprocessed(
    entries: Mapping[str, Seqs], processed: Mapping[str, ProcessedDay], notes: Mapping[str, int] | None = None
) -> list[str]:
    """Return the days to aggregate: the first stale one and all later ones.

    Args:
        entries: Last seqs of every day with entries.
        processed: Records of the aggregated days.
        notes: Seq of the last ingested note of each day.
    """
    after, note, due = "", 0, list[str]()
    for day in sorted({*entries, *processed, *(notes or {})}):
        note = max(note, (notes or {}).get(day, 0))
        if day not in entries and day not in processed:
            continue
        record = processed.get(day)
        if record is None or due or not record.holds(after, entries.get(day, Seqs()), note):
            due.append(day)
        else:
            after = record.chain
    return due


def stretches(days: Sequence[str]) -> list[tuple[str, str]]:
    """Return first and last day of each group without a gap longer than `MAX_GAP`."""
    spans: list[tuple[str, str]] = []
    for day in sorted(days):
        if spans and date.fromisoformat(day) - date.fromisoformat(spans[-1][1]) <= MAX_GAP:
            spans[-1] = spans[-1][0], day
        else:
            spans.append((day, day))
    return spans


def stale_days(journal: Journal, store: Store) -> list[str]:
    """Return days with unaggregated searches or feedback, and the days that depend on them."""
    ingested = {day: int(record["seq"]) for day, record in NOTES.finished(store).items()}
    return unprocessed(last_seqs(journal), processed_days(store), ingested)


def processed_days(store: Store) -> dict[str, ProcessedDay]:
    """Return the records of the aggregated days."""
    return {
        day: ProcessedDay(Seqs(*record["seqs"]), record["after"], record["chain"], record.get("notes"))
        for day, record in FEEDBACK.finished(store).items()
    }


def begin(store: Store, run: str, seqs: Mapping[str, Seqs], first: str) -> None:
    """Record the inputs of a run before it aggregates.

    Args:
        store: Store of the records.
        run: Id of the run.
        seqs: Last seqs of each of its days with entries.
        first: Its first day.
    """
    earlier = [(day, record) for day, record in processed_days(store).items() if day < first]
    after = max(earlier)[1].chain if earlier else ""
    FEEDBACK.begin(store, run, seqs=dict(seqs), after=after, notes=_staged(store, run))


def _staged(store: Store, run: str) -> dict[str, int]:
    """Return the seq of each day's last staged note, including unfinished runs."""
    rows = pl.concat(
        [store.read("staged_notes", columns=["day", "seq"]), NOTES.seen(store, run, "staged_notes")]
    )
    finished = {day: int(record["seq"]) for day, record in NOTES.finished(store).items()}
    last = dict(rows.drop_nulls("seq").group_by("day").agg(pl.col("seq").max()).iter_rows())
    return {day: max(last.get(day, 0), finished.get(day, 0)) for day in {*last, *finished}}


def finish(store: Store, run: str) -> bool:
    """Record the days of a run as aggregated; False if it aggregated none."""
    if (begun := FEEDBACK.begun_by(store, run)) is None:
        return False
    after, records, staged = begun["after"], dict[str, dict[str, Any]](), begun.get("notes", {})
    for day, seqs in sorted(begun["seqs"].items()):
        notes = max((seq for on, seq in staged.items() if on <= day), default=0)
        record = ProcessedDay.of(day, Seqs(*seqs), after, notes)
        records[day] = asdict(record)
        after = record.chain
    FEEDBACK.finish(store, records)
    return True


def last_seqs(journal: Journal, namespace: str | None = None) -> dict[str, Seqs]:
    """Return the last seqs of each day with entries, of one namespace or all."""
    of_namespace = True if namespace is None else pl.col("namespace") == namespace
    searches, events = (
        journal.days(kinds).filter(of_namespace).rename({"last_seq": "seq"})
        for kinds in (SEARCHES, FEEDBACK_KINDS)
    )
    return last_of(searches, events)


def last_of(searches: pl.DataFrame, events: pl.DataFrame) -> dict[str, Seqs]:
    """Return the greatest seqs of each day.

    Args:
        searches: day and seq.
        events: day and seq.
    """
    last = [dict(rows.group_by("day").agg(pl.col("seq").max()).iter_rows()) for rows in (searches, events)]
    return {day: Seqs(*(seqs.get(day, 0) for seqs in last)) for day in {*last[0], *last[1]}}


def unseen_entries(journal: Journal, processed: Mapping[str, ProcessedDay], namespace: str) -> list[str]:
    """Return the days of a namespace with entries that are not aggregated yet."""
    return sorted(
        day
        for day, seqs in last_seqs(journal, namespace).items()
        if day not in processed or not processed[day].seqs.covers(seqs)
    )
