"""Lazy loading of library parts that are imported eagerly and not used here.

They are a third of the CPU of a short process. Great Expectations loads SciPy's statistics and Altair for one
expectation each (0.8 s); LanceDB loads the validators of every call of a REST client (0.5 s).
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

CONTRACT = ("scipy.stats", "altair")
"""Modules that Great Expectations loads for expectations that no contract here has."""

TABLES = ("lance_namespace_urllib3_client",)
"""Modules that LanceDB loads for databases behind a REST interface."""

CLASSES = "lance_namespace_urllib3_client.models"
"""Messages of that interface, one module each: LanceDB names a dozen and returns one."""

UNUSED = (CLASSES, "lancedb.embeddings", "lancedb.functions", "lancedb.materialized_view")
"""Packages whose classes a search never uses: functions for LanceDB's servers, and embedding models.

Writing to a table uses some of them, and loads these."""

_LOCK = threading.Lock()


def load_tables() -> None:
    """Import LanceDB with only what our commands need, at half the cost.

    For processes of our own only. In an application's process, LanceDB must have all its names from the
    start, and PyArrow its pandas.
    """
    if "lancedb" not in sys.modules:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # Arrow's own one reserves 8 MB
        pandas_when_used()
        with ExitStack() as until_loaded:
            for context in (when_used(*TABLES), *map(classes_when_used, UNUSED), unchecked_overrides()):
                until_loaded.enter_context(context)
            import lancedb  # noqa: F401 - for those who come later


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector off in this block of imports: it takes a tenth of their time.

    What exists then is exempt from later collections, so this is for processes of our own.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # else the next allocation collects all that was imported
        if collecting:
            gc.enable()


@contextmanager
def when_used(*names: str) -> Iterator[None]:
    """Import modules lazily inside this block: each is loaded on first access of an attribute.

    `importlib.util.LazyLoader` does not work: the next import of its module loads it. A later import of the
    module gets the real one; only a package with loaded submodules stays lazy, and loads on access.

    Args:
        names: Modules; loaded ones, and those not installed, are left alone.
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
    """Attribute lookup of a lazy module, which loads the module on first access."""

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
        real = import_module(name)  # not under the lock: imports have their own
        for child, module in children.items():  # an import binds them to the parent that is there
            if not hasattr(real, child):
                setattr(real, child, module)
        return real


def _children(name: str) -> dict[str, ModuleType]:
    """Return the loaded submodules of a package."""
    begin = f"{name}."
    return {
        name_of.removeprefix(begin): module
        for name_of, module in sys.modules.items()
        if name_of.startswith(begin) and "." not in name_of.removeprefix(begin)
    }


@contextmanager
def classes_when_used(package: str) -> Iterator[None]:
    """Replace the classes of a package by stand-ins inside this block; one module per class is assumed.

    A stand-in loads its class, with the module of that class only, when it is called, subclassed, or used for
    an attribute or an instance check. A later import of the package gets the real one.

    Args:
        package: Left alone if it is loaded already.
    """
    if package in sys.modules:
        yield
        return
    finder = _StandIns(package)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name, module in sys.modules.items() if isinstance(module, _Names)]:
            del sys.modules[name]


class _Names(ModuleType):
    """Module that has a class of any name."""

    package = ""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - anything
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return _StandIn(self.package, name)


class _StandIns(MetaPathFinder, Loader):
    """Importer of a package and its modules as `_Names`."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if f"{fullname}.".startswith(f"{self._package}."):
            return ModuleSpec(fullname, self, is_package=fullname == self._package)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = _Names(spec.name)
        module.package = self._package
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module is empty."""


class _StandIn:
    """Stand-in for a class, which is loaded on first use."""

    def __init__(self, package: str, name: str) -> None:
        self._package, self._name = package, name

    def _class(self) -> Any:  # noqa: ANN401 - any class
        if "whole" not in vars(self):
            self.whole = _class_alone(self._package, self._name)
        return self.whole

    def __call__(self, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - as the class has it
        return self._class()(*args, **named)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the class has it
        if name.startswith("__typing_") or name == "__parameters__":  # requested for annotations
            raise AttributeError(f"{self._name} is not a generic class")
        return getattr(self._class(), name)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._class())

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, self._class())

    def __or__(self, other: object) -> object:
        return self  # only used in annotations

    __ror__ = __or__

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[Any, ...]:
        return (self._class(),)


def _class_alone(package: str, name: str) -> Any:  # noqa: ANN401 - any class
    """Return a class from its module, without running its packages' ``__init__``.

    The module is named after the class, or after its last word: `registry` has `EmbeddingFunctionRegistry`.
    """
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
    around = [package[:at] for at, letter in enumerate(f"{package}.") if letter == "."]
    with _LOCK:
        made = {}
        for parent in around:
            if parent not in sys.modules and (spec := find_spec(parent)) is not None:
                made[parent] = sys.modules[parent] = module_from_spec(spec)  # has the path; nothing ran
        try:
            for module in (snake, snake.rpartition("_")[2]):
                with suppress(ModuleNotFoundError):
                    return getattr(import_module(f"{package}.{module}"), name)
        finally:
            for parent, module_of in made.items():
                if sys.modules.get(parent) is module_of:
                    del sys.modules[parent]
    return getattr(import_module(package), name)


@contextmanager
def unchecked_overrides() -> Iterator[None]:
    """Replace the package `overrides` by one without checks inside this block.

    Where Python has no `typing.override` (3.11), LanceDB compares the signature of each overriding method at
    import; later Pythons leave that to type checkers.
    """
    if "overrides" in sys.modules:
        yield
        return
    module = ModuleType("overrides")
    vars(module).update(EnforceOverrides=type("EnforceOverrides", (), {}), override=lambda method: method)
    sys.modules["overrides"] = module
    try:
        yield
    finally:
        if sys.modules.get("overrides") is module:
            del sys.modules["overrides"]


def pandas_when_used() -> None:
    """Let PyArrow start without pandas, which it would import to recognise series (0.2 s).

    Without pandas there are no series. Once pandas is imported, PyArrow finds it.
    """
    if "pandas" in sys.modules or any(isinstance(finder, _Pandas) for finder in sys.meta_path):
        return
    import pyarrow as pa

    finder = _Pandas()
    sys.meta_path.insert(0, finder)
    pa.scalar(True)  # PyArrow looks for pandas here
    finder.held = False


class _Pandas(MetaPathFinder):
    """Finder that hides pandas while held, and later lets PyArrow look again."""

    held = True

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "pandas":
            return None
        if self.held:
            raise ModuleNotFoundError("No module named 'pandas' yet", name=fullname)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _NotifyingLoader(spec.loader)
        return spec


class _NotifyingLoader(Loader):
    """Loader after which PyArrow has pandas."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the loader has it
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        import pyarrow as pa

        self._loader.exec_module(module)
        pa.array([0]).to_pandas()  # a call that needs pandas
