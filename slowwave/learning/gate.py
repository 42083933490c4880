"""The evidence of the learning gate, from the tables and the journal (rule 6.7), and the guard (rule 6.8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl

from slowwave.evaluation.cycles import own_cycles
from slowwave.learning.acts import last_word
from slowwave.learning.isolation import prove
from slowwave.learning.lessons import Known, day_end, known
from slowwave.quality.learning_gate import Approval, Effect, Evidence, GateDecision, Progress, decide_gate
from slowwave.scoring.evaluation.comparison import Comparison, compare
from slowwave.scoring.evaluation.interleaving import preference
from slowwave.scoring.feedback.learned import standing, well_taught
from slowwave.scoring.measures import MRR, OF_LEARNING
from slowwave.store.frames import quote

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

DRAWS = 2_000
"""Of the intervals beside the conditions; none of them is decided by an interval (count)."""


def namespaces(space: Workspace) -> list[str]:
    """Every namespace that was ever searched."""
    found = space.store.scan("searches", columns=["namespace"])["namespace"]
    return [str(name) for name in found.unique().sort()]


def gate(space: Workspace, namespace: str, day: str | None = None) -> GateDecision:
    """What the gate of a namespace says.

    Args:
        space: has the evidence.
        namespace: whose gate.
        day: at whose end, by the evidence of then; None, or a day that is not over: now.
    """
    moment = space.now() if day is None else min(day_end(day), space.now())
    until = moment.date().isoformat() if day is None else day
    return Gatekeeper(space, namespace, until, prove(space.store)).decide(moment)


def gates_now(space: Workspace, among: Sequence[str] | None = None) -> list[GateDecision]:
    """What the gates say now, of some namespaces or of all that were ever searched."""
    leaks, now = prove(space.store), space.now()
    until = now.date().isoformat()
    names = namespaces(space) if among is None else among
    return [Gatekeeper(space, name, until, leaks).decide(now) for name in names]


def gates(
    space: Workspace,
    days: Sequence[str],
    *,
    among: Sequence[str] | None = None,
    open_cycle: bool = True,
) -> dict[tuple[str, str], GateDecision]:
    """The same of every namespace at the end of each of some days, by day and namespace.

    Of a day that is not over: now, or what is open only by its end would let it in before.

    Args:
        space: has the evidence.
        days: in question.
        among: namespaces; None is all that were ever searched.
        open_cycle: whether to say how far the open cycle is; it is only known as it is now.
    """
    leaks, last, now = prove(space.store), max(days), space.now()
    found = {}
    for namespace in namespaces(space) if among is None else among:
        keeper = Gatekeeper(space, namespace, last, leaks, open_cycle=open_cycle)
        for day in days:
            found[day, namespace] = keeper.decide(min(day_end(day), now))
    return found


class Gatekeeper:
    """All evidence of a namespace up to a day, from which the gate of any moment until then follows.

    Args:
        space: has the tables.
        namespace: whose gate.
        until: the last day.
        leaks: of `prove`.
        open_cycle: whether to say how far the open cycle is now.
    """

    def __init__(
        self,
        space: Workspace,
        namespace: str,
        until: str,
        leaks: tuple[str, ...],
        *,
        open_cycle: bool = True,
    ) -> None:
        self._open_cycle = open_cycle
        self._space, self._namespace, self._leaks = space, namespace, leaks
        self.known: Known = known(space, until, namespace)
        mine, store = f"namespace = {quote(namespace)}", space.store
        self._cycles = own_cycles(space, namespace, until)
        upto = f"{mine} AND day <= {quote(until)}"
        self._matches = store.scan("learned_matches", upto)
        self._effect = store.scan("learned_effect", upto)

    def decide(self, as_of: datetime) -> GateDecision:
        """The gate at a moment, by what was known then."""
        return decide_gate(self._namespace, self.evidence(as_of), as_of, self._space.gate_bounds)

    def evidence(self, as_of: datetime) -> Evidence:
        """What was known at a moment; whether the store is isolated is looked at now."""
        lessons = standing(self.known.decided.lessons, self.known.rollbacks, as_of)
        noisy, judged = self._noise(as_of)
        approval, regression = self._last_word(as_of)
        first = lessons["taught_at"].min()
        assert first is None or isinstance(first, datetime)
        return Evidence(
            enabled=self._space.settings.learning.enabled,
            progress=self._progress(as_of),
            first_proposal=first,
            noisy=noisy,
            judged=judged,
            effect=self._would_be_effect(first, as_of),
            leaks=self._leaks,
            regression=regression,
            approval=approval,
        )

    def _last_word(self, as_of: datetime) -> tuple[Approval | None, str]:
        return last_word([act for act in self.known.acts if act.at <= as_of])

    def _progress(self, as_of: datetime) -> Progress:
        """How far the cycles are of what was asked and said here."""
        done = Progress()
        for one in self._cycles:
            if one.closed_on is None:
                if self._open_cycle and day_end(one.opened_on.isoformat()) <= as_of:
                    done = replace(done, open_searches=one.queries, open_days=one.days)
            elif day_end(one.closed_on.isoformat()) <= as_of:
                done = replace(
                    done, cycles=done.cycles + 1, searches=done.searches + one.queries,
                    days=done.days + one.days,
                )  # fmt: skip
        return done

    def _noise(self, as_of: datetime) -> tuple[int, int]:
        """Learned terms whose matches were mostly not wanted, and those with a verdict, of the last weeks.

        Also of terms that have expired meanwhile; not of those that have no effect without what was taken
        back.
        """
        first = (as_of - self._space.learning_policy.ttl).date().isoformat()
        held = ["namespace", "memory_id", "term"]
        lessons = standing(self.known.decided.lessons, self.known.rollbacks, as_of)
        stand = well_taught(lessons, self._space.learning_policy)
        last = (as_of - timedelta(microseconds=1)).date().isoformat()
        recent = self._matches.filter(pl.col("day") > first, pl.col("day") <= last)
        verdicts = recent.join(stand, on=held, how="semi").group_by(held).agg(pl.col("relevant").mean())
        return verdicts.filter(pl.col("relevant") < 0.5).height, verdicts.height

    def _would_be_effect(self, first: datetime | None, as_of: datetime) -> Effect:
        if first is None:
            return Effect()
        found = self._compared(MRR.column, first.date().isoformat(), as_of)
        return Effect(found.n, found.baseline, found.candidate, found.low, found.high)

    def _compared(self, metric: str, first: str, as_of: datetime, *, live: bool = False) -> Comparison:
        """By query, the searches of some days without what was learned and with it.

        Args:
            metric: column.
            first: the first day.
            as_of: the end of the last one.
            live: only searches whose results what was learned has changed.
        """
        last = (as_of - timedelta(microseconds=1)).date().isoformat()
        rows = self._effect.filter(pl.col("day") >= first, pl.col("day") <= last)
        if live:
            rows = rows.filter("live", "moved")
        by_query = rows.group_by("query_id").agg(pl.col(metric).mean(), pl.col(f"{metric}_learned").mean())
        by_query = by_query.sort("query_id")
        margin = self._space.settings.evaluation.margin
        return compare(by_query[metric], by_query[f"{metric}_learned"], margin=margin, n_draws=DRAWS)

    def regression(self, as_of: datetime) -> str:
        """Why learning makes results worse; empty where nothing says that it does (rule 6.8).

        Looked at are the searches since the approval whose results it changed: without it, from the same
        candidates (MRR@5 and nDCG@10), and what people used where both were shown in turn. Nothing is asked
        while it is not approved.
        """
        approval, found = self._last_word(as_of)
        # An old day that is looked at again says nothing against a later approval.
        if approval is None or not approval.given or found or last_word(self.known.acts) != (approval, ""):
            return ""
        since = approval.at.date().isoformat()
        for measure in OF_LEARNING:
            measured = self._compared(measure.column, since, as_of, live=True)
            if measured.verdict == "worse":
                return f"{measure} of the searches that it changed: {measured.describe()}"
        online = self._online(since, as_of)
        if online.verdict == "better":
            return f"results without it are used more than those with it: {online.describe()}"
        return ""

    def _online(self, since: str, as_of: datetime) -> Comparison:
        """Which results were used where those without what was learned were shown in turn (rule 6.6)."""
        without = replace(self._space.policy, learned_cap=0.0).version
        last = (as_of - timedelta(microseconds=1)).date().isoformat()
        where = (
            f"namespace = {quote(self._namespace)} AND day >= {quote(since)} AND day <= {quote(last)} "
            f"AND policy_b = {quote(without)}"
        )
        rows = self._space.store.scan("interleavings", where, columns=["search_id", "credit_a", "credit_b"])
        rows = rows.sort("search_id")
        margin = self._space.settings.evaluation.margin
        return preference(rows["credit_a"], rows["credit_b"], margin=margin, n_draws=DRAWS)
