"""Notes that the save gate has judged, each once, with all reasons against it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl

from slowwave.home.processing_watermarks import NOTES
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.echo_window import served_passages
from slowwave.quality.gate import PASS, REFUSE
from slowwave.store import quote, staging
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

_VERDICT = ["day", "namespace", "memory_id", "revision", "verdict", "reasons", "score"]
_NOTE = ["title", "source", "sensitivity", "occurred_at"]
_SAME = ["day", "memory_id"]
_JUDGED: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys([*_VERDICT, *_NOTE], pl.String),
    "reasons": pl.List(pl.String), "score": pl.Float64, "occurred_at": pl.Datetime("us", "UTC"),
}  # fmt: skip


def judged_notes(space: Workspace, namespace: str | None, first: str, as_of: datetime) -> pl.DataFrame:
    """Return notes saved from a day on, with the gate's verdict on each.

    Direct saves count at once: those that no nightly job has judged are judged now, by the same function.
    Notes of a vault count once a nightly job has ingested them.

    Args:
        namespace: None is all.
        first: First day (ISO, UTC).
        as_of: Its day is the last one.

    Returns:
        Columns day, namespace, memory_id, revision, score, title, source, sensitivity, occurred_at; reasons:
        all of them, duplicates included; refused: whether it was quarantined; would: whether it entered and
        an enforcing gate would have refused it. One row per day and memory.
    """
    last = as_of.date().isoformat()
    where = f"day >= {quote(first)} AND day <= {quote(last)}"
    where = where if namespace is None else within(namespace, where)
    nightly = space.store.read("gate_verdicts", where, columns=_VERDICT)
    staged = space.store.read("staged_notes", where, columns=[*_SAME, *_NOTE])
    nightly = nightly.join(staged.unique(_SAME), on=_SAME, how="left").select(*_VERDICT, *_NOTE)
    new = _pending_direct_saves(space, namespace, first, last)
    judged = pl.concat([nightly.join(new, on=_SAME, how="anti"), new]).filter(
        pl.col("verdict").is_in([PASS, REFUSE])
    )
    decided = (
        space.store.read("decisions", where, columns=[*_SAME, "revision", "reasons", "refused"])
        .filter(pl.col("reasons").list.len() > 0)
        .group_by(*_SAME, "revision")
        .agg(more_reasons=pl.col("reasons").explode(), was_refused=pl.col("refused").any())
    )
    empty = pl.lit([], pl.List(pl.String))
    judged = judged.join(decided, on=[*_SAME, "revision"], how="left").with_columns(
        refused=(pl.col("verdict") == REFUSE) | pl.col("was_refused").fill_null(value=False),
        reasons=pl.concat_list(
            pl.col("reasons").fill_null(empty), pl.col("more_reasons").fill_null(empty)
        ).list.unique(maintain_order=True),
    )
    return judged.with_columns(would=~pl.col("refused") & (pl.col("reasons").list.len() > 0)).drop(
        "verdict", "more_reasons", "was_refused"
    )


def _pending_direct_saves(space: Workspace, namespace: str | None, first: str, last: str) -> pl.DataFrame:
    """Return direct saves that no finished nightly job has ingested, with verdicts."""
    seen = {day: record["seq"] for day, record in NOTES.finished(space.store).items()}
    days = space.journal.days(["save"]).filter(
        pl.col("day").is_between(pl.lit(first), pl.lit(last)),
        True if namespace is None else pl.col("namespace") == namespace,
    )
    parts = []
    for day, last_seq in days.group_by("day").agg(pl.col("last_seq").max()).sort("day").iter_rows():
        if last_seq <= (after := seen.get(day, 0)):
            continue
        acts = space.journal.read(kinds=["save"], days=[day], namespace=namespace, after_seq=after)
        staged = staging.stage(acts.filter(pl.col("origin") == ""))
        served = served_passages(space).of_days([day], space.gate_policy.echo_window)
        verdicts = ingest_pipeline.judged(staged, space.gate_policy, served).drop("memory_id")
        parts.append(pl.concat([staged, verdicts], how="horizontal").select(*_VERDICT, *_NOTE))
    return pl.concat(parts) if parts else pl.DataFrame(schema=_JUDGED)
