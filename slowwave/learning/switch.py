"""Namespace switch that turns ratings in ranking on or off (rule 8)."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from slowwave.index.table_cache import TableCache
from slowwave.journal import JournalError
from slowwave.learning import events
from slowwave.scoring.days import day_end

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


class RatingsSwitch:
    """Switch of ratings per namespace: on until a user or the regression guard turns it off.

    Args:
        space: Workspace of the home.
        until: Last day that counts; None is today.
    """

    def __init__(self, space: Workspace, until: date | None = None) -> None:
        self._space, self._until = space, until
        self._off = TableCache(lambda namespace: events.mark(space.journal, namespace), self._read)

    def off(self, namespace: str) -> str:
        """Return the reason why ratings are off in a namespace.

        It is empty if they count, or if the journal cannot be read.
        """
        try:
            return self._off.of(namespace)
        except JournalError:
            return ""

    def _read(self, namespace: str, *_: object) -> str:
        until = None if self._until is None else day_end(self._until)
        return events.ratings_off(events.learning_events(self._space.journal, namespace, until=until))
