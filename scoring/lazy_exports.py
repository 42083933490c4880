"""A package whose names stand in its modules, which are loaded when somebody asks for one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The package's `__getattr__` (PEP 562). What type checkers are to see of it is imported for them alone.

    No module may have the name of one of its names: once it is loaded it would stand in the name's place.

    Args:
        package: its `__name__`.
        modules: of each module, the names that it gives to the package, with spaces between them.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def named(name: str) -> Any:  # noqa: ANN401 - a module's attribute
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return named
