"""What a table of the warehouse is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name, its type in DuckDB, and what it says, with its unit."""

    name: str
    type: str
    about: str


@dataclass(frozen=True, slots=True)
class Mart:
    """A table of the warehouse.

    Attributes:
        name: of the table.
        about: what a row is.
        reads: tables of the store (`sources.SOURCES`), and what is worked out (`sources.MADE`), that the
            query names, with ``lance_`` before them.
        key: how many of the first columns tell rows apart; rows are stored in their order.
        columns: in the order of the query's.
        query: SQL that gives the rows.
    """

    name: str
    about: str
    reads: tuple[str, ...]
    key: int
    columns: tuple[Field, ...]
    query: str

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the key's columns."""
        return tuple(column.name for column in self.columns[: self.key])


DAY = Field("day", "DATE", "UTC day.")
NAMESPACE = Field("namespace", "VARCHAR", "Namespace (tenant); nothing is summed over several.")


def count(name: str, about: str) -> Field:
    """A column of whole numbers."""
    return Field(name, "BIGINT", f"{about} (count).")


def share(name: str, about: str) -> Field:
    """A column of shares."""
    return Field(name, "DOUBLE", f"{about} (0 to 1; null of nothing).")
