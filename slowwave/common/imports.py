"""Libraries without the parts that they load at once and that nobody here uses.

Those are a third of the CPU of a short process: Great Expectations loads SciPy's statistics and Altair for
one expectation each (.8 s), LanceDB the validators of every call of a REST client (.5 s).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

CONTRACT = ("scipy.stats", "altair")
"""What Great Expectations loads for expectations that no contract here has."""

TABLES = ("lance_namespace_urllib3_client",)
"""What LanceDB loads for databases that are behind a REST interface."""

_LOCK = threading.Lock()


@contextmanager
def when_used(*names: str) -> Iterator[None]:
    """Let what is imported in here have modules that are loaded when something of theirs is asked for.

    `importlib.util.LazyLoader` does not do: the next import of what it makes loads it. Whoever imports one of
    the modules afterwards gets it as ever; only a package of which submodules were loaded stays as it is, and
    gives what it is asked for.

    Args:
        names: of modules; those that are loaded, and those that are not installed, stay as they are.
    """
    made = {}
    for name in names:
        if name not in sys.modules and (spec := find_spec(name)) is not None:
            module = made[name] = sys.modules[name] = module_from_spec(spec)
            vars(module)["__getattr__"] = _Whole(module)
    try:
        yield
    finally:
        for name, module in made.items():
            if sys.modules.get(name) is module and not _children(name):
                del sys.modules[name]


class _Whole:
    """The names of a module, from the one that is loaded when the first of them is asked for."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __call__(self, name: str) -> Any:  # noqa: ANN401 - anything
        if name.startswith("__") and name not in ("__all__", "__version__"):
            raise AttributeError(f"module {self._module.__name__!r} has no attribute {name!r}")
        return getattr(self._loaded(), name)

    def _loaded(self) -> ModuleType:
        name = self._module.__name__
        children = _children(name)
        with _LOCK:
            if sys.modules.get(name) is self._module:
                del sys.modules[name]
        whole = import_module(name)  # not under the lock: imports have their own
        for child, module in children.items():  # an import binds them to the parent that is there
            if not hasattr(whole, child):
                setattr(whole, child, module)
        return whole


def _children(name: str) -> dict[str, ModuleType]:
    """Submodules of a package that are loaded."""
    begin = f"{name}."
    return {
        one.removeprefix(begin): module
        for one, module in sys.modules.items()
        if one.startswith(begin) and "." not in one.removeprefix(begin)
    }
