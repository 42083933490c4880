"""Declarations of every LanceDB table, by the package that owns its rows.

A declaration is all that a new table or column needs: existing homes get it when they are next opened.
"""

from __future__ import annotations

from functools import cache

from slowwave.store.tables import evaluation, feedback, learning, lifecycle
from slowwave.store.tables.declaring import TEXT, TableSpec, table
from slowwave.store.tables.lifecycle import NOTE_FIELDS

__all__ = ["CANARY_NAMESPACE", "NOTE_FIELDS", "SCHEMA_VERSION", "TableSpec", "table_specs"]

CANARY_NAMESPACE = "~canary"
"""Namespace and day of the canary row, which proves that no text query reaches learned terms.

No namespace begins so, and no day is later.
"""


def table_specs(dimension: int) -> dict[str, TableSpec]:
    """Return all tables for vectors of `dimension` numbers, by name.

    They are created and shown in this order.
    """
    return {spec.name: spec for spec in _declared(dimension)}


@cache
def _declared(dimension: int) -> tuple[TableSpec, ...]:
    description = "Facts about the store: schema version, embedding model, finished nightly jobs."
    return (
        table("meta", "name", description, value=TEXT),
        *lifecycle.tables(dimension), *feedback.tables(), *evaluation.tables(), *learning.tables(dimension),
    )  # fmt: skip


_COLUMNS_OF_VERSION_0 = 465
"""Declared columns minus the schema version: lower by one for each step that adds no column."""

SCHEMA_VERSION = sum(len(spec.schema) for spec in table_specs(1).values()) - _COLUMNS_OF_VERSION_0
"""Version of the schema of the tables: each declared column raises it by one."""
