"""Atomic writes of files: of those that people name, and of those of a home."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from slowwave.errors import ArgumentError


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Something to write to that takes the place of a file at the end of the block, if nothing goes wrong.

    A device or a pipe keeps its place and is written to: to replace ``/dev/null`` would harm the machine.

    Args:
        path: of the file.

    Raises:
        ArgumentError: its folder is not there.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as there:
            yield there
        return
    if not path.parent.is_dir():
        raise ArgumentError(
            f"There is no folder {path.parent} for {path.name}: make it, or give another path."
        )
    partial = path.with_name(f"{path.name}.partial")
    try:
        with partial.open("wb") as beside:
            yield beside
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def replace_file(path: Path, parts: Iterable[bytes], mode: int) -> None:
    """Replace a file of a home atomically and durably; what a killed process began is begun anew.

    Args:
        path: of the file.
        parts: its content, one after the other.
        mode: of the new file, also while it is written.
    """
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
