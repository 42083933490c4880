"""Per-namespace fault isolation for batch work.

A stage runs on all namespaces in one batch. If the batch fails, each namespace runs alone. A failed
namespace keeps its rows, is reported, and stays stale for the next run.
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
    """Failure of one namespace: kind of error and code line, never any text of it."""

    namespace: str
    error: str


def run_isolated(
    whole: Callable[[], T], namespaces: Callable[[], Iterable[str]], part: Callable[[str], T]
) -> tuple[list[T], list[NamespaceFault]]:
    """Run the work on all namespaces at once; if that fails, on each one alone.

    Args:
        whole: Work on all namespaces.
        namespaces: Their names; called only after `whole` failed.
        part: Work on one; must be safe to repeat.

    Returns:
        Results, and the namespaces whose part failed.

    Raises:
        Exception: That of `whole`, if every part fails too: then it is no namespace's fault.
    """
    try:
        return [whole()], []
    except Exception:  # any error: running each namespace alone shows which one fails
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
    """Return an error's type name and its innermost line in this project."""
    ours = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "site-packages" not in frame.filename
    ]
    where = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    return f"{type(error).__name__}{where}"


def scoped_to_namespace(space: Workspace, namespace: str) -> Workspace:
    """Return a workspace whose store and journal read and replace one namespace's rows only."""
    own = copy.copy(space)
    own.__dict__ = space.__dict__ | {
        "store": cast("Store", NamespaceScopedStore(space.store, namespace)),
        "journal": cast("Journal", _NamespaceScopedJournal(space.journal, namespace)),
        "_parts": {},
        _ONLY: namespace,
    }
    return own


def rows_in_scope(space: Workspace, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the workspace's namespace; all rows if it is not scoped to one."""
    only = space.__dict__.get(_ONLY)
    return rows if only is None else rows.filter(pl.col("namespace") == only)


class NamespaceScopedStore(StoreOf):
    """Store that reads and replaces the rows of one namespace only.

    The canary row, which proves the isolation of learned terms, is visible in every scope. Tables without a
    namespace column are read whole.
    """

    def __init__(self, store: Store, namespace: str) -> None:
        super().__init__(store, (namespace, CANARY_NAMESPACE))
        self._whole, self._condition = store, within_namespace([namespace])

    def _where(self, name: str, where: str | None) -> str | None:
        return where if "namespace" not in self.specs[name].schema.names else super()._where(name, where)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the store
        return getattr(self._whole, name)

    def replace_partition(self, name: str, rows: pl.DataFrame, partitions: Sequence[str]) -> Written:
        """Replace the namespace's rows in some partitions."""
        column = self.specs[name].partition
        assert column is not None
        return self._whole.upsert(name, rows, delete=f"{one_of(column, partitions)} AND {self._condition}")


class _NamespaceScopedJournal:
    """Journal that reads the entries of one namespace only."""

    def __init__(self, journal: Journal, namespace: str) -> None:
        self._journal = journal
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the journal
        return getattr(self._journal, name)

    def days(self, kinds: Sequence[str], days: Sequence[str] | None = None) -> pl.DataFrame:
        return self._journal.days(kinds, days).filter(pl.col("namespace") == self._namespace)

    def read(self, **filters: Any) -> pl.DataFrame:  # noqa: ANN401 - as the journal
        return self._journal.read(**{**filters, "namespace": self._namespace})
