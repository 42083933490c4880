"""What assets tell people: tables and counts as Dagster metadata."""

from __future__ import annotations

import dagster as dg
import polars as pl

_ROWS = 20
_CHARACTERS = 100


def table(frame: pl.DataFrame, *, rows: int = _ROWS) -> dg.MarkdownMetadataValue:
    """A frame as a table that the page shows; the first `rows` rows, long texts cut."""
    if frame.is_empty():
        return dg.MetadataValue.md("*none*")
    lines = ["| " + " | ".join(frame.columns) + " |", "|" + "---|" * len(frame.columns)]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in frame.head(rows).iter_rows()]
    if frame.height > rows:
        lines.append(f"\n… and {frame.height - rows:,} more")
    return dg.MetadataValue.md("\n".join(lines))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    text = ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= _CHARACTERS else text[:_CHARACTERS] + " …"
