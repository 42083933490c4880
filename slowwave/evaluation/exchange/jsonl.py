"""The JSONL form of history: one act a line, of this or another memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from slowwave.common import ids
from slowwave.evaluation.exchange import forms, payloads
from slowwave.evaluation.exchange.frame import NotTaken
from slowwave.evaluation.exchange.identity import own_id
from slowwave.evaluation.exchange.importing import ORIGIN, ImportedEvent, Reading, act_of
from slowwave.evaluation.exchange.report import LogImportReport
from slowwave.evaluation.exchange.staging import Fact
from slowwave.journal import Entry
from slowwave.journal.kinds.search import results_in

NAME = "jsonl"


class JsonlForm:
    """Reads lines of the JSONL form.

    Args:
        namespace: whose memories the results are.
        searches_of: how many searches the journal has of a project (count).
    """

    name = "JSONL log"
    expected = (
        'one act a line, {"type": "search", …} or of type feedback, observation or outcome, as in '
        "docs/how-to/import-and-export-feedback.md; plain, .gz or .zip"
    )

    def __init__(self, namespace: str, searches_of: Callable[[str], int]) -> None:
        self._namespace = namespace
        self._searches_of = searches_of
        self._projects: set[str] = set()

    def read(self, text: bytes, _report: LogImportReport) -> Reading | NotTaken:
        """Which search a line is about; see `Form`."""
        act = forms.read_act(text)
        if isinstance(act, forms.OutcomeLine):
            return Reading(self._line_id(text), act.at, text)
        if isinstance(act, forms.SearchLine):
            self._projects.add(act.project)
        return Reading(own_id("search", self._namespace, act.search_id), act.at, text)

    def build(
        self, facts: Sequence[Fact], known: Entry | None, report: LogImportReport
    ) -> Iterator[ImportedEvent]:
        """The search and what was said of its results, or one outcome; see `Form`."""
        shown = None if known is None else results_in(known.payload)
        about = []
        for fact in facts:
            act = forms.read_act(fact.content)
            if not isinstance(act, forms.SearchLine):
                about.append((fact, act))
                continue
            payload = self._search(fact, act)
            shown = payload["shown"] if shown is None else shown
            yield _act(fact, act, fact.search, fact.search, payload, origin=act.project)
        best = None if shown is None else {row["memory_id"]: row.get("best") for row in shown}
        for fact, act in about:
            if isinstance(act, forms.OutcomeLine):
                if act.project in self._projects or self._searches_of(act.project):
                    payload = payloads.outcome_payload(act)
                    yield _act(fact, act, self._event_id(fact, act), act.project, payload)
                else:
                    report.refuse(fact.file, fact.line, f"no search was made for the project {act.project!r}")
            elif best is None:
                report.refuse(fact.file, fact.line, f"no search has the id {act.search_id!r}")
            else:
                payload = self._said(fact, act, best)
                rows = payload.get("verdicts", [payload])
                report.not_shown += sum(row["memory_id"] not in best for row in rows)
                yield _act(fact, act, self._event_id(fact, act), fact.search, payload)

    def _search(self, fact: Fact, act: forms.SearchLine) -> dict[str, Any]:
        payload = payloads.search_payload(act, self._namespace)
        return payload if fact.search == act.search_id else payload | {"client": {"search_id": act.search_id}}

    def _said(
        self, fact: Fact, act: forms.FeedbackLine | forms.ObservationLine, best: Mapping[str, str | None]
    ) -> dict[str, Any]:
        if isinstance(act, forms.FeedbackLine):
            return payloads.feedback_payload(act, self._namespace, best)
        return payloads.observation_payload(act, self._namespace, best, self._line_id(fact.content))

    def _event_id(
        self, fact: Fact, act: forms.FeedbackLine | forms.ObservationLine | forms.OutcomeLine
    ) -> str:
        if act.event_id:
            return own_id(act.type, self._namespace, act.event_id)
        return self._line_id(fact.content)

    def _line_id(self, text: bytes) -> str:
        """An id made of all that a line says, however it is written."""
        plain = orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS)
        return ids.digest(NAME, self._namespace, plain.decode())


def _act(
    fact: Fact, act: forms.AnyAct, event_id: str, subject: str, payload: dict[str, Any], origin: str = ""
) -> ImportedEvent:
    told = {**payload, ORIGIN: NAME}
    return act_of(fact, act.type, event_id, subject, act.at, act.principal, told, origin)
