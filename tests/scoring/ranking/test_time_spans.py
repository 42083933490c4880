"""Times in questions of nine languages: ranges, bounds, parts, weekdays, figures, and what is no time."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.text_times import dates_in
from slowwave.scoring.ranking.time_languages import languages_known
from slowwave.scoring.ranking.time_only import days_named, time_only
from slowwave.scoring.ranking.time_spans import TimeWords
from slowwave.scoring.ranking.time_words import plain, time_words

FRIDAY = datetime(2026, 11, 27, 12, tzinfo=UTC)
FIXTURES = Path(__file__).parents[2] / "fixtures"
DAYS = st.dates(date(1900, 1, 1), date(2099, 12, 31))
MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
]  # fmt: skip
WORDS = sorted({word for language in languages_known() for word in language.own})


def lines_of(name: str) -> list[str]:
    lines = (FIXTURES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if "|" in line]


def days_of(asked: TimeWords | None) -> str:
    if asked is None:
        return "None"
    return str(asked.since) if asked.since == asked.until else f"{asked.since} {asked.until}"


@pytest.mark.parametrize("line", lines_of("time_questions"))
def test_the_days_that_a_question_asks_for(line: str) -> None:
    question, days = (part.strip() for part in line.split("|"))
    assert days_of(time_words(question, FRIDAY)) == days


@pytest.mark.parametrize("line", lines_of("time_only_questions"))
def test_the_days_of_a_question_that_holds_only_a_time(line: str) -> None:
    question, days = (part.strip() for part in line.split("|"))
    assert days_of(time_only(question, FRIDAY.date())) == days


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(["2024", "3", "5.3.", "-", "'s"]))))
def test_a_window_of_any_words_begins_before_it_ends(words: list[str]) -> None:
    question = " ".join(words)
    asked = time_words(question, FRIDAY)
    if asked is not None:
        assert asked.words in plain(question)
        assert asked.since is None or asked.until is None or asked.since <= asked.until


@given(DAYS)
def test_every_way_to_write_a_date_is_the_same_day(day: date) -> None:
    name = MONTHS[day.month - 1]
    ways = [
        f"{day}", f"{day:%Y/%m/%d}", f"{day.day}.{day.month}.{day.year}", f"{day.day} {name} {day.year}",
        f"{name} {day.day}, {day.year}", f"the {day.day}th of {name} {day.year}",
    ]  # fmt: skip
    for way in ways:
        assert days_of(time_words(f"who was there on {way}?", FRIDAY)) == str(day)


@given(DAYS)
def test_a_date_and_the_days_before_and_after_it_are_all_days(day: date) -> None:
    def bounds(words: str) -> tuple[date | None, date | None]:
        asked = time_words(f"who was there {words} {day}?", FRIDAY)
        assert asked is not None
        return asked.since, asked.until

    one = timedelta(days=1)
    assert bounds("before") == (date.min, day - one)
    assert bounds("until") == (date.min, day)
    assert bounds("after") == (day + one, date.max)
    assert bounds("since")[0] == day


@given(DAYS, DAYS)
def test_a_range_of_dates_is_from_the_first_to_the_last(day: date, other: date) -> None:
    first, last = sorted((day, other))
    for form in ("between {} and {}", "from {} to {}", "zwischen {} und {}", "entre {} et {}"):
        asked = time_words(form.format(first, last), FRIDAY)
        assert asked is not None
        assert (asked.since, asked.until) == (first, last)


@given(DAYS, st.sampled_from(["last weekend", "over the weekend", "two weekends ago", "am Wochenende"]))
def test_a_past_weekend_is_a_saturday_and_a_sunday_that_have_begun(day: date, words: str) -> None:
    asked = time_words(f"{words} was it dry?", datetime(day.year, day.month, day.day, tzinfo=UTC))
    assert asked is not None
    assert asked.since is not None
    assert asked.until == asked.since + timedelta(days=1)
    assert asked.since.weekday() == 5
    assert asked.since <= day
    if words == "last weekend":
        assert asked.until < day
        assert day - asked.until <= timedelta(days=7)


@given(DAYS, st.sampled_from(["{0:%B} {0.year}", "{0.year}", "last year", "last month"]))
def test_two_halves_are_the_whole_and_weeks_are_in_their_month(day: date, name: str) -> None:
    period = name.format(day)

    def days(words: str) -> tuple[date, date]:
        asked = time_words(f"who was there in {words}?", FRIDAY)
        assert asked is not None
        assert asked.since is not None
        assert asked.until is not None
        return asked.since, asked.until

    whole, first, second = (
        days(period),
        days(f"the first half of {period}"),
        days(f"the second half of {period}"),
    )
    assert (first[0], second[1]) == whole
    assert second[0] == first[1] + timedelta(days=1)
    for at in ("first", "second", "third", "fourth", "last"):
        week = days(f"the {at} week of {period}")
        assert whole[0] <= week[0] <= week[1] <= whole[1]
        assert week[1] - week[0] == timedelta(days=6)


@given(DAYS)
def test_the_month_that_goes_on_ends_with_its_last_day(day: date) -> None:
    now = datetime(day.year, day.month, day.day, tzinfo=UTC)
    asked = time_words("what is due until the end of the month?", now)
    assert asked is not None
    assert asked.since == day
    assert asked.until is not None
    assert asked.until.month == day.month
    assert (asked.until + timedelta(days=1)).day == 1


@given(DAYS.filter(lambda day: day.month != 5))  # May has none
def test_a_short_name_of_a_month_is_the_month(day: date) -> None:
    short = MONTHS[day.month - 1][:3]
    for way in (f"{day.day} {short} {day.year}", f"{short}. {day.day}, {day.year}"):
        assert days_of(time_words(f"who was there on {way}?", FRIDAY)) == str(day)
        assert set(dates_in(f"lunch, {way}")) == {(day, day)}


@pytest.mark.parametrize(
    "text", ["sold out 2024 times", "we set 2024 goals", "ago 2020", "H 1 2025", "a Christmas tree"]
)
def test_a_text_with_a_number_and_a_short_word_has_no_date(text: str) -> None:
    assert dates_in(text) == ()


@given(DAYS)
def test_day_and_month_are_never_guessed(day: date) -> None:
    question = f"what was paid on {day:%d/%m/%Y}?"
    certain = day.day > 12 or day.day == day.month
    assert days_of(time_words(question, FRIDAY)) == (str(day) if certain else "None")
    assert days_of(time_words(f"¿Qué pagamos el {day:%d/%m/%Y}?", FRIDAY)) == str(day)


@pytest.mark.parametrize(
    ("days", "name"),
    [
        (("2019-01-01", "2019-12-31"), "2019"),
        (("2024-02-01", "2024-02-29"), "2024-02"),
        (("2024-02-01", "2024-02-01"), "2024-02-01"),
        (("2024-02-01", "2024-03-31"), "the days from 2024-02-01 to 2024-03-31"),
        (("0001-01-01", "2019-12-31"), "the days until 2019-12-31"),
        (("2019-01-01", "9999-12-31"), "the days from 2019-01-01 on"),
    ],
)
def test_the_name_of_a_window(days: tuple[str, str], name: str) -> None:
    assert days_named(TimeWords("", *map(date.fromisoformat, days))) == name
