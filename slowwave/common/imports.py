"""Libraries without the parts that they load at once and that nobody here uses.

Those are a third of the CPU of a short process: Great Expectations loads SciPy's statistics and Altair for
one expectation each (.8 s), LanceDB the validators of every call of a REST client (.5 s).
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

CONTRACT = ("scipy.stats", "altair")
"""What Great Expectations loads for expectations that no contract here has."""

TABLES = ("lance_namespace_urllib3_client",)
"""What LanceDB loads for databases that are behind a REST interface."""


def when_used(*names: str) -> None:
    """Let the code of modules run when something of theirs is asked for; their submodules are there at once.

    `importlib.util.LazyLoader` does not do: what it makes is run by the next import of the module already.

    Args:
        names: of modules; those that are loaded, and those that are not installed, stay as they are.
    """
    for name in names:
        if name in sys.modules or (spec := find_spec(name)) is None:
            continue
        module = module_from_spec(spec)
        vars(module)["__getattr__"] = _Rest(module)
        sys.modules[name] = module


class _Rest:
    """The names of a module whose code has not run."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __call__(self, name: str) -> Any:  # noqa: ANN401 - anything
        module = self._module
        if not name.startswith("__") and vars(module).get("__getattr__") is self:
            del vars(module)["__getattr__"]
            assert module.__spec__ is not None
            assert module.__spec__.loader is not None
            module.__spec__.loader.exec_module(module)
            return getattr(module, name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
