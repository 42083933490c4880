"""Regression guard: roll back learning that makes results worse (rule 6.8)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.evaluation.derived_judgments import search_of
from slowwave.journal.kinds.learning import REGRESSION
from slowwave.learning.active_boosts import without
from slowwave.learning.applied_terms import rolled_back
from slowwave.learning.events import (
    LearningEvent,
    approved_namespaces,
    latest_decision,
    learning_events,
    ratings_off,
    rollbacks,
    write_event,
)
from slowwave.learning.gate import DRAWS, compared
from slowwave.learning.gate_evidence import Evidence
from slowwave.learning.log import log_acts
from slowwave.scoring.days import day_end, last_day
from slowwave.scoring.evaluation.comparison import Comparison
from slowwave.scoring.evaluation.interleaving import preference
from slowwave.scoring.feedback.learned import KINDS, RATINGS, WORDS, Kind, Measured
from slowwave.scoring.measures import OF_LEARNING
from slowwave.store.frames import quote

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

GUARD = "regression guard"
_GROUPS = {"that ratings changed": None, "that they changed for answers without feedback": False}


def close_where_worse(space: Workspace, day: str) -> dict[str, str]:
    """Roll back each kind of learning that makes a namespace worse, and close its gate.

    Args:
        space: Workspace with tables and journal.
        day: Last day of the evidence (YYYY-MM-DD).

    Returns:
        Reason by namespace.
    """
    reasons: dict[str, str] = {}
    heal(space)
    for namespace, why in ratings_worse(space, day).items():
        reasons[namespace] = f"{RATINGS}: {why}"
        _close(space, namespace, why, RATINGS)
    for kind in KINDS:
        names = approved_namespaces(learning_events(space.journal), kind)
        evidence = Evidence(space, day, among=names)
        for namespace in names:
            if why := regression(evidence, namespace, day_end(day), kind):
                reason = why if kind == WORDS else f"{kind}: {why}"
                reasons[namespace] = "; ".join(filter(None, [reasons.get(namespace), reason]))
                _close(space, namespace, why, kind)
    return reasons


def ratings_worse(space: Workspace, day: str) -> dict[str, str]:
    """Return the reason by namespace where ratings make results surely worse.

    The searches that ratings changed are compared with a replay without ratings. A second comparison takes
    only searches whose right answers had no feedback before, because frequent questions may displace rare
    ones. Namespaces with ratings off are skipped.

    Args:
        space: Workspace with tables and journal.
        day: Last day of the evidence (YYYY-MM-DD).
    """
    as_of = day_end(day)
    rows = space.store.scan("learned_effect", f"kind = {quote(RATINGS)}", columns=["namespace"])
    names = rows["namespace"].unique().sort().to_list()
    evidence, reasons = Evidence(space, day, among=names), dict[str, str]()
    for namespace in names:
        decided = evidence.acts_of(namespace)
        if ratings_off(decided):
            continue
        switched = [event.at for event in decided if event.about(RATINGS)]
        since = switched[-1].date().isoformat() if switched else ""
        for group, rated in _GROUPS.items():
            for measure in OF_LEARNING:
                comparison = compared(
                    evidence, namespace, measure.column, since, as_of, RATINGS, live=True, rated=rated
                )
                if comparison.verdict == "worse" and namespace not in reasons:
                    reasons[namespace] = f"{measure} of the searches {group}: {comparison.describe()}"
    return reasons


def regression(evidence: Evidence, namespace: str, as_of: datetime, kind: Kind = WORDS) -> str:
    """Return the reason why learning makes results worse; empty without evidence (rule 6.8).

    The evidence is the searches since the approval that learning changed. They are replayed without it (MRR@5
    and nDCG@10), and interleaved selections are compared. Without an approval there is no check.
    """
    approval, earlier = latest_decision(evidence.acts_of(namespace, as_of), kind)
    # A backfilled old day is no evidence against a later approval.
    last = latest_decision(evidence.acts_of(namespace), kind)
    if approval is None or not approval.given or earlier or last != (approval, ""):
        return ""
    since = approval.at.date().isoformat()
    for measure in OF_LEARNING:
        measured = compared(evidence, namespace, measure.column, since, as_of, kind, live=True)
        if measured.verdict == "worse":
            return f"{measure} of the searches that it changed: {measured.describe()}"
    online = _online(evidence.space, namespace, since, as_of, kind)
    if online.verdict == "better":
        return f"results without it are used more than those with it: {online.describe()}"
    return ""


def _online(space: Workspace, namespace: str, since: str, as_of: datetime, kind: Kind) -> Comparison:
    """Compare selections in lists interleaved with results without this kind of learning (rule 6.6)."""
    other = without(space.policy, kind).version
    where = f"day >= {quote(since)} AND day <= {quote(last_day(as_of))} AND policy_b = {quote(other)}"
    rows = space.store.of(namespace).scan(
        "interleavings", where, columns=["search_id", "credit_a", "credit_b"]
    )
    rows = search_of(space.store, rows.sort("search_id"))
    margin, questions = space.settings.evaluation.margin, rows["query_id"].to_list()
    return preference(
        rows["credit_a"], rows["credit_b"], questions=questions, margin=margin, n_draws=DRAWS
    )  # fmt: skip


def heal(space: Workspace) -> None:
    """Complete interrupted decisions: write the missing audit rows and delete what was rolled back."""
    decided = learning_events(space.journal)
    log_acts(space.store, decided)
    for event in decided:
        _take_back(space, event)


def _close(space: Workspace, namespace: str, why: str, kind: Measured) -> None:
    event = write_event(
        space.journal,
        namespace,
        REGRESSION,
        who=GUARD,
        why=why,
        at=space.now(),
        detail={"scope": "everything", "kind": kind},
    )
    log_acts(space.store, [event])
    _take_back(space, event)


def _take_back(space: Workspace, event: LearningEvent) -> None:
    for kind in KINDS:
        for rollback in rollbacks([event], kind):
            rolled_back(space.store, rollback, kind, log=REGRESSION if event.action == REGRESSION else "")
