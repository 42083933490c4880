from datetime import UTC, date, datetime

import numpy as np
import pytest

from slowwave.scoring.ranking.time_words import TimeWords, dates_in, time_shares, time_words

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)  # a Friday


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("where was lunch yesterday?", "2026-11-26", "2026-11-26"),
        ("and last week?", "2026-11-16", "2026-11-22"),
        ("what ran in December?", "2025-12-01", "2025-12-31"),
        ("who came after March 2024", "2024-04-01", "9999-12-31"),
        ("three months ago", "2026-08-01", "2026-08-31"),
        ("read before 2024-03-14", "0001-01-01", "2024-03-13"),
        ("was war vor drei Monaten?", "2026-08-01", "2026-08-31"),
        ("vor März 2024", "0001-01-01", "2024-02-29"),
        ("en marzo de 2024", "2024-03-01", "2024-03-31"),
        ("l'an dernier", "2025-01-01", "2025-12-31"),
        ("o que houve ontem", "2026-11-26", "2026-11-26"),
        ("上周我们吃了什么", "2026-11-16", "2026-11-22"),
        ("先週の会議", "2026-11-16", "2026-11-22"),
        ("मार्च में क्या हुआ", "2026-03-01", "2026-03-31"),
        ("في مارس 2024", "2024-03-01", "2024-03-31"),
    ],
)
def test_the_days_of_an_expression(question: str, since: str, until: str) -> None:
    asked = time_words(question, NOW)
    assert asked is not None
    assert (asked.since, asked.until) == (date.fromisoformat(since), date.fromisoformat(until))


@pytest.mark.parametrize(
    "question",
    [
        "may I march in line at last, second?", "April may help with the may report",
        "what are the 14 may options", "Was ist hier los?", "first of all, the time", "on 31 February 2024",
    ],
)  # fmt: skip
def test_an_ambiguous_word_is_no_time(question: str) -> None:
    assert time_words(question, NOW) is None


def test_newest_has_an_order_and_no_window() -> None:
    assert time_words("the most recent lunch", NOW) == TimeWords("most recent", order="newest")


def test_the_dates_of_a_text_and_the_shares_of_candidates() -> None:
    assert list(dates_in("[on 8 May, 2023] until June 2023")) == [
        (date(2023, 5, 8), date(2023, 5, 8)), (date(2023, 6, 1), date(2023, 6, 30)),
    ]  # fmt: skip
    asked = time_words("in May 2023", NOW)
    assert asked is not None
    saved = [date(2023, 5, 2), NOW.date(), NOW.date()]
    shares = time_shares(asked, ["lunch", "lunch on 8 May 2023", "lunch on 8 June 2023"], saved)
    np.testing.assert_array_equal(shares, [1.0, 1.0, 0.0])
    days = [date(2024, 1, day) for day in (1, 3, 2)]
    newest = time_shares(TimeWords("latest", order="newest"), ["", "", ""], days)
    np.testing.assert_array_equal(newest, [0.0, 1.0, 0.5])
