"""User Behavior Insights: queries and events become searches and what was said of their results.

A query and its events belong together by the query's id. What a person does with a result (opens it, buys it)
is implicit evidence that it was used, as the citation of a memory is, and never a vote; a vote is what a
person says of a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from slowwave.common import ids
from slowwave.evaluation.exchange import ubi_documents as ubi
from slowwave.evaluation.exchange.errors import ExchangeError, Malformed
from slowwave.evaluation.exchange.frame import NotTaken
from slowwave.evaluation.exchange.identity import is_memory_id, own_id
from slowwave.evaluation.exchange.importing import ORIGIN, ImportedEvent, Reading, act_of
from slowwave.evaluation.exchange.report import LogImportReport
from slowwave.evaluation.exchange.staging import Fact
from slowwave.journal import Entry
from slowwave.scoring.days import from_microseconds

NAME = "ubi"
APPLICATION = "slowwave"
"""The application whose searches these are, in what Slowwave exports."""

MEMORY_FIELD = "memory_id"
"""`object_id_field` of results that are named by their memory's id."""

USED, SHOWN, SKIP, SAID = "used", "shown", "skip", "said"
RATINGS = ("helpful", "neutral", "unhelpful")
VERDICTS = (USED, *RATINGS, SHOWN, SKIP)
"""What an action may be taken for."""

ACTIONS = {
    **dict.fromkeys(("click", "click_through", "item_click", "view", "view_item", "watch"), USED),
    **dict.fromkeys(("add_to_cart", "purchase"), USED),
    **dict.fromkeys(("impression", "product_impression"), SHOWN),
    "declined_product": "unhelpful",
    "user_feedback": SAID,  # event_attributes.helpful: yes or no
}
"""What is made of the actions that are known; every other is no feedback."""

_QUERY, _ASKED = "query", "asked"


def parse_actions(given: Sequence[str]) -> dict[str, str]:
    """The known actions with the given ones (``NAME=VERDICT``) instead or beside them.

    Raises:
        ExchangeError: one is not of this form.
    """
    actions = dict(ACTIONS)
    for one in given:
        name, equals, verdict = one.rpartition("=")
        if not (name.strip() and equals) or verdict not in VERDICTS:
            raise ExchangeError(
                f"--action {one}: write NAME=VERDICT with one of {', '.join(VERDICTS)}, for instance "
                f"--action download=used"
            )
        actions[_plain(name)] = verdict
    return actions


class Ubi:
    """Reads UBI documents.

    Args:
        namespace: whose memories the results are.
        source_prefix: what stands before an object's id in the source of its memory.
        actions: what is made of each action, by its name.
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
        """What a line says of its search; see `Form`."""
        found = ubi.document(text)
        if found is None:
            return NotTaken.IN_IT
        if ubi.is_event(found):
            return self._event(found, report)
        query_id = ubi.text_of(found, "query_id")
        if not query_id:
            raise Malformed("a query without query_id")
        content = {
            "kind": _QUERY,
            "text": ubi.text_of(found, "user_query"),
            "hits": ubi.hits_of(found),
            "field": ubi.text_of(found, "object_id_field"),
        }
        return self._said(found, query_id, content)

    def _event(self, found: Mapping[str, Any], report: LogImportReport) -> Reading | NotTaken:
        action = ubi.text_of(found, "action_name")
        query_id = ubi.text_of(found, "query_id")
        verdict = self._actions.get(_plain(action), SKIP)
        identity, field = ubi.object_of(found)
        if verdict == SAID:
            verdict = ubi.opinion_of(found)
        reason = _no_feedback(verdict, query_id, identity)
        if not reason:
            content = {
                "kind": verdict,
                "action": action,
                "text": ubi.text_of(found, "user_query"),
                "object": identity,
                "field": field,
                "ordinal": ubi.ordinal_of(found),
            }
            return self._said(found, query_id, content)
        asked = ubi.text_of(found, "message") if found.get("message_type") == "QUERY" else ""
        said: Reading | NotTaken = NotTaken.TO_LEARN
        if asked and query_id:  # the text of a search whose own document is missing
            said = self._said(found, query_id, {"kind": _ASKED, "text": asked})
        report.skip(action if verdict == SKIP else f"{action} ({reason})")
        return said

    def _said(self, found: Mapping[str, Any], query_id: str, content: dict[str, Any]) -> Reading:
        content |= {
            "query_id": query_id,
            "principal": ubi.principal_of(found),
            "application": ubi.application_of(found),
        }
        search = own_id("search", self._namespace, query_id)
        return Reading(search, ubi.moment_of(found), orjson.dumps(content))

    def build(
        self, facts: Sequence[Fact], known: Entry | None, report: LogImportReport
    ) -> Iterator[ImportedEvent]:
        """The search and what was said of its results; see `Form`."""
        parts = [_UbiPart(fact, orjson.loads(fact.content)) for fact in facts]
        if known is not None and ORIGIN not in known.payload:
            # Our own search: what we exported of it is in the journal, what others saw of it may not be.
            ours = [part for part in parts if part.said["application"] == APPLICATION]
            report.already += sum(part.said["kind"] not in (SHOWN, _ASKED) for part in ours)
            parts = [part for part in parts if part.said["application"] != APPLICATION]
        queries = [part for part in parts if part.said["kind"] == _QUERY]
        events = [part for part in parts if part.said["kind"] not in (_QUERY, _ASKED)]
        acts = [part for part in events if part.said["kind"] != SHOWN]
        if queries or (events and known is None):
            yield self._search(parts, queries, events)
        stands = None if known is None else {row["memory_id"] for row in known.payload["shown"]}
        for part in acts:
            report.not_shown += stands is not None and self._row(part.said)["memory_id"] not in stands
            yield self._act(part)

    def _search(
        self, parts: Sequence[_UbiPart], queries: Sequence[_UbiPart], events: Sequence[_UbiPart]
    ) -> ImportedEvent:
        # Applications log a query several times: counting its facets, say, finds no results.
        first = next((part for part in queries if part.said["hits"]), (*queries, *events)[0])
        shown: dict[str, dict[str, Any]] = {}
        for row in self._results(queries, events):
            shown.setdefault(row["memory_id"], row)
        texts = (part.said["text"] for part in (first, *events, *parts))
        payload = {
            "query": next(filter(None, texts), ""),
            "limit": len(shown),
            "shown": [{**row, "rank": rank} for rank, row in enumerate(shown.values(), start=1)],
            "client": _given(first.said, "query_id", "application"),
            ORIGIN: NAME,
        }
        return _entry(first, "search", first.fact.search, payload)

    def _results(self, queries: Sequence[_UbiPart], events: Sequence[_UbiPart]) -> Iterator[dict[str, Any]]:
        """What was shown, in the order that is known of it; a result may come more than once.

        First what the query returned; then what was seen, by its place on the page; last what was acted on
        all the same. A place counts from 0 or from 1, and only on the page, so it orders and is not the rank.
        """
        for part in queries:
            for hit in part.said["hits"]:
                yield self._row({"object": hit, "field": part.said["field"], "ordinal": None})
        for said in sorted((part.said for part in events), key=_seen_first_by_place):
            yield self._row(said)

    def _row(self, said: Mapping[str, Any]) -> dict[str, Any]:
        identity = said["object"]
        place = {} if said["ordinal"] is None else {"ordinal": said["ordinal"]}
        if said["field"] == MEMORY_FIELD and is_memory_id(identity):
            return {"memory_id": identity, "best": None, **place}
        memory = ids.memory_id(self._namespace, self._prefix + identity)
        return {"memory_id": memory, "best": None, "object": identity, **place}

    def _act(self, part: _UbiPart) -> ImportedEvent:
        said, search = part.said, part.fact.search
        row = self._row(said)
        about = {"memory_id": row["memory_id"], "chunk_id": None}
        about |= {"object": row["object"]} if "object" in row else {}
        payload: dict[str, Any] = {"client": _given(said, "action", "application"), ORIGIN: NAME}
        who = (said["query_id"], said["principal"])
        event_id = ids.digest(NAME, self._namespace, *who, said["action"], said["object"], str(part.fact.at))
        if said["kind"] in RATINGS:
            return _entry(part, "feedback", event_id, {**about, "rating": said["kind"], **payload})
        unmeasured = dict.fromkeys(("keywords", "ratio", "ratio_beyond_query", "similarity"))
        verdict = {**about, "verdict": USED, "evidence": "citation", **unmeasured}
        # One answer of one person: opening a result and then buying it is one use of it (rule 4.1).
        response = ids.digest(NAME, search, said["principal"])
        return _entry(part, "observation", event_id, {"response": response, "verdicts": [verdict], **payload})


class _UbiPart(NamedTuple):
    fact: Fact
    said: dict[str, Any]


def _entry(part: _UbiPart, kind: str, event_id: str, payload: dict[str, Any]) -> ImportedEvent:
    fact, who = part.fact, part.said["principal"]
    return act_of(fact, kind, event_id, fact.search, from_microseconds(fact.at), who, payload)


def _given(said: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: said[name] for name in names if said[name]}


def _seen_first_by_place(said: Mapping[str, Any]) -> tuple[bool, float]:
    return said["kind"] != SHOWN, float("inf") if said["ordinal"] is None else said["ordinal"]


def _plain(action: str) -> str:
    return action.strip().lower().replace(" ", "_").replace("-", "_")


def _no_feedback(verdict: str, query_id: str, identity: str) -> str:
    """Why an event is no feedback; empty if it is."""
    if verdict == SKIP:
        return "not asked for"
    needed = {"no search": query_id, "no result": identity, "no opinion": verdict}
    return next((reason for reason, value in needed.items() if not value), "")
