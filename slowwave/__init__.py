"""Slowwave: a memory for AI assistants that learns from use, with evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slowwave.common.version import VERSION

if TYPE_CHECKING:
    from slowwave.memory import Memory
    from slowwave.memory import open_memory as open  # noqa: A004 - slowwave.open, like sqlite3.connect

__all__ = ["Memory", "open"]
__version__ = VERSION

_LAZY = {"open": "open_memory", "Memory": "Memory"}
_COMPONENT = "SlowwaveMemory"
"""Dagster component, the `type` of a ``defs.yaml``. Loaded by name: no package below may import Dagster."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    """Load the memory on first access, so that the command line starts at once."""
    if name in _LAZY:
        from slowwave import memory

        return getattr(memory, _LAZY[name])
    if name == _COMPONENT:
        if not _has_dagster():
            raise AttributeError("slowwave.SlowwaveMemory needs Dagster: install slowwave[night]")
        from importlib import import_module

        return import_module("slowwave.orchestration.component").SlowwaveMemory
    raise AttributeError(f"module 'slowwave' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the module's names. Dagster finds components by them."""
    return sorted([*globals(), *([_COMPONENT] if _has_dagster() else [])])


def _has_dagster() -> bool:
    """Whether Dagster is installed; it is not imported."""
    from importlib.util import find_spec

    return find_spec("dagster") is not None
