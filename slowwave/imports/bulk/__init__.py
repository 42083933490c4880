"""Bulk import of notes from Parquet and JSON lines, on disk or in S3."""

from slowwave.imports.bulk.rows import Fields, fields_of
from slowwave.imports.bulk.running import take_rows

__all__ = ["Fields", "fields_of", "take_rows"]
