"""What is known of learning up to a day: each table, and the journal, is read once for a question."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from slowwave.evaluation.cycles import own_cycles
from slowwave.feedback.texts import in_force, of_text, texts
from slowwave.home.ledger import EVALUATION, Record
from slowwave.learning.acts import Act, acts, approved, as_said_by, rollbacks
from slowwave.learning.applied import in_use, lessons_of
from slowwave.learning.isolation import TABLE, prove
from slowwave.scoring.evaluation import Cycle
from slowwave.scoring.feedback.learned import PROPOSAL, Decided, Rollback, decide, live, standing
from slowwave.store.frames import one_of, quote

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


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
    """

    def __init__(self, space: Workspace, until: str = "", *, among: Sequence[str] | None = None) -> None:
        self.space, self.among = space, among
        self.now = space.now()
        self.until = until or self.now.astimezone(UTC).date().isoformat()
        self._parts: dict[str, dict[str, pl.DataFrame]] = {}
        self._cycles: dict[tuple[str, str], list[Cycle]] = {}

    @cached_property
    def namespaces(self) -> list[str]:
        """Those that are asked about, else every one that was ever searched."""
        if self.among is not None:
            return list(self.among)
        found = self.space.store.scan("searches", columns=["namespace"])["namespace"]
        return [str(name) for name in found.unique().sort()]

    @cached_property
    def acts(self) -> list[Act]:
        """Everything that was decided about learning in these namespaces, at any time up to now."""
        one = self.among[0] if self.among is not None and len(self.among) == 1 else None
        said = as_said_by(acts(self.space.journal, one), self.now)
        return said if self.among is None else [act for act in said if act.namespace in self.among]

    @cached_property
    def rollbacks(self) -> list[Rollback]:
        """What of it takes something back."""
        return rollbacks(self.acts)

    @cached_property
    def proposals(self) -> pl.DataFrame:
        """Rows of ``learned_proposals``."""
        return self._up_to_the_day("learned_proposals")

    @cached_property
    def decided(self) -> Decided:
        """What became of them."""
        return decide(self.proposals.select(*PROPOSAL), self.rollbacks, self.space.learning_policy)

    @cached_property
    def texts(self) -> pl.DataFrame:
        """Of the memories that they are about."""
        return texts(self.space, self.proposals["memory_id"].unique().to_list())

    @cached_property
    def evaluated(self) -> dict[str, Record]:
        """The days that were evaluated, whoever asked: what each of them rested on."""
        return EVALUATION.finished(self.space.store)

    @cached_property
    def applied(self) -> pl.DataFrame:
        """Rows of ``learned_triggers``."""
        return self.space.store.read(TABLE, self._mine())

    @cached_property
    def leaks(self) -> tuple[str, ...]:
        """Ways by which what was learned reaches the full-text search, as it is now."""
        return prove(self.space.store)

    def matches(self, namespace: str) -> pl.DataFrame:
        """Rows of ``learned_matches`` of a namespace."""
        return self._of("learned_matches", namespace)

    def effect(self, namespace: str) -> pl.DataFrame:
        """Rows of ``learned_effect`` of a namespace."""
        return self._of("learned_effect", namespace)

    def cycles(self, namespace: str, until: str) -> list[Cycle]:
        """The cycles of what was asked and said in a namespace, as of the end of a day."""
        key = (namespace, until)
        if key not in self._cycles:
            self._cycles[key] = own_cycles(self.space, namespace, until)
        return self._cycles[key]

    # -- what follows from it ----------------------------------------------------------------------

    def acts_of(self, namespace: str, as_of: datetime | None = None) -> list[Act]:
        """What was decided in a namespace, up to a moment or at any time."""
        return [act for act in self.acts if act.namespace == namespace and (as_of is None or act.at <= as_of)]

    def standing(self, namespace: str, as_of: datetime) -> pl.DataFrame:
        """Lessons of a namespace that stood at a moment, the expired among them."""
        mine = self.decided.lessons.filter(pl.col("namespace") == namespace)
        return standing(mine, self.rollbacks, as_of)

    def would_be(self, as_of: datetime) -> pl.DataFrame:
        """Terms that would have an effect at a moment if every proposal before it had been applied."""
        lessons = of_text(self.decided.lessons, in_force(self.texts, as_of))
        return live(standing(lessons, self.rollbacks, as_of), as_of, self.space.learning_policy)

    def live(self, applied: pl.DataFrame | None = None) -> pl.DataFrame:
        """Terms that have an effect on searches of one namespace now.

        Args:
            applied: if this were all that was applied; None: what is.
        """
        lessons = lessons_of(self.applied if applied is None else applied)
        if not in_use(self.space) or not approved(self.acts) or self.leaks:
            lessons = lessons.clear()
        lessons = of_text(lessons, in_force(self.texts))
        return live(standing(lessons, self.rollbacks, self.now), self.now, self.space.learning_policy)

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
