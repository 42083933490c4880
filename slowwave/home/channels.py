"""Snapshots of a home's chunks, and channels: a namespace's snapshot, or its table if that is too large."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.index.channels import Channels
    from slowwave.index.incremental_snapshot import Snapshots


def snapshots_in(space: Workspace) -> Snapshots:
    """Return the snapshots of a home."""
    from slowwave.index.incremental_snapshot import Snapshots

    most_bytes = int(space.settings.store.snapshot_mb * 2**20)
    return space.part("snapshots", lambda: Snapshots(space.store, most_bytes))


def channels_in(space: Workspace) -> Callable[[str], Channels[Any]]:
    """Return a function that returns the current channels of a namespace."""
    return space.part("channels", lambda: _channels(space))


def _channels(space: Workspace) -> Callable[[str], Channels[Any]]:
    from slowwave.index.lancedb_channels import TableChannels

    tables = cache(lambda namespace: TableChannels(space.store, namespace))
    snapshots = snapshots_in(space)

    def channels(namespace: str) -> Channels[Any]:
        return snapshots.of(namespace) or tables(namespace)

    return channels
