"""Dagster metadata from tables, counts and pictures."""

from __future__ import annotations

import dagster as dg
import polars as pl

from slowwave.settings import Settings
from slowwave.views import markdown, sparklines
from slowwave.views.section import Picture, Table

_ROWS = 20
PAGE_LINK = "web UI"
PICTURE_BYTES = 60_000  # of one picture in the event log


def table(frame: pl.DataFrame, *, rows: int = _ROWS) -> dg.MarkdownMetadataValue:
    """Return a frame as Markdown: the first `rows` rows, with long texts cut."""
    return dg.MetadataValue.md(markdown.table(Table.of(frame, rows)))


def picture(image: bytes, alt: str) -> dg.MarkdownMetadataValue:
    """Return an SVG or PNG as Markdown; Dagster's dialog is 730 pixels wide.

    The image is stored in the event log, so one larger than `PICTURE_BYTES` is left out.

    Args:
        image: The file's bytes.
        alt: Text for those who cannot see it.

    Raises:
        ValueError: The bytes are neither SVG nor PNG.
    """
    return dg.MetadataValue.md(markdown.picture(Picture(lambda: image, alt), PICTURE_BYTES))


def glance(name: str, image: bytes, alt: str) -> dict[str, dg.MetadataValue]:
    """Return a tiny chart that Dagster's UI shows without a click.

    One that is too large for that is left out.

    Args:
        name: Of the entry.
        image: SVG of `slowwave.views.sparklines`.
        alt: Text for those who cannot see it.
    """
    shown = sparklines.inline(image, alt)
    return {name: dg.MetadataValue.md(shown)} if shown else {}


def page_link(settings: Settings, path: str = "/") -> dict[str, dg.MetadataValue]:
    """Return a link to a page of the web UI. Without `page.url` there is none."""
    url = settings.page.url.rstrip("/")
    return {PAGE_LINK: dg.MetadataValue.url(f"{url}{path}")} if url else {}
