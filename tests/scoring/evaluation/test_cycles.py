from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.evaluation import Cycle, SearchDay, plan_cycles

START = date(2026, 3, 1)


def on(day: int) -> date:
    """Day 1 is the first."""
    return START + timedelta(days=day - 1)


def asked(day: int, *queries: int, searches: int | None = None) -> SearchDay:
    names = frozenset(f"q{one}" for one in queries)
    return SearchDay(on(day), len(names) if searches is None else searches, names)


def closings(plan):
    return [(one.number, one.opened_on, one.closed_on, one.days, one.queries) for one in plan.closing]


def test_a_hundred_queries_and_fourteen_days_close_it_and_less_does_not():
    hundred = [asked(1, *range(60), searches=70), asked(9, *range(40, 100))]
    plan = plan_cycles([], hundred, on(14))
    assert plan.closing == (Cycle(1, on(1), on(14), 14, 130, 100),)
    assert plan.open is None
    early = plan_cycles([], hundred, on(13))
    assert early.closing == ()
    assert early.open == Cycle(1, on(1), None, 13, 130, 100)
    assert (early.queries_missing, early.days_missing) == (0, 1)
    few = plan_cycles([], [asked(1, *range(60)), asked(9, *range(40, 99))], on(14))
    assert few.closing == ()
    assert (few.open.queries, few.queries_missing, few.days_missing) == (99, 1, 0)


def test_the_same_query_on_two_days_is_one_and_it_closes_when_the_last_comes():
    days = [asked(1, *range(99)), asked(20, *range(50)), asked(23, 99, 100), asked(30, *range(100, 110))]
    assert closings(plan_cycles([], days, on(22))) == []
    assert closings(plan_cycles([], days, on(40))) == [(1, on(1), on(23), 23, 101)]


def test_it_closes_on_an_empty_day_and_counts_nothing_after_it():
    plan = plan_cycles([], [asked(2, *range(150)), asked(16, 999)], on(17))
    assert closings(plan) == [(1, on(2), on(15), 14, 150)]
    assert plan.open == Cycle(2, on(16), None, 2, 1, 1)
    assert (plan.queries_missing, plan.days_missing) == (99, 12)


def test_the_first_search_opens_it_even_if_it_could_not_be_evaluated():
    plan = plan_cycles([], [SearchDay(on(3)), asked(8, *range(100))], on(16))
    assert closings(plan) == [(1, on(3), on(16), 14, 100)]
    assert plan_cycles([], [], on(16)) == plan_cycles([], [asked(17, 1)], on(16))
    assert plan_cycles([], [], on(16)).open is None


def test_the_next_one_opens_the_day_after_with_or_without_a_search():
    first = Cycle(1, on(1), on(14), 14, 100, 100)
    assert plan_cycles([first], [asked(3, *range(300))], on(14)).open is None
    quiet = plan_cycles([first], [asked(3, *range(300))], on(20))
    assert quiet.open == Cycle(2, on(15), None, 6, 0, 0)
    assert closings(plan_cycles([first], [asked(3, 1), asked(27, *range(100))], on(40))) == [
        (2, on(15), on(28), 14, 100)
    ]


def test_a_late_night_closes_several():
    busy = [asked(day, *range(day, day + 90)) for day in range(1, 60)]
    plan = plan_cycles([], busy, on(45))
    assert [one[:4] for one in closings(plan)] == [
        (1, on(1), on(14), 14), (2, on(15), on(28), 14), (3, on(29), on(42), 14),
    ]  # fmt: skip
    assert (plan.open.number, plan.open.days) == (4, 3)


def test_bounds_are_settings():
    plan = plan_cycles([], [asked(1, 1, 2)], on(1), least_queries=2, least_days=1)
    assert closings(plan) == [(1, on(1), on(1), 1, 2)]


spread = st.dictionaries(st.integers(1, 40), st.frozensets(st.integers(0, 12), max_size=5))


@given(spread, st.integers(1, 45), st.integers(1, 8), st.integers(1, 9), st.randoms())
def test_asking_once_is_asking_every_night(days, end, queries, length, random):
    entries = [asked(day, *found) for day, found in days.items()]
    bounds = {"least_queries": queries, "least_days": length}
    whole = plan_cycles([], entries, on(end), **bounds)
    closed: list[Cycle] = []
    for night in range(1, end + 1):
        if random.random() < 0.4 and night < end:
            continue  # a night that did not run
        plan = plan_cycles(closed, entries, on(night), **bounds)
        closed += plan.closing
    assert tuple(closed) == whole.closing
    assert plan.open == whole.open
    for one in closed:
        inside = [found for day, found in days.items() if one.opened_on <= on(day) <= one.closed_on]
        assert one.queries == len(frozenset().union(*inside)) >= queries
        assert one.days == (one.closed_on - one.opened_on).days + 1 >= length
        before = [f for day, f in days.items() if one.opened_on <= on(day) < one.closed_on]
        assert one.days == length or len(frozenset().union(*before)) < queries  # not a day earlier


def test_what_cannot_be_planned_is_named():
    with pytest.raises(ValueError, match="2026-03-02 has two entries"):
        plan_cycles([], [asked(2, 1), asked(2, 2)], on(9))
    with pytest.raises(ValueError, match="least_queries = 0"):
        plan_cycles([], [], on(9), least_queries=0)
