"""Journal events of learning: approvals, withdrawals, rollbacks and regressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from slowwave.common import ids
from slowwave.common.arguments import shown
from slowwave.errors import SlowwaveError
from slowwave.journal import Entry, payload_of
from slowwave.journal.entry import ERASURE, LEARNING
from slowwave.journal.kinds.erasure import is_erased
from slowwave.journal.kinds.learning import (
    APPROVE,
    REGRESSION,
    ROLLBACK,
    WITHDRAW,
    is_sound,
    payload_of_decision,
    why_and_detail,
)
from slowwave.scoring.feedback.learned import (
    KEYS,
    KINDS,
    RATINGS,
    SCOPES,
    WORDS,
    Kind,
    Measured,
    Rollback,
    Scope,
)

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.quality.learning_gate import Approval

_NEVER = datetime.max.replace(tzinfo=UTC)
_JUST_NOW = timedelta(seconds=1)  # also before a moment that was taken a little earlier


class LearningError(SlowwaveError):
    """Learning request that cannot be carried out."""


@dataclass(frozen=True, slots=True)
class LearningEvent:
    """Decision about learning.

    Attributes:
        action: approve, withdraw, regression or rollback.
        at: Time by the clock of the machine that recorded it.
        ordered_at: Position among all events (`slowwave.journal.Entry.ordered_at`).
        who: Name of a person; of a regression: the guard.
        why: Reason.
        detail: Kind of learning (both if absent), the evidence at the time, or scope and value of a rollback.
    """

    namespace: str
    action: str
    at: datetime
    who: str
    why: str
    detail: Mapping[str, Any]
    event_id: str
    ordered_at: datetime

    def about(self, kind: Measured) -> bool:
        """Return whether it decides about this kind.

        Without a kind it decides about words and keys, but an approval about words alone.
        """
        decided_kind = self.detail.get("kind")
        if kind == RATINGS:
            return decided_kind == kind
        return decided_kind == kind or (decided_kind is None and (kind == WORDS or self.action != APPROVE))


def mark(journal: Journal, namespace: str) -> tuple[int, ...]:
    """Return a fingerprint of a namespace's decisions.

    Events are only added or erased, so equal counts of both mean no change.
    """
    return tuple(journal.count(namespace, kind) for kind in (LEARNING, ERASURE))


def learning_events(
    journal: Journal, namespace: str | None = None, *, until: datetime | None = None
) -> list[LearningEvent]:
    """Return the decisions in their order, of one namespace or all, up to a moment."""
    return _read(journal, namespace, until)[0]


def malformed_events(journal: Journal) -> list[str]:
    """Return the ids of learning events that cannot be carried out.

    They are set aside and count as not written.
    """
    return _read(journal, None, None)[1]


def _read(
    journal: Journal, namespace: str | None, until: datetime | None
) -> tuple[list[LearningEvent], list[str]]:
    rows = journal.read(kinds=(LEARNING,), namespace=namespace)
    events, malformed = list[LearningEvent](), list[str]()
    columns = ["event_id", "namespace", "subject", "occurred_at", "principal", "payload", "ordered_at"]
    for event_id, space, action, at, who, data, order in rows.select(columns).iter_rows():
        if until is None or at <= until:
            payload = payload_of(data)
            if is_erased(payload):
                continue
            if is_sound(action, payload):
                why, detail = why_and_detail(payload)
                events.append(LearningEvent(space, action, at, who, why, detail, event_id, order))
            else:
                malformed.append(event_id)
    return events, malformed


def as_actor(decided: list[LearningEvent], now: datetime) -> list[LearningEvent]:
    """Return the same events with none in the future.

    A future date comes from a clock that is ahead.
    """
    return [event if event.at < now else replace(event, at=now - _JUST_NOW) for event in decided]


def rollbacks(decided: list[LearningEvent], kind: Kind = WORDS) -> list[Rollback]:
    """Return the rollbacks of a kind; a regression rolls back everything."""
    results = []
    for event in decided:
        if not event.about(kind):
            continue
        if event.action == ROLLBACK:
            scope, value = event.detail["scope"], event.detail["value"]
            results.append(Rollback(event.namespace, event.at, scope, value, event.ordered_at))
        elif event.action == REGRESSION:
            results.append(Rollback(event.namespace, event.at, "everything", order=event.ordered_at))
    return results


def latest_decision(decided: list[LearningEvent], kind: Measured = WORDS) -> tuple[Approval | None, str]:
    """Return the last approval or withdrawal of a namespace, and the regression found after it."""
    from slowwave.quality.learning_gate import Approval

    approval, regression = None, ""
    for event in decided:
        if not event.about(kind):
            continue
        if event.action == WITHDRAW and approval is None:
            continue  # nothing to withdraw before an approval
        if event.action in (APPROVE, WITHDRAW):
            approval, regression = Approval(event.who, event.at, event.action == APPROVE, event.why), ""
        elif event.action == REGRESSION:
            regression = event.why
    return approval, regression


def ratings_off(decided: list[LearningEvent]) -> str:
    """Return the reason why ratings are off in a namespace; empty while they count (default)."""
    why = ""
    for event in decided:
        if event.about(RATINGS):
            why = "" if event.action == APPROVE else event.why or f"{event.who} switched them off"
    return why


def approved(decided: list[LearningEvent], kind: Kind = WORDS) -> bool:
    """Return whether a kind is approved in a namespace and no regression followed."""
    approval, regression = latest_decision(decided, kind)
    return approval is not None and approval.given and not regression


def approved_namespaces(decided: Iterable[LearningEvent], kind: Kind = WORDS) -> list[str]:
    """Return the namespaces with a kind approved."""
    by_namespace: dict[str, list[LearningEvent]] = {}
    for event in decided:
        by_namespace.setdefault(event.namespace, []).append(event)
    return sorted(namespace for namespace, events in by_namespace.items() if approved(events, kind))


def write_event(
    journal: Journal, namespace: str, action: str, *, who: str, why: str, at: datetime,
    detail: Mapping[str, Any],
) -> LearningEvent:  # fmt: skip
    """Append a decision about a namespace to the journal; repeating the last one is idempotent.

    Args:
        journal: Journal of the home.
        namespace: Namespace it decides about.
        action: approve, withdraw, regression or rollback.
        who: Name of who decides.
        why: Reason.
        at: Time of the decision.
        detail: Further values to record.
    """
    if not who.strip():
        raise LearningError("Say who decides: --who NAME. It is recorded.")
    # The id includes the previous event: two events at the same clock time stay two.
    previous = learning_events(journal, namespace)
    if previous and (last := previous[-1]) == replace(
        last, action=action, at=at.astimezone(UTC), who=who, why=why, detail=dict(detail)
    ):
        return last
    previous_ids = [event.event_id for event in previous[-1:]]
    event_id = ids.digest("learning", namespace, action, who, at.astimezone(UTC).isoformat(), *previous_ids)
    entry = Entry(
        event_id=event_id, kind=LEARNING, namespace=namespace, subject=action, occurred_at=at, principal=who,
        payload=payload_of_decision(why, detail),
    )  # fmt: skip
    journal.append([entry])
    written = journal.entries([event_id])[event_id]
    return LearningEvent(namespace, action, at, who, why, detail, event_id, written.ordered_at or at)


def rollback_of(namespace: str, at: datetime, scope: Scope, value: str) -> Rollback:
    """Build a rollback of everything learned so far, with scope and value validated.

    Raises:
        LearningError: an unknown scope, a value that is missing or too much, or no moment.
    """
    if scope not in SCOPES:
        raise LearningError(f"scope = {shown(scope)} is unknown. Use one of {', '.join(SCOPES)}.")
    if (scope == "everything") == bool(value):
        raise LearningError(f"A rollback of {scope} takes {'no value' if value else 'a value'}.")
    if scope == "since":
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise LearningError(
                f"{value!r} is no date and time. Write it as 2026-01-31T12:00+00:00."
            ) from None
        value = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    return Rollback(namespace, at, scope, value, order=_NEVER)


def known_kind(kind: str) -> Kind:
    """Return the kind if it is valid.

    Raises:
        LearningError: an unknown kind.
    """
    if kind not in KINDS:
        raise LearningError(f"kind = {kind!r} is unknown. Use {' or '.join(KINDS)}.")
    return WORDS if kind == WORDS else KEYS
