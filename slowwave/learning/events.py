"""What is decided about learning: approvals, withdrawals, rollbacks and regressions, in the journal."""

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
from slowwave.quality.learning_gate import Approval
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

_NEVER = datetime.max.replace(tzinfo=UTC)
_JUST_NOW = timedelta(seconds=1)  # before a moment that was asked for a little earlier, too


class LearningError(SlowwaveError):
    """What was asked of learning cannot be done."""


@dataclass(frozen=True, slots=True)
class LearningEvent:
    """Something that was decided.

    Attributes:
        action: approve, withdraw, regression or rollback.
        at: when, by the clock of the machine it was said on.
        ordered_at: its moment among all acts (`slowwave.journal.Entry.ordered_at`).
        who: a person; of a regression: the guard.
        why: in words.
        detail: what else was written: which kind of learning it is about (both, where nothing is said), the
            evidence that was shown, or scope and value of a rollback.
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
        """Whether it decides about this kind.

        What names none decides about words and keys, but an approval about words alone.
        """
        said = self.detail.get("kind")
        if kind == RATINGS:
            return said == kind
        return said == kind or (said is None and (kind == WORDS or self.action != APPROVE))


def mark(journal: Journal, namespace: str) -> tuple[int, ...]:
    """Return what tells the decisions about a namespace from earlier ones.

    Entries only come, or are erased: as many of both as before are the same.
    """
    return tuple(journal.count(namespace, kind) for kind in (LEARNING, ERASURE))


def learning_events(
    journal: Journal, namespace: str | None = None, *, until: datetime | None = None
) -> list[LearningEvent]:
    """What was decided, in the order in which it was said; of one namespace or of all, up to a moment."""
    return _read(journal, namespace, until)[0]


def malformed_events(journal: Journal) -> list[str]:
    """Ids of the acts of learning that nobody can carry out; they are set aside, and count as not written."""
    return _read(journal, None, None)[1]


def _read(
    journal: Journal, namespace: str | None, until: datetime | None
) -> tuple[list[LearningEvent], list[str]]:
    rows = journal.read(kinds=(LEARNING,), namespace=namespace)
    found, malformed = list[LearningEvent](), list[str]()
    columns = ["event_id", "namespace", "subject", "occurred_at", "principal", "payload", "ordered_at"]
    for event_id, space, action, at, who, data, order in rows.select(columns).iter_rows():
        if until is None or at <= until:
            payload = payload_of(data)
            if is_erased(payload):
                continue
            if is_sound(action, payload):
                why, detail = why_and_detail(payload)
                found.append(LearningEvent(space, action, at, who, why, detail, event_id, order))
            else:
                malformed.append(event_id)
    return found, malformed


def as_actor(decided: list[LearningEvent], now: datetime) -> list[LearningEvent]:
    """The same acts, none of them in the future: what was dated there, a clock that is ahead has dated."""
    return [act if act.at < now else replace(act, at=now - _JUST_NOW) for act in decided]


def rollbacks(decided: list[LearningEvent], kind: Kind = WORDS) -> list[Rollback]:
    """What of it takes something of a kind back; a regression takes back everything."""
    found = []
    for act in decided:
        if not act.about(kind):
            continue
        if act.action == ROLLBACK:
            scope, value = act.detail["scope"], act.detail["value"]
            found.append(Rollback(act.namespace, act.at, scope, value, act.ordered_at))
        elif act.action == REGRESSION:
            found.append(Rollback(act.namespace, act.at, "everything", order=act.ordered_at))
    return found


def latest_decision(decided: list[LearningEvent], kind: Measured = WORDS) -> tuple[Approval | None, str]:
    """Of the acts of one namespace: the last approval or withdrawal, and the regression found after it."""
    approval, regression = None, ""
    for act in decided:
        if not act.about(kind):
            continue
        if act.action == WITHDRAW and approval is None:
            continue  # of what was never approved, nothing is withdrawn
        if act.action in (APPROVE, WITHDRAW):
            approval, regression = Approval(act.who, act.at, act.action == APPROVE, act.why), ""
        elif act.action == REGRESSION:
            regression = act.why
    return approval, regression


def ratings_off(decided: list[LearningEvent]) -> str:
    """Why ratings of one namespace do not count; empty where they do, as they do from the beginning."""
    why = ""
    for act in decided:
        if act.about(RATINGS):
            why = "" if act.action == APPROVE else act.why or f"{act.who} switched them off"
    return why


def approved(decided: list[LearningEvent], kind: Kind = WORDS) -> bool:
    """Whether the last word of one namespace on a kind is an approval that no regression followed."""
    approval, regression = latest_decision(decided, kind)
    return approval is not None and approval.given and not regression


def approved_namespaces(decided: Iterable[LearningEvent], kind: Kind = WORDS) -> list[str]:
    """Namespaces with an approval of a kind that stands."""
    by_namespace: dict[str, list[LearningEvent]] = {}
    for act in decided:
        by_namespace.setdefault(act.namespace, []).append(act)
    return sorted(namespace for namespace, mine in by_namespace.items() if approved(mine, kind))


def write_event(
    journal: Journal, namespace: str, action: str, *, who: str, why: str, at: datetime,
    detail: Mapping[str, Any],
) -> LearningEvent:  # fmt: skip
    """Write something that was decided, as the next word on this namespace; said again it is that word.

    Args:
        journal: of the home.
        namespace: that it is about.
        action: what was decided.
        who: by whom.
        why: in words.
        at: when.
        detail: what else is to be kept.
    """
    if not who.strip():
        raise LearningError("Say who decides: --who NAME. It is recorded.")
    # Named by what it follows: a clock that shows a moment twice does not make two acts one.
    before = learning_events(journal, namespace)
    if before and (last := before[-1]) == replace(
        last, action=action, at=at.astimezone(UTC), who=who, why=why, detail=dict(detail)
    ):
        return last
    after = [act.event_id for act in before[-1:]]
    event_id = ids.digest("learning", namespace, action, who, at.astimezone(UTC).isoformat(), *after)
    entry = Entry(
        event_id=event_id, kind=LEARNING, namespace=namespace, subject=action, occurred_at=at, principal=who,
        payload=payload_of_decision(why, detail),
    )  # fmt: skip
    journal.append([entry])
    written = journal.entries([event_id])[event_id]
    return LearningEvent(namespace, action, at, who, why, detail, event_id, written.ordered_at or at)


def rollback_of(namespace: str, at: datetime, scope: Scope, value: str) -> Rollback:
    """A rollback of what was taught so far, that can be carried out once it is written.

    Raises:
        LearningError: an unknown scope, a value that is missing or too much, or no moment.
    """
    if scope not in SCOPES:
        raise LearningError(f"scope = {shown(scope)}: say {', '.join(SCOPES)}.")
    if (scope == "everything") == bool(value):
        raise LearningError(f"A rollback of {scope} takes {'no value' if value else 'a value'}.")
    if scope == "since":
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise LearningError(f"{value!r} is no moment. Write it as 2026-01-31T12:00+00:00.") from None
        value = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    return Rollback(namespace, at, scope, value, order=_NEVER)


def known_kind(kind: str) -> Kind:
    """The kind, where it is one.

    Raises:
        LearningError: it is not.
    """
    if kind not in KINDS:
        raise LearningError(f"kind = {kind!r}: say {' or '.join(KINDS)}.")
    return WORDS if kind == WORDS else KEYS
