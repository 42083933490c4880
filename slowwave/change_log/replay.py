"""The tables that the records of a journal come to."""

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
from slowwave.quality.admission.types import RETIRED

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.store.tables import TableSpec

ENTRIES_AT_ONCE = 1_000


def replayed(
    journal: Journal, specs: Mapping[str, TableSpec], names: Collection[str]
) -> dict[str, pl.DataFrame]:
    """Rows of these tables, without vectors, as the records of the journal leave them.

    Args:
        journal: of the home.
        specs: what each table is.
        names: the tables, all of them recorded ones.
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
        """Let one change happen."""
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
        """The rows as they are now."""
        if len(self._parts) != 1:
            every = pl.concat([pl.DataFrame(schema=self._schema), *self._parts])
            self._parts = [every.unique(self.spec.key, keep="last", maintain_order=True)]
        return self._parts[0]

    def texts(self) -> pl.DataFrame:
        """Memories as they were when they were recorded whole: the texts of those that no act tells."""
        every = pl.concat([pl.DataFrame(schema=self._schema), *self._full])
        return every.unique(self.spec.key, keep="last", maintain_order=True)

    def _with_texts(self, new: pl.DataFrame) -> pl.DataFrame:
        """Which act the text of each memory is of: of a retired one, the one that it had before."""
        acts: list[str | None] = []
        for name, revision, status, full in new.select("memory_id", "revision", "status", "full").iter_rows():
            if full:
                self._text_of[name] = None
            elif status != RETIRED:
                self._text_of[name] = ids.event_of(revision)
            acts.append(self._text_of.get(name))
        self._full.append(new.filter("full"))
        return new.with_columns(pl.Series(TEXT_OF, acts, pl.String))
