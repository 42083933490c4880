"""Definition of a warehouse table (mart)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """Column: name, DuckDB type, and description with unit."""

    name: str
    type: str
    about: str


@dataclass(frozen=True, slots=True)
class Mart:
    """Table of the warehouse.

    Attributes:
        name: Name of the table.
        about: Meaning of a row.
        reads: Store tables (`sources.SOURCES`) and computed frames (`sources.MADE`) that the query names,
            with the prefix ``lance_``.
        key: Number of leading columns that identify a row; rows are sorted by them.
        columns: In the order of the query.
        query: SQL of the rows.
    """

    name: str
    about: str
    reads: tuple[str, ...]
    key: int
    columns: tuple[Field, ...]
    query: str

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the names of the key columns."""
        return tuple(column.name for column in self.columns[: self.key])


DAY = Field("day", "DATE", "UTC day.")
NAMESPACE = Field("namespace", "VARCHAR", "Namespace (tenant); nothing is summed over several.")


def count(name: str, about: str) -> Field:
    """Return a column of whole numbers."""
    return Field(name, "BIGINT", f"{about} (count).")


def share(name: str, about: str) -> Field:
    """Return a column of shares."""
    return Field(name, "DOUBLE", f"{about} (0 to 1; null of nothing).")
