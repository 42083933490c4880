"""Tenancy: views of the tables in which every read is within given namespaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import polars as pl

from slowwave.store.frames import one_of, quote
from slowwave.store.tables import TableSpec


class Readable(Protocol):
    """Source of rows; see `slowwave.store.Store`."""

    @property
    def specs(self) -> Mapping[str, TableSpec]:
        """Every table by name."""

    def read(
        self, name: str, where: str | None = None, *, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Return rows of a table."""

    def scan(
        self, name: str, where: str | None = None, *, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Return rows of a table."""

    def read_by(
        self, name: str, column: str, values: Sequence[str], *, columns: Sequence[str] | None = None,
        also: str | None = None,
    ) -> pl.DataFrame:  # fmt: skip
        """Return rows of a table."""

    def count(self, name: str, where: str | None = None) -> int:
        """Count rows of a table."""


class StoreOf:
    """View of the tables with the rows of some namespaces only.

    Args:
        store: Has the rows of all.

    Raises:
        KeyError: The table has no namespace column.
    """

    def __init__(self, store: Readable, namespaces: Sequence[str]) -> None:
        self._store, self.namespaces = store, tuple(namespaces)
        self.specs = store.specs

    def of(self, *namespaces: str) -> StoreOf:
        """Return a view restricted further, to some of these namespaces."""
        return StoreOf(self, namespaces)

    def _where(self, name: str, where: str | None) -> str | None:
        if "namespace" not in self.specs[name].schema.names:
            raise KeyError(f"{name} has no namespace")
        return within(self.namespaces, where)

    def read(
        self, name: str, where: str | None = None, *, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """See `Store.read`."""
        return self._store.read(name, self._where(name, where), columns=columns)

    def scan(
        self, name: str, where: str | None = None, *, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """See `Store.scan`."""
        return self._store.scan(name, self._where(name, where), columns=columns)

    def read_by(
        self, name: str, column: str, values: Sequence[str], *, columns: Sequence[str] | None = None,
        also: str | None = None,
    ) -> pl.DataFrame:  # fmt: skip
        """See `Store.read_by`."""
        return self._store.read_by(name, column, values, columns=columns, also=self._where(name, also))

    def count(self, name: str, where: str | None = None) -> int:
        """See `Store.count`."""
        return self._store.count(name, self._where(name, where))


def within(namespaces: str | Sequence[str], where: str | None = None) -> str:
    """Restrict a condition to one or some namespaces; every tenant's filter is built here.

    Args:
        where: Further condition.
    """
    if isinstance(namespaces, str):
        namespaces = [namespaces]
    single = len(namespaces) == 1
    tenant = f"namespace = {quote(namespaces[0])}" if single else one_of("namespace", namespaces)
    return tenant if where is None else f"{tenant} AND ({where})"
