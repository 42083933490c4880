"""The regression guard (rule 6.8): where what was learned makes results worse, it is taken back."""

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
    """Take back everything of a kind and close its gate, of each namespace whose results it makes worse.

    Args:
        space: of the tables and the journal.
        day: up to whose end is looked.

    Returns:
        Why, by namespace.
    """
    found: dict[str, str] = {}
    heal(space)
    for namespace, why in ratings_worse(space, day).items():
        found[namespace] = f"{RATINGS}: {why}"
        _close(space, namespace, why, RATINGS)
    for kind in KINDS:
        names = approved_namespaces(learning_events(space.journal), kind)
        evidence = Evidence(space, day, among=names)
        for namespace in names:
            if why := regression(evidence, namespace, day_end(day), kind):
                told = why if kind == WORDS else f"{kind}: {why}"
                found[namespace] = "; ".join(filter(None, [found.get(namespace), told]))
                _close(space, namespace, why, kind)
    return found


def ratings_worse(space: Workspace, day: str) -> dict[str, str]:
    """Why ratings make results surely worse, by namespace; not of those where they are switched off.

    Compared are the searches that they changed with the same searches without them: all, and those of which
    no right answer had feedback before, since what is asked for often may push out what is not.

    Args:
        space: of the tables and the journal.
        day: up to whose end is looked.
    """
    as_of = day_end(day)
    rows = space.store.scan("learned_effect", f"kind = {quote(RATINGS)}", columns=["namespace"])
    names = rows["namespace"].unique().sort().to_list()
    evidence, found = Evidence(space, day, among=names), dict[str, str]()
    for namespace in names:
        decided = evidence.acts_of(namespace)
        if ratings_off(decided):
            continue
        switched = [act.at for act in decided if act.about(RATINGS)]
        since = switched[-1].date().isoformat() if switched else ""
        for about, rated in _GROUPS.items():
            for measure in OF_LEARNING:
                done = compared(
                    evidence, namespace, measure.column, since, as_of, RATINGS, live=True, rated=rated
                )
                if done.verdict == "worse" and namespace not in found:
                    found[namespace] = f"{measure} of the searches {about}: {done.describe()}"
    return found


def regression(evidence: Evidence, namespace: str, as_of: datetime, kind: Kind = WORDS) -> str:
    """Why learning makes results worse; empty where nothing says that it does (rule 6.8).

    Looked at are the searches since the approval whose results it changed: without it, from the same
    candidates (MRR@5 and nDCG@10), and what people used where both were shown in turn. Nothing is asked
    while it is not approved.
    """
    approval, found = latest_decision(evidence.acts_of(namespace, as_of), kind)
    # An old day that is looked at again says nothing against a later approval.
    last = latest_decision(evidence.acts_of(namespace), kind)
    if approval is None or not approval.given or found or last != (approval, ""):
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
    """Which results were used where those without what was learned were shown in turn (rule 6.6)."""
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
    """Finish what was decided and killed half-way: the audit log says it, what was taken back is gone."""
    decided = learning_events(space.journal)
    log_acts(space.store, decided)
    for act in decided:
        _take_back(space, act)


def _close(space: Workspace, namespace: str, why: str, kind: Measured) -> None:
    act = write_event(
        space.journal,
        namespace,
        REGRESSION,
        who=GUARD,
        why=why,
        at=space.now(),
        detail={"scope": "everything", "kind": kind},
    )
    log_acts(space.store, [act])
    _take_back(space, act)


def _take_back(space: Workspace, act: LearningEvent) -> None:
    for kind in KINDS:
        for rollback in rollbacks([act], kind):
            rolled_back(space.store, rollback, kind, log=REGRESSION if act.action == REGRESSION else "")
