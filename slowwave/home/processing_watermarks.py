"""Processing watermarks of days: begun and finished runs, and failures, in the ``meta`` table.

Three kinds of work run per day: ingesting notes (`NOTES`), aggregating feedback (`FEEDBACK`) and evaluating
searches (`EVALUATION`). A run records its inputs (`begin`), or the last journal entry that it read (`look`).
When all of its work is done, each of its days gets a record of its inputs (`finish`). A day whose inputs
changed since is stale (`due`). The next run replaces the records of a killed run.

A namespace whose part failed stays stale and is reported until it is done.
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
"""Record of a finished day, or of a run that has begun."""
_FAULTS: Final = "faults-"
_LOOKED_AT: Final = "looked-at-"


@dataclass(frozen=True, slots=True)
class ProcessingWatermarks:
    """Records of one kind of work, by day.

    Attributes:
        record: Name prefix of the records of finished days.
        begun: Name of the record of the run under way; empty if the work records only watermarks.
        tables: Tables with a watermark of their own.
    """

    record: str
    begun: str = ""
    tables: tuple[str, ...] = ()

    def finished(self, store: Store) -> dict[str, Record]:
        """Return the record of every finished day."""
        return store.list_meta(self.record)

    def due(self, store: Store, grounds: Mapping[str, T], holds: Callable[[Record, T], bool]) -> list[str]:
        """Return the stale days, sorted: not finished, or with inputs that changed since.

        Args:
            grounds: Present inputs of each day.
            holds: Whether the record of a day matches its present inputs.
        """
        done = self.finished(store)
        return sorted(
            day for day, ground in grounds.items() if day not in done or not holds(done[day], ground)
        )

    def begin(self, store: Store, run: str, **rests_on: Any) -> None:  # noqa: ANN401 - JSON
        """Record the inputs of a run."""
        store.put_meta(self.begun, {"run": run, **rests_on})

    def begun_by(self, store: Store, run: str) -> Record | None:
        """Return the record of a run that has begun; None if it has not, or has finished."""
        return _of_run(store, self.begun, run)

    def look(self, store: Store, run: str, table: str, last: Mapping[str, int]) -> None:
        """Record the last journal entry that a run read of each day, for one table.

        The table's rows alone cannot tell: not every entry has one.
        """
        store.put_meta(_LOOKED_AT + table, {"run": run, "last": dict(last)})

    def seen(self, store: Store, run: str, table: str) -> pl.DataFrame:
        """Return the watermarks that `look` recorded for this run, as day and seq."""
        record = _of_run(store, _LOOKED_AT + table, run)
        last = {} if record is None else record["last"]
        return pl.DataFrame(list(last.items()), schema={"day": pl.String, "seq": pl.Int64}, orient="row")

    def finish(self, store: Store, records: Mapping[str, Record]) -> None:
        """Record these days as finished, and delete the records of the run."""
        store.put_metas({self.record + day: record for day, record in records.items()})
        begun = [self.begun] if self.begun else []
        store.delete("meta", one_of("name", [*begun, *(_LOOKED_AT + table for table in self.tables)]))


def _of_run(store: Store, name: str, run: str) -> Record | None:
    record = store.get_meta(name)
    return record if record is not None and record["run"] == run else None


NOTES: Final = ProcessingWatermarks("night-", tables=("staged_notes",))
"""Of a day: its last journal entry about notes that a nightly job ingested (``seq``)."""
FEEDBACK: Final = ProcessingWatermarks("fold-", "folding", ("searches", "events"))
"""See `slowwave.feedback.stale_days.ProcessedDay`."""
EVALUATION: Final = ProcessingWatermarks("evaluated-", "evaluating")
"""See `slowwave.evaluation.stale_days.grounds`."""


def notes_due(store: Store, last: Mapping[str, int]) -> list[str]:
    """Return the days with note entries that no finished nightly job has ingested.

    Args:
        last: Seq of the last such entry of each day.
    """
    return NOTES.due(store, last, lambda record, seq: int(record["seq"]) >= seq)


# -- failures ---------------------------------------------------------------------------------------


def note_faults(store: Store, stage: str, days: Sequence[str], faults: Sequence[NamespaceFault]) -> None:
    """Record the failures of a stage on these days, in place of earlier ones; see `faults`."""
    recorded = {} if (meta := store.get_meta(_FAULTS + stage)) is None else meta["days"]
    others = {day: record for day, record in recorded.items() if day not in set(days)}
    errors = {fault.namespace: fault.error for fault in faults}
    now = others | (dict.fromkeys(days, errors) if faults else {})
    if now != recorded:
        store.put_meta(_FAULTS + stage, {"days": now})


def faults(store: Store) -> dict[str, dict[str, dict[str, str]]]:
    """Return the open failures: stage, day, namespace, and the error."""
    return {stage: fact["days"] for stage, fact in sorted(store.list_meta(_FAULTS).items()) if fact["days"]}


def faulty_days(store: Store, stages: Iterable[str]) -> set[str]:
    """Return the days on which one of these stages failed for a namespace."""
    wanted = set(stages)
    return {day for stage, days in faults(store).items() if stage in wanted for day in days}
