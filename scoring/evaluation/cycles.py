"""Evaluation cycles: when they open and close, and which queries count (rules 6.7, 7.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from slowwave.scoring.days import DAY

LEAST_QUERIES = 100
LEAST_DAYS = 14
MAX_REPEATS = 3
"""Maximum times that one question counts in a cycle (count)."""

Asking = tuple[str, date]
"""Id of a query, and a day with a search for it."""


@dataclass(frozen=True, slots=True)
class SearchDay:
    """Day with a search.

    Attributes:
        day: the day (UTC).
        searches: evaluated searches: those whose query has a relevant judgment (count).
        asked: queries and their days. An earlier day is there if the query's answer became known on this day.
    """

    day: date
    searches: int = 0
    asked: frozenset[Asking] = frozenset()


@dataclass(frozen=True, slots=True)
class Cycle:
    """Evaluation cycle of one namespace.

    Attributes:
        number: from 1.
        opened_on: its first day.
        closed_on: its last day; None while it is open.
        days: calendar days up to its last day, or to the current one.
        searches: evaluated searches (count).
        queries: distinct queries of these searches (count).
        counted: queries by `counted_questions` (count).
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
    """Cycles that close up to a day, and the needs of the open one.

    Attributes:
        closing: cycles that close, in order.
        open: cycle open after that day; None before the first search, and on the day the last one closed.
        queries_missing: counted queries that the open one still needs (count).
        days_missing: minimum days that it still needs.
    """

    closing: tuple[Cycle, ...]
    open: Cycle | None
    queries_missing: int
    days_missing: int


def counted_questions(asked: Iterable[Asking]) -> int:
    """Count a cycle's questions, each once a day and at most three times (rule 7.7).

    So one user's few questions become evidence within weeks, and a script that asks one thing a hundred times
    does not.

    Args:
        asked: queries and days of one cycle, in any order; repeats count once.
    """
    days = Counter(query for query, _ in set(asked))
    return sum(min(MAX_REPEATS, times) for times in days.values())


def plan_cycles(
    closed: Sequence[Cycle],
    days: Iterable[SearchDay],
    as_of: date,
    *,
    least_queries: int = LEAST_QUERIES,
    least_days: int = LEAST_DAYS,
) -> CyclePlan:
    """Decide which cycles of one namespace close by the end of a day.

    The first cycle opens on the first day with a search, each further one on the day after the previous
    closed. A cycle closes at the end of the first day on which two conditions hold. Its evaluated queries
    count at least `least_queries` (see `counted_questions`), and it is at least `least_days` days old, first
    and last day included. That day need not have a search. The result does not depend on when or how often it
    is computed.

    Args:
        closed: cycles closed so far.
        days: days with searches, one entry each, in any order; days after `as_of` or before the open cycle do
            not count.
        as_of: day at whose end it is decided.
        least_queries: minimum counted queries of a cycle.
        least_days: minimum calendar days of a cycle.

    Raises:
        ValueError: a day has two entries, or a bound is below 1.
    """
    if least_queries < 1 or least_days < 1:
        raise ValueError(f"least_queries = {least_queries}, least_days = {least_days}: both are 1 or more")
    search_days = sorted(
        (search_day for search_day in days if search_day.day <= as_of), key=lambda search_day: search_day.day
    )
    for search_day, next_day in pairwise(search_days):
        if search_day.day == next_day.day:
            raise ValueError(f"{search_day.day} has two entries: give each day once")
    last = max(closed, key=lambda search_day: search_day.number, default=None)
    number = last.number + 1 if last else 1
    if last and last.closed_on:
        opens: date | None = last.closed_on + DAY
    else:
        opens = search_days[0].day if search_days else None
    closing: list[Cycle] = []
    while opens is not None and opens <= as_of:
        cycle = _cycle(number, opens, search_days, as_of, least_queries, least_days)
        if cycle.closed_on is None:
            missing = max(0, least_queries - cycle.counted), max(0, least_days - cycle.days)
            return CyclePlan(tuple(closing), cycle, *missing)
        closing.append(cycle)
        number, opens = number + 1, cycle.closed_on + DAY
    return CyclePlan(tuple(closing), None, least_queries, least_days)


def _cycle(
    number: int,
    opened: date,
    search_days: Sequence[SearchDay],
    as_of: date,
    least_queries: int,
    least_days: int,
) -> Cycle:
    """Return the cycle that opens on a day, closed if it closes by `as_of`."""
    old_enough = opened + timedelta(days=least_days - 1)
    seen: set[Asking] = set()
    searches = 0
    enough: date | None = None
    for search_day in search_days:
        if search_day.day < opened:
            continue
        if enough and search_day.day > old_enough:
            break
        seen |= {(query, asked_on) for query, asked_on in search_day.asked if asked_on >= opened}
        searches += search_day.searches
        if enough is None and counted_questions(seen) >= least_queries:
            enough = search_day.day
    closing_day = max(enough, old_enough) if enough else None
    closed_on = None if closing_day is None or closing_day > as_of else closing_day
    days = ((closed_on or as_of) - opened).days + 1
    queries = len({query for query, _ in seen})
    return Cycle(number, opened, closed_on, days, searches, queries, counted_questions(seen))
