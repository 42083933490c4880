"""Which days have to be folded, or folded again.

Each folded day leaves a record: the last entry of the journal that it saw, and a chain over itself and the
folded day before it. A late entry makes its day pending; folding that day anew breaks the chain of the days
after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave import ids
from slowwave.journal import FEEDBACK_KINDS
from slowwave.store.frames import quote

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.store import Store

KINDS = ("search", *FEEDBACK_KINDS)
RECORD = "fold-"
BEGUN = "folding-"
MOST_GAP = timedelta(days=7)  # days without feedback cost little, and a run of its own more


@dataclass(frozen=True, slots=True)
class Folded:
    """What was folded of a day.

    Attributes:
        seq: of the last entry that it saw.
        after: chain of the folded day before it; empty for the first one.
        chain: over that, the day and `seq`.
    """

    seq: int
    after: str
    chain: str

    @classmethod
    def of(cls, day: str, seq: int, after: str) -> Folded:
        """The record of a day that was folded after another one."""
        return cls(seq, after, ids.digest("fold", after, day, str(seq)))


def unfolded(entries: Mapping[str, int], folded: Mapping[str, Folded]) -> list[str]:
    """The days to fold, from the first one that misses something on: each rests on those before it.

    Args:
        entries: last seq of every day that has entries.
        folded: records of the days that were folded.
    """
    after, due = "", list[str]()
    for day in sorted({*entries, *folded}):
        record = folded.get(day)
        sound = record is not None and record.after == after and entries.get(day, 0) <= record.seq
        if record is None or not sound or due:
            due.append(day)
        else:
            after = record.chain
    return due


def stretches(days: Sequence[str]) -> list[tuple[str, str]]:
    """First and last of the days that belong together: no gap between them is longer than `MOST_GAP`."""
    found: list[tuple[str, str]] = []
    for day in sorted(days):
        if found and date.fromisoformat(day) - date.fromisoformat(found[-1][1]) <= MOST_GAP:
            found[-1] = found[-1][0], day
        else:
            found.append((day, day))
    return found


def unfolded_days(journal: Journal, store: Store) -> list[str]:
    """The days with searches or feedback that no night has taken up, and those that rest on such a day."""
    return unfolded(last_seqs(journal), folded_days(store))


def folded_days(store: Store) -> dict[str, Folded]:
    """Records of the days that were folded."""
    return {day: Folded(**record) for day, record in store.list_meta(RECORD).items()}


def begin(store: Store, run: str, seqs: Mapping[str, int], first: str) -> None:
    """Note what a run is going to fold, before it reads what it rests on.

    Another run may change that meanwhile; then the records that :func:`finish` writes do not hold, and the
    days are due again.

    Args:
        store: the memory.
        run: id of the run.
        seqs: last seq of each of its days that has entries.
        first: its first day.
    """
    earlier = [(day, one) for day, one in folded_days(store).items() if day < first]
    after = max(earlier)[1].chain if earlier else ""
    store.put_meta(BEGUN + run, {"seqs": dict(seqs), "after": after})


def finish(store: Store, run: str) -> bool:
    """Remember that the days of a run were folded; False where the run folded nothing."""
    begun = store.get_meta(BEGUN + run)
    if begun is None:
        return False
    after, records = begun["after"], dict[str, dict[str, Any]]()
    for day, seq in sorted(begun["seqs"].items()):
        done = Folded.of(day, seq, after)
        records[RECORD + day] = asdict(done)
        after = done.chain
    store.put_metas(records)
    store.delete("meta", f"name = {quote(BEGUN + run)}")
    return True


def last_seqs(journal: Journal) -> dict[str, int]:
    """Seq of the last search or feedback of each day that has any."""
    days = journal.days(KINDS).group_by("day").agg(pl.col("last_seq").max())
    return dict(days.iter_rows())
