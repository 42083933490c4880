"""Copies of memories in a folder that `slowwave export memories` wrote; scans leave them out."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import orjson

EXPORT_TYPE: Final = "slowwave-memories"
EXPORT_FOLDER: Final = ".slowwave-export"
"""Hidden folder of an export."""
EXPORT_LIST: Final = "files.json"
"""File of it with the SHA-256 of every exported file, written last."""


@dataclass(frozen=True, slots=True)
class ExportedFiles:
    """Files of an exported folder.

    Attributes:
        digests: SHA-256 by POSIX path relative to the folder; empty if it is no export.
        written_ns: Time at which the list was written (nanoseconds).
    """

    digests: Mapping[str, str] = field(default_factory=dict)
    written_ns: int = 0


def exported_files(folder: Path) -> ExportedFiles:
    """Return the files of an exported folder; nothing of any other folder."""
    file = folder / EXPORT_FOLDER / EXPORT_LIST
    try:
        value, written_ns = orjson.loads(file.read_bytes()), file.stat().st_mtime_ns
    except (OSError, orjson.JSONDecodeError):
        return ExportedFiles()
    files = value.get("files") if isinstance(value, dict) and value.get("type") == EXPORT_TYPE else None
    return ExportedFiles(files, written_ns) if isinstance(files, dict) else ExportedFiles()


def is_exported_copy(entry: os.DirEntry[str], path: str, files: ExportedFiles) -> bool:
    """Whether a file is as the export wrote it. Contents are read only if it is newer than the list."""
    if path not in files.digests:
        return False
    return (
        entry.stat().st_mtime_ns <= files.written_ns or file_digest(Path(entry.path)) == files.digests[path]
    )


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file; empty if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
