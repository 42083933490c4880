"""Moments and counts as people say them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from slowwave.common.pluralize import counted
from slowwave.views.moments import day, since

NOW = datetime(2026, 3, 10, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(seconds=-5), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(hours=15, minutes=29), "15 hours ago"),
        (timedelta(hours=25, minutes=28), "yesterday 14:02"),
        (timedelta(days=2), "2 days ago"),
        (timedelta(days=6), "6 days ago"),
        (timedelta(days=7), "3 Mar 2026"),
        (timedelta(days=400), "3 Feb 2025"),
        (timedelta(hours=-2), "in 2 hours"),
        (timedelta(days=-3, hours=-1), "in 3 days"),
        (timedelta(days=-14), "24 Mar 2026"),
    ],
)
def test_a_moment_is_told_by_how_long_ago_it_was(ago, said):
    assert since(NOW - ago, NOW) == said


def test_days_are_those_of_utc_and_nothing_is_said_of_no_moment():
    early = datetime(2026, 3, 10, 0, 20, tzinfo=UTC)
    assert since(early - timedelta(minutes=30), early) == "30 minutes ago"  # across midnight
    east = timezone(timedelta(hours=9))
    assert since(datetime(2026, 3, 10, 0, 30, tzinfo=east), NOW) == "yesterday 15:30"
    assert day(datetime(2026, 3, 11, 1, tzinfo=east)) == "10 Mar 2026"
    assert since(None, NOW) == ""


def test_one_of_a_thing_is_not_several():
    assert [counted(n, "query", "queries") for n in (0, 1, 2)] == ["0 queries", "1 query", "2 queries"]
    assert counted(1_200, "note") == "1,200 notes"
