"""Arguments of a search, declared once: Python, the command line, MCP and HTTP are made from them.

What is declared here is loaded with the command line, so it needs the standard library alone.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Annotated, Any, Final, NamedTuple, get_args, get_type_hints


class FilterWords(NamedTuple):
    """Descriptions of an argument; without one a face does not have it.

    Attributes:
        data: In schemas of HTTP and of tools.
        option: In the help of the command line.
        flag: Name of the option.
    """

    data: str = ""
    option: str = ""
    flag: str = ""


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """What a result has to be; what is empty does not matter.

    Attributes:
        memory_type: one of these types.
        tier: one of these importance tiers.
        tags: has one of these tags, in whatever case.
        sensitivity: one of these; without it everything but ``secret``.
        source: begins with this (a vault's folder, a key), of the memory or of one that it absorbed.
        since: created at this moment or later.
        until: created before this moment.
        superseded: also what a newer memory has superseded.
    """

    memory_type: Annotated[
        tuple[str, ...],
        FilterWords("Only these kinds; empty: all.", "Only this memory type; may be repeated.", "--type"),
    ] = ()
    tier: Annotated[
        tuple[str, ...], FilterWords(option="Only this importance tier; may be repeated.", flag="--tier")
    ] = ()
    tags: Annotated[
        tuple[str, ...],
        FilterWords(
            "Only what has one of these tags; empty: all.", "Only with this tag; may be repeated.", "--tag"
        ),
    ] = ()
    sensitivity: Annotated[
        tuple[str, ...],
        FilterWords(
            option="Only of this; what is secret is only found when asked for here.", flag="--sensitivity"
        ),
    ] = ()
    source: Annotated[
        str, FilterWords(option="Only what comes from a source that begins with this.", flag="--source")
    ] = ""
    since: Annotated[
        datetime | None,
        FilterWords(
            "Only what was created then or later.",
            "Only what was created on this day (UTC) or later.",
            "--since",
        ),
    ] = None
    until: Annotated[
        datetime | None,
        FilterWords(
            "Only what was created before then.", "Only what was created before this day (UTC).", "--until"
        ),
    ] = None
    superseded: Annotated[
        bool,
        FilterWords(
            "Also what a newer memory has superseded.",
            "Also what a newer memory superseded.",
            "--superseded",
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class SearchRequest(SearchFilters):
    """Filters of a search, and what else may be said of it beside the query.

    Attributes:
        as_of: a past day (UTC): what the memory would have answered at its end.
        project: what the search is for.
    """

    as_of: Annotated[
        date | None,
        FilterWords(
            "A past day (UTC): what was known at its end.",
            "A past day: what the memory would have answered at its end.",
            "--as-of",
        ),
    ] = None
    project: Annotated[
        str,
        FilterWords(option="What the search is for; `slowwave outcome` says how it ended.", flag="--project"),
    ] = ""


class SearchArgument(NamedTuple):
    """One argument of a search: its name in Python, its type, its default and its words."""

    name: str
    kind: Any
    default: Any
    words: FilterWords


def _declared() -> dict[str, SearchArgument]:
    kinds = get_type_hints(SearchRequest, include_extras=True)
    made = {}
    for one in fields(SearchRequest):
        kind, words = get_args(kinds[one.name])
        made[one.name] = SearchArgument(one.name, kind, one.default, words)
    return made


SEARCH_ARGUMENTS: Final = _declared()
"""Every argument beside query, limit and explain, by its name."""
LABELS: Final = tuple[str, ...]
MOMENT: Final = datetime | None
DAY: Final = date | None
