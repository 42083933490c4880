"""What every benchmark prints: a table for people, and one JSON object as its last line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def report(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    note: str = "",
    totals: Mapping[str, Any] | None = None,
) -> None:
    """Print rows as a table, totals if there are any, a note, and the JSON line."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = Table(title=f"bench/{name}.py", title_justify="left")
    for column in columns:
        numeric = any(isinstance(row.get(column), int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(_cell(row.get(column)) for column in columns))
    console = Console(width=140)
    console.print(table)
    if totals:
        console.print("  ".join(f"{key} {_cell(value)}" for key, value in totals.items()), highlight=False)
    if note:
        console.print(note, highlight=False)
    more = {"totals": dict(totals)} if totals else {}
    print(json.dumps({"bench": name, "rows": [dict(row) for row in rows], **more}))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 1 else f"{value:,.2f}"
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else str(value)
