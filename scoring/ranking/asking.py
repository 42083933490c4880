"""Questions without the words that only ask: *What do we know about Anna?* is compared as *Anna*.

Few memories have the words *know* or *tell*, and those that have them answer something else.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from slowwave.scoring.ranking.words import stems
from slowwave.scoring.wordlists import lines

_GROUPS = re.compile(r"\[([^\]]+)\]|\(([^)]+)\)|(\S+)")


@lru_cache(maxsize=1_024)
def without_asking(question: str) -> str:
    """Return a question without its beginning that only asks, if other words are left.

    Args:
        question: Text of the query, in English, German, French, Spanish or Portuguese.
    """
    found = _beginnings().match(question)
    rest = question[found.end() :] if found else ""
    return rest if any(len(stem) > 1 for stem in stems(rest)) else question


@cache
def _beginnings() -> re.Pattern[str]:
    forms = (
        "".join(_pattern(group) for group in _GROUPS.finditer(line))
        for line in lines("slowwave.scoring", "asking")
    )
    return re.compile(rf"\W*(?:{'|'.join(forms)})(?=\w)", re.IGNORECASE)


def _pattern(group: re.Match[str]) -> str:
    """Return the pattern of a group of words and of what follows it."""
    optional, several, one = group.groups()
    words = "|".join(
        re.escape(form).replace(r"\ ", r"\W+") for form in (optional or several or one).split("|")
    )
    return rf"(?:(?:{words})\b\W*){'?' if optional else ''}"
