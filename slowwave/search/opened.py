"""The searcher of a home, opened when it is first needed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from slowwave.feedback.context import contextual_states
from slowwave.feedback.states import states_in
from slowwave.index.channels import Channels
from slowwave.index.incremental_snapshot import Snapshots
from slowwave.index.lancedb_channels import TableChannels
from slowwave.learning.applied import learned_boost, learned_triggers, search_keys
from slowwave.learning.switch import RatingsSwitch
from slowwave.search.knowledge import StoredKnowledge
from slowwave.search.searcher import Searcher

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


def knowledge_in(space: Workspace) -> StoredKnowledge:
    """What searches of a home know of its memories beside their text."""
    return space.part(
        "knowledge",
        lambda: StoredKnowledge(
            space.store,
            states_in(space),
            contextual_states(space),
            RatingsSwitch(lambda: space.journal),
            learned_triggers(space),
            search_keys(space),
        ),
    )


def searcher_in(space: Workspace) -> Searcher:
    """What finds candidates in a home."""
    return space.part("searcher", lambda: _searcher(space))


def _searcher(space: Workspace) -> Searcher:
    tables = cache(lambda namespace: TableChannels(space.store, namespace))
    snapshots = Snapshots(space.store, int(space.settings.store.snapshot_mb * 2**20))

    def channels(namespace: str) -> Channels[Any]:
        return snapshots.of(namespace) or tables(namespace)

    return Searcher(channels, space.embedder, knowledge_in(space), learned_boost(space))
