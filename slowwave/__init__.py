"""Slowwave: a memory for AI assistants that gets better from being used, and can prove it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slowwave.common.version import VERSION

if TYPE_CHECKING:
    from slowwave.memory import Memory
    from slowwave.memory import open_memory as open  # noqa: A004 - slowwave.open, like sqlite3.connect

__all__ = ["Memory", "open"]
__version__ = VERSION

_LAZY = {"open": "open_memory", "Memory": "Memory"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    """Load the memory when it is first asked for, so that the command line starts at once."""
    if name in _LAZY:
        from slowwave import memory

        return getattr(memory, _LAZY[name])
    raise AttributeError(f"module 'slowwave' has no attribute {name!r}")
