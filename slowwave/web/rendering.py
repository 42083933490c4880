"""Rendering of page templates; all texts are escaped."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from slowwave.lifecycle.browse import state_of
from slowwave.quality.structure import KNOWN_WORDS
from slowwave.views.decisions import by_whom, outcome_of, why_in_words
from slowwave.views.gate_text import words_of
from slowwave.views.html import template_environment
from slowwave.views.moments import day, since
from slowwave.views.scores import MEANING, by_source, others_say_it
from slowwave.web.markdown import body, heading, markdown, plain
from slowwave.web.request import local, to
from slowwave.web.review_queue import in_words
from slowwave.web.search import RATINGS, bar

if TYPE_CHECKING:
    from jinja2 import Environment

PLACES = (
    ("/", "Search", False, ""),
    ("/memories", "Memories", False, ""),
    ("/decisions", "Decisions", True, "decisions"),
    ("/quarantine", "Quarantine", True, "quarantine"),
    ("/learning", "Learning", True, ""),
    ("/trend", "Trend", True, ""),
    ("/judge", "Judge", True, ""),
)
"""Navigation: address, name, whether only for persons, and the name of its pending count."""


@cache
def templates() -> Environment:
    """Return the environment of the page templates."""
    environment = template_environment("slowwave.web", "templates")
    environment.globals.update(to=to, local=local, places=PLACES, words_of=words_of)
    known = {name: sorted(words) for name, words in KNOWN_WORDS.items()}
    environment.globals.update(known=known, types=known["memory_type"], ratings=RATINGS, meaning=MEANING)
    environment.globals.update(others_say_it=others_say_it, in_words=in_words, state_of=state_of)
    environment.globals.update(by_whom=by_whom, why_in_words=why_in_words)
    environment.filters.update(
        raw=raw, when=when, notice=notice_text, markdown=markdown, plain=plain, body=body,
        heading=heading, became=outcome_of, by_source=by_source, bar=bar, date=dated, utc=utc,
        lcfirst=lambda text: text[:1].lower() + text[1:],
        ucfirst=lambda text: text[:1].upper() + text[1:],
    )  # fmt: skip
    return environment


def raw(text: str) -> Markup:
    """Return a text for a form, every character as it is, with HTML escaped."""
    return escape(text)


def when(moment: datetime | None, now: datetime) -> Markup:
    """Return a time as relative text; a pointer over it shows the absolute time (UTC)."""
    return _time(moment, since(moment, now)) if moment else Markup()


def dated(moment: datetime) -> Markup:
    """Return the day of a time; a pointer over it shows the absolute time (UTC)."""
    return _time(moment, day(moment))


def utc(moment: datetime) -> str:
    """Return an absolute time (UTC)."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _time(moment: datetime, text: str) -> Markup:
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        moment.astimezone(UTC).isoformat(), utc(moment), text
    )


def notice_text(notice: str) -> object:
    """Return a notice with text between backticks as code; one with links is safe already."""
    return notice if isinstance(notice, Markup) else templates().filters["commands"](notice)


def rendered(template: str, **data: Any) -> str:  # noqa: ANN401 - whatever it is about
    """Render a page."""
    return templates().get_template(f"{template}.html.jinja").render(**data)
