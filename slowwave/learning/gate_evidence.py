"""Evidence of learning up to a day, with each table and the journal read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from slowwave.evaluation.cycles import own_cycles
from slowwave.feedback.questions import question_indexes
from slowwave.feedback.text_attribution import in_force, of_text, texts
from slowwave.home.processing_watermarks import EVALUATION, Record
from slowwave.home.visibility import closed_queries
from slowwave.index.questions import QuestionIndex, Questions
from slowwave.learning.active_boosts import TABLES, in_use, lessons_of
from slowwave.learning.events import LearningEvent, approved, as_actor, learning_events, rollbacks
from slowwave.learning.isolation import proof_of_all
from slowwave.learning.search_keys import KeyIndex, key_rules
from slowwave.scoring.evaluation import Cycle
from slowwave.scoring.feedback.learned import (
    KEYS,
    KINDS,
    PROPOSAL,
    WORDS,
    Decided,
    Kind,
    Measured,
    Rollback,
    decide,
    live,
    standing,
)
from slowwave.scoring.feedback.query_key_training import SEEN, DecidedViews, decide_views
from slowwave.store.frames import one_of, quote

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.quality.learning_gate import GateDecision


class Evidence:
    """Evidence of learning in some namespaces up to the end of a day.

    The evidence of any earlier moment follows from it. Each part is read on first use and then cached, so
    make a new object for the next question.

    Args:
        space: Workspace with tables and journal.
        until: Last day (YYYY-MM-DD); empty is today.
        among: Namespaces; None is all.

    Attributes:
        now: Moment of the question.
        gates: Gate decisions by namespace, moment, kind, last day and whether the open cycle counts.
    """

    def __init__(self, space: Workspace, until: str = "", *, among: Sequence[str] | None = None) -> None:
        self.space, self.among = space, among
        self.now = space.now()
        self.until = until or self.now.astimezone(UTC).date().isoformat()
        self.gates: dict[tuple[str, datetime, Kind, str, bool], GateDecision] = {}
        self._closed: dict[str, set[str]] = {}
        self._logs: dict[str, pl.DataFrame] = {}
        self._parts: dict[str, dict[str, pl.DataFrame]] = {}
        self._cycles: dict[tuple[str, str], list[Cycle]] = {}
        self._questions: dict[str, QuestionIndex] = {}
        self._indexes: dict[tuple[str, datetime], KeyIndex] = {}

    @cached_property
    def namespaces(self) -> list[str]:
        """Return the requested namespaces, else every one that was ever searched."""
        if self.among is not None:
            return list(self.among)
        searched = self.space.store.scan("searches", columns=["namespace"])["namespace"]
        return [str(name) for name in searched.unique().sort()]

    @cached_property
    def acts(self) -> list[LearningEvent]:
        """Return all decisions about learning in these namespaces up to now."""
        namespace = self.among[0] if self.among is not None and len(self.among) == 1 else None
        events = as_actor(learning_events(self.space.journal, namespace), self.now)
        return events if self.among is None else [event for event in events if event.namespace in self.among]

    @cached_property
    def rollbacks(self) -> Mapping[Kind, list[Rollback]]:
        """Return the rollbacks of each kind."""
        return {kind: rollbacks(self.acts, kind) for kind in KINDS}

    @cached_property
    def proposals(self) -> pl.DataFrame:
        """Return the rows of ``learned_proposals``."""
        return self._up_to_the_day("learned_proposals")

    @cached_property
    def decided(self) -> Decided:
        """Return the outcome of the proposals."""
        return decide(self.proposals.select(*PROPOSAL), self.rollbacks[WORDS], self.space.learning_policy)

    @cached_property
    def views(self) -> pl.DataFrame:
        """Return the rows of ``search_views``."""
        return self._up_to_the_day("search_views")

    @cached_property
    def decided_views(self) -> DecidedViews:
        """Return the outcome of the views."""
        return decide_views(self.views.select(*SEEN), self.space.key_teaching)

    @cached_property
    def texts(self) -> pl.DataFrame:
        """Return the texts of the memories in proposals and views."""
        taught = self.views.filter("selected")["memory_id"]
        return texts(self.space, pl.concat([self.proposals["memory_id"], taught]).unique().to_list())

    def questions(self, namespace: str) -> Questions:
        """Return the questions of a namespace that have feedback."""
        return self._index(namespace).questions

    def _index(self, namespace: str) -> QuestionIndex:
        if namespace not in self._questions:
            self._questions[namespace] = question_indexes(self.space).of(namespace)
        return self._questions[namespace]

    @cached_property
    def evaluated(self) -> dict[str, Record]:
        """Return the evaluated days, each with the inputs it was computed from."""
        return EVALUATION.finished(self.space.store)

    @cached_property
    def applied(self) -> pl.DataFrame:
        """Return the rows of ``learned_triggers``."""
        return self.space.store.read(TABLES[WORDS], self._namespace_filter())

    @cached_property
    def applied_keys(self) -> pl.DataFrame:
        """Return the rows of ``search_keys``."""
        return self.space.store.scan(TABLES[KEYS], self._namespace_filter())

    @cached_property
    def leaks(self) -> tuple[str, ...]:
        """Return the ways in which learned text reaches the full-text search now."""
        return proof_of_all(self.space.store)

    def closed_queries(self, namespace: str) -> set[str]:
        """Return the queries that returned a secret memory, or were judged for one."""
        if namespace not in self._closed:
            self._closed[namespace] = closed_queries(self.space.store, namespace)
        return self._closed[namespace]

    def log(self, namespace: str) -> pl.DataFrame:
        """Return the rows of ``learning_log`` of a namespace, of every day."""
        if namespace not in self._logs:
            self._logs[namespace] = self.space.store.of(namespace).read("learning_log")
        return self._logs[namespace]

    def matches(self, namespace: str, kind: Kind) -> pl.DataFrame:
        """Return the rows of ``learned_matches`` of a namespace and kind."""
        return of_kind(self._namespace_rows("learned_matches", namespace), kind)

    def effect(self, namespace: str, kind: Measured) -> pl.DataFrame:
        """Return the rows of ``learned_effect`` of a namespace and kind."""
        return of_kind(self._namespace_rows("learned_effect", namespace), kind)

    def cycles(self, namespace: str, until: str) -> list[Cycle]:
        """Return a namespace's cycles of local searches as of the end of a day."""
        key = (namespace, until)
        if key not in self._cycles:
            self._cycles[key] = own_cycles(self.space, namespace, until)
        return self._cycles[key]

    # -- derived ---------------------------------------------------------------------------------

    def acts_of(self, namespace: str, as_of: datetime | None = None) -> list[LearningEvent]:
        """Return the decisions about a namespace, up to a moment or all."""
        return [
            event
            for event in self.acts
            if event.namespace == namespace and (as_of is None or event.at <= as_of)
        ]

    def standing(self, namespace: str, as_of: datetime, kind: Kind = WORDS) -> pl.DataFrame:
        """Return lessons, or views, in force at a moment, including expired ones."""
        rows = self.decided.lessons if kind == WORDS else self.decided_views.views
        return standing(rows.filter(pl.col("namespace") == namespace), self.rollbacks[kind], as_of)

    def keys_at(self, namespace: str, as_of: datetime) -> KeyIndex:
        """Return the search keys at a moment if every earlier selection had been applied."""
        at = (namespace, as_of)
        if at not in self._indexes:
            views = self.standing(namespace, as_of, KEYS).filter(pl.col("expires_at") > as_of)
            views = of_text(views, in_force(self.texts, as_of))
            self._indexes[at] = KeyIndex(views, self._index(namespace), as_of, key_rules(self.space))
        return self._indexes[at]

    def would_be(self, as_of: datetime) -> pl.DataFrame:
        """Return the terms in effect at a moment if every earlier proposal had been applied."""
        lessons = of_text(self.decided.lessons, in_force(self.texts, as_of))
        return live(standing(lessons, self.rollbacks[WORDS], as_of), as_of, self.space.learning_policy)

    def live(self, applied: pl.DataFrame | None = None) -> pl.DataFrame:
        """Return the terms in effect on searches of one namespace now.

        Args:
            applied: Rows to take as applied; None is the table.
        """
        lessons = lessons_of(self.applied if applied is None else applied)
        if not in_use(self.space, WORDS) or not approved(self.acts) or self.leaks:
            lessons = lessons.clear()
        lessons = of_text(lessons, in_force(self.texts))
        lessons = standing(lessons, self.rollbacks[WORDS], self.now)
        return live(lessons, self.now, self.space.learning_policy)

    def live_keys(self, applied: pl.DataFrame | None = None) -> pl.DataFrame:
        """Return the ``search_keys`` rows in effect on searches of one namespace now.

        Rows that led to no memory are left out.

        Args:
            applied: Rows to take as applied; None is the table.
        """
        rows = (self.applied_keys if applied is None else applied).with_columns(taught_at="at")
        if not in_use(self.space, KEYS) or not approved(self.acts, KEYS) or self.leaks:
            rows = rows.clear()
        rows = of_text(
            rows.filter(pl.col("taken") > 0, pl.col("expires_at") > self.now), in_force(self.texts)
        )
        return standing(rows, self.rollbacks[KEYS], self.now)

    def _namespace_filter(self) -> str | None:
        return None if self.among is None else one_of("namespace", self.among)

    def _up_to_the_day(self, table: str) -> pl.DataFrame:
        where = self._namespace_filter()
        return self.space.store.scan(
            table, f"day <= {quote(self.until)}" + ("" if where is None else f" AND {where}")
        )

    def _namespace_rows(self, table: str, namespace: str) -> pl.DataFrame:
        if table not in self._parts:
            rows = self._up_to_the_day(table)
            parts = rows.partition_by("namespace", as_dict=True)
            self._parts[table] = {str(name): part for (name,), part in parts.items()}
        namespace_rows = self._parts[table].get(namespace)
        return self.space.store.empty(table) if namespace_rows is None else namespace_rows


def of_kind(rows: pl.DataFrame, kind: Measured) -> pl.DataFrame:
    """Return the rows of a kind; a row without a kind is of words.

    Such rows were written before search keys existed.
    """
    return rows.filter(pl.col("kind").fill_null(WORDS) == kind)
