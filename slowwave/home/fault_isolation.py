"""One namespace's fault is its own: the work on all is done at once, and where that fails on each by itself.

What a namespace's part could not do is left as it was, told, and due again; the others are done.
"""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import polars as pl

from slowwave.store.frames import one_of
from slowwave.store.tables import CANARY_NAMESPACE
from slowwave.store.tenancy import StoreOf
from slowwave.store.tenancy import within as within_namespace

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal
    from slowwave.store import Store
    from slowwave.store.database import Written

T = TypeVar("T")
_ONLY = "_only"


@dataclass(frozen=True, slots=True)
class NamespaceFault:
    """What went wrong with a namespace: the kind of error and where, and nothing of any text."""

    namespace: str
    error: str


def run_isolated(
    whole: Callable[[], T], namespaces: Callable[[], Iterable[str]], part: Callable[[str], T]
) -> tuple[list[T], list[NamespaceFault]]:
    """Do the work on all namespaces at once; where that fails, on one after the other.

    Args:
        whole: the work on all.
        namespaces: those that there are; asked when the whole has failed.
        part: the work on one; repeats what the whole may have done of it.

    Returns:
        What came of it, and the namespaces whose part failed.

    Raises:
        Exception: as the whole raised it, where every part fails, too: then it is no namespace's fault.
    """
    try:
        return [whole()], []
    except Exception:  # whatever it is: whose fault it is shows when each is tried alone, and is told
        done, faults = list[T](), list[NamespaceFault]()
        for name in sorted(set(namespaces())):
            try:
                done.append(part(name))
            except Exception as error:
                faults.append(NamespaceFault(name, _fault_of(error)))
        if not done:
            raise
        return done, faults


def _fault_of(error: Exception) -> str:
    """Kind of an error, and the innermost line of this project that it went through."""
    ours = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "site-packages" not in frame.filename
    ]
    where = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    return f"{type(error).__name__}{where}"


def scoped_to_namespace(space: Workspace, namespace: str) -> Workspace:
    """The home as one namespace has it: store and journal read and replace its rows alone."""
    own = copy.copy(space)
    own.__dict__ = space.__dict__ | {
        "store": cast("Store", NamespaceScopedStore(space.store, namespace)),
        "journal": cast("Journal", _NamespaceScopedJournal(space.journal, namespace)),
        "_parts": {},
        _ONLY: namespace,
    }
    return own


def rows_in_scope(space: Workspace, rows: pl.DataFrame) -> pl.DataFrame:
    """Those of the rows that the home has: all, or those of the namespace that it is within."""
    only = space.__dict__.get(_ONLY)
    return rows if only is None else rows.filter(pl.col("namespace") == only)


class NamespaceScopedStore(StoreOf):
    """A store with the rows of one namespace, for works on a home.

    The row that proves the isolation of what was learned is the home's, and everybody's. What is of no
    namespace is seen as it is; what is written replaces the rows of the namespace alone.
    """

    def __init__(self, store: Store, namespace: str) -> None:
        super().__init__(store, (namespace, CANARY_NAMESPACE))
        self._whole, self._mine = store, within_namespace([namespace])

    def _where(self, name: str, where: str | None) -> str | None:
        return where if "namespace" not in self.specs[name].schema.names else super()._where(name, where)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - what the store has
        return getattr(self._whole, name)

    def replace_partition(self, name: str, rows: pl.DataFrame, partitions: Sequence[str]) -> Written:
        """Replace the rows of some partitions that belong to the namespace."""
        column = self.specs[name].partition
        assert column is not None
        return self._whole.upsert(name, rows, delete=f"{one_of(column, partitions)} AND {self._mine}")


class _NamespaceScopedJournal:
    """A journal with the entries of one namespace."""

    def __init__(self, journal: Journal, namespace: str) -> None:
        self._journal = journal
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - what the journal has
        return getattr(self._journal, name)

    def days(self, kinds: Sequence[str], days: Sequence[str] | None = None) -> pl.DataFrame:
        return self._journal.days(kinds, days).filter(pl.col("namespace") == self._namespace)

    def read(self, **asked: Any) -> pl.DataFrame:  # noqa: ANN401 - as of the journal
        return self._journal.read(**{**asked, "namespace": self._namespace})
