"""Small JSON files of a home that several processes change: rows by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from slowwave.common.files import atomic_write
from slowwave.common.permissions import file_mode


def read_rows(path: Path) -> dict[str, dict[str, Any]]:
    """Read the rows; none if the file is missing or damaged, which the next change recreates."""
    import orjson

    try:
        rows = orjson.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return rows if isinstance(rows, dict) else {}


@contextmanager
def changing_rows(path: Path) -> Iterator[dict[str, dict[str, Any]]]:
    """Yield the rows to change them; they are written, atomically, when the block ends without an error.

    No other process changes them meanwhile.
    """
    import orjson
    from filelock import FileLock

    with FileLock(f"{path}.lock", timeout=10, mode=file_mode(path.parent)):
        rows = read_rows(path)
        yield rows
        with atomic_write(path) as file:
            file.write(orjson.dumps(rows, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
