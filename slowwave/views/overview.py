"""Operator figures of a home: by day, and its current status.

Each figure has one name, wherever it is shown. A figure without a value on a day has no entry: unknown is not
0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from slowwave.common.pluralize import counted
from slowwave.quality.learning_gate import APPROVAL, REGRESSION
from slowwave.scoring.measures import NDCG

Figures = dict[str, int | float]

STORED: Final = "memories ever stored"
NOTES: Final = "notes received"
REFUSED: Final = "notes refused"
WOULD: Final = "notes that would be refused"
SEARCHES: Final = "searches"
NOTHING: Final = "searches without an answer"
QUALITY: Final = str(NDCG)
JUDGED: Final = "searches that were judged"
APPROVALS: Final = "learning gates that wait for approval"
BY_DAY: Final = (STORED, NOTES, REFUSED, WOULD, SEARCHES, NOTHING, QUALITY, JUDGED, APPROVALS)

LIVE: Final = "memories now"
HELD: Final = "notes in quarantine"
DECISIONS: Final = "decisions that wait"
WAITS: Final = "waits for a person"
LATE: Final = "unprocessed past days"
FAULTS: Final = "failed stages"
RUNS: Final = "unresolved failed runs"
NOW: Final = (LIVE, HELD, DECISIONS, WAITS, LATE, FAULTS, RUNS)

_DAY = "day"
_PERSON = (APPROVAL, REGRESSION)


def by_day(
    days: Sequence[str],
    *,
    memories: pl.DataFrame,
    notes: pl.DataFrame,
    searches: pl.DataFrame,
    scores: pl.DataFrame,
    gates: pl.DataFrame,
) -> dict[str, Figures]:
    """Return the figures of some days, as known now.

    Args:
        days: ISO, UTC.
        memories: created_at of all memories, whatever their status.
        notes: day, refused, would of judged notes (`slowwave.lifecycle.gate_notes`).
        searches: day, abstained.
        scores: day and nDCG@10 of the returned results of judged searches.
        gates: day, namespace, kind, condition, state of learning gates.

    Returns:
        Figures of `BY_DAY` by day: counts, and nDCG@10 as the mean over the judged searches of the day (0 to
        1), which a day without any does not have.
    """
    created = memories.select(pl.col("created_at").dt.date().cast(pl.String).alias(_DAY))
    tables = (
        notes.group_by(_DAY).agg(
            pl.len().alias(NOTES), pl.col("refused").sum().alias(REFUSED), pl.col("would").sum().alias(WOULD)
        ),
        searches.group_by(_DAY).agg(pl.len().alias(SEARCHES), pl.col("abstained").sum().alias(NOTHING)),
        scores.group_by(_DAY).agg(pl.len().alias(JUDGED)),
        _awaiting(gates).group_by(_DAY).agg(pl.len().alias(APPROVALS)),
    )
    joined = pl.DataFrame({_DAY: list(days)}, schema={_DAY: pl.String})
    for counts in tables:
        joined = joined.join(counts, on=_DAY, how="left", maintain_order="left")
    joined = joined.with_columns(pl.exclude(_DAY).fill_null(0))
    means = dict(scores.group_by(_DAY).agg(pl.col(NDCG.column).mean()).drop_nulls().iter_rows())
    figures: dict[str, Figures] = {}
    for row in joined.iter_rows(named=True):
        day = row.pop(_DAY)
        own = {STORED: int((created[_DAY] <= day).sum()), **{name: int(count) for name, count in row.items()}}
        quality = {QUALITY: float(means[day])} if day in means else {}
        figures[day] = {name: (own | quality)[name] for name in BY_DAY if name in own | quality}
    return figures


def _awaiting(gates: pl.DataFrame) -> pl.DataFrame:
    """Return gates that lack only approval, a row each; see `GateDecision.awaits_only_approval`."""
    lacking = pl.col("condition").filter(pl.col("state") != "open")
    missing = gates.group_by(_DAY, "namespace", "kind").agg(lacking.alias("missing"))
    personal = pl.col("missing").list.eval(pl.element().is_in(_PERSON)).list.all()
    return missing.filter((pl.col("missing").list.len() > 0) & personal)


@dataclass(frozen=True, slots=True)
class HomeStatus:
    """Current status of a home.

    Attributes:
        live: searchable memories (count).
        held: notes in quarantine (count).
        decisions: decisions that wait for a person (count).
        approvals: learning gates that lack only approval (count).
        late: past days that no run has finished (count).
        faults: stages of a nightly job that failed for a namespace and will be retried (count).
        failed: failed runs of the last week without a later success for the same days (count).
    """

    live: int
    held: int
    decisions: int
    approvals: int
    late: int
    faults: int
    failed: int

    @property
    def figures(self) -> Figures:
        """Figures of `NOW`."""
        waits = self.held + self.decisions + self.approvals
        values = (self.live, self.held, self.decisions, waits, self.late, self.faults, self.failed)
        return dict(zip(NOW, values, strict=True))

    @property
    def todo(self) -> list[str]:
        """Tasks for a person, a line each with the command; empty without any."""
        lines = (
            (self.held, "note", "in quarantine: slowwave quarantine list shows them, release ID accepts one"),
            (self.decisions, "decision", "waiting: slowwave decisions --waiting"),
            (
                self.approvals,
                "learning gate",
                "waiting for approval: slowwave learning status, then the job approve_learning",
            ),
            (
                self.late,
                "past day",
                "not processed: the sensors request them, or run slowwave night",
            ),
            (
                self.faults,
                "stage",
                "of a nightly job failed: the check every_namespace shows namespace and error",
            ),
            (
                self.failed,
                "failed run",
                "not fixed: open it (Runs, Failed), fix the cause, then Re-execute, From failure",
            ),
        )
        return [f"{counted(count, name)} {what}" for count, name, what in lines if count]

    @property
    def words(self) -> str:
        """Status in one line."""
        memories = counted(self.live, "memory", "memories")
        waits = self.figures[WAITS]
        waiting = f"{counted(int(waits), 'item')} for a person to decide" if waits else "nothing to decide"
        wrong = self.faults + self.failed
        well = f"{counted(wrong, 'problem')} to fix" if wrong else "nothing to fix"
        behind = f"; {counted(self.late, 'past day')} to process" if self.late else ""
        return f"{memories}; {waiting}; {well}{behind}."


def open_problems(runs: Sequence[Mapping[str, object]]) -> int:
    """Count failed runs without a later success of the same job and days.

    Args:
        runs: what (the job and its days, hashable), failed, succeeded (booleans), oldest first.
    """
    open_: dict[object, int] = {}
    for run in runs:
        if run["succeeded"]:
            open_.pop(run["what"], None)
        elif run["failed"]:
            open_[run["what"]] = 1
    return len(open_)
