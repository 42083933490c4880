"""Dates of a text: that it begins with, and from which a change holds (rule 3.12)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from slowwave.quality.divergence.lexicon_numbers import MONTHS
from slowwave.quality.outdated.amounts import amounts_of
from slowwave.quality.outdated.tokens import MONTH_KEYS

_HEAD = re.compile(
    r"""\A\s*(?:\[(?P<stamp>[^\]\n]{4,40})\]
    |(?:(?:as\ of|since|update|updated|stand|ab)\b[\s:,]*)?
     (?P<date>\d{4}-\d\d-\d\d|\d{1,2}\ [a-z]{3,9}\ \d{4}|[a-z]{3,9}\ \d{1,2},\ \d{4}))""",
    re.IGNORECASE | re.VERBOSE,
)
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_DAY = re.compile(r"\b(\d{1,2}) ([a-z]{3,9}),? (\d{4})\b", re.IGNORECASE)
_MONTH = re.compile(r"\b([a-z]{3,9}) (\d{1,2}), (\d{4})\b", re.IGNORECASE)
_TO_COME = re.compile(
    rf"\b(?:from|in|as of|starting|ab|im|en|em|à partir de|a partir de|partire da)"
    rf"(?: ({'|'.join(MONTH_KEYS)})(?: de| del)?)? (20\d\d)\b"
)


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


def is_to_come(text: str, moment: datetime) -> bool:
    """Whether a text gives a value from a later month or year on: "raised to 25 euros in March 2027"."""
    lowered = text.casefold()
    for match in _TO_COME.finditer(lowered):
        month = MONTH_KEYS[match[1]] if match[1] else 1
        is_later = (int(match[2]), month) > (moment.year, moment.month)
        if is_later and len(amounts_of(lowered)) > 1:
            return True
    return False
