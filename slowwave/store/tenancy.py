"""The tables as a tenant has them: every read is within its namespaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import polars as pl

from slowwave.store.frames import one_of, quote
from slowwave.store.tables import TableSpec


class Readable(Protocol):
    """What rows are read from; see `slowwave.store.Store`."""

    @property
    def specs(self) -> Mapping[str, TableSpec]:
        """Every table by name."""

    def read(
        self, name: str, where: str | None = None, *, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Rows of a table."""

    def scan(
        self, name: str, where: str | None = None, *, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Rows of a table."""

    def read_by(
        self, name: str, column: str, values: Sequence[str], *, columns: Sequence[str] | None = None,
        also: str | None = None,
    ) -> pl.DataFrame:  # fmt: skip
        """Rows of a table."""

    def count(self, name: str, where: str | None = None) -> int:
        """Number of rows."""


class StoreOf:
    """Tables with the rows of some namespaces alone.

    Args:
        store: has the rows of all.
        namespaces: whose rows are read.

    Raises:
        KeyError: a table that is read is of no namespace.
    """

    def __init__(self, store: Readable, namespaces: Sequence[str]) -> None:
        self._store, self.namespaces = store, tuple(namespaces)
        self.specs = store.specs

    def of(self, *namespaces: str) -> StoreOf:
        """The rows of some of these namespaces alone."""
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
    """The condition, within a namespace or some only. Every filter of a tenant is made here.

    Args:
        namespaces: one, or several.
        where: what else has to be true.
    """
    if isinstance(namespaces, str):
        namespaces = [namespaces]
    one = len(namespaces) == 1
    mine = f"namespace = {quote(namespaces[0])}" if one else one_of("namespace", namespaces)
    return mine if where is None else f"{mine} AND ({where})"
