"""What is known of learning up to a day: each table, and the journal, is read once for a question."""

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
from slowwave.index.questions import QuestionIndex, Questions
from slowwave.learning.active_boosts import TABLES, in_use, lessons_of
from slowwave.learning.events import LearningEvent, approved, as_actor, learning_events, rollbacks
from slowwave.learning.isolation import prove
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
    """All that is known of learning in some namespaces up to the end of a day.

    What was known at any earlier moment follows from it. Each part is read when it is first asked for, and is
    the same for as long as the question lasts: make a new one for the next question.

    Args:
        space: has the tables and the journal.
        until: the last day (YYYY-MM-DD); empty: today.
        among: namespaces; None is all.

    Attributes:
        now: the moment of the question.
        gates: what was decided of them, by namespace, moment, kind, last day and whether of the open cycle.
    """

    def __init__(self, space: Workspace, until: str = "", *, among: Sequence[str] | None = None) -> None:
        self.space, self.among = space, among
        self.now = space.now()
        self.until = until or self.now.astimezone(UTC).date().isoformat()
        self.gates: dict[tuple[str, datetime, Kind, str, bool], GateDecision] = {}
        self._parts: dict[str, dict[str, pl.DataFrame]] = {}
        self._cycles: dict[tuple[str, str], list[Cycle]] = {}
        self._questions: dict[str, QuestionIndex] = {}
        self._indexes: dict[tuple[str, datetime], KeyIndex] = {}

    @cached_property
    def namespaces(self) -> list[str]:
        """Those that are asked about, else every one that was ever searched."""
        if self.among is not None:
            return list(self.among)
        found = self.space.store.scan("searches", columns=["namespace"])["namespace"]
        return [str(name) for name in found.unique().sort()]

    @cached_property
    def acts(self) -> list[LearningEvent]:
        """Everything that was decided about learning in these namespaces, at any time up to now."""
        one = self.among[0] if self.among is not None and len(self.among) == 1 else None
        said = as_actor(learning_events(self.space.journal, one), self.now)
        return said if self.among is None else [act for act in said if act.namespace in self.among]

    @cached_property
    def rollbacks(self) -> Mapping[Kind, list[Rollback]]:
        """What of it takes something of each kind back."""
        return {kind: rollbacks(self.acts, kind) for kind in KINDS}

    @cached_property
    def proposals(self) -> pl.DataFrame:
        """Rows of ``learned_proposals``."""
        return self._up_to_the_day("learned_proposals")

    @cached_property
    def decided(self) -> Decided:
        """What became of them."""
        return decide(self.proposals.select(*PROPOSAL), self.rollbacks[WORDS], self.space.learning_policy)

    @cached_property
    def views(self) -> pl.DataFrame:
        """Rows of ``search_views``."""
        return self._up_to_the_day("search_views")

    @cached_property
    def seen(self) -> DecidedViews:
        """What became of them."""
        return decide_views(self.views.select(*SEEN), self.space.key_teaching)

    @cached_property
    def texts(self) -> pl.DataFrame:
        """Of the memories that proposals and views are about."""
        taught = self.views.filter("selected")["memory_id"]
        return texts(self.space, pl.concat([self.proposals["memory_id"], taught]).unique().to_list())

    def questions(self, namespace: str) -> Questions:
        """Of a namespace, of which anything was said."""
        return self._index(namespace).questions

    def _index(self, namespace: str) -> QuestionIndex:
        if namespace not in self._questions:
            self._questions[namespace] = question_indexes(self.space).of(namespace)
        return self._questions[namespace]

    @cached_property
    def evaluated(self) -> dict[str, Record]:
        """The days that were evaluated, whoever asked: what each of them rested on."""
        return EVALUATION.finished(self.space.store)

    @cached_property
    def applied(self) -> pl.DataFrame:
        """Rows of ``learned_triggers``."""
        return self.space.store.read(TABLES[WORDS], self._mine())

    @cached_property
    def applied_keys(self) -> pl.DataFrame:
        """Rows of ``search_keys``."""
        return self.space.store.scan(TABLES[KEYS], self._mine())

    @cached_property
    def leaks(self) -> tuple[str, ...]:
        """Ways by which what was learned reaches the full-text search, as it is now."""
        return prove(self.space.store)

    def matches(self, namespace: str, kind: Kind) -> pl.DataFrame:
        """Rows of ``learned_matches`` of a namespace and kind."""
        return of_kind(self._of("learned_matches", namespace), kind)

    def effect(self, namespace: str, kind: Measured) -> pl.DataFrame:
        """Rows of ``learned_effect`` of a namespace and kind."""
        return of_kind(self._of("learned_effect", namespace), kind)

    def cycles(self, namespace: str, until: str) -> list[Cycle]:
        """The cycles of what was asked and said in a namespace, as of the end of a day."""
        key = (namespace, until)
        if key not in self._cycles:
            self._cycles[key] = own_cycles(self.space, namespace, until)
        return self._cycles[key]

    # -- what follows from it ----------------------------------------------------------------------

    def acts_of(self, namespace: str, as_of: datetime | None = None) -> list[LearningEvent]:
        """What was decided in a namespace, up to a moment or at any time."""
        return [act for act in self.acts if act.namespace == namespace and (as_of is None or act.at <= as_of)]

    def standing(self, namespace: str, as_of: datetime, kind: Kind = WORDS) -> pl.DataFrame:
        """Lessons, or views, of a namespace that stood at a moment, the expired among them."""
        rows = self.decided.lessons if kind == WORDS else self.seen.views
        return standing(rows.filter(pl.col("namespace") == namespace), self.rollbacks[kind], as_of)

    def keys_at(self, namespace: str, as_of: datetime) -> KeyIndex:
        """Search keys as they would be at a moment if every selection before it had been applied."""
        at = (namespace, as_of)
        if at not in self._indexes:
            views = self.standing(namespace, as_of, KEYS).filter(pl.col("expires_at") > as_of)
            views = of_text(views, in_force(self.texts, as_of))
            self._indexes[at] = KeyIndex(views, self._index(namespace), as_of, key_rules(self.space))
        return self._indexes[at]

    def would_be(self, as_of: datetime) -> pl.DataFrame:
        """Terms that would have an effect at a moment if every proposal before it had been applied."""
        lessons = of_text(self.decided.lessons, in_force(self.texts, as_of))
        return live(standing(lessons, self.rollbacks[WORDS], as_of), as_of, self.space.learning_policy)

    def live(self, applied: pl.DataFrame | None = None) -> pl.DataFrame:
        """Terms that have an effect on searches of one namespace now.

        Args:
            applied: if this were all that was applied; None: what is.
        """
        lessons = lessons_of(self.applied if applied is None else applied)
        if not in_use(self.space, WORDS) or not approved(self.acts) or self.leaks:
            lessons = lessons.clear()
        lessons = of_text(lessons, in_force(self.texts))
        lessons = standing(lessons, self.rollbacks[WORDS], self.now)
        return live(lessons, self.now, self.space.learning_policy)

    def live_keys(self, applied: pl.DataFrame | None = None) -> pl.DataFrame:
        """Rows of ``search_keys`` that led somewhere and have an effect on searches of one namespace now.

        Args:
            applied: if this were all that was applied; None: what is.
        """
        rows = (self.applied_keys if applied is None else applied).with_columns(taught_at="at")
        if not in_use(self.space, KEYS) or not approved(self.acts, KEYS) or self.leaks:
            rows = rows.clear()
        rows = of_text(
            rows.filter(pl.col("taken") > 0, pl.col("expires_at") > self.now), in_force(self.texts)
        )
        return standing(rows, self.rollbacks[KEYS], self.now)

    def _mine(self) -> str | None:
        return None if self.among is None else one_of("namespace", self.among)

    def _up_to_the_day(self, table: str) -> pl.DataFrame:
        mine = self._mine()
        return self.space.store.scan(
            table, f"day <= {quote(self.until)}" + ("" if mine is None else f" AND {mine}")
        )

    def _of(self, table: str, namespace: str) -> pl.DataFrame:
        if table not in self._parts:
            rows = self._up_to_the_day(table)
            parts = rows.partition_by("namespace", as_dict=True)
            self._parts[table] = {str(name): mine for (name,), mine in parts.items()}
        found = self._parts[table].get(namespace)
        return self.space.store.empty(table) if found is None else found


def of_kind(rows: pl.DataFrame, kind: Measured) -> pl.DataFrame:
    """Rows of a kind; one that says none is from before there were keys, and of words."""
    return rows.filter(pl.col("kind").fill_null(WORDS) == kind)
