"""Rendering of page templates; all texts are escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from slowwave.quality.structure import KNOWN_WORDS
from slowwave.views.decisions import outcome_of
from slowwave.views.gate_text import words_of
from slowwave.views.html import template_environment
from slowwave.views.moments import since
from slowwave.views.scores import MEANING, by_source
from slowwave.web.request import local, to
from slowwave.web.search import RATINGS, bar

if TYPE_CHECKING:
    from jinja2 import Environment

PLACES = (
    ("/", "Search", False, ""),
    ("/lately", "Recent", False, ""),
    ("/decisions", "Decisions", True, "decisions"),
    ("/quarantine", "Quarantine", True, "quarantine"),
    ("/learning", "Learning", True, ""),
    ("/trend", "Trend", True, ""),
    ("/judge", "Judge", True, "judge"),
)
"""Navigation: address, name, whether only for persons, and the name of its pending count."""


@cache
def templates() -> Environment:
    """Return the environment of the page templates."""
    environment = template_environment("slowwave.web", "templates")
    environment.globals.update(to=to, local=local, places=PLACES, words_of=words_of)
    environment.globals.update(types=sorted(KNOWN_WORDS["memory_type"]), ratings=RATINGS, meaning=MEANING)
    environment.filters.update(since=since, became=outcome_of, by_source=by_source, bar=bar)
    return environment


def rendered(template: str, **data: Any) -> str:  # noqa: ANN401 - whatever it is about
    """Render a page."""
    return templates().get_template(f"{template}.html.jinja").render(**data)
