from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.evaluation import Cycle, SearchDay, counted_questions, plan_cycles

START = date(2026, 3, 1)


def on(day: int) -> date:
    """Day 1 is the first."""
    return START + timedelta(days=day - 1)


def asked(day: int, *queries: int, searches: int | None = None) -> SearchDay:
    names = frozenset((f"q{one}", on(day)) for one in queries)
    return SearchDay(on(day), len(names) if searches is None else searches, names)


def closings(plan):
    return [(one.number, one.opened_on, one.closed_on, one.days, one.counted) for one in plan.closing]


# -- what counts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked_on", "count"),
    [
        ([], 0),
        ([("q", 1)], 1),
        ([("q", 1)] * 3, 1),  # three times on one day
        ([("q", 1)] * 100, 1),  # a script
        ([("q", 1), ("q", 2)], 2),
        ([("q", day) for day in range(1, 6)], 3),  # on five days
        ([("q", day) for day in range(1, 6)] + [("r", 1), ("r", 5)], 5),
        ([(f"q{one}", 1) for one in range(100)], 100),
    ],
)
def test_a_question_counts_once_a_day_and_three_times_at_most(asked_on, count):
    assert counted_questions((query, on(day)) for query, day in asked_on) == count


askings = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 20).map(on)), max_size=60)


@given(askings, st.randoms())
def test_the_count_follows_from_who_asked_what_on_which_day_alone(found, random):
    count, again = counted_questions(found), [*found, *found]
    random.shuffle(again)
    assert counted_questions(again) == count
    assert len({query for query, _ in found}) <= count <= len(set(found))
    assert count <= 3 * len({query for query, _ in found})


@given(askings, st.tuples(st.sampled_from("abcdefg"), st.integers(1, 21).map(on)))
def test_one_more_search_counts_one_at_most(found, one):
    assert 0 <= counted_questions([*found, one]) - counted_questions(found) <= 1


def test_thirty_four_questions_of_one_person_close_a_cycle_and_a_script_does_not():
    daily = [asked(day, *range(34)) for day in range(1, 15)]
    plan = plan_cycles([], daily, on(14))
    assert plan.closing == (Cycle(1, on(1), on(14), 14, 14 * 34, 34, 102),)
    script = [asked(1, *range(34), searches=3_400), asked(2, *range(33))]
    plan = plan_cycles([], script, on(20))
    assert plan.closing == ()
    assert (plan.open.searches, plan.open.queries, plan.open.counted) == (3_433, 34, 67)
    assert plan.queries_missing == 33


def test_two_cycles_do_not_share_what_was_asked():
    daily = [asked(day, *range(40)) for day in (1, 2, 3, 15, 16)]
    plan = plan_cycles([], daily, on(28))
    assert closings(plan) == [(1, on(1), on(14), 14, 120)]
    assert (plan.open.number, plan.open.queries, plan.open.counted) == (2, 40, 80)
    late = SearchDay(on(16), 2, frozenset({("q0", on(4)), ("q0", on(16))}))  # judged after the cycle closed
    assert plan_cycles([], [*daily[:3], late], on(16)).open.counted == 1


def test_what_becomes_known_late_counts_for_the_days_on_which_it_was_asked():
    late = SearchDay(on(17), 102, frozenset((f"q{one}", on(day)) for one in range(34) for day in (1, 2, 9)))
    assert closings(plan_cycles([], [SearchDay(on(1)), late], on(16))) == []
    assert closings(plan_cycles([], [SearchDay(on(1)), late], on(17))) == [(1, on(1), on(17), 17, 102)]


# -- when ------------------------------------------------------------------------------------------


def test_a_hundred_queries_and_fourteen_days_close_it_and_less_does_not():
    hundred = [asked(1, *range(60), searches=70), asked(9, *range(40, 100))]  # twenty of them twice
    plan = plan_cycles([], hundred, on(14))
    assert plan.closing == (Cycle(1, on(1), on(14), 14, 130, 100, 120),)
    assert plan.open is None
    early = plan_cycles([], hundred, on(13))
    assert early.closing == ()
    assert early.open == Cycle(1, on(1), None, 13, 130, 100, 120)
    assert (early.queries_missing, early.days_missing) == (0, 1)
    few = plan_cycles([], [asked(1, *range(60)), asked(9, *range(40, 79))], on(14))
    assert few.closing == ()
    assert (few.open.queries, few.open.counted, few.queries_missing, few.days_missing) == (79, 99, 1, 0)


def test_it_closes_on_the_day_on_which_the_last_one_that_counts_is_asked():
    days = [asked(day, *range(24)) for day in (1, 2, 3, 15, 16, 17)]  # each three times, and then no more
    days += [asked(20, *range(24, 51)), asked(23, 24, 99), asked(30, *range(100, 110))]
    assert closings(plan_cycles([], days, on(22))) == []
    assert closings(plan_cycles([], days, on(40))) == [(1, on(1), on(23), 23, 101)]


def test_it_closes_on_an_empty_day_and_counts_nothing_after_it():
    plan = plan_cycles([], [asked(2, *range(150)), asked(16, 999)], on(17))
    assert closings(plan) == [(1, on(2), on(15), 14, 150)]
    assert plan.open == Cycle(2, on(16), None, 2, 1, 1, 1)
    assert (plan.queries_missing, plan.days_missing) == (99, 12)


def test_the_first_search_opens_it_even_if_it_could_not_be_evaluated():
    plan = plan_cycles([], [SearchDay(on(3)), asked(8, *range(100))], on(16))
    assert closings(plan) == [(1, on(3), on(16), 14, 100)]
    assert plan_cycles([], [], on(16)) == plan_cycles([], [asked(17, 1)], on(16))
    assert plan_cycles([], [], on(16)).open is None


def test_the_next_one_opens_the_day_after_with_or_without_a_search():
    first = Cycle(1, on(1), on(14), 14, 100, 100, 100)
    assert plan_cycles([first], [asked(3, *range(300))], on(14)).open is None
    quiet = plan_cycles([first], [asked(3, *range(300))], on(20))
    assert quiet.open == Cycle(2, on(15), None, 6, 0, 0, 0)
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


def count_by_hand(days, among):
    return sum(min(3, sum(one in days[day] for day in among)) for one in range(13))


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
        inside = [day for day in days if one.opened_on <= on(day) <= one.closed_on]
        assert one.counted == count_by_hand(days, inside) >= queries
        assert one.queries == len(frozenset().union(*(days[day] for day in inside)))
        assert one.days == (one.closed_on - one.opened_on).days + 1 >= length
        before = [day for day in inside if on(day) < one.closed_on]
        assert one.days == length or count_by_hand(days, before) < queries  # not a day earlier


def test_what_cannot_be_planned_is_named():
    with pytest.raises(ValueError, match="2026-03-02 has two entries"):
        plan_cycles([], [asked(2, 1), asked(2, 2)], on(9))
    with pytest.raises(ValueError, match="least_queries = 0"):
        plan_cycles([], [], on(9), least_queries=0)
