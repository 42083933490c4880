"""What assets tell people: tables, counts and pictures as Dagster metadata."""

from __future__ import annotations

import base64

import dagster as dg
import polars as pl

_ROWS = 20
_CHARACTERS = 100
_ESCAPED = str.maketrans({mark: f"\\{mark}" for mark in "\\[]*_`<"})
PICTURE_BYTES = 60_000  # of one picture in the event log


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


def picture(image: bytes, alt: str) -> dg.MarkdownMetadataValue:
    """An SVG or PNG that the page shows when its entry is opened.

    Dagster's page draws images of Markdown whose address is a data URI; an ``<svg>`` or ``<img>`` in the
    text it removes. Its dialog has room for 730 pixels. The image lies in the event log, so what is larger
    than `PICTURE_BYTES` is left out.

    Args:
        image: the file's bytes.
        alt: what it shows, for those who cannot see it.

    Raises:
        ValueError: the bytes are neither of the two.
    """
    if image.startswith(b"\x89PNG\r\n\x1a\n"):
        kind = "png"
    elif b"<svg" in image[:1_000]:
        kind = "svg+xml"
    else:
        raise ValueError(f"{alt}: {image[:16]!r}… is neither an SVG nor a PNG")
    told = " ".join(alt.split()).translate(_ESCAPED)
    data = base64.b64encode(image).decode()
    if len(data) > PICTURE_BYTES:
        return dg.MetadataValue.md(f"*{told}: left out, it would take {len(data):,} bytes of the event log*")
    return dg.MetadataValue.md(f"![{told}](data:image/{kind};base64,{data})")
