"""Switch of ratings: whether they count in the searches of a namespace (rule 8)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING

from slowwave.journal import JournalError
from slowwave.journal.entry import ERASURE, LEARNING
from slowwave.learning import acts
from slowwave.scoring.days import day_end

if TYPE_CHECKING:
    from slowwave.journal import Journal


class RatingsSwitch:
    """Whether ratings count in a namespace: from the beginning, until a person or the guard says otherwise.

    Args:
        journal: opens what knows the decisions.
        until: the last day that counts; None is today.
    """

    def __init__(self, journal: Callable[[], Journal], until: date | None = None) -> None:
        self._journal, self._until = journal, until
        self._known: dict[str, tuple[tuple[int, ...], str]] = {}

    def off(self, namespace: str) -> str:
        """Why ratings do not count in a namespace; empty where they do, or the journal cannot say."""
        try:
            journal = self._journal()
            mark = tuple(journal.count(namespace, kind) for kind in (LEARNING, ERASURE))
            known = self._known.get(namespace)
            if known is None or known[0] != mark:
                until = None if self._until is None else day_end(self._until)
                decided = acts.acts(journal, namespace, until=until)
                known = self._known[namespace] = (mark, acts.ratings_off(decided))
        except JournalError:
            return ""
        return known[1]
