"""Loading DuckDB, which not every installation has."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.errors import SlowwaveError

if TYPE_CHECKING:
    from types import ModuleType

HANDLES = 8  # of files, for a connection


def load_duckdb() -> ModuleType:
    """The module, where there are handles enough to connect: else DuckDB would end the whole process.

    Raises:
        SlowwaveError: it is not installed.
        OSError: too many files are open.
    """
    with ExitStack() as held:
        for _ in range(HANDLES):
            held.enter_context(Path(os.devnull).open("rb"))
    try:
        import duckdb
    except ImportError as error:
        raise SlowwaveError(
            f"{error}. The warehouse needs it: pip install '.[night]' in its folder."
        ) from None
    return duckdb
