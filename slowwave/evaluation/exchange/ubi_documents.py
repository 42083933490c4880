"""Parser of User Behavior Insights documents as applications really write them.

The published schema is 1.3.0 (https://o19s.github.io/ubi). Logs differ from it: times in milliseconds, names
of older versions, OpenSearch bulk files, index dumps, a name and a tab before each document.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from slowwave.evaluation.exchange.values import Malformed
from slowwave.scoring.days import EPOCH

EXPECTED = (
    "one UBI document per line, a query (query_id, user_query, timestamp) or an event (action_name, "
    "query_id, timestamp, event_attributes.object.object_id), as ndjson, as a bulk file, or after a name "
    "and a tab; plain, .gz or .zip"
)
ANONYMOUS = "unknown"
PRINCIPAL = "ubi:"
"""Prefix of the principals of such logs."""

_FEWEST_MS = 100_000_000_000  # of 1973: a smaller number counts seconds
_MOST_MS = 253_402_300_799_999  # the end of the year 9999
_OPINIONS = {
    "yes": "helpful", "true": "helpful", "no": "unhelpful", "false": "unhelpful", "neutral": "neutral",
}  # fmt: skip
_HITS = ("query_response_hit_ids", "query_response_object_ids")
_OF_A_QUERY = {"user_query", "query_response_id", *_HITS}


def document(text: bytes) -> dict[str, Any] | None:
    """Parse the document of a line; None for action lines of bulk files.

    Raises:
        Malformed: not a JSON object.
    """
    name, tab, rest = text.partition(b"\t")
    if tab and not name.startswith(b"{"):
        text = rest
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"not JSON ({error.msg}, at character {error.colno})") from error
    if not isinstance(parsed, dict):
        raise Malformed("not a JSON object")
    if parsed.keys() in ({"index"}, {"create"}) and all(isinstance(value, dict) for value in parsed.values()):
        return None
    inner = parsed.get("_source")  # a line of a dump
    return inner if isinstance(inner, dict) else parsed


def is_event(fields: Mapping[str, Any]) -> bool:
    """Return whether a document is an event rather than a query.

    Raises:
        Malformed: neither.
    """
    if "action_name" in fields:
        return True
    if fields.keys() & _OF_A_QUERY:
        return False
    raise Malformed("neither a query (no user_query) nor an event (no action_name)")


def text_of(fields: Mapping[str, Any], name: str) -> str:
    """Return a field's stripped text; empty if absent.

    Raises:
        Malformed: not text.
    """
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Malformed(f"{name} is {value!r}, not text")
    return value.strip()


def moment_of(fields: Mapping[str, Any]) -> datetime:
    """Parse the timestamp: ISO 8601 (UTC without a zone) or milliseconds since 1970.

    Raises:
        Malformed: no time, or an unreadable one.
    """
    value = fields.get("timestamp")
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
    raise Malformed(f"timestamp is {value!r}; write ISO 8601, or milliseconds since 1970")


def principal_of(fields: Mapping[str, Any]) -> str:
    """Return the user if named, else the client."""
    return PRINCIPAL + (text_of(fields, "user_id") or text_of(fields, "client_id") or ANONYMOUS)


def application_of(fields: Mapping[str, Any]) -> str:
    """Return the application's name from either place."""
    return text_of(fields, "application") or text_of(_part(fields, "query_attributes"), "application")


def hits_of(fields: Mapping[str, Any]) -> list[str]:
    """Return the result ids of a query, in order.

    Raises:
        Malformed: not a list of ids.
    """
    hits: object = next((fields[name] for name in _HITS if fields.get(name) is not None), [])
    if not isinstance(hits, list) or not all(_is_id(hit) for hit in hits):
        raise Malformed(f"{_HITS[0]} is no list of ids")
    return [str(hit) for hit in hits]


def object_of(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Return an event's result id and the name of its field; empty if none.

    Raises:
        Malformed: the id is neither text nor a whole number.
    """
    target = _part(_part(fields, "event_attributes"), "object")
    identity = target.get("object_id")
    if identity is None:
        return "", ""
    if not _is_id(identity):
        raise Malformed(f"object_id is {identity!r}, neither text nor a whole number")
    return str(identity), text_of(target, "object_id_field")


def ordinal_of(fields: Mapping[str, Any]) -> int | None:
    """Return the position on the page; applications count from 0 or from 1."""
    ordinal = _part(_part(fields, "event_attributes"), "position").get("ordinal")
    return ordinal if isinstance(ordinal, int) and not isinstance(ordinal, bool) and ordinal >= 0 else None


def opinion_of(fields: Mapping[str, Any]) -> str:
    """Return the user's rating: helpful, neutral, unhelpful, or empty."""
    opinion = _part(fields, "event_attributes").get("helpful")
    return _OPINIONS.get(str(opinion).lower(), "")


def _part(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
