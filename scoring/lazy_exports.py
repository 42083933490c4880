"""Lazy exports of a package: a module is loaded on first access to one of its names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's `__getattr__` (PEP 562).

    Type checkers read separate imports under `TYPE_CHECKING`. No module may have the name of an export: once
    loaded, it would replace the export.

    Args:
        package: its `__name__`.
        modules: module names, with the names that each exports, separated by spaces.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def named(name: str) -> Any:  # noqa: ANN401 - a module's attribute
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return named
