"""What is decided about learning: approvals, withdrawals, rollbacks and regressions, in the journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from quality.learning_gate import Approval
from scoring.feedback.learned import SCOPES, Rollback, Scope
from slowwave import ids
from slowwave.errors import SlowwaveError
from slowwave.journal import Entry, payload_of
from slowwave.journal.entry import LEARNING

if TYPE_CHECKING:
    from slowwave.journal import Journal

APPROVE, WITHDRAW, REGRESSION, ROLLBACK = "approve", "withdraw", "regression", "rollback"


class LearningError(SlowwaveError):
    """What was asked of learning cannot be done."""


@dataclass(frozen=True, slots=True)
class Act:
    """Something that was decided.

    Attributes:
        action: approve, withdraw, regression or rollback.
        at: when.
        who: a person; of a regression: the guard.
        why: in words.
        detail: what else was written: the evidence that was shown, or scope and value of a rollback.
    """

    namespace: str
    action: str
    at: datetime
    who: str
    why: str
    detail: Mapping[str, Any]
    event_id: str


def acts(journal: Journal, namespace: str | None = None, *, until: datetime | None = None) -> list[Act]:
    """What was decided, the first first; of one namespace or of all, up to a moment."""
    rows = journal.read(kinds=(LEARNING,), namespace=namespace).sort("occurred_at", "seq")
    found = []
    columns = ["event_id", "namespace", "subject", "occurred_at", "principal", "payload"]
    for event_id, space, action, at, who, data in rows.select(columns).iter_rows():
        if until is None or at <= until:
            payload = dict(payload_of(data))
            found.append(Act(space, action, at, who, str(payload.pop("why", "")), payload, event_id))
    return found


def rollbacks(decided: list[Act]) -> list[Rollback]:
    """What of it takes something back; a regression takes back everything."""
    found = []
    for act in decided:
        if act.action == ROLLBACK:
            found.append(Rollback(act.namespace, act.at, act.detail["scope"], act.detail["value"]))
        elif act.action == REGRESSION:
            found.append(Rollback(act.namespace, act.at, "everything"))
    return found


def last_word(decided: list[Act]) -> tuple[Approval | None, str]:
    """Of the acts of one namespace: the last approval or withdrawal, and the regression found after it."""
    approval, regression = None, ""
    for act in decided:
        if act.action in (APPROVE, WITHDRAW):
            approval, regression = Approval(act.who, act.at, act.action == APPROVE, act.why), ""
        elif act.action == REGRESSION:
            regression = act.why
    return approval, regression


def approved(decided: list[Act]) -> bool:
    """Whether the last word of one namespace is an approval that no regression followed."""
    approval, regression = last_word(decided)
    return approval is not None and approval.given and not regression


def approved_namespaces(journal: Journal) -> list[str]:
    """Namespaces with an approval that stands."""
    decided: dict[str, list[Act]] = {}
    for act in acts(journal):
        decided.setdefault(act.namespace, []).append(act)
    return sorted(namespace for namespace, mine in decided.items() if approved(mine))


def write_act(
    journal: Journal, namespace: str, action: str, *, who: str, why: str, at: datetime,
    detail: Mapping[str, Any], name: str = "",
) -> Act:  # fmt: skip
    """Write something that was decided; written again it is the same act.

    Args:
        journal: of the home.
        namespace: that it is about.
        action: what was decided.
        who: by whom.
        why: in words.
        at: when.
        detail: what else is to be kept.
        name: what makes the act the same when it comes again; empty: the moment.
    """
    if not who.strip():
        raise LearningError("Say who decides: --who NAME. It is recorded.")
    event_id = ids.digest("learning", namespace, action, who, name or at.astimezone(UTC).isoformat())
    entry = Entry(
        event_id=event_id, kind=LEARNING, namespace=namespace, subject=action, occurred_at=at, principal=who,
        payload={"why": why, **detail},
    )  # fmt: skip
    journal.append([entry])
    return Act(namespace, action, at, who, why, detail, event_id)


def rollback_of(namespace: str, at: datetime, scope: Scope, value: str) -> Rollback:
    """A rollback that can be carried out.

    Raises:
        LearningError: an unknown scope, a value that is missing or too much, or no moment.
    """
    if scope not in SCOPES:
        raise LearningError(f"scope = {scope!r}: say {', '.join(SCOPES)}.")
    if (scope == "everything") == bool(value):
        raise LearningError(f"A rollback of {scope} takes {'no value' if value else 'a value'}.")
    if scope == "since":
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise LearningError(f"{value!r} is no moment. Write it as 2026-01-31T12:00+00:00.") from None
        value = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    return Rollback(namespace, at, scope, value)
