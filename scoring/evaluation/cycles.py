"""When a period of measuring begins and ends, and what counts in it (rules 6.7 and 7.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from slowwave.scoring.days import DAY

LEAST_QUERIES = 100
LEAST_DAYS = 14
MOST_OF_ONE = 3
"""Times that one question counts in a cycle, however often it is asked (count)."""

Asking = tuple[str, date]
"""Id of a query, and a day on which it was asked."""


@dataclass(frozen=True, slots=True)
class SearchDay:
    """A day on which there was a search.

    Attributes:
        day: which (UTC).
        searches: evaluated ones: those whose query has a relevant judgment (count).
        asked: what they asked, and when: an earlier day, where what answers it became known on this one.
    """

    day: date
    searches: int = 0
    asked: frozenset[Asking] = frozenset()


@dataclass(frozen=True, slots=True)
class Cycle:
    """A period of measuring of one namespace.

    Attributes:
        number: from 1.
        opened_on: its first day.
        closed_on: its last day; None while it is open.
        days: calendar days up to its last day, or so far.
        searches: evaluated ones (count).
        queries: distinct queries of these searches (count).
        counted: these queries, each as often as it counts; see `counted_questions` (count).
    """

    number: int
    opened_on: date
    closed_on: date | None
    days: int
    searches: int
    queries: int
    counted: int


@dataclass(frozen=True, slots=True)
class CyclePlan:
    """Which cycles close up to a day, and what the open one still lacks.

    Attributes:
        closing: cycles that close, in their order.
        open: the one that is open after that day; None before the first search, and when the last one closed
            on that very day.
        queries_missing: evaluated queries that the open one needs yet, as they count (count).
        days_missing: days that it takes yet at least.
    """

    closing: tuple[Cycle, ...]
    open: Cycle | None
    queries_missing: int
    days_missing: int


def counted_questions(asked: Iterable[Asking]) -> int:
    """How much the questions of a cycle count: each once a day, and three times at most (rule 7.7).

    So the few questions of one person become evidence with the weeks, and a script that asks one thing a
    hundred times proves nothing.

    Args:
        asked: of one cycle, in any order; what is there twice counts once.
    """
    days = Counter(query for query, _ in set(asked))
    return sum(min(MOST_OF_ONE, times) for times in days.values())


def plan_cycles(
    closed: Sequence[Cycle],
    days: Iterable[SearchDay],
    as_of: date,
    *,
    least_queries: int = LEAST_QUERIES,
    least_days: int = LEAST_DAYS,
) -> CyclePlan:
    """Decide for one namespace which cycles close by the end of a day.

    The first cycle opens on the first day with a search, each further one on the day after the last has
    closed. A cycle closes at the end of the first day on which the evaluated queries that were asked in it
    count at least `least_queries` (see `counted_questions`) and it is at least `least_days` days old, both
    its first and its last day counted; that day need not have a search. However late it is asked, and however
    often in between, the answer is the same as if it had been asked at the end of every day.

    Args:
        closed: cycles closed so far.
        days: days with searches, one entry each, in any order; those after `as_of` or before the open cycle
            do not count.
        as_of: the day at whose end it is decided.
        least_queries: evaluated queries of a cycle, as they count.
        least_days: calendar days of a cycle.

    Raises:
        ValueError: a day has two entries, or a bound is below 1.
    """
    if least_queries < 1 or least_days < 1:
        raise ValueError(f"least_queries = {least_queries}, least_days = {least_days}: both are 1 or more")
    known = sorted((one for one in days if one.day <= as_of), key=lambda one: one.day)
    for one, after in pairwise(known):
        if one.day == after.day:
            raise ValueError(f"{one.day} has two entries: give each day once")
    last = max(closed, key=lambda one: one.number, default=None)
    number = last.number + 1 if last else 1
    if last and last.closed_on:
        opens: date | None = last.closed_on + DAY
    else:
        opens = known[0].day if known else None
    closing: list[Cycle] = []
    while opens is not None and opens <= as_of:
        found = _cycle(number, opens, known, as_of, least_queries, least_days)
        if found.closed_on is None:
            missing = max(0, least_queries - found.counted), max(0, least_days - found.days)
            return CyclePlan(tuple(closing), found, *missing)
        closing.append(found)
        number, opens = number + 1, found.closed_on + DAY
    return CyclePlan(tuple(closing), None, least_queries, least_days)


def _cycle(
    number: int, opened: date, known: Sequence[SearchDay], as_of: date, least_queries: int, least_days: int
) -> Cycle:
    """The cycle that opens on a day, closed if it closes by `as_of`."""
    old_enough = opened + timedelta(days=least_days - 1)
    seen: set[Asking] = set()
    searches = 0
    enough: date | None = None
    for one in known:
        if one.day < opened:
            continue
        if enough and one.day > old_enough:
            break
        seen |= {(query, asked_on) for query, asked_on in one.asked if asked_on >= opened}
        searches += one.searches
        if enough is None and counted_questions(seen) >= least_queries:
            enough = one.day
    closes = max(enough, old_enough) if enough else None
    closed_on = None if closes is None or closes > as_of else closes
    days = ((closed_on or as_of) - opened).days + 1
    queries = len({query for query, _ in seen})
    return Cycle(number, opened, closed_on, days, searches, queries, counted_questions(seen))
