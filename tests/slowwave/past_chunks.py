"""Memories and chunks of a namespace as they were at the end of a day."""

from __future__ import annotations

from datetime import date

import polars as pl

from slowwave.home.workspace import Workspace
from slowwave.search.time_travel import _all_memories, _chunks, _present


def memories_as_of(space: Workspace, namespace: str, day: date) -> pl.DataFrame:
    return _present(_all_memories(space, namespace, day=day))


def chunks_as_of(space: Workspace, namespace: str, day: date) -> pl.DataFrame:
    """Rows by chunk id; those of unchanged memories are today's, the others are made again."""
    return _chunks(space, namespace, memories_as_of(space, namespace, day))
