"""Report of refused and would-be refused notes, by reason (rule 1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl

from slowwave.home.visibility import label, open_rows, redact
from slowwave.lifecycle.gate_notes import judged_notes
from slowwave.lifecycle.places import with_places
from slowwave.quality.gate import PASS
from slowwave.quality.structure import KNOWN_WORDS
from slowwave.scoring.intervals import wilson
from slowwave.store import Store, one_of, quote

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


@dataclass(frozen=True, slots=True)
class GateReport:
    """Counts of the gate's verdicts on the notes of some days.

    Attributes:
        mode: Setting: off, warn or enforce.
        activated_at: First use of the gate.
        enforces_from: Start of enforcement of a gate of mode warn; None in other modes.
        enforced: Whether it refuses now.
        first: First day that is counted.
        notes: Saved notes that were judged on these days (count).
        refused: Of them those that were quarantined (count).
        would: Of them those that entered and an enforcing gate would have refused (count).
        reasons: Columns reason, notes (with it), refused and would (of them), share (of all notes), low,
            high (95 % Wilson), example.
    """

    mode: str
    activated_at: datetime | None
    enforces_from: datetime | None
    enforced: bool
    first: str
    notes: int
    refused: int
    would: int
    reasons: pl.DataFrame


def first_day(days: int, as_of: datetime) -> str:
    """Return the first of the last `days` days (ISO), today included."""
    return (as_of.date() - timedelta(days=max(days, 1) - 1)).isoformat()


def gate_report(space: Workspace, namespace: str, *, days: int, as_of: datetime) -> GateReport:
    """Count the gate's verdicts of the last `days` days, today included, by reason.

    Vault notes count on days whose nightly job has run; direct saves count at once.
    """
    space.look_at_gate()
    policy, first = space.gate_policy, first_day(days, as_of)
    notes = judged_notes(space, namespace, first, as_of)
    faulty = with_places(space.store, notes.filter(pl.col("reasons").list.len() > 0))
    counted = (
        faulty.with_columns(source=pl.when(open_rows()).then("source"))
        .explode("reasons")
        .group_by(reason="reasons")
        .agg(
            notes=pl.len(),
            refused=pl.col("refused").sum(),
            would=pl.col("would").sum(),
            example=pl.col("source").drop_nulls().sort().first(),
        )
        .sort("notes", "reason", descending=[True, False])
    )
    bounds = [wilson(count, notes.height) for count in counted["notes"]]
    reasons = counted.with_columns(
        share=pl.col("notes") / max(notes.height, 1),
        low=pl.Series([low for low, _ in bounds], dtype=pl.Float64),
        high=pl.Series([high for _, high in bounds], dtype=pl.Float64),
    ).select("reason", "notes", "refused", "would", "share", "low", "high", "example")
    return GateReport(
        space.settings.gate.mode, policy.activated_at, policy.enforces_from, policy.enforces_at(as_of),
        first, notes.height, int(notes["refused"].sum()), int(notes["would"].sum()), reasons,
    )  # fmt: skip


def gate_preview(
    space: Workspace, namespace: str, *, days: int | None = None, reason: str = "", as_of: datetime
) -> pl.DataFrame:
    """Return notes that entered and an enforcing gate would have refused, the newest first.

    Title and source of secret notes are hidden.

    Args:
        days: The last so many days; None is since the gate was activated.
        reason: Only with this reason.

    Returns:
        Columns memory_id, day, title, source, reasons, score.
    """
    began = space.gate_policy.activated_at or as_of
    first = began.date().isoformat() if days is None else first_day(days, as_of)
    rows = judged_notes(space, namespace, first, as_of).filter("would")
    if reason:
        rows = rows.filter(pl.col("reasons").list.contains(reason))
    rows = redact(with_places(space.store, rows), ~open_rows(), "title", "source").sort(
        "occurred_at", "memory_id", descending=[True, False]
    )
    return rows.select("memory_id", "day", "title", "source", "reasons", "score")


def accepted_notes(store: Store, days: list[str]) -> pl.DataFrame:
    """Return accepted notes of these days with the columns of their contract.

    Letters and digits of secret titles and sources are replaced by x.
    """
    wanted = one_of("day", days)
    verdicts = store.read("gate_verdicts", f"{wanted} AND verdict = {quote(PASS)}")
    staged = store.read("staged_notes", wanted)
    # The contract's clauses need only whether there is a title, and the separators of a path.
    masked = [
        pl.when(open_rows())
        .then(name)
        .otherwise(pl.col(name).str.replace_all(r"[\p{L}\p{N}]", "x"))
        .alias(name)
        for name in ("title", "source")
    ]
    return (
        staged.with_columns(*masked, *map(label, KNOWN_WORDS))
        .join(
            verdicts.select("day", "memory_id", quality_score="score"), on=["day", "memory_id"], how="inner"
        )
        .sort("staged_id")
        .with_columns(characters=pl.col("content").fill_null("").str.strip_chars().str.len_chars())
    )
