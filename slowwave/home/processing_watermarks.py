"""What the runs have begun and finished with each day, and what failed: facts in the store's ``meta``.

Three kinds of work are done day by day: notes are taken in (`NOTES`), feedback is folded (`FEEDBACK`), and
the searches are evaluated (`EVALUATION`). A run notes what it is going to rest on (`Ledger.begin`), or up to
which entry of the journal it has looked (`Ledger.look`); when all of its work is done, each of its days gets
a record of what it rested on (`Ledger.finish`). What rests on something else by now is due again
(`Ledger.due`). What a killed run has left there is replaced by the next one, and never taken for finished.

A part of the work that failed for a namespace stays due, and is told of until it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import polars as pl

from slowwave.store.frames import one_of

if TYPE_CHECKING:
    from slowwave.home.fault_isolation import NamespaceFault
    from slowwave.store import Store

T = TypeVar("T")
Record = dict[str, Any]
"""What is known of a finished day, or of a run that has begun."""
_FAULTS: Final = "faults-"
_LOOKED_AT: Final = "looked-at-"


@dataclass(frozen=True, slots=True)
class ProcessingWatermarks:
    """The records of one kind of work, by day.

    Attributes:
        record: what the names of the records of finished days begin with.
        begun: name of what the run that is under way has begun; empty where it notes no more than its looks.
        tables: for which it notes up to which entry it looked.
    """

    record: str
    begun: str = ""
    tables: tuple[str, ...] = ()

    def finished(self, store: Store) -> dict[str, Record]:
        """The record of every finished day."""
        return store.list_meta(self.record)

    def due(self, store: Store, grounds: Mapping[str, T], holds: Callable[[Record, T], bool]) -> list[str]:
        """The days that are not finished, or rest on something else by now; in order.

        Args:
            store: has the records.
            grounds: what each day would rest on now.
            holds: whether the record of a day still holds for that.
        """
        done = self.finished(store)
        return sorted(
            day for day, ground in grounds.items() if day not in done or not holds(done[day], ground)
        )

    def begin(self, store: Store, run: str, **rests_on: Any) -> None:  # noqa: ANN401 - JSON
        """Note what a run is going to rest on."""
        store.put_meta(self.begun, {"run": run, **rests_on})

    def begun_by(self, store: Store, run: str) -> Record | None:
        """What a run has begun; None where it has begun nothing, or has finished."""
        return _of_run(store, self.begun, run)

    def look(self, store: Store, run: str, table: str, last: Mapping[str, int]) -> None:
        """Note up to which entry a run looked at each day, for a table: not every entry has a row in it."""
        store.put_meta(_LOOKED_AT + table, {"run": run, "last": dict(last)})

    def seen(self, store: Store, run: str, table: str) -> pl.DataFrame:
        """What `look` noted for a run, as day and seq; nothing of another run."""
        found = _of_run(store, _LOOKED_AT + table, run)
        last = {} if found is None else found["last"]
        return pl.DataFrame(list(last.items()), schema={"day": pl.String, "seq": pl.Int64}, orient="row")

    def finish(self, store: Store, records: Mapping[str, Record]) -> None:
        """Remember that these days are finished, and forget what the run has begun and looked at."""
        store.put_metas({self.record + day: record for day, record in records.items()})
        begun = [self.begun] if self.begun else []
        store.delete("meta", one_of("name", [*begun, *(_LOOKED_AT + table for table in self.tables)]))


def _of_run(store: Store, name: str, run: str) -> Record | None:
    found = store.get_meta(name)
    return found if found is not None and found["run"] == run else None


NOTES: Final = ProcessingWatermarks("night-", tables=("staged_notes",))
"""Of a day: the last of its entries about notes that a night took in (``seq``)."""
FEEDBACK: Final = ProcessingWatermarks("fold-", "folding", ("searches", "events"))
"""See `slowwave.feedback.stale_days.Folded`."""
EVALUATION: Final = ProcessingWatermarks("evaluated-", "evaluating")
"""See `slowwave.evaluation.stale_days.grounds`."""


def notes_due(store: Store, last: Mapping[str, int]) -> list[str]:
    """The days with entries about notes that no finished night has seen.

    Args:
        store: has the records.
        last: seq of the last such entry of each day.
    """
    return NOTES.due(store, last, lambda record, seq: int(record["seq"]) >= seq)


# -- what failed ------------------------------------------------------------------------------------


def note_faults(store: Store, stage: str, days: Sequence[str], faults: Sequence[NamespaceFault]) -> None:
    """Keep what went wrong at a stage on these days, and forget what did before; see `faults`."""
    known = {} if (found := store.get_meta(_FAULTS + stage)) is None else found["days"]
    left = {day: told for day, told in known.items() if day not in set(days)}
    now = left | ({day: {one.namespace: one.error for one in faults} for day in days} if faults else {})
    if now != known:
        store.put_meta(_FAULTS + stage, {"days": now})


def faults(store: Store) -> dict[str, dict[str, dict[str, str]]]:
    """The faults that stand: stage, day, namespace, and the error."""
    return {stage: fact["days"] for stage, fact in sorted(store.list_meta(_FAULTS).items()) if fact["days"]}


def faulty_days(store: Store, stages: Iterable[str]) -> set[str]:
    """Days on which a namespace's part of one of these stages is not done."""
    wanted = set(stages)
    return {day for stage, days in faults(store).items() if stage in wanted for day in days}
