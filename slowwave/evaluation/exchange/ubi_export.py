"""Export of searches and feedback as User Behavior Insights 1.3.0 documents.

A query lists the ids of its results. Each result is an impression as well, which click models count. A use is
a click, a rating is user feedback. An ignored result is an impression without a click, and project outcomes
have no form there. Events imported from such a log are exported under their own names, so a re-import gives
the same events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.evaluation.exchange.importing import ORIGIN
from slowwave.evaluation.exchange.ubi import APPLICATION, MEMORY_FIELD, NAME
from slowwave.evaluation.exchange.ubi_documents import PRINCIPAL
from slowwave.evaluation.exchange.values import written_moment
from slowwave.journal import Entry

_HELPFUL = {"helpful": "yes", "neutral": "neutral", "unhelpful": "no"}
_IMPRESSION = ("impression", "IMPRESSION")
_CLICK = ("click", "CLICK_THROUGH")
_VOTE = ("user_feedback", "USER")


def documents_of(entry: Entry, search: Entry | None) -> Iterator[dict[str, Any]]:
    """Yield the documents of an entry; none for an outcome.

    Args:
        entry: Search, feedback, observation or outcome.
        search: Search that the entry is about.
    """
    payload = entry.payload
    if entry.kind == "search":
        yield _query(entry)
        yield from (_event(entry, entry, row, _IMPRESSION) for row in payload["shown"])
    elif entry.kind == "feedback":
        event = _event(entry, search, payload, _VOTE)
        event["event_attributes"]["helpful"] = _HELPFUL[payload["rating"]]
        yield event
    elif entry.kind == "observation":
        used = (row for row in payload["verdicts"] if row["verdict"] == "used")
        yield from (_event(entry, search, row, _CLICK) for row in used)


def _query(entry: Entry) -> dict[str, Any]:
    results = entry.payload["shown"]
    objects = [_object(row) for row in results]
    all_by_id = not any("object" in row for row in results)
    return {
        **_common_fields(entry, entry),
        "user_query": entry.payload["query"],
        "query_attributes": {"project": entry.origin} if entry.origin else {},
        **({"object_id_field": MEMORY_FIELD} if all_by_id else {}),
        "query_response_id": entry.event_id,
        "query_response_hit_ids": [item["object_id"] for item in objects],
    }


def _event(
    entry: Entry, search: Entry | None, row: Mapping[str, Any], default: tuple[str, str]
) -> dict[str, Any]:
    results = (
        {result["memory_id"]: result for result in search.payload["shown"]} if search is not None else {}
    )
    place = results.get(row["memory_id"])
    action = entry.payload.get("client", {}).get("action")
    name = {"action_name": action} if action else {"action_name": default[0], "message_type": default[1]}
    attributes: dict[str, Any] = {"object": _object(row if place is None else place)}
    if place is not None:
        attributes["position"] = {"ordinal": place["rank"]}
    return {**_common_fields(entry, search), **name, "event_attributes": attributes}


def _common_fields(entry: Entry, search: Entry | None) -> dict[str, Any]:
    """Return the fields common to queries and events: application, search, user and time."""
    is_ubi = entry.payload.get(ORIGIN) == NAME
    application = entry.payload.get("client", {}).get("application", "" if is_ubi else APPLICATION)
    query_id = entry.subject
    if search is not None:
        query_id = search.payload.get("client", {}).get("query_id", query_id)
    return {
        **({"application": application} if application else {}),
        "query_id": query_id,
        "client_id": entry.principal.removeprefix(PRINCIPAL) if is_ubi else entry.principal,
        "timestamp": written_moment(entry.occurred_at),
    }


def _object(row: Mapping[str, Any]) -> dict[str, str]:
    if "object" in row:
        return {"object_id": row["object"]}
    return {"object_id": row["memory_id"], "object_id_field": MEMORY_FIELD}
