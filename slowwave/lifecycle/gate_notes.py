"""The notes that the save gate has judged, each once, with all that it had against it."""

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
    """Notes that were saved from a day on, and what the gate said to each.

    Those that a night has judged, and direct saves since then, judged now by the same function: a day's saves
    count at once. Notes of a vault count when a night has taken them in.

    Args:
        space: the home.
        namespace: only of this one; None is all.
        first: the first day (ISO, UTC).
        as_of: the last day is that of this moment.

    Returns:
        day, namespace, memory_id, revision, score, title, source, sensitivity, occurred_at; reasons: all of
        them, duplicates with them; refused: whether it was kept out; would: whether it entered and would not
        have if the gate did more than warn. One row a day and memory.
    """
    last = as_of.date().isoformat()
    mine = f"day >= {quote(first)} AND day <= {quote(last)}"
    mine = mine if namespace is None else within(namespace, mine)
    known = space.store.read("gate_verdicts", mine, columns=_VERDICT)
    staged = space.store.read("staged_notes", mine, columns=[*_SAME, *_NOTE])
    known = known.join(staged.unique(_SAME), on=_SAME, how="left").select(*_VERDICT, *_NOTE)
    new = _since_the_nights(space, namespace, first, last)
    judged = pl.concat([known.join(new, on=_SAME, how="anti"), new]).filter(
        pl.col("verdict").is_in([PASS, REFUSE])
    )
    decided = (
        space.store.read("decisions", mine, columns=[*_SAME, "revision", "reasons", "refused"])
        .filter(pl.col("reasons").list.len() > 0)
        .group_by(*_SAME, "revision")
        .agg(besides=pl.col("reasons").explode(), kept_out=pl.col("refused").any())
    )
    nothing = pl.lit([], pl.List(pl.String))
    judged = judged.join(decided, on=[*_SAME, "revision"], how="left").with_columns(
        refused=(pl.col("verdict") == REFUSE) | pl.col("kept_out").fill_null(value=False),
        reasons=pl.concat_list(
            pl.col("reasons").fill_null(nothing), pl.col("besides").fill_null(nothing)
        ).list.unique(maintain_order=True),
    )
    return judged.with_columns(would=~pl.col("refused") & (pl.col("reasons").list.len() > 0)).drop(
        "verdict", "besides", "kept_out"
    )


def _since_the_nights(space: Workspace, namespace: str | None, first: str, last: str) -> pl.DataFrame:
    """Direct saves that no finished night has seen, with the gate's verdict."""
    seen = {day: record["seq"] for day, record in NOTES.finished(space.store).items()}
    days = space.journal.days(["save"]).filter(
        pl.col("day").is_between(pl.lit(first), pl.lit(last)),
        True if namespace is None else pl.col("namespace") == namespace,
    )
    found = []
    for day, last_seq in days.group_by("day").agg(pl.col("last_seq").max()).sort("day").iter_rows():
        if last_seq <= (after := seen.get(day, 0)):
            continue
        acts = space.journal.read(kinds=["save"], days=[day], namespace=namespace, after_seq=after)
        staged = staging.stage(acts.filter(pl.col("origin") == ""))
        served = served_passages(space).of_days([day], space.gate_policy.echo_window)
        verdicts = ingest_pipeline.judged(staged, space.gate_policy, served).drop("memory_id")
        found.append(pl.concat([staged, verdicts], how="horizontal").select(*_VERDICT, *_NOTE))
    return pl.concat(found) if found else pl.DataFrame(schema=_JUDGED)
