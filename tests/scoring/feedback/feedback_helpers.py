"""Signals made by hand or at random, for the tests of rule 4."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from slowwave.store.tables import table_specs

SPECS = table_specs(8)
START = datetime(2026, 3, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
VALUES = {
    "helpful": 1.0,
    "neutral": 0.5,
    "unhelpful": 0.0,
    "success": 1.0,
    "failure": 0.0,
    "used": 1.0,
    "ignored": 0.5,
}
TIERS = {"used": "implicit", "ignored": "implicit", "success": "detailed", "failure": "detailed"}


def frame(table: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows of a table, missing columns null."""
    schema = pl.from_arrow(SPECS[table].schema.empty_table()).schema
    names = SPECS[table].schema.names
    return pl.DataFrame([{name: row.get(name) for name in names} for row in rows], schema=schema)


def signal(
    verdict: str,
    memory: str = "m",
    *,
    at: datetime = START,
    by: str = "ann",
    search: str = "s",
    chunk: str = "",
    name: str = "",
    evidence: str = "words",
    weight: float | None = None,
) -> dict[str, Any]:
    """One row of ``usage_signals``."""
    tier = TIERS.get(verdict, "quick")
    return {
        "signal_id": name or f"{at.isoformat()}:{by}:{search}:{memory}:{verdict}",
        "day": at.date().isoformat(), "namespace": "ada", "memory_id": memory,
        "chunk_id": chunk or f"{memory}:00000",
        "occurred_at": at, "principal": by, "event_id": name or "e", "search_id": search, "tier": tier,
        "verdict": verdict, "value": VALUES[verdict], "evidence": evidence,
        "weight": weight if weight is not None else 0.25 if tier == "implicit" else 1.0,
    }  # fmt: skip


def signals(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return frame("usage_signals", rows)


def at_random(
    seed: int, count: int, *, days: int = 6, memories: int = 4, principals: int = 3
) -> pl.DataFrame:
    """Signals of all kinds, with corrections of ratings and principals who flood."""
    draw = np.random.default_rng(seed)
    verdicts = ["used", "ignored", "helpful", "neutral", "unhelpful", "success", "failure"]
    rows = []
    for number in range(count):
        memory = f"m{int(draw.zipf(1.6)) % memories}"
        rows.append(
            signal(
                str(draw.choice(verdicts, p=[0.3, 0.2, 0.2, 0.05, 0.15, 0.05, 0.05])), memory,
                at=START + timedelta(microseconds=int(draw.integers(days * 86_400_000_000))),
                by=f"p{draw.integers(principals)}", search=f"s{draw.integers(12)}",
                chunk=f"{memory}:{draw.integers(3):05d}", name=f"{number:05d}",
                evidence=str(draw.choice(["words", "citation", "none"], p=[0.6, 0.2, 0.2])),
            )
        )  # fmt: skip
    return signals(rows).with_columns(
        weight=pl.when(pl.col("evidence").eq("none") & pl.col("tier").eq("implicit"))
        .then(0.0)
        .otherwise("weight")
    )


seeds = st.integers(0, 10_000)
