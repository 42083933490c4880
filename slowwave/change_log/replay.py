"""Replay of the journal's records into tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.change_log.columns import read, schema_of
from slowwave.change_log.rehydrate import TEXT_OF, rehydrate
from slowwave.common import ids, progress
from slowwave.journal import payload_of
from slowwave.journal.entry import EVERYBODY, RECORD
from slowwave.journal.kinds.erasure import is_erased
from slowwave.quality.admission.statuses import RETIRED

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.store.tables import TableSpec

ENTRIES_AT_ONCE = 1_000


def replayed(
    journal: Journal, specs: Mapping[str, TableSpec], names: Collection[str]
) -> dict[str, pl.DataFrame]:
    """Return the rows of these tables, without vectors, from the journal's records.

    Args:
        specs: Declaration of each table.
        names: Recorded tables.
    """
    tables = {name: _Table(specs[name]) for name in names}
    total = int(journal.days([RECORD])["entries"].sum())
    with progress.task("reading records", total) as advance:
        for page in journal.pages(kinds=[RECORD], namespace=EVERYBODY, size=ENTRIES_AT_ONCE):
            for name, payload in page.select("subject", "payload").iter_rows():
                if name in tables:
                    tables[name].take(payload_of(payload))
            advance(page.height)
    return {
        name: rehydrate(table.spec, table.rows(), journal, table.texts()) for name, table in tables.items()
    }


class _Table:
    """Rows of one table while its records are read."""

    def __init__(self, spec: TableSpec) -> None:
        self.spec = spec
        self._schema = {**schema_of(spec), "full": pl.Boolean()}
        if spec.name == "memories":
            self._schema[TEXT_OF] = pl.String()
        self._parts: list[pl.DataFrame] = []
        self._text_of: dict[str, str | None] = {}
        self._full: list[pl.DataFrame] = []

    def take(self, change: Mapping[str, Any]) -> None:
        """Apply one change."""
        if is_erased(change):
            return
        key, new = self.spec.key, pl.DataFrame(schema=self._schema)
        if change.get("whole"):
            self._parts, self._text_of, self._full = [], {}, []
        if change.get("rows"):
            columns = {**change["columns"], "full": [bool(change.get("full"))] * change["rows"]}
            new = read(columns, change["rows"], self._schema)
        if self.spec.name == "memories":
            new = self._with_texts(new)
        if "delete" in change:
            gone = pl.sql_expr(change["delete"]).fill_null(value=False)
            self._parts = [self.rows().filter(~gone | pl.col(key).is_in(new[key].implode()))]
        if change.get("insert_only"):
            new = new.join(self.rows(), on=key, how="anti")
        self._parts.append(new)

    def rows(self) -> pl.DataFrame:
        """Return the present rows."""
        if len(self._parts) != 1:
            every = pl.concat([pl.DataFrame(schema=self._schema), *self._parts])
            self._parts = [every.unique(self.spec.key, keep="last", maintain_order=True)]
        return self._parts[0]

    def texts(self) -> pl.DataFrame:
        """Return memories as they were when recorded whole: texts that no event has."""
        every = pl.concat([pl.DataFrame(schema=self._schema), *self._full])
        return every.unique(self.spec.key, keep="last", maintain_order=True)

    def _with_texts(self, new: pl.DataFrame) -> pl.DataFrame:
        """Add the event of each memory's text; a retired one keeps its previous event."""
        acts: list[str | None] = []
        for name, revision, status, full in new.select("memory_id", "revision", "status", "full").iter_rows():
            if full:
                self._text_of[name] = None
            elif status != RETIRED:
                self._text_of[name] = ids.event_of(revision)
            acts.append(self._text_of.get(name))
        self._full.append(new.filter("full"))
        return new.with_columns(pl.Series(TEXT_OF, acts, pl.String))
