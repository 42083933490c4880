"""Arguments of a search, declared once for Python, the command line, MCP and HTTP.

The command line imports this module, so it uses the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Annotated, Any, Final, NamedTuple, get_args, get_type_hints


class FilterWords(NamedTuple):
    """Descriptions of an argument; an interface without one does not have the argument.

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
    """Filters of search results; empty values do not filter.

    Attributes:
        memory_type: One of these types.
        tier: One of these importance tiers.
        tags: At least one of these tags, case-insensitive.
        sensitivity: One of these; default: everything but ``secret``.
        source: Prefix of the source (a vault's folder, a key) of the memory or of one that it absorbed.
        since: Created at this time or later.
        until: Created before this time.
        superseded: Include superseded memories.
    """

    memory_type: Annotated[
        tuple[str, ...],
        FilterWords("Only these types; empty: all.", "Only this memory type; may be repeated.", "--type"),
    ] = ()
    tier: Annotated[
        tuple[str, ...], FilterWords(option="Only this importance tier; may be repeated.", flag="--tier")
    ] = ()
    tags: Annotated[
        tuple[str, ...],
        FilterWords(
            "Only with one of these tags; empty: all.", "Only with this tag; may be repeated.", "--tag"
        ),
    ] = ()
    sensitivity: Annotated[
        tuple[str, ...],
        FilterWords(
            option="Only this sensitivity; secret memories are found only with it.", flag="--sensitivity"
        ),
    ] = ()
    source: Annotated[str, FilterWords(option="Only sources that begin with this.", flag="--source")] = ""
    since: Annotated[
        datetime | None,
        FilterWords(
            "Only created at this time or later.",
            "Only created on this day (UTC) or later.",
            "--since",
        ),
    ] = None
    until: Annotated[
        datetime | None,
        FilterWords("Only created before this time.", "Only created before this day (UTC).", "--until"),
    ] = None
    superseded: Annotated[
        bool,
        FilterWords(
            "Include superseded memories.",
            "Include superseded memories.",
            "--superseded",
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class SearchRequest(SearchFilters):
    """Filters of a search, and its other options beside the query.

    Attributes:
        as_of: A past day (UTC): results as of its end.
        project: Project that the search is for.
        include_weak: Return also results that fit the query weakly, or much less than the best one.
        session: Conversation whose earlier results are left out.
        repeat: Return also what the session was given before.
    """

    as_of: Annotated[
        date | None,
        FilterWords(
            "A past day (UTC): results as of its end.",
            "A past day (UTC): results as of its end.",
            "--as-of",
        ),
    ] = None
    project: Annotated[
        str,
        FilterWords(
            option="Project that the search is for; report its end with `slowwave outcome`.", flag="--project"
        ),
    ] = ""
    include_weak: Annotated[
        bool,
        FilterWords(
            "Also return results that fit weakly.",
            "Also return results that fit weakly.",
            "--include-weak",
        ),
    ] = False
    session: Annotated[
        str,
        FilterWords(
            "Id of a conversation: results that it was given before are left out.",
            "Id of a conversation: results that it was given before are left out.",
            "--session",
        ),
    ] = ""
    repeat: Annotated[
        bool,
        FilterWords(
            "Also results already given in this session.",
            "Also results already given in this session.",
            "--repeat",
        ),
    ] = False


class SearchArgument(NamedTuple):
    """Argument of a search: its name in Python, type, default and descriptions."""

    name: str
    kind: Any
    default: Any
    words: FilterWords


def _declared() -> dict[str, SearchArgument]:
    kinds = get_type_hints(SearchRequest, include_extras=True)
    made = {}
    for argument in fields(SearchRequest):
        kind, words = get_args(kinds[argument.name])
        made[argument.name] = SearchArgument(argument.name, kind, argument.default, words)
    return made


SEARCH_ARGUMENTS: Final = _declared()
"""Arguments beside query, limit and explain, by name."""
LABELS: Final = tuple[str, ...]
MOMENT: Final = datetime | None
DAY: Final = date | None
