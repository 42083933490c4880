"""When a period of measuring begins and ends (rule 6.7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from slowwave.scoring.days import DAY

LEAST_QUERIES = 100
LEAST_DAYS = 14


@dataclass(frozen=True, slots=True)
class SearchDay:
    """A day on which there was a search.

    Attributes:
        day: which (UTC).
        searches: evaluated ones: those whose query has a relevant judgment (count).
        queries: ids of the queries that they asked.
    """

    day: date
    searches: int = 0
    queries: frozenset[str] = frozenset()


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
    """

    number: int
    opened_on: date
    closed_on: date | None
    days: int
    searches: int
    queries: int


@dataclass(frozen=True, slots=True)
class CyclePlan:
    """Which cycles close up to a day, and what the open one still lacks.

    Attributes:
        closing: cycles that close, in their order.
        open: the one that is open after that day; None before the first search, and when the last one closed
            on that very day.
        queries_missing: distinct evaluated queries that the open one needs yet (count).
        days_missing: days that it takes yet at least.
    """

    closing: tuple[Cycle, ...]
    open: Cycle | None
    queries_missing: int
    days_missing: int


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
    closed. A cycle closes at the end of the first day on which it has seen at least `least_queries` distinct
    evaluated queries and is at least `least_days` days old, both its first and its last day counted; that
    day need not have a search. However late it is asked, and however often in between, the answer is the
    same as if it had been asked at the end of every day.

    Args:
        closed: cycles closed so far.
        days: days with searches, one entry each, in any order; those after `as_of` or before the open cycle
            do not count.
        as_of: the day at whose end it is decided.
        least_queries: distinct evaluated queries of a cycle.
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
            missing = max(0, least_queries - found.queries), max(0, least_days - found.days)
            return CyclePlan(tuple(closing), found, *missing)
        closing.append(found)
        number, opens = number + 1, found.closed_on + DAY
    return CyclePlan(tuple(closing), None, least_queries, least_days)


def _cycle(
    number: int, opened: date, known: Sequence[SearchDay], as_of: date, least_queries: int, least_days: int
) -> Cycle:
    """The cycle that opens on a day, closed if it closes by `as_of`."""
    old_enough = opened + timedelta(days=least_days - 1)
    seen: set[str] = set()
    searches = 0
    enough: date | None = None
    for one in known:
        if one.day < opened:
            continue
        if enough and one.day > old_enough:
            break
        seen |= one.queries
        searches += one.searches
        if enough is None and len(seen) >= least_queries:
            enough = one.day
    closes = max(enough, old_enough) if enough else None
    if closes is None or closes > as_of:
        return Cycle(number, opened, None, (as_of - opened).days + 1, searches, len(seen))
    return Cycle(number, opened, closes, (closes - opened).days + 1, searches, len(seen))
