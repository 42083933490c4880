"""What went wrong with the part of one namespace, in assets: the others are done, and it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import dagster as dg

from slowwave.home.fault_isolation import NamespaceFault, run_isolated, scoped_to_namespace
from slowwave.home.processing_watermarks import note_faults
from slowwave.home.workspace import Workspace
from slowwave.journal.entry import OF_TENANTS
from slowwave.store import Store

T = TypeVar("T")


def run_per_namespace(
    space: Workspace, work: Callable[[Workspace], T]
) -> tuple[list[T], list[NamespaceFault]]:
    """Do work on the home; where that fails, on each of its namespaces (`slowwave.home.fault_isolation`)."""

    def namespaces() -> list[str]:
        vaults = [source.namespace for source in space.journal.sources()]
        return [*space.journal.days(OF_TENANTS)["namespace"].unique(), *vaults]

    return run_isolated(lambda: work(space), namespaces, lambda name: work(scoped_to_namespace(space, name)))


def failure_metadata(
    context: dg.AssetExecutionContext, store: Store, faults: Sequence[NamespaceFault]
) -> dict[str, str]:
    """Remember and tell what went wrong at an asset on the days of its run; metadata of it."""
    found = {one.namespace: one for one in faults}
    for one in found.values():
        context.log.error(f"{one.namespace} is left as it was, and due again: {one.error}")
    note_faults(store, context.asset_key.path[-1], list(context.partition_keys), list(found.values()))
    told = "; ".join(f"{one.namespace}: {one.error}" for one in found.values())
    return {"failed namespaces": told or "none"}
