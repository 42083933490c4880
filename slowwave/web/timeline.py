"""Page of the timeline of a namespace."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final
from urllib.parse import urlencode

from slowwave.lifecycle.timeline import KINDS, timeline
from slowwave.views.moments import day
from slowwave.web.request import PageRequest, PageRoute, Redirect, ShownPage, beyond

ADDRESS: Final = "/timeline"
EVENTS: Final = 30  # of a page (count)


def shown(request: PageRequest) -> ShownPage | Redirect:
    """Show what was said and changed, by day."""
    typed = {name: request.query[name] for name in ("month", "kind") if request.query.get(name)}
    skip = request.number("skip")
    found = timeline(
        request.memory.tenant, viewer=request.lists, month=typed.get("month", ""),
        kind=typed.get("kind", ""), limit=EVENTS, skip=skip,
    )  # fmt: skip
    more = f"&{urlencode(typed)}" if typed else ""
    if redirect := beyond(skip, found.total, ADDRESS, more, page=EVENTS):
        return redirect
    months, chosen = list(found.months), typed.get("month", "")
    if chosen and chosen not in dict(months):  # without an event of the kind
        months.append((chosen, 0))
    data: dict[str, Any] = {
        "days": [(name, list(events)) for name, events in groupby(found.events, lambda row: day(row["at"]))],
        "total": found.total, "months": months, "kinds": KINDS, "typed": typed,
        "skip": skip, "page": EVENTS, "more": more, "address": ADDRESS,
    }  # fmt: skip
    return ShownPage("timeline", "Timeline", data, place="/memories")


WAYS: Final = (PageRoute(ADDRESS, shown, person=False),)
