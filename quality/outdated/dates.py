"""Dates of a text: that it begins with, and from which a change holds (rule 3.12)."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from slowwave.quality.divergence.lexicon_numbers import MONTHS
from slowwave.quality.outdated.amounts import amounts_of
from slowwave.quality.outdated.change_words import TABLES
from slowwave.quality.outdated.short_sentences import MAX_CHARACTERS
from slowwave.quality.outdated.tokens import MONTH_KEYS

_HEAD = re.compile(
    r"""\A\s*(?:\[(?P<stamp>[^\]\n]{4,40})\]
    |(?:(?:as\ of|since|from|update|updated|stand|ab)\b[\s:,]*)?
     (?P<date>\d{4}-\d\d-\d\d|\d{1,2}\ [a-z]{3,9}\ \d{4}|[a-z]{3,9}\ \d{1,2},\ \d{4}))""",
    re.IGNORECASE | re.VERBOSE,
)
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_DAY = re.compile(r"\b(\d{1,2}) ([a-z]{3,9}),? (\d{4})\b", re.IGNORECASE)
_MONTH = re.compile(r"\b([a-z]{3,9}) (\d{1,2}), (\d{4})\b", re.IGNORECASE)
_NAMED = "|".join(MONTH_KEYS)
_DAY_OF = r"(?:the |dem |den )?(?:(?P<day>\d{1,2})(?:st|nd|rd|th|\.)? (?:of |de )?)?"
_TO_COME = re.compile(
    r"\b(?:from|in|on|as of|starting|ab|im|am|en|em|à partir de|a partir de|partire da)"
    rf"(?: {_DAY_OF}(?P<month>{_NAMED})(?: \d{{1,2}},)?(?: de| del)?)? (?P<year>20\d\d)\b"
)
_RISING = "|".join(map(re.escape, TABLES["rising"]))
_HOLDS_FROM = re.compile(
    r"\b(?:from|as of|starting(?: in| from)?|ab"
    rf"|(?:will|going to|wird|werden)\b[^.!?\n]{{0,40}}?\b(?:{_RISING})\b[^.!?\n]{{0,40}}?"
    r"\b(?:in|on|by|im|am|ab))"
    rf" {_DAY_OF}(?P<month>{_NAMED})\b(?!,? \d{{4}})"
)
_AHEAD: Final = timedelta(days=183)
"""Maximum from a note to a month without a year that is still to come in it."""


def written_date(text: str) -> datetime | None:
    """Return the date that a text begins with; None without one."""
    head = _HEAD.match(text)
    if head is None:
        return None
    text = head["stamp"] or head["date"]
    if match := _ISO.search(text):
        year, month, day = map(int, match.groups())
    elif match := _DAY.search(text):
        day, month, year = int(match[1]), MONTHS.get(match[2].casefold(), 0), int(match[3])
    elif match := _MONTH.search(text):
        month, day, year = MONTHS.get(match[1].casefold(), 0), int(match[2]), int(match[3])
    else:
        return None
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def holds_from(text: str, moment: datetime) -> datetime:
    """Return when the change of a text begins to hold: *from January the standup is at 10:00*.

    It is the moment of the text, unless a short note names a later month without a year, within half a year.

    Args:
        text: Of a note; a long one tells of more than one change.
        moment: Date of the text.
    """
    latest = moment
    for match in _HOLDS_FROM.finditer(text.casefold()) if len(text) <= MAX_CHARACTERS else ():
        with suppress(ValueError):
            first = moment.replace(
                month=MONTH_KEYS[match["month"]], day=int(match["day"] or 1), hour=0, minute=0
            )
            first = first if first >= moment else first.replace(year=moment.year + 1)
            latest = max(latest, first) if first - moment <= _AHEAD else latest
    return latest


def is_to_come(text: str, moment: datetime) -> bool:
    """Whether a text gives a value from a later month or year on: "raised to 25 euros in March 2027"."""
    lowered = text.casefold()
    for match in _TO_COME.finditer(lowered):
        month = MONTH_KEYS[match["month"]] if match["month"] else 1
        is_later = (int(match["year"]), month) > (moment.year, moment.month)
        if is_later and len(amounts_of(lowered)) > 1:
            return True
    return False
