"""Conversion between lines of the JSONL form and journal payloads, in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from slowwave.common import ids
from slowwave.evaluation.exchange import forms
from slowwave.evaluation.exchange.importing import ORIGIN
from slowwave.evaluation.exchange.values import written_moment
from slowwave.journal import Entry

_MEASURES = ("keywords", "ratio", "ratio_beyond_query", "similarity")
_OF_SHOWN = ("rank", "score", "object")
_OF_FEEDBACK = ("rating", "object")
_OF_VERDICT = ("verdict", "evidence", *_MEASURES, "object")


def search_payload(search: forms.SearchLine, namespace: str) -> dict[str, Any]:
    """Build the journal payload of a search."""
    return {
        **search.extra,
        "query": search.query,
        "limit": len(search.shown) if search.limit is None else search.limit,
        "shown": [_result_payload(row, rank, namespace) for rank, row in enumerate(search.shown, start=1)],
    }


def _result_payload(row: forms.ShownResultLine, rank: int, namespace: str) -> dict[str, Any]:
    result = {**row.extra, "memory_id": row.memory(namespace), "rank": rank, **_given_fields(row, _OF_SHOWN)}
    # A payload that Slowwave wrote is unchanged.
    if "chunk" in row.model_fields_set or not row.extra:
        result["best"] = row.chunk_id(namespace)
    return result


def feedback_payload(
    feedback: forms.FeedbackLine, namespace: str, best: Mapping[str, str | None]
) -> dict[str, Any]:
    """Build the journal payload of a rating; the default chunk is the returned one."""
    return {**feedback.extra, **_about(feedback, namespace, best), "rating": feedback.rating}


def observation_payload(
    observation: forms.ObservationLine, namespace: str, best: Mapping[str, str | None], response: str
) -> dict[str, Any]:
    """Build the journal payload of an observed answer; `response` is its default digest."""
    verdicts = [
        {
            **row.extra,
            **_about(row, namespace, best),
            **{name: getattr(row, name) for name in ("verdict", "evidence", *_MEASURES)},
        }
        for row in observation.verdicts
    ]
    return {**observation.extra, "response": observation.response or response, "verdicts": verdicts}


def outcome_payload(outcome: forms.OutcomeLine) -> dict[str, Any]:
    """Build the journal payload of a project's outcome."""
    return {**outcome.extra, "outcome": outcome.outcome}


def _about(
    row: forms.FeedbackLine | forms.ResultVerdict, namespace: str, best: Mapping[str, str | None]
) -> dict[str, Any]:
    memory = row.memory(namespace)
    chunk = row.extra.get("chunk_id", best.get(memory))
    if "chunk" in row.model_fields_set:
        chunk = row.chunk_id(namespace)
    return {"memory_id": memory, "chunk_id": chunk, **_given_fields(row, ("object",))}


def _given_fields(row: forms.ResultLine, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names if name in row.model_fields_set}


def line_of(entry: Entry) -> dict[str, Any]:
    """Return the line of an entry."""
    rest = {name: value for name, value in entry.payload.items() if name != ORIGIN}
    line: dict[str, Any] = {
        "type": entry.kind,
        "at": written_moment(entry.occurred_at),
        "principal": entry.principal,
    }
    if entry.kind == "search":
        line |= {"search_id": entry.event_id} | ({"project": entry.origin} if entry.origin else {})
        line |= _moved(rest, ("query", "limit"))
        line["shown"] = [_row(row, "best", _OF_SHOWN) for row in rest.pop("shown")]
    elif entry.kind == "outcome":
        line |= {"event_id": entry.event_id, "project": entry.subject} | _moved(rest, ("outcome",))
    else:
        line |= {"event_id": entry.event_id, "search_id": entry.subject}
        if entry.kind == "feedback":
            return line | _row(rest, "chunk_id", _OF_FEEDBACK)
        line |= _moved(rest, ("response",))
        line["verdicts"] = [_row(row, "chunk_id", _OF_VERDICT) for row in rest.pop("verdicts")]
    return line | ({"extra": rest} if rest else {})


def _row(payload: Mapping[str, Any], chunk: str, names: Iterable[str]) -> dict[str, Any]:
    """Return a result with its chunk as a number; unknown fields go into `extra`."""
    rest = dict(payload)
    row = _moved(rest, ("memory_id", *names))
    if chunk in rest and _is_ours(rest[chunk], row["memory_id"]):
        chunk_id = rest.pop(chunk)
        row["chunk"] = None if chunk_id is None else ids.ordinal_of(chunk_id)
    return row | ({"extra": rest} if rest else {})


def _moved(payload: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: payload.pop(name) for name in names if name in payload}


def _is_ours(chunk: str | None, memory: str) -> bool:
    """Return whether a chunk id follows from its memory and ordinal."""
    if chunk is None:
        return True
    place = chunk.removeprefix(f"{memory}:")
    return place.isdecimal() and ids.chunk_id(memory, int(place)) == chunk
