"""Dates: written forms with one meaning, those without, and dates of files."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from slowwave.errors import ArgumentError
from slowwave.notes.dates import date_of_file, parsed_moment, read_date

DAY = datetime(2031, 10, 23, tzinfo=UTC)  # a Thursday
NINE = DAY.replace(hour=9, minute=5)
NOW = datetime(2032, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2031-10-23", "20311023", "2031/10/23", "2031.10.23", "2031_10_23", "2031. 10. 23.", "2031年10月23日",
        "23.10.2031", "23. 10. 2031", "10/23/2031", "23/10/2031", "23-10-2031",
        "October 23, 2031", "Oct 23 2031", "oct. 23rd, 2031", "23 October 2031", "23rd of October, 2031",
        "23-Oct-2031", "2031-Oct-23", "2031 October 23", "October the 23rd, 2031",
        "Thursday, October 23rd 2031", "Thu, 23 Oct 2031", "the 23rd of October 2031",
        "23. Oktober 2031", "Donnerstag, 23. Oktober 2031", "23 octobre 2031", "jeudi 23 octobre 2031",
        "23 de octubre de 2031", "23 ottobre 2031", "23 oktober 2031", "23 de outubro de 2031",
        "[[2031-10-23]]", "[[Daily/2031-10-23|that day]]", "[2031-10-23](Daily/x.md)", "<2031-10-23 Thu>",
        "le 23 octobre 2031", "23. oktober 2031", "23 października 2031", "23 октября 2031",
        "2031\u201110\u201123", "2031\u201310\u201323", "2031-W43-4",
        "'2031-10-23'", " 2031-10-23 ", "2031-10-23,", [["2031-10-23"]], ["23.10.2031"],
    ],
)  # fmt: skip
def test_a_day_is_read_in_every_form_that_has_one_meaning(text):
    assert read_date(text) == DAY


@pytest.mark.parametrize(
    "text",
    [
        "2031-10-23T09:05", "2031-10-23 9:05", "2031-10-23T09:05:00.000Z", "2031-10-23 09:05:00 UTC",
        "2031-10-23T11:05:00+02:00", "2031-10-23 04:05:00 -0500", "2031-10-23T11:05+02:00[Europe/Berlin]",
        "Thu Oct 23 2031 11:05:00 GMT+0200 (Central European Summer Time)", "Thu, 23 Oct 2031 11:05:00 +0200",
        "Thu Oct 23 09:05:00 2031", "Thursday, October 23rd 2031, 9:05:00 am", "10/23/2031, 9:05 AM",
        "10/23/2031, 9:05:00\u202fAM", "23.10.2031 09:05", "23.10.2031, 9:05 Uhr",
        "October 23, 2031 at 9:05 AM", "23.10.2031 9.05 Uhr", "2031-10-23 9.05", "2031-10-23 9h05",
        "203110230905", "20311023090500", "1950512700", 1950512700, 1950512700.0, "1950512700000",
        1950512700000, 1950512700000000,
        1950512700000000000, "<2031-10-23 Thu 09:05>",
    ],
)  # fmt: skip
def test_a_time_is_read_with_its_zone(text):
    assert read_date(text) == NINE


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("03.04.2031", datetime(2031, 4, 3, tzinfo=UTC)),
        ("04/04/2031", datetime(2031, 4, 4, tzinfo=UTC)),
        ("1er mars 2031", datetime(2031, 3, 1, tzinfo=UTC)),
        ("March 3, 2031 12:10 AM", datetime(2031, 3, 3, 0, 10, tzinfo=UTC)),
        ("March 3, 2031 12:10 pm", datetime(2031, 3, 3, 12, 10, tzinfo=UTC)),
        ("1950512700.25", datetime(2031, 10, 23, 9, 5, 0, 250_000, tzinfo=UTC)),
        ("2031-10-23 9am", DAY.replace(hour=9)),
        ("October 23, 2031 at 11 p.m.", DAY.replace(hour=23)),
        ("2031-W43", datetime(2031, 10, 20, tzinfo=UTC)),
        (1950512700001, datetime(2031, 10, 23, 9, 5, 0, 1_000, tzinfo=UTC)),
    ],
)
def test_forms_with_a_rule_of_their_own(text, moment):
    assert read_date(text) == moment


@pytest.mark.parametrize(
    "value",
    [
        "03/04/2031", "03-04-2031", "23.10.31", "10/23/31", "0000-00-00", "31.02.2031", "2031-02-30", "2031",
        "2031-10", "October 2031", "23 October", "9:05", "yesterday", "soon", "", "{{date}}", "<% tp.date %>",
        "Friday, October 23rd 2031", "Smarch 3, 2031", "2031-10-23 25:00", "2031-10-23 13:00 PM",
        "Thu Oct 23 09:05:00 XYZ 2031", "2031-10-23 to 2031-10-24", "99999999", "12345", 0, 1, 1.5, True,
        None, [], ["2031-10-23", "2031-10-24"], {"a": 1}, "0001-01-01T00:00:00+10:00",
    ],
)  # fmt: skip
def test_what_has_no_or_two_meanings_is_no_date(value):
    assert read_date(value) is None


@pytest.mark.parametrize(
    ("source", "moment"),
    [
        ("2031-10-23 Standup.md", DAY),
        ("20311023.md", DAY),
        ("Journal/2031_10_23.md", DAY),
        ("Talk with Ada 2031-10-23.md", DAY),
        ("scan_20311023_0905.md", DAY),
        ("203110230905 A thought.md", NINE),
        ("Oct 23rd, 2031.md", DAY),
        ("23.10.2031.md", DAY),
        ("2031/10/23.md", DAY),
        ("2031/10-October/23.md", DAY),
        ("2031-10-23 and 2031-10-23.jsonl", DAY),
        ("Daily Note 2031-10-23.md", DAY),
        ("Log 2031-1-3.md", datetime(2031, 1, 3, tzinfo=UTC)),
        ("2031/10/23 Thu.md", DAY),
        ("2031/10/23/standup.md", DAY),
        ("trips/2031-10-23 Harbour/day.md", DAY),
        ("20311023/2030-01-02.md", datetime(2030, 1, 2, tzinfo=UTC)),
        ("2031-W43.md", datetime(2031, 10, 20, tzinfo=UTC)),
        ("2031-10-23 to 2031-10-30.md", None),
        ("2030-01-02/2031-10-23 to 2031-10-30.md", None),
        ("2033-05-05 Plan.md", None),
        ("Order 12345678.md", None),
        ("x20311023.md", None),
        ("1984.md", None),
        ("10/23.md", None),
        ("notes.md", None),
    ],
)
def test_the_date_in_a_name(source, moment):
    assert date_of_file(source, None, until=NOW) == moment


def test_a_file_is_as_old_as_its_name_says_else_as_its_last_change():
    changed = int(NINE.timestamp() * 1e9) + 1
    assert date_of_file("2030-01-02.md", changed, until=NOW) == datetime(2030, 1, 2, tzinfo=UTC)
    assert date_of_file("notes.md", changed, until=NOW) == NINE
    assert date_of_file("2033-05-05 Plan.md", changed, until=NOW) == NINE
    assert date_of_file("notes.md", changed, until=DAY) is None
    assert date_of_file("notes.md", 0, until=NOW) is None  # an archive without times


@pytest.mark.parametrize("text", ["2026-05-03", "3 May 2026", "May 3, 2026", "03.05.2026", "2026-05-03T00Z"])
def test_an_argument_is_read_as_the_date_of_a_note(text):
    assert parsed_moment("created_at", text) == datetime(2026, 5, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("05/03/2026", "created_at 05/03/2026: give a day as YYYY-MM-DD"),
        ("yesterday", "created_at yesterday: give a day as YYYY-MM-DD"),
        ("2026-02-30", "No calendar has that day"),
        ("2026-05-03T25:00", "YYYY-MM-DDTHH:MM:SSZ\\.$"),
        ("2026-02-30T10:00", "No calendar has that day"),
        ("0999-01-01", "give a year from 1000 to 9998"),
    ],
)
def test_an_argument_of_no_certain_day_is_refused(text, said):
    with pytest.raises(ArgumentError, match=said):
        parsed_moment("created_at", text)
