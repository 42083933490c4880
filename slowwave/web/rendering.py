"""Pages from templates: every text is escaped on its way out."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from slowwave.quality.structure import KNOWN_WORDS
from slowwave.views.decisions import outcome_of
from slowwave.views.gate_text import words_of
from slowwave.views.html import room
from slowwave.views.moments import since
from slowwave.views.scores import MEANING, by_source
from slowwave.web.request import local, to
from slowwave.web.search import RATINGS, bar

if TYPE_CHECKING:
    from jinja2 import Environment

PLACES = (
    ("/", "Search", False, ""),
    ("/lately", "Lately", False, ""),
    ("/decisions", "Decisions", True, "decisions"),
    ("/quarantine", "Quarantine", True, "quarantine"),
    ("/learning", "Learning", True, ""),
    ("/trend", "Trend", True, ""),
    ("/judge", "Judge", True, "judge"),
)
"""The navigation: address, name, whether only people have it, and the name of its count of what waits."""


@cache
def templates() -> Environment:
    """Where templates are."""
    made = room("slowwave.web", "templates")
    made.globals.update(to=to, local=local, places=PLACES, words_of=words_of)
    made.globals.update(types=sorted(KNOWN_WORDS["memory_type"]), ratings=RATINGS, meaning=MEANING)
    made.filters.update(since=since, became=outcome_of, by_source=by_source, bar=bar)
    return made


def rendered(template: str, **data: Any) -> str:  # noqa: ANN401 - whatever it is about
    """A page."""
    return templates().get_template(f"{template}.html.jinja").render(**data)
