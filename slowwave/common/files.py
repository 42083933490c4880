"""Files that people name are put in their place whole; what is no file is written to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from slowwave.errors import ArgumentError


@contextmanager
def putting(path: Path) -> Iterator[BinaryIO]:
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
