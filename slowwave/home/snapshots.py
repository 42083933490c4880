"""Snapshots of a home's chunks, which searches read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.index.incremental_snapshot import Snapshots


def snapshots_in(space: Workspace) -> Snapshots:
    """Return the snapshots of a home."""
    from slowwave.index.incremental_snapshot import Snapshots

    most_bytes = int(space.settings.store.snapshot_mb * 2**20)
    return space.part("snapshots", lambda: Snapshots(space.store, most_bytes))
