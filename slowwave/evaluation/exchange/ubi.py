"""User Behavior Insights import: queries and events become searches and feedback.

A query and its events share the query's id. Using a result (opening or buying it) is implicit evidence of
use, like the citation of a memory, and never a rating. A rating is an explicit opinion on a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from slowwave.common import ids
from slowwave.evaluation.exchange import ubi_documents as ubi
from slowwave.evaluation.exchange.frame import NotTaken
from slowwave.evaluation.exchange.importing import ORIGIN, ImportedEvent, Reading, act_of
from slowwave.evaluation.exchange.report import LogImportReport
from slowwave.evaluation.exchange.staging import Fact
from slowwave.evaluation.exchange.values import ExchangeError, Malformed, is_memory_id, own_id
from slowwave.journal import Entry
from slowwave.scoring.days import from_microseconds

NAME = "ubi"
APPLICATION = "slowwave"
"""Application name in exports of Slowwave."""

MEMORY_FIELD = "memory_id"
"""`object_id_field` of results named by memory id."""

USED, SHOWN, SKIP, SAID = "used", "shown", "skip", "said"
RATINGS = ("helpful", "neutral", "unhelpful")
VERDICTS = (USED, *RATINGS, SHOWN, SKIP)
"""Verdicts of an action."""

ACTIONS = {
    **dict.fromkeys(("click", "click_through", "item_click", "view", "view_item", "watch"), USED),
    **dict.fromkeys(("add_to_cart", "purchase"), USED),
    **dict.fromkeys(("impression", "product_impression"), SHOWN),
    "declined_product": "unhelpful",
    "user_feedback": SAID,  # event_attributes.helpful: yes or no
}
"""Verdict of each known action; any other is no feedback."""

_QUERY, _ASKED = "query", "asked"


def parse_actions(options: Sequence[str]) -> dict[str, str]:
    """Merge the known actions with the given ones (``NAME=VERDICT``).

    Raises:
        ExchangeError: one has another form.
    """
    actions = dict(ACTIONS)
    for option in options:
        name, equals, verdict = option.rpartition("=")
        if not (name.strip() and equals) or verdict not in VERDICTS:
            raise ExchangeError(
                f"--action {option}: write NAME=VERDICT with one of {', '.join(VERDICTS)}, for instance "
                f"--action download=used"
            )
        actions[_plain(name)] = verdict
    return actions


class Ubi:
    """Reader of UBI documents.

    Args:
        namespace: Namespace of the results' memories.
        source_prefix: Prefix of an object's id in the source of its memory.
        actions: Verdict of each action, by its name.
    """

    name = "UBI log"
    expected = ubi.EXPECTED

    def __init__(
        self, namespace: str, *, source_prefix: str = "", actions: Mapping[str, str] = ACTIONS
    ) -> None:
        self._namespace = namespace
        self._prefix = source_prefix
        self._actions = actions

    def read(self, text: bytes, report: LogImportReport) -> Reading | NotTaken:
        """Return the content of a line about its search; see `Form`."""
        document = ubi.document(text)
        if document is None:
            return NotTaken.IN_IT
        if ubi.is_event(document):
            return self._event(document, report)
        query_id = ubi.text_of(document, "query_id")
        if not query_id:
            raise Malformed("a query without query_id")
        content = {
            "kind": _QUERY,
            "text": ubi.text_of(document, "user_query"),
            "hits": ubi.hits_of(document),
            "field": ubi.text_of(document, "object_id_field"),
        }
        return self._reading(document, query_id, content)

    def _event(self, document: Mapping[str, Any], report: LogImportReport) -> Reading | NotTaken:
        action = ubi.text_of(document, "action_name")
        query_id = ubi.text_of(document, "query_id")
        verdict = self._actions.get(_plain(action), SKIP)
        identity, field = ubi.object_of(document)
        if verdict == SAID:
            verdict = ubi.opinion_of(document)
        reason = _no_feedback(verdict, query_id, identity)
        if not reason:
            content = {
                "kind": verdict,
                "action": action,
                "text": ubi.text_of(document, "user_query"),
                "object": identity,
                "field": field,
                "ordinal": ubi.ordinal_of(document),
            }
            return self._reading(document, query_id, content)
        query_text = ubi.text_of(document, "message") if document.get("message_type") == "QUERY" else ""
        reading: Reading | NotTaken = NotTaken.TO_LEARN
        if query_text and query_id:  # the text of a search whose own document is missing
            reading = self._reading(document, query_id, {"kind": _ASKED, "text": query_text})
        report.skip(action if verdict == SKIP else f"{action} ({reason})")
        return reading

    def _reading(self, document: Mapping[str, Any], query_id: str, content: dict[str, Any]) -> Reading:
        content |= {
            "query_id": query_id,
            "principal": ubi.principal_of(document),
            "application": ubi.application_of(document),
        }
        search = own_id("search", self._namespace, query_id)
        return Reading(search, ubi.moment_of(document), orjson.dumps(content))

    def build(
        self, facts: Sequence[Fact], known: Entry | None, report: LogImportReport
    ) -> Iterator[ImportedEvent]:
        """Yield the search and the feedback on its results; see `Form`."""
        parts = [_UbiPart(fact, orjson.loads(fact.content)) for fact in facts]
        if known is not None and ORIGIN not in known.payload:
            # Our own search: exported events are in the journal, events of other applications may not be.
            own_parts = [part for part in parts if part.content["application"] == APPLICATION]
            report.already += sum(part.content["kind"] not in (SHOWN, _ASKED) for part in own_parts)
            parts = [part for part in parts if part.content["application"] != APPLICATION]
        queries = [part for part in parts if part.content["kind"] == _QUERY]
        events = [part for part in parts if part.content["kind"] not in (_QUERY, _ASKED)]
        feedback = [part for part in events if part.content["kind"] != SHOWN]
        if queries or (events and known is None):
            yield self._search(parts, queries, events)
        stands = None if known is None else {row["memory_id"] for row in known.payload["shown"]}
        for part in feedback:
            report.not_shown += stands is not None and self._row(part.content)["memory_id"] not in stands
            yield self._act(part)

    def _search(
        self, parts: Sequence[_UbiPart], queries: Sequence[_UbiPart], events: Sequence[_UbiPart]
    ) -> ImportedEvent:
        # Applications log a query several times, for example without results to count facets.
        first = next((part for part in queries if part.content["hits"]), (*queries, *events)[0])
        results: dict[str, dict[str, Any]] = {}
        for row in self._results(queries, events):
            results.setdefault(row["memory_id"], row)
        texts = (part.content["text"] for part in (first, *events, *parts))
        payload = {
            "query": next(filter(None, texts), ""),
            "limit": len(results),
            "shown": [{**row, "rank": rank} for rank, row in enumerate(results.values(), start=1)],
            "client": _nonempty(first.content, "query_id", "application"),
            ORIGIN: NAME,
        }
        return _entry(first, "search", first.fact.search, payload)

    def _results(self, queries: Sequence[_UbiPart], events: Sequence[_UbiPart]) -> Iterator[dict[str, Any]]:
        """Yield the returned results in their known order; a result may repeat.

        First come the query's results, then impressions by position on the page, last other results acted on.
        A position counts from 0 or 1 and only on its page, so it orders results and is not the rank.
        """
        for part in queries:
            for hit in part.content["hits"]:
                yield self._row({"object": hit, "field": part.content["field"], "ordinal": None})
        for content in sorted((part.content for part in events), key=_seen_first_by_place):
            yield self._row(content)

    def _row(self, content: Mapping[str, Any]) -> dict[str, Any]:
        identity = content["object"]
        place = {} if content["ordinal"] is None else {"ordinal": content["ordinal"]}
        if content["field"] == MEMORY_FIELD and is_memory_id(identity):
            return {"memory_id": identity, "best": None, **place}
        memory = ids.memory_id(self._namespace, self._prefix + identity)
        return {"memory_id": memory, "best": None, "object": identity, **place}

    def _act(self, part: _UbiPart) -> ImportedEvent:
        content, search = part.content, part.fact.search
        row = self._row(content)
        target = {"memory_id": row["memory_id"], "chunk_id": None}
        target |= {"object": row["object"]} if "object" in row else {}
        payload: dict[str, Any] = {"client": _nonempty(content, "action", "application"), ORIGIN: NAME}
        actor = (content["query_id"], content["principal"])
        event_id = ids.digest(
            NAME, self._namespace, *actor, content["action"], content["object"], str(part.fact.at)
        )
        if content["kind"] in RATINGS:
            return _entry(part, "feedback", event_id, {**target, "rating": content["kind"], **payload})
        unmeasured = dict.fromkeys(("keywords", "ratio", "ratio_beyond_query", "similarity"))
        verdict = {**target, "verdict": USED, "evidence": "citation", **unmeasured}
        # One answer per user: opening a result and then buying it is one use (rule 4.1).
        response = ids.digest(NAME, search, content["principal"])
        return _entry(part, "observation", event_id, {"response": response, "verdicts": [verdict], **payload})


class _UbiPart(NamedTuple):
    fact: Fact
    content: dict[str, Any]


def _entry(part: _UbiPart, kind: str, event_id: str, payload: dict[str, Any]) -> ImportedEvent:
    fact, principal = part.fact, part.content["principal"]
    return act_of(fact, kind, event_id, fact.search, from_microseconds(fact.at), principal, payload)


def _nonempty(content: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: content[name] for name in names if content[name]}


def _seen_first_by_place(content: Mapping[str, Any]) -> tuple[bool, float]:
    return content["kind"] != SHOWN, float("inf") if content["ordinal"] is None else content["ordinal"]


def _plain(action: str) -> str:
    return action.strip().lower().replace(" ", "_").replace("-", "_")


def _no_feedback(verdict: str, query_id: str, identity: str) -> str:
    """Return the reason why an event is no feedback; empty if it is."""
    if verdict == SKIP:
        return "not asked for"
    needed = {"no search": query_id, "no result": identity, "no opinion": verdict}
    return next((reason for reason, value in needed.items() if not value), "")
