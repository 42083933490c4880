"""Pages of the quality trend, and of labelling by hand."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final

from slowwave.errors import ArgumentError, NotFoundError
from slowwave.evaluation.trend import Trend, trend_until
from slowwave.lifecycle.correcting import given_title
from slowwave.lifecycle.reading import record_of
from slowwave.views import trend as wording
from slowwave.views.grades import GRADES
from slowwave.web.request import Image, PageRequest, PageRoute, Redirect, ShownPage

CHARACTERS: Final = 4_000  # maximum characters of a memory to judge
STATES: Final = {"unrateable": "cannot say", "later": "later"}


def trend(request: PageRequest) -> ShownPage:
    """Show whether searches get better: a sentence, a plot, and the numbers below."""
    own_trend = _trend(request)
    kinds = wording.kinds_to_plot(own_trend)
    draws = find_spec("matplotlib") is not None
    data = {
        "section": wording.section(own_trend, most=wording.ON_A_PAGE), "has_effect": bool(kinds),
        "headline": wording.headline(own_trend) if kinds else "",
        "has_picture": draws and bool(kinds),
        "pictures": kinds if draws else [],
        "dagster": request.memory.settings.night.ui_url,
    }  # fmt: skip
    return ShownPage("trend", wording.TITLE, data, "/trend")


def picture(request: PageRequest) -> Image:
    """Plot the weeks of a kind."""
    from slowwave.views.trend_plots import by_week

    weeks = _trend(request).kinds().get(request.path["kind"])
    if weeks is None:
        raise NotFoundError(f"Unknown kind {request.path['kind']!r}: it has no weeks.")
    return Image(by_week(weeks), "image/svg+xml")


def answer(request: PageRequest) -> Image:
    """Plot the weeks beside a memory that nobody ever rated or cited."""
    from slowwave.views.trend_plots import beside_unused

    weeks = wording.weeks_to_show(_trend(request))
    if weeks is None:
        raise NotFoundError("Nothing to compare yet: feedback has changed no judged search.")
    return Image(beside_unused(weeks), "image/svg+xml")


def _trend(request: PageRequest) -> Trend:
    all_trends = trend_until(request.memory.home, request.now, request.memory.namespace)
    return all_trends.of(request.memory.namespace)


def judge(request: PageRequest) -> ShownPage:
    """Show the next pair to label."""
    pairs, total = request.waits.pairs(request.memory)
    data: dict[str, Any] = {"total": total, "grades": GRADES, "states": STATES}
    for pair in pairs:
        try:
            record = record_of(request.memory.tenant, pair.memory_id)
        except NotFoundError:  # an imported search may return objects that are no memories
            request.waits.settled(request.memory, pair.query, pair.memory_id)
            continue
        text = record.content
        data |= {"titled": bool(given_title(record))}
        data |= {"pair": pair, "record": record, "text": text[:CHARACTERS], "cut": len(text) > CHARACTERS}
        break
    return ShownPage("judge", "Judge", data, "/judge")


def label(request: PageRequest) -> Redirect:
    """Save the label of a pair."""
    query, memory_id, grade = (request.form.get(name, "") for name in ("query", "memory", "grade"))
    if grade in GRADES:
        request.memory.judge(query, memory_id, int(grade))
    elif grade in STATES:
        request.memory.judge(query, memory_id, None, state=grade)
    else:
        raise ArgumentError(f"grade = {grade[:80]!r} is no grade. Give 0, 1, 2, 3, unrateable or later.")
    request.waits.settled(request.memory, query, memory_id, later=grade == "later")
    return Redirect("/judge", f"Saved: {GRADES.get(grade) or STATES[grade]}.")


WAYS: Final = (
    PageRoute("/trend", trend),
    PageRoute("/trend/unused.svg", answer),
    PageRoute("/trend/{kind}.svg", picture),
    PageRoute("/judge", judge),
    PageRoute("/judge", label, post=True),
)
