"""Loading DuckDB, which not every installation has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.errors import SlowwaveError

if TYPE_CHECKING:
    from types import ModuleType


def load_duckdb() -> ModuleType:
    """The module.

    Raises:
        SlowwaveError: it is not installed.
    """
    try:
        import duckdb
    except ImportError as error:
        raise SlowwaveError(f"{error}. The warehouse needs it: pip install 'slowwave[night]'.") from None
    return duckdb
