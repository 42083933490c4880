"""The documents of User Behavior Insights, as applications really write them.

The published schema is 1.3.0 (https://o19s.github.io/ubi). Logs differ from it: times in milliseconds, the
names of older versions, bulk files for OpenSearch, dumps of an index, a name and a tab before each document.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from slowwave.evaluation.exchange.errors import Malformed
from slowwave.scoring.days import EPOCH

EXPECTED = (
    "one UBI document a line, a query (query_id, user_query, timestamp) or an event (action_name, query_id, "
    "timestamp, event_attributes.object.object_id), as ndjson, as a bulk file, or after a name and a tab; "
    "plain, .gz or .zip"
)
ANONYMOUS = "unknown"
PRINCIPAL = "ubi:"
"""What the principals of such logs begin with."""

_FEWEST_MS = 100_000_000_000  # of 1973: a smaller number counts seconds
_MOST_MS = 253_402_300_799_999  # the end of the year 9999
_OPINIONS = {
    "yes": "helpful", "true": "helpful", "no": "unhelpful", "false": "unhelpful", "neutral": "neutral",
}  # fmt: skip
_HITS = ("query_response_hit_ids", "query_response_object_ids")
_OF_A_QUERY = {"user_query", "query_response_id", *_HITS}


def document(text: bytes) -> dict[str, Any] | None:
    """The document on a line; None for the action lines of bulk files.

    Raises:
        Malformed: it is no JSON object.
    """
    name, tab, rest = text.partition(b"\t")
    if tab and not name.startswith(b"{"):
        text = rest
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"not JSON ({error.msg}, at character {error.colno})") from error
    if not isinstance(found, dict):
        raise Malformed("not a JSON object")
    if found.keys() in ({"index"}, {"create"}) and all(isinstance(one, dict) for one in found.values()):
        return None
    inner = found.get("_source")  # a line of a dump
    return inner if isinstance(inner, dict) else found


def is_event(found: Mapping[str, Any]) -> bool:
    """Whether a document is an event, and not a query.

    Raises:
        Malformed: it is neither.
    """
    if "action_name" in found:
        return True
    if found.keys() & _OF_A_QUERY:
        return False
    raise Malformed("neither a query (no user_query) nor an event (no action_name)")


def text_of(found: Mapping[str, Any], name: str) -> str:
    """A field's text without blanks around it; empty if there is none.

    Raises:
        Malformed: it is no text.
    """
    value = found.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Malformed(f"{name} is {value!r}, not text")
    return value.strip()


def moment_of(found: Mapping[str, Any]) -> datetime:
    """When it happened: ISO 8601 (without a zone it is UTC) or milliseconds since 1970.

    Raises:
        Malformed: there is no time, or it cannot be read.
    """
    value = found.get("timestamp")
    try:
        if isinstance(value, str) and not value.isdecimal():
            moment = datetime.fromisoformat(value)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            milliseconds = float(value)
            if _FEWEST_MS <= milliseconds <= _MOST_MS:
                return EPOCH + timedelta(milliseconds=milliseconds)
    except (ValueError, OverflowError):
        pass
    raise Malformed(f"timestamp is {value!r}; it has to be ISO 8601, or milliseconds since 1970")


def principal_of(found: Mapping[str, Any]) -> str:
    """Who did it: the user where one is named, else the client."""
    return PRINCIPAL + (text_of(found, "user_id") or text_of(found, "client_id") or ANONYMOUS)


def application_of(found: Mapping[str, Any]) -> str:
    """The application's name, wherever it stands."""
    return text_of(found, "application") or text_of(_part(found, "query_attributes"), "application")


def hits_of(found: Mapping[str, Any]) -> list[str]:
    """The ids of the results that a query got, in their order.

    Raises:
        Malformed: they are no list of ids.
    """
    hits: object = next((found[name] for name in _HITS if found.get(name) is not None), [])
    if not isinstance(hits, list) or not all(_is_id(one) for one in hits):
        raise Malformed(f"{_HITS[0]} is no list of ids")
    return [str(one) for one in hits]


def object_of(found: Mapping[str, Any]) -> tuple[str, str]:
    """The id of the result that an event is about, and the name of the field that it is in; empty if none.

    Raises:
        Malformed: the id is neither text nor a whole number.
    """
    about = _part(_part(found, "event_attributes"), "object")
    identity = about.get("object_id")
    if identity is None:
        return "", ""
    if not _is_id(identity):
        raise Malformed(f"object_id is {identity!r}, neither text nor a whole number")
    return str(identity), text_of(about, "object_id_field")


def ordinal_of(found: Mapping[str, Any]) -> int | None:
    """The place on the page that an event names; whether the first is 0 or 1 depends on the application."""
    ordinal = _part(_part(found, "event_attributes"), "position").get("ordinal")
    return ordinal if isinstance(ordinal, int) and not isinstance(ordinal, bool) and ordinal >= 0 else None


def opinion_of(found: Mapping[str, Any]) -> str:
    """What a person said of a result: helpful, neutral, unhelpful, or nothing."""
    said = _part(found, "event_attributes").get("helpful")
    return _OPINIONS.get(str(said).lower(), "")


def _part(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
