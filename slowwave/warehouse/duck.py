"""Loading of DuckDB, an optional dependency."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.errors import SlowwaveError

if TYPE_CHECKING:
    from types import ModuleType

HANDLES = 8  # file handles of a connection (count)


def load_duckdb() -> ModuleType:
    """Import DuckDB after checking that file handles are free; else it would abort the process.

    Raises:
        SlowwaveError: it is not installed.
        OSError: too many files are open.
    """
    with ExitStack() as handles:
        for _ in range(HANDLES):
            handles.enter_context(Path(os.devnull).open("rb"))
    try:
        import duckdb
    except ImportError as error:
        raise SlowwaveError(
            f"{error}. The warehouse needs DuckDB. Run pip install '.[night]' in the source folder."
        ) from None
    return duckdb
