"""Markdown files of selected memories in one ZIP archive; their current versions only."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from slowwave.home.visibility import open_rows
from slowwave.imports.own.markdown import write_markdown
from slowwave.imports.own.model import EVENTS, TABLES, TYPE, VERSION, Contents, events_frame, schemas
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.memory import Memory


def exportable(memory: Memory, memory_ids: Sequence[str]) -> bool:
    """Return whether a selection has a memory that may be exported."""
    rows = memory.store.read_by(
        "memories", "memory_id", sorted(memory_ids), columns=["memory_id", "sensitivity"],
        also=within(memory.namespace),
    )  # fmt: skip
    return not rows.filter(open_rows()).is_empty()


def zipped_markdown(memory: Memory, memory_ids: Sequence[str]) -> bytes:
    """Return a ZIP archive with a Markdown file per memory and an index; secret ones are left out."""
    columns = {name: schema for name, schema in schemas(memory.store.specs).items() if name in TABLES}
    frames = {name: pl.DataFrame(schema=schema) for name, schema in columns.items()}
    rows = memory.store.read_by(
        "memories", "memory_id", sorted(memory_ids), columns=list(columns["memories"]),
        also=within(memory.namespace),
    )  # fmt: skip
    frames["memories"] = rows.filter(open_rows())
    header = {"type": TYPE, "version": VERSION, "namespace": memory.namespace}
    archive = io.BytesIO()
    with tempfile.TemporaryDirectory() as name, zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        folder = Path(name)
        write_markdown(Contents(header, {EVENTS: events_frame(()), **frames}), folder)
        for file in sorted(folder.glob("*.md")):
            zipped.write(file, file.name)
    return archive.getvalue()
