from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.text_times import SAYS_WHEN, dates_in, time_shares
from slowwave.scoring.ranking.time_words import TimeWords, time_words, without_expression

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
        ("what changed in the last 10 days?", "2026-11-17", "2026-11-27"),
        ("meals over the past three months", "2026-08-27", "2026-11-27"),
        ("which trains in the past week?", "2026-11-20", "2026-11-27"),
        ("letters of the last 999 years", "1027-11-27", "2026-11-27"),
        ("was geschah in den letzten zwei Wochen?", "2026-11-13", "2026-11-27"),
        ("¿qué pasó en los últimos 3 días?", "2026-11-24", "2026-11-27"),
        ("les repas des 5 derniers jours", "2026-11-22", "2026-11-27"),
        ("o que houve nos últimos dois anos", "2024-11-27", "2026-11-27"),
        ("最近三天吃了什么", "2026-11-24", "2026-11-27"),
        ("過去2週間の会議", "2026-11-13", "2026-11-27"),
        ("पिछले तीन महीनों में क्या हुआ", "2026-08-27", "2026-11-27"),
        ("ماذا حدث خلال آخر 3 أيام", "2026-11-24", "2026-11-27"),
    ],
)
def test_the_days_of_an_expression(question: str, since: str, until: str) -> None:
    asked = time_words(question, NOW)
    assert asked is not None
    assert (asked.since, asked.until) == (date.fromisoformat(since), date.fromisoformat(until))


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("what did we decide in May 2026?", "what did we decide?"),
        ("In March, what did Ada say?", "what did Ada say?"),
        ("What happened with Ada’s demo  last week", "What happened with Ada's demo"),
        ("上周我们决定了什么？", "我们决定了什么？"),
    ],
)
def test_a_question_without_the_expression_of_its_time(question: str, rest: str) -> None:
    asked = time_words(question, NOW)
    assert asked is not None
    assert without_expression(question, asked.words) == rest


def test_a_past_month_of_a_longer_one_ends_with_the_shorter_month() -> None:
    asked = time_words("what broke in the last 3 months?", datetime(2026, 5, 31, tzinfo=UTC))
    assert asked is not None
    assert (asked.since, asked.until) == (date(2026, 2, 28), date(2026, 5, 31))


AHEAD = """
When is the dentist on 5 December?          | 2026-12-05
What was due on 5 December?                 | 2025-12-05
What will happen in March?                  | 2027-03-01 2027-03-31
What happened in March?                     | 2026-03-01 2026-03-31
Which reviews are upcoming in November?     | 2026-11-01 2026-11-30
What is due next Friday?                    | 2026-12-04
Who comes on Monday next week? | 2026-11-30
What is due this week?                      | 2026-11-23 2026-11-29
What did we do this week?                   | 2026-11-23 2026-11-27
What will we do in three weeks?             | 2026-12-15 2026-12-21
When is the leap party on 29 February?      | 2028-02-29
What is there the day after tomorrow?       | 2026-11-29
What is planned for next year?              | 2027-01-01 2027-12-31
Wann ist der Zahnarzt am 5. Dezember?       | 2026-12-05
Was war am 5. Dezember?                     | 2025-12-05
Was ist nächsten Freitag fällig?            | 2026-12-04
¿Cuándo es el dentista el 5 de diciembre?   | 2026-12-05
¿Qué hubo el 5 de diciembre?                | 2025-12-05
¿Qué vence la próxima semana?               | 2026-11-30 2026-12-06
Quand est le dentiste le 5 décembre ?       | 2026-12-05
Que faut-il faire vendredi prochain ?       | 2026-12-04
Quando é o dentista em 5 de dezembro?       | 2026-12-05
O que vence na próxima sexta-feira?         | 2026-12-04
12月5日的牙医是什么时候？                    | 2026-12-05
下周三有什么到期？                           | 2026-12-02
5 दिसंबर को डॉक्टर कब है?                    | 2026-12-05
अगले शुक्रवार क्या होगा?                     | 2026-12-04
متى موعد الطبيب في 5 ديسمبر؟                | 2026-12-05
ماذا لدينا الأسبوع القادم؟                   | 2026-11-30 2026-12-06
12月5日の歯医者はいつですか？                | 2026-12-05
来週の水曜の予定は？                         | 2026-12-02
12月5日に何をした？                          | 2025-12-05
"""


@pytest.mark.parametrize("line", AHEAD.strip().split("\n"))
def test_a_question_that_looks_ahead_asks_for_the_coming_day(line: str) -> None:
    question, days = (part.strip() for part in line.split("|"))
    asked = time_words(question, NOW)
    assert asked is not None
    first, last = days.split()[0], days.split()[-1]
    assert (asked.since, asked.until) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize("day", [*range(1, 32)])
def test_the_next_weekday_is_one_to_seven_days_ahead(day: int) -> None:
    now = datetime(2026, 12, day, tzinfo=UTC)
    for at, name in enumerate(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")):
        asked = time_words(f"who comes next {name}?", now)
        assert asked is not None
        assert asked.since is not None
        assert asked.since.weekday() == at
        assert 1 <= (asked.since - now.date()).days <= 7


def test_today_is_the_coming_and_the_last_day_of_its_date() -> None:
    for question in ("When is the dentist on 27 November?", "What was on 27 November?"):
        asked = time_words(question, NOW)
        assert asked is not None
        assert asked.since == NOW.date()


@pytest.mark.parametrize(
    "question",
    [
        "may I march in line at last, second?", "April may help with the may report",
        "what are the 14 may options", "Was ist hier los?", "first of all, the time", "on 31 February 2024",
        "Who came in three weeks?", "Is the next stop near?", "Will it last?",
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


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("the deposit is due on 1 December", [(2026, 12, 1)]),
        ("the deposit was due on 20 November", [(2026, 11, 20)]),
        ("am 1. Dezember um drei", [(2026, 12, 1)]),
        ("el 3 de mayo", [(2026, 5, 3), (2027, 5, 3)]),
        ("On March 10 we walk; we march 10 km", [(2027, 3, 10)]),
        ("1 December 18:00, and December 24 at noon", [(2026, 12, 1), (2026, 12, 24)]),
        ("Jan 3 times, December 18:00, April 12 years old, June 8 months", []),
        ("the 3 December meeting", [(2026, 12, 3)]),
        ("the 5 may be right", []),
        ("am 6.12. im Dezember", [(2026, 12, 6)]),
        ("29 February", [(2024, 2, 29), (2028, 2, 29)]),
        ("31 February", []),
        ("on 1 December 2029", [(2029, 12, 1)]),
        ("the 18th of December, or December the 19th", [(2026, 12, 18), (2026, 12, 19)]),
        ("Zahnarzt am 6.12. um neun, bis 31. 12.", [(2026, 12, 6), (2026, 12, 31)]),
        ("We march the 4; needs Python 3.11. I am 6.", []),
    ],
)  # fmt: skip
def test_a_day_without_a_year_is_near_the_day_of_its_text(
    text: str, days: list[tuple[int, int, int]]
) -> None:
    saved = date(2026, 11, 20)
    every = sorted({date(*day) for day in days})
    assert sorted(set(dates_in(text, saved))) == [(day, day) for day in every]


FRIDAY, SATURDAY = (2026, 11, 27), (2026, 11, 28)


@pytest.mark.parametrize(
    ("text", "first_days"),
    [
        ("Dentist tomorrow at nine; I called yesterday.", [(2026, 11, 26), SATURDAY]),
        ("Next Tuesday we ship, after the trial of last Tuesday.", [(2026, 11, 24), (2026, 12, 1)]),
        ("The fair was on Monday.", [(2026, 11, 23)]),
        ("She will call on Monday.", [(2026, 11, 30)]),
        ("It was late. Call Kline on Monday.", [(2026, 11, 23), (2026, 11, 30)]),
        ("Release 2.5 ships next week.", [(2026, 11, 30)]),
        ("On Monday, 4 December 2028, we open.", [(2028, 12, 4)]),
        ("Montag (am 4.12.) geht es los.", [(2026, 12, 4)]),
        ("Übermorgen Zahnarzt, nächsten Dienstag Elternabend.", [(2026, 11, 29), (2026, 12, 1)]),
        ("Guten Morgen, am Morgen ist es kalt.", []),
        ("Mañana hay mercado; nous partons demain.", [SATURDAY]),
        ("明天开会", [SATURDAY]),
        ("The weekend house is open on Mondays.", []),
        ("Do it next, or do it last.", []),
        ("In five days the exam; two days ago I began.", [(2026, 11, 25), (2026, 12, 2)]),
        ("The talk is in two weeks. In a month Bea moves out.", [(2026, 12, 11)]),
    ],
)
def test_days_relative_to_the_day_of_a_text(text: str, first_days: list[tuple[int, int, int]]) -> None:
    found = dates_in(text, date(*FRIDAY))
    assert sorted({first for first, _ in found}) == [date(*day) for day in first_days]
    assert all(last - first in {timedelta(0), timedelta(6)} for first, last in found)
    assert {first for first, _ in dates_in(text)} <= {date(2028, 12, 4)}


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("On call from 16 to 22 November: Marek.", (2026, 11, 16), (2026, 11, 22)),
        ("On call 16-22 November", (2026, 11, 16), (2026, 11, 22)),
        ("On call in the week of 11 November: Lotte.", (2026, 11, 9), (2026, 11, 15)),
        ("closed 2026-11-16 to 2026-11-22", (2026, 11, 16), (2026, 11, 22)),
        ("from 30 November to 6 December: Kern", (2026, 11, 30), (2026, 12, 6)),
        ("November 16 to 22", (2026, 11, 16), (2026, 11, 22)),
        ("no release between 18 December 2026 and 4 January 2027", (2026, 12, 18), (2027, 1, 4)),
        ("Inspection between 1 and 3 December.", (2026, 12, 1), (2026, 12, 3)),
        ("zwischen dem 1. und 3. Dezember", (2026, 12, 1), (2026, 12, 3)),
        ("from Monday 30 November to Friday 4 December", (2026, 11, 30), (2026, 12, 4)),
        ("vom 16. bis 22. November", (2026, 11, 16), (2026, 11, 22)),
        ("16.11.2026 bis 22.11.2026", (2026, 11, 16), (2026, 11, 22)),
        ("del 16 al 22 de noviembre", (2026, 11, 16), (2026, 11, 22)),
    ],
)
def test_a_range_of_days_in_a_text_is_one_window(
    text: str, first: tuple[int, int, int], last: tuple[int, int, int]
) -> None:
    assert (date(*first), date(*last)) in dates_in(text, date(*FRIDAY))


@pytest.mark.parametrize(
    "text",
    ["24 December - 3 people came", "16 November to 5 pm", "1 December and 3 December", "9 to 5 November",
     "16 December 2026, 4 January 2027"],
)  # fmt: skip
def test_two_dates_side_by_side_are_no_range(text: str) -> None:
    assert all(first == last for first, last in dates_in(text, date(*FRIDAY)))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("due 2026-12-06, paid 2026/12/07", [(2026, 12, 6), (2026, 12, 7)]),
        ("am 06.12.2026 und am 7. 12. 2026.", [(2026, 12, 6), (2026, 12, 7)]),
        ("25/12/2026 or 12/24/2026 or 5/5/2026", [(2026, 12, 25), (2026, 12, 24), (2026, 5, 5)]),
        ("we meet on 3/4/2026, not 03-11-2026", []),
        ("la cena es el 3/4/2026", [(2026, 4, 3)]),
        ("31.2.2026, 1.2.3.2026, v1.2.2026, 1/2.2026, 10.12.20261", []),
    ],
)  # fmt: skip
def test_dates_in_figures(text: str, days: list[tuple[int, int, int]]) -> None:
    assert sorted(set(dates_in(text))) == [(day, day) for day in sorted(date(*day) for day in days)]


@pytest.mark.parametrize(
    "text",
    ["September 8-12 Berlin", "September 8 to 12 off", "Hotel September 8-12 paid", "8 September 2026 to 12"],
)
def test_words_behind_the_last_day_of_a_range_do_not_end_it(text: str) -> None:
    assert (date(2026, 9, 8), date(2026, 9, 12)) in dates_in(text, date(2026, 8, 20))


@pytest.mark.parametrize(
    "text",
    [
        "On 8 September 2026, a 11-page letter came",
        "8 September 2026, a 14 year old",
        "8 September 2026 to 15 guests",
        "8 septembre 2026, à 11 heures",
        "8 September 2026, a11",
    ],
)
def test_a_number_behind_a_date_that_counts_something_ends_no_range(text: str) -> None:
    assert set(dates_in(text, date(*FRIDAY))) == {(date(2026, 9, 8), date(2026, 9, 8))}


@given(st.text("ab \n", max_size=80), st.text("ab1. \n", max_size=80))
def test_the_words_around_a_date_do_not_matter(before: str, after: str) -> None:
    day = date(2026, 9, 8)
    assert (day, day) in dates_in(f"{before} 8th day, 8 September 2026, {after}")


def test_what_is_due_next_week_counts_dates_without_a_year() -> None:
    asked = time_words("what is due next week?", datetime(2026, 11, 29, tzinfo=UTC))
    texts = ["The deposit is due on 1 December.", "Vaccination on 1 December 2029.", "Lunch on 16 December."]
    assert asked is not None
    shares = time_shares(asked, texts, [date(2026, 10, 3)] * 3)
    np.testing.assert_array_equal(shares, [1.0, 0.0, 0.0])
    past = time_words("what was due on 1 December?", datetime(2026, 11, 29, tzinfo=UTC))
    assert past is not None
    assert time_shares(past, texts[:1], [date(2026, 10, 3)]).tolist() == [0.0]


SAID = """
en | When did Ada paint the boat? | I painted it last night. | I painted it blue.
en | Which day is the review? | The review is on 3 March. | The review may be short.
en | how long ago was the move? | We moved a few weeks ago. | We moved to the pier, at last.
en | When was the move? | We moved last Fri. | We moved.
en | When was the move? | It was on the 15th. | It was on the pier.
en | When do you move? | I just got the keys! | I lost the keys.
de | Wann war der Zahnarzt? | Der Zahnarzt war am Montag. | Der Zahnarzt war teuer.
es | ¿Cuándo fue la boda? | La boda fue el sábado. | La boda fue en la playa.
fr | Quand est la réunion ? | La réunion est demain. | La réunion est brève.
pt | Quando foi a festa? | A festa foi ontem. | A festa foi boa.
zh | 我们什么时候去的？ | 我们上周去了海边。 | 我们去了海边。
hi | हम कब गए थे? | हम पिछले हफ्ते गए थे। | हम समुद्र गए थे।
ar | متى ذهبنا؟ | ذهبنا أمس إلى البحر | ذهبنا إلى البحر
ja | いつ行きましたか | 先週、海に行きました。 | 海に行きました。
"""


@pytest.mark.parametrize("line", SAID.strip().split("\n"))
def test_a_question_that_asks_when_prefers_texts_that_say_a_time(line: str) -> None:
    language, question, says, silent = (part.strip() for part in line.split("|"))
    asked = time_words(question, NOW)
    assert asked is not None
    assert (asked.language, asked.since, asked.order) == (language, None, "")
    np.testing.assert_array_equal(
        time_shares(asked, [says, silent, ""], [NOW.date()] * 3), [SAYS_WHEN, 0.0, 0.0]
    )


@pytest.mark.parametrize(
    "question",
    ["When should I throw an error?", "What do I do when the build fails?", "whenever did", "Quand même bon"],
)
def test_a_condition_does_not_ask_when(question: str) -> None:
    assert time_words(question, NOW) is None


def test_a_time_that_the_question_names_goes_before_when() -> None:
    asked = time_words("When did we meet in May 2023?", NOW)
    assert asked == TimeWords("in may 2023", date(2023, 5, 1), date(2023, 5, 31))


@pytest.mark.parametrize(
    "stamp", ["[1:56 pm on 8 May, 2023] ", "(last Friday) ", "2023-05-08T13:56:00Z ", "2023-05-08 13:56 - "]
)
def test_the_stamp_of_a_message_says_no_time(stamp: str) -> None:
    asked = time_words("When did Ada paint?", NOW)
    assert asked is not None
    texts = [f"{stamp}Ada: hello", f"{stamp}Ada: I painted yesterday", "Painted on 8 May 2023"]
    np.testing.assert_array_equal(time_shares(asked, texts, [NOW.date()] * 3), [0.0, 1 / 3, 1 / 3])
