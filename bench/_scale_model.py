"""Extrapolated costs of homes of other sizes, from measured constants: pure functions.

A search visits partitions of about the root of the rows, so its time is ``a + b · sqrt(n)``; the first one
of each of many tenants, and what is written and kept, is ``a + b · n``. The night's compaction and its
k-means are taken as linear too: the partitions' work is ``n · sqrt(P)`` with ``P`` the partitions, which is a
fifth of it at 1 M.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ROW_BYTES = 2_500
"""Of a row of a snapshot beside its vector, as `slowwave.index.incremental_snapshot` reckons."""


@dataclass(frozen=True, slots=True)
class Line:
    """``fixed + each · rows ** power``."""

    fixed: float
    each: float
    power: float

    def at(self, rows: float) -> float:
        """What so many rows cost."""
        return float(self.fixed + self.each * rows**self.power)


def fitted(points: Sequence[tuple[float, float]], power: float) -> Line:
    """The line through two sizes, never falling.

    Args:
        points: rows and what was measured, of two sizes.
        power: of the rows.
    """
    (few, less), (many, more) = points
    each = max(0.0, (more - less) / (many**power - few**power))
    return Line(less - each * few**power, each, power)


def base(sizes: Sequence[int], tenants: int, parted_from: int) -> int:
    """Place of the first of the two sizes that a line goes through: they are searched as larger ones are.

    Args:
        sizes: rows of each home, ascending.
        tenants: namespaces that share them.
        parted_from: rows from which a namespace is searched in partitions.
    """
    parted = [at for at, size in enumerate(sizes) if size // tenants >= parted_from]
    return parted[0] if len(parted) > 1 else 0


def snapshot_bytes(rows: int, dimension: int) -> int:
    """Of the file of a namespace, mapped by all processes."""
    return rows * (ROW_BYTES + 4 * dimension)


@dataclass(frozen=True, slots=True)
class Home:
    """What a home costs.

    Attributes:
        disk_gb: of tables, journal and snapshots.
        snapshot_gb: of the largest namespace's file: what `store.snapshot_mb` has to allow.
        search_cpu_ms: p95 of a search in one namespace; where there are many, of a tenant's first one.
        night_hours: CPU of the night's work on the tables.
    """

    disk_gb: float
    snapshot_gb: float
    search_cpu_ms: float
    night_hours: float


def power_of(figure: str, tenants: int) -> float:
    """How a figure grows with the rows of a home.

    A search visits a root of them; a tenant's first one reads the column of namespaces of all of them.
    """
    return 0.5 if figure.endswith("_ms") and tenants == 1 else 1.0


def home(rows: int, tenants: int, dimension: int, *, search: Line, disk_mb: Line, night_cpu_s: Line) -> Home:
    """A home of so many rows, shared evenly.

    Args:
        rows: of all tenants.
        tenants: namespaces.
        dimension: numbers per vector.
        search: p95 in milliseconds by the rows of the home.
        disk_mb: the same.
        night_cpu_s: the same.
    """
    return Home(
        disk_gb=disk_mb.at(rows) / 1_024,
        snapshot_gb=snapshot_bytes(-(-rows // tenants), dimension) / 2**30,
        search_cpu_ms=search.at(rows),
        night_hours=night_cpu_s.at(rows) / 3_600,
    )
