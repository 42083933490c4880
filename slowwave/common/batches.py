"""Batching of groups without splitting them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

Group = TypeVar("Group", bound=Sized)


def gathered(groups: Iterable[Group], size: int) -> Iterator[list[Group]]:
    """Yield lists of groups with at least `size` items together; the last list may have fewer."""
    batch, items = list[Group](), 0
    for group in groups:
        batch.append(group)
        items += len(group)
        if items >= size:
            yield batch
            batch, items = [], 0
    if batch:
        yield batch
