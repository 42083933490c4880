"""Channels of a home: the snapshot of each namespace, or its table where that is too large."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from slowwave.home.snapshots import snapshots_in
from slowwave.index.channels import Channels
from slowwave.index.lancedb_channels import TableChannels

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


def channels_in(space: Workspace) -> Callable[[str], Channels[Any]]:
    """Return a function that returns the current channels of a namespace."""
    return space.part("channels", lambda: _channels(space))


def _channels(space: Workspace) -> Callable[[str], Channels[Any]]:
    tables = cache(lambda namespace: TableChannels(space.store, namespace))
    snapshots = snapshots_in(space)

    def channels(namespace: str) -> Channels[Any]:
        return snapshots.of(namespace) or tables(namespace)

    return channels
