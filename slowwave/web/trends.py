"""Is it getting better, and labels by hand, which is how anybody knows."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final

from slowwave.errors import ArgumentError, NotFoundError
from slowwave.evaluation.trend import Trend, trend_until
from slowwave.views import trend as wording
from slowwave.views.grades import GRADES
from slowwave.web.request import Image, PageRequest, PageRoute, Redirect, ShownPage

CHARACTERS: Final = 4_000  # of a memory that is judged
STATES: Final = {"unrateable": "cannot say", "later": "later"}


def trend(asked: PageRequest) -> ShownPage:
    """The weeks, in a sentence, in pictures and in numbers."""
    found = _trend(asked)
    kinds = list(found.kinds()) if find_spec("matplotlib") else []
    data = {"section": wording.section(found, most=wording.ON_A_PAGE), "pictures": kinds}
    return ShownPage("trend", wording.TITLE, data, "/trend")


def picture(asked: PageRequest) -> Image:
    """The weeks of a kind, drawn."""
    from slowwave.views.trend_plots import by_week

    weeks = _trend(asked).kinds().get(asked.path["kind"])
    if weeks is None:
        raise NotFoundError(f"No week is known of {asked.path['kind']!r}.")
    return Image(by_week(weeks), "image/svg+xml")


def _trend(asked: PageRequest) -> Trend:
    found = trend_until(asked.memory.home, asked.now, asked.memory.namespace)
    return found.of(asked.memory.namespace)


def judge(asked: PageRequest) -> ShownPage:
    """The next pair."""
    pairs, total = asked.waits.pairs(asked.memory)
    data: dict[str, Any] = {"total": total, "grades": GRADES, "states": STATES}
    for one in pairs:
        try:
            record = asked.memory.get(one.memory_id)
        except NotFoundError:  # imported searches show what is no memory
            asked.waits.settled(asked.memory, one.query, one.memory_id)
            continue
        text = record.content
        data |= {"pair": one, "record": record, "text": text[:CHARACTERS], "cut": len(text) > CHARACTERS}
        break
    return ShownPage("judge", "Judge", data, "/judge")


def label(asked: PageRequest) -> Redirect:
    """Take what was said of a pair."""
    query, memory_id, said = (asked.form.get(name, "") for name in ("query", "memory", "grade"))
    if said in GRADES:
        asked.memory.judge(query, memory_id, int(said))
    elif said in STATES:
        asked.memory.judge(query, memory_id, None, state=said)
    else:
        raise ArgumentError(f"grade = {said[:80]!r}: say 0, 1, 2, 3, unrateable or later.")
    asked.waits.settled(asked.memory, query, memory_id, later=said == "later")
    return Redirect("/judge", f"Taken: {GRADES.get(said) or STATES[said]}.")


WAYS: Final = (
    PageRoute("/trend", trend),
    PageRoute("/trend/{kind}.svg", picture),
    PageRoute("/judge", judge),
    PageRoute("/judge", label, post=True),
)
