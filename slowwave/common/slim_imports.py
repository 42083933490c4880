"""Libraries without the parts that they load at once and that nobody here uses.

Those are a third of the CPU of a short process: Great Expectations loads SciPy's statistics and Altair for
one expectation each (.8 s), LanceDB the validators of every call of a REST client (.5 s).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

CONTRACT = ("scipy.stats", "altair")
"""What Great Expectations loads for expectations that no contract here has."""

TABLES = ("lance_namespace_urllib3_client",)
"""What LanceDB loads for databases that are behind a REST interface."""

CLASSES = "lance_namespace_urllib3_client.models"
"""The messages of that interface, a module each: LanceDB names a dozen and answers with one."""

UNUSED = (CLASSES, "lancedb.embeddings", "lancedb.functions", "lancedb.materialized_view")
"""Packages and modules of which LanceDB names classes that a search never meets: functions that its servers
run, and models that it would embed with. Who writes to a table meets some of them, and loads these."""

_LOCK = threading.Lock()


def load_tables() -> None:
    """Load LanceDB with no more than a command of ours needs: half of what it costs else.

    For a process that is ours alone. In an application's own process LanceDB is to have all that it names
    from the start, and PyArrow its pandas.
    """
    if "lancedb" not in sys.modules:
        pandas_when_used()
        with ExitStack() as until_loaded:
            for context in (when_used(*TABLES), *map(classes_when_used, UNUSED), unchecked_overrides()):
                until_loaded.enter_context(context)
            import lancedb  # noqa: F401 - for those who come later


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


@contextmanager
def classes_when_used(package: str) -> Iterator[None]:
    """Let what is imported in here have stand-ins for the classes of a package with a module for each.

    A stand-in loads its class, and the module of that class alone, when it is called, derived from, asked for
    an attribute or what is an instance of it. Whoever imports the package afterwards gets it as ever.

    Args:
        package: it stays as it is if it is loaded already.
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
    """A module that has a class of any name."""

    package = ""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - anything
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return _StandIn(self.package, name)


class _StandIns(MetaPathFinder, Loader):
    """Finds a package and its modules as `_Names`."""

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
        """There is nothing in it."""


class _StandIn:
    """A class that is loaded when it is used."""

    def __init__(self, package: str, name: str) -> None:
        self._package, self._name = package, name

    def _class(self) -> Any:  # noqa: ANN401 - any class
        if "whole" not in vars(self):
            self.whole = _class_alone(self._package, self._name)
        return self.whole

    def __call__(self, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - as the class has it
        return self._class()(*args, **named)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the class has it
        if name.startswith("__typing_") or name == "__parameters__":  # asked where it is in an annotation
            raise AttributeError(f"{self._name} is no generic class")
        return getattr(self._class(), name)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._class())

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, self._class())

    def __or__(self, other: object) -> object:
        return self  # in an annotation, and nobody reads it

    __ror__ = __or__

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[Any, ...]:
        return (self._class(),)


def _class_alone(package: str, name: str) -> Any:  # noqa: ANN401 - any class
    """A class of a package by the module that is named after it, without what the packages around it load."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
    around = [package[:at] for at, letter in enumerate(f"{package}.") if letter == "."]
    with _LOCK:
        made = {}
        for one in around:
            if one not in sys.modules and (spec := find_spec(one)) is not None:
                made[one] = sys.modules[one] = module_from_spec(spec)  # it has the folder, and nothing ran
        try:
            return getattr(import_module(f"{package}.{snake}"), name)
        except ModuleNotFoundError:
            pass
        finally:
            for one, module in made.items():
                if sys.modules.get(one) is module:
                    del sys.modules[one]
    return getattr(import_module(package), name)


@contextmanager
def unchecked_overrides() -> Iterator[None]:
    """Let what is imported in here have an `overrides` that looks at nothing.

    Where Python has no `typing.override` (3.11) LanceDB compares the signature of each of its methods with
    that of the method that it overrides, whenever it is imported; later Pythons leave that to type checkers.
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
    """Let PyArrow begin without pandas, which it loads to tell whether a value is one of its series (.2 s).

    As long as nobody has loaded pandas there are none. Once somebody does PyArrow looks again.
    """
    if "pandas" in sys.modules or any(isinstance(one, _Pandas) for one in sys.meta_path):
        return
    import pyarrow as pa

    finder = _Pandas()
    sys.meta_path.insert(0, finder)
    pa.scalar(True)  # it is here that it looks
    finder.held = False


class _Pandas(MetaPathFinder):
    """Finds no pandas as long as it is held, and then one after which PyArrow looks again."""

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
            spec.loader = _Told(spec.loader)
        return spec


class _Told(Loader):
    """A loader after which PyArrow has pandas."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the loader has it
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        import pyarrow as pa

        self._loader.exec_module(module)
        pa.array([0]).to_pandas()  # a call that cannot do without it
