"""What the gate refuses, or would refuse if it did more than warn, by reason (rule 1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl

from quality.gate import PASS
from quality.structure import KNOWN_WORDS
from scoring.intervals import wilson
from slowwave.store import Store, one_of, quote
from slowwave.visibility import label, open_rows

if TYPE_CHECKING:
    from slowwave.workspace import Workspace


@dataclass(frozen=True, slots=True)
class GateReport:
    """How the gate judged the notes of some days.

    Attributes:
        mode: off, warn or enforce, as set.
        activated_at: when the gate was first used.
        enforces_from: when a gate of mode warn begins to refuse; None in the other modes.
        enforced: whether it refuses now.
        first: first day that is counted.
        notes: saved notes that were judged on these days.
        reasons: reason, notes, refused (of them), share (of all notes), low, high (95 % Wilson), example.
    """

    mode: str
    activated_at: datetime | None
    enforces_from: datetime | None
    enforced: bool
    first: str
    notes: int
    reasons: pl.DataFrame


def gate_report(space: Workspace, namespace: str, *, days: int, as_of: datetime) -> GateReport:
    """Count the gate's verdicts of the last `days` days, today's with them, by reason.

    Only days whose night has run are counted: saves of today may be missing.
    """
    store, policy = space.store, space.gate_policy
    first = (as_of.date() - timedelta(days=max(days, 1) - 1)).isoformat()
    mine = f"namespace = {quote(namespace)} AND day >= '{first}'"
    verdicts = store.read(
        "gate_verdicts", mine, columns=["day", "memory_id", "revision", "verdict", "reasons"]
    ).filter(pl.col("verdict").is_in([PASS, "refuse"]))
    decided = store.read(
        "decisions", mine, columns=["day", "memory_id", "revision", "reasons", "refused"]
    ).with_columns(verdict=pl.when("refused").then(pl.lit("refuse")).otherwise(pl.lit(PASS)))
    told = pl.concat([verdicts, decided.select(verdicts.columns)]).explode("reasons").drop_nulls("reasons")
    sources = store.read("staged_notes", mine, columns=["memory_id", "revision", "source", "sensitivity"])
    sources = sources.with_columns(source=pl.when(open_rows()).then("source"))
    counted = (
        told.unique(["memory_id", "revision", "reasons"])
        .join(sources.unique(["memory_id", "revision"]), on=["memory_id", "revision"], how="left")
        .group_by(reason="reasons")
        .agg(
            notes=pl.len(),
            refused=(pl.col("verdict") == "refuse").sum(),
            example=pl.col("source").drop_nulls().sort().first(),
        )
        .sort("notes", "reason", descending=[True, False])
    )
    bounds = [wilson(count, verdicts.height) for count in counted["notes"]]
    reasons = counted.with_columns(
        share=pl.col("notes") / max(verdicts.height, 1),
        low=pl.Series([low for low, _ in bounds], dtype=pl.Float64),
        high=pl.Series([high for _, high in bounds], dtype=pl.Float64),
    ).select("reason", "notes", "refused", "share", "low", "high", "example")
    return GateReport(
        space.settings.gate.mode, policy.activated_at, policy.enforces_from, policy.enforces_at(as_of),
        first, verdicts.height, reasons,
    )  # fmt: skip


def accepted_notes(store: Store, days: list[str]) -> pl.DataFrame:
    """The notes that the gate let in on these days, with the columns that its contract is about.

    Of a secret note no letter of its title or its source is there.
    """
    wanted = one_of("day", days)
    verdicts = store.read("gate_verdicts", f"{wanted} AND verdict = {quote(PASS)}")
    staged = store.read("staged_notes", wanted)
    # What the clauses look at stays as it was: whether there is a title, and the marks of a path.
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
