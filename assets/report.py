"""What assets tell people: tables, counts and pictures as Dagster metadata."""

from __future__ import annotations

import dagster as dg
import polars as pl

from slowwave.views import markdown
from slowwave.views.section import Picture, Table

_ROWS = 20
PICTURE_BYTES = 60_000  # of one picture in the event log


def table(frame: pl.DataFrame, *, rows: int = _ROWS) -> dg.MarkdownMetadataValue:
    """A frame as a table that the page shows; the first `rows` rows, long texts cut."""
    return dg.MetadataValue.md(markdown.table(Table.of(frame, rows)))


def picture(image: bytes, alt: str) -> dg.MarkdownMetadataValue:
    """An SVG or PNG that the page shows when its entry is opened; its dialog has room for 730 pixels.

    The image lies in the event log, so what is larger than `PICTURE_BYTES` is left out.

    Args:
        image: the file's bytes.
        alt: what it shows, for those who cannot see it.

    Raises:
        ValueError: the bytes are neither of the two.
    """
    return dg.MetadataValue.md(markdown.picture(Picture(lambda: image, alt), PICTURE_BYTES))
