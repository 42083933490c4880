"""Rows of the feedback tables, written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

import polars as pl

from slowwave.store import Store

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
TODAY = NOW.date()


def day(ago: int) -> str:
    """The day so many days before `TODAY`."""
    return (TODAY - timedelta(days=ago)).isoformat()


def noon(ago: int) -> datetime:
    return datetime.combine(TODAY - timedelta(days=ago), time(12), UTC)


class Rows:
    """Writes rows of one namespace into a store; ids are counted up."""

    def __init__(self, store: Store, namespace: str = "ada") -> None:
        self._store, self._namespace, self._count = store, namespace, 0

    def _write(self, table: str, row: dict[str, Any]) -> None:
        schema = self._store.empty(table).schema
        key = self._store.specs[table].key
        self._count += 1
        values = {key: f"{self._namespace}-{table}-{self._count}", "namespace": self._namespace, **row}
        frame = pl.DataFrame([values], schema={name: schema[name] for name in values})
        self._store.upsert(table, frame)

    def memory(self, memory_id: str, title: str | None, *, status: str = "live", source: str = "") -> None:
        row = {"memory_id": memory_id, "title": title, "status": status, "source": source}
        self._write("memories", row | {"revision": "1"})

    def search(self, ago: int, *, abstained: bool | None = None, imported_from: str | None = None) -> None:
        self._write("searches", {"day": day(ago), "abstained": abstained, "imported_from": imported_from})

    def act(
        self, ago: int, tier: str, verdict: str | None = None, *, search_id: str | None = None,
        imported_from: str | None = None,
    ) -> None:  # fmt: skip
        row = {"day": day(ago), "tier": tier, "verdict": verdict, "search_id": search_id}
        self._write("events", row | {"imported_from": imported_from})

    def said(
        self, ago: int, memory_id: str, verdict: str, evidence: str | None = "words", *,
        tier: str = "implicit", times: int = 1,
    ) -> None:  # fmt: skip
        for _ in range(times):
            row = {"day": day(ago), "memory_id": memory_id, "tier": tier, "verdict": verdict}
            self._write("usage_signals", row | {"evidence": evidence})

    def state(self, memory_id: str, *, ago: int = 0, **columns: Any) -> None:
        row = {"state_id": memory_id, "memory_id": memory_id, "day": day(ago)}
        self._write("memory_state", row | columns)

    def promotion(self, ago: int, memory_id: str, reason: str, *, useful: int = 5) -> None:
        row = {
            "day": day(ago), "memory_id": memory_id, "reason": reason, "useful": useful, "voters": 2,
            "from_tier": "normal", "to_tier": "important", "decided_at": noon(ago),
        }  # fmt: skip
        self._write("promotions", row)


def column(frame: pl.DataFrame, *names: str) -> Sequence[Any]:
    """One column as a list, or rows of several."""
    return frame[names[0]].to_list() if len(names) == 1 else frame.select(names).rows()
