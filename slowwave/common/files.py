"""Atomic writes, of files that people name and of files of a home."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from slowwave.errors import ArgumentError


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream that replaces a file at the end of the block without error.

    A device or a pipe is written to directly: replacing ``/dev/null`` would harm the machine.

    Args:
        path: Of the file.

    Raises:
        ArgumentError: Its folder does not exist.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    if not path.parent.is_dir():
        raise ArgumentError(
            f"The folder {path.parent} for {path.name} does not exist. Create it, or give another path."
        )
    partial = path.with_name(f"{path.name}.partial")
    try:
        with partial.open("wb") as stream:
            yield stream
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def replace_file(path: Path, parts: Iterable[bytes], mode: int) -> None:
    """Replace a file of a home atomically and durably; a killed attempt is started again.

    Args:
        path: Of the file.
        parts: Its content, in order.
        mode: Of the new file, also while it is written.
    """
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
