"""Per-namespace failures in assets: the other namespaces are processed, the failure is reported."""

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
    """Run work on the whole home; if it fails, on each namespace (`slowwave.home.fault_isolation`)."""

    def namespaces() -> list[str]:
        vaults = [source.namespace for source in space.journal.sources()]
        return [*space.journal.days(OF_TENANTS)["namespace"].unique(), *vaults]

    return run_isolated(lambda: work(space), namespaces, lambda name: work(scoped_to_namespace(space, name)))


def failure_metadata(
    context: dg.AssetExecutionContext, store: Store, faults: Sequence[NamespaceFault]
) -> dict[str, str]:
    """Record and log the failures of an asset on the days of its run. Return metadata of them."""
    by_namespace = {fault.namespace: fault for fault in faults}
    for fault in by_namespace.values():
        context.log.error(
            f"Namespace {fault.namespace} failed and keeps its rows; the next run retries it: {fault.error}"
        )
    note_faults(store, context.asset_key.path[-1], list(context.partition_keys), list(by_namespace.values()))
    reasons = "; ".join(f"{fault.namespace}: {fault.error}" for fault in by_namespace.values())
    return {"failed namespaces": reasons or "none"}
