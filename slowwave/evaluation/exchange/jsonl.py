"""JSONL form of history: one event per line, of this or another memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from slowwave.common import ids
from slowwave.evaluation.exchange import forms, payloads
from slowwave.evaluation.exchange.frame import NotTaken
from slowwave.evaluation.exchange.importing import ORIGIN, ImportedEvent, Reading, act_of
from slowwave.evaluation.exchange.report import LogImportReport
from slowwave.evaluation.exchange.staging import Fact
from slowwave.evaluation.exchange.values import own_id
from slowwave.journal import Entry
from slowwave.journal.kinds.search import results_in

NAME = "jsonl"


class JsonlForm:
    """Reader of the JSONL form.

    Args:
        namespace: Namespace of the results' memories.
        searches_of: Returns the number of a project's searches in the journal.
    """

    name = "JSONL log"
    expected = (
        'one event per line, {"type": "search", …} or of type feedback, observation or outcome, as in '
        "docs/how-to/import-and-export-feedback.md; plain, .gz or .zip"
    )

    def __init__(self, namespace: str, searches_of: Callable[[str], int]) -> None:
        self._namespace = namespace
        self._searches_of = searches_of
        self._projects: set[str] = set()

    def read(self, text: bytes, _report: LogImportReport) -> Reading | NotTaken:
        """Return the search that a line is about; see `Form`."""
        event = forms.read_act(text)
        if isinstance(event, forms.OutcomeLine):
            return Reading(self._line_id(text), event.at, text)
        if isinstance(event, forms.SearchLine):
            self._projects.add(event.project)
        return Reading(own_id("search", self._namespace, event.search_id), event.at, text)

    def build(
        self, facts: Sequence[Fact], known: Entry | None, report: LogImportReport
    ) -> Iterator[ImportedEvent]:
        """Yield the search and the feedback on its results, or one outcome; see `Form`."""
        shown = None if known is None else results_in(known.payload)
        feedback = []
        for fact in facts:
            event = forms.read_act(fact.content)
            if not isinstance(event, forms.SearchLine):
                feedback.append((fact, event))
                continue
            payload = self._search(fact, event)
            shown = payload["shown"] if shown is None else shown
            yield _act(fact, event, fact.search, fact.search, payload, origin=event.project)
        best = None if shown is None else {row["memory_id"]: row.get("best") for row in shown}
        for fact, event in feedback:
            if isinstance(event, forms.OutcomeLine):
                if event.project in self._projects or self._searches_of(event.project):
                    payload = payloads.outcome_payload(event)
                    yield _act(fact, event, self._event_id(fact, event), event.project, payload)
                else:
                    report.refuse(
                        fact.file, fact.line, f"no search was made for the project {event.project!r}"
                    )
            elif best is None:
                report.refuse(fact.file, fact.line, f"no search has the id {event.search_id!r}")
            else:
                payload = self._payload(fact, event, best)
                rows = payload.get("verdicts", [payload])
                report.not_shown += sum(row["memory_id"] not in best for row in rows)
                yield _act(fact, event, self._event_id(fact, event), fact.search, payload)

    def _search(self, fact: Fact, search: forms.SearchLine) -> dict[str, Any]:
        payload = payloads.search_payload(search, self._namespace)
        return (
            payload
            if fact.search == search.search_id
            else payload | {"client": {"search_id": search.search_id}}
        )

    def _payload(
        self, fact: Fact, event: forms.FeedbackLine | forms.ObservationLine, best: Mapping[str, str | None]
    ) -> dict[str, Any]:
        if isinstance(event, forms.FeedbackLine):
            return payloads.feedback_payload(event, self._namespace, best)
        return payloads.observation_payload(event, self._namespace, best, self._line_id(fact.content))

    def _event_id(
        self, fact: Fact, event: forms.FeedbackLine | forms.ObservationLine | forms.OutcomeLine
    ) -> str:
        if event.event_id:
            return own_id(event.type, self._namespace, event.event_id)
        return self._line_id(fact.content)

    def _line_id(self, text: bytes) -> str:
        """Return an id from the content of a line, independent of its formatting."""
        plain = orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS)
        return ids.digest(NAME, self._namespace, plain.decode())


def _act(
    fact: Fact, event: forms.AnyAct, event_id: str, subject: str, payload: dict[str, Any], origin: str = ""
) -> ImportedEvent:
    marked = {**payload, ORIGIN: NAME}
    return act_of(fact, event.type, event_id, subject, event.at, event.principal, marked, origin)
