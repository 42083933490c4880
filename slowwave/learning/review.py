"""Review API of learning: gate state, learned items, approval and rollback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl
from typing_extensions import deprecated

from slowwave.common.error_translation import api_calls
from slowwave.common.progress import task
from slowwave.journal.kinds.learning import APPROVE, ROLLBACK, WITHDRAW
from slowwave.learning import applied_terms, learned_items
from slowwave.learning.events import (
    LearningError,
    LearningEvent,
    approved,
    known_kind,
    latest_decision,
    learning_events,
    ratings_off,
    rollback_of,
    rollbacks,
    write_event,
)
from slowwave.learning.gate import decide, refuse_late_clock
from slowwave.learning.gate_evidence import Evidence
from slowwave.learning.learned_items import STATES, State
from slowwave.learning.log import log_acts
from slowwave.quality.learning_gate import APPROVAL, REGRESSION
from slowwave.scoring.feedback.learned import KEYS, RATINGS, WORDS, Kind, Rollback, Scope, standing

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.quality.learning_gate import GateDecision

WAITING: Final = "waiting for the nightly job"


class ApprovalRefusedError(LearningError):
    """Approval that is not possible yet; `decision` names the missing conditions."""

    def __init__(self, decision: GateDecision) -> None:
        self.decision = decision
        missing = "; ".join(
            f"{condition.name} {condition.lacking if condition.state == 'closed' else condition.value}"
            for condition in decision.missing
            if condition.name not in (APPROVAL, REGRESSION)
        )
        what = "Learning of words" if decision.kind == WORDS else "Learning of search keys"
        super().__init__(
            f"{what} in {decision.namespace} cannot be approved yet. Missing: {missing}. "
            f"Nothing was recorded."
        )


@dataclass(frozen=True, slots=True)
class Status:
    """State of the learning of a namespace.

    Attributes:
        gate: Gate of words, condition by condition.
        terms: Terms by state (count).
        proposals: Proposals by outcome (count).
        key_gate: Gate of search keys.
        keys: Search keys by state (count).
        selections: Selections by outcome as keys (count).
    """

    gate: GateDecision
    terms: Mapping[State, int]
    proposals: Mapping[str, int]
    key_gate: GateDecision
    keys: Mapping[State, int]
    selections: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TakenBack:
    """Result of a rollback or of its preview.

    Attributes:
        rollback: The requested rollback.
        applied: Deleted rows of ``learned_triggers`` or ``search_keys``.
        proposed: Lessons that no longer count, including applied ones: ``memory_id``, ``term`` (of a key the
            id of the past question), ``search_id``, ``principal``, ``taught_at``.
        live: Terms or keys that lose their effect (count).
        act: Journal event; None of a preview.
        kind: Kind of learning.
    """

    rollback: Rollback
    applied: pl.DataFrame
    proposed: pl.DataFrame
    live: int
    act: LearningEvent | None = None
    kind: Kind = WORDS


@api_calls
class Learning:
    """Learning of one namespace: listings, approval, withdrawal and rollback.

    `principal` is recorded beside the name of who decides.
    """

    def __init__(self, space: Workspace, namespace: str, principal: str) -> None:
        self._space, self._namespace, self._principal = space, namespace, principal

    # -- listings --------------------------------------------------------------------------------

    def gate(self, kind: Kind = WORDS) -> GateDecision:
        """Return the current decision of the learning gate for words or keys.

        Raises:
            LearningError: an unknown kind.
        """
        return self._gate(self._evidence(), known_kind(kind))

    def status(self) -> Status:
        """Return both gates, and the number of terms, keys and selections by state."""
        return self.overview()[0]

    def overview(self) -> tuple[Status, pl.DataFrame, pl.DataFrame]:
        """Return `status`, `terms` and `keys` from one reading of the evidence."""
        evidence, namespace = self._evidence(), self._namespace
        terms, keys = learned_items.terms(evidence, namespace), learned_items.keys(evidence, namespace)
        status = Status(
            self._gate(evidence, WORDS),
            _by_state(terms),
            learned_items.reasons(evidence, namespace, WORDS),
            self._gate(evidence, KEYS),
            _by_state(keys),
            learned_items.reasons(evidence, namespace, KEYS),
        )
        return status, terms, keys

    def terms(self, *, state: State | Literal[""] = "", memory_id: str = "") -> pl.DataFrame:
        """Return every term that selections taught; of secret memories only if named.

        Args:
            state: proposed, live, expired, taken back; empty: all.
            memory_id: Only of this memory; empty: of all.

        Returns:
            A row per memory and term: ``memory_id``, ``title``, ``term``, ``state``, ``questions`` and
            ``principals`` (distinct ones that count, count), ``taught_at`` (first), ``expires_at`` (latest),
            ``weight`` (now, in [0, 1]), ``searches`` (ids). Live ones come first, then the newest.

        Raises:
            LearningError: an unknown state.
        """
        return self._in_state(learned_items.terms, state, memory_id)

    def keys(self, *, state: State | Literal[""] = "", memory_id: str = "") -> pl.DataFrame:
        """Return every past question that led to a memory; of secret memories only if named.

        Args:
            state: proposed, live, expired, taken back; empty: all.
            memory_id: Only of this memory; empty: of all.

        Returns:
            A row per memory and question: ``memory_id``, ``title``, ``query``, ``state``, ``times``
            (searches, count), ``principals`` (distinct, count), ``taught_at`` (last), ``expires_at``,
            ``weight`` (now, in [0, 1]), ``searches`` (ids). Live ones come first, then the newest.

        Raises:
            LearningError: an unknown state.
        """
        return self._in_state(learned_items.keys, state, memory_id)

    def selections(self, *, reason: str = "", limit: int | None = 50) -> pl.DataFrame:
        """Return every selection with its outcome as a search key, newest first.

        Args:
            reason: Only with this outcome; empty: all.
            limit: Maximum rows; None is all.

        Returns:
            ``proposal_id``, ``selected_at``, ``memory_id``, ``title``, ``query``, ``principal``, ``rank``,
            ``search_id``, ``taken`` (strength of the selection, in [0, 1]), ``reason``.
        """
        return learned_items.selections(self._evidence(), self._namespace, reason=reason, limit=limit)

    def proposals(self, *, reason: str = "", limit: int | None = 50) -> pl.DataFrame:
        """Return every selection with the outcome of its terms, newest first.

        Queries that returned a secret memory, and terms taught to one, are redacted.

        Args:
            reason: Only with this outcome (rule 5); empty: all. A closed gate gives the reason of the night
                of the refusal; `proposed` rows are applied by the next night.
            limit: Maximum rows; None is all.

        Returns:
            ``proposal_id``, ``selected_at``, ``memory_id``, ``title``, ``query``, ``principal``, ``rank``,
            ``search_id``, ``terms`` (learnable), ``taught`` (eligible), ``reason``.
        """
        return learned_items.proposals(self._evidence(), self._namespace, reason=reason, limit=limit)

    def log(self, *, action: str = "", limit: int | None = 50) -> pl.DataFrame:
        """Return the audit log of learning, newest first.

        Args:
            action: Only add, refresh, expire, rollback, refuse, approve, withdraw or regression.
            limit: Maximum rows; None is all.

        Returns:
            ``at``, ``action``, ``reason``, ``memory_id``, ``term``, ``search_id``, ``principal``, ``detail``,
            ``kind`` (of learning), ``log_id``.
        """
        return learned_items.log(self._space.store, self._namespace, action=action, limit=limit)

    # -- decisions -------------------------------------------------------------------------------

    def approve(self, *, who: str, why: str = "", kind: Kind = WORDS) -> LearningEvent:
        """Approve learning from selections as of today, until a withdrawal or a regression.

        Words and search keys are approved apart, each on its own evidence, which is recorded. Repeating an
        approval changes nothing and returns the one in force.

        Raises:
            ApprovalRefusedError: another condition than the approval is missing; names it.
            LearningError: no name, an unknown kind, or a clock behind the latest feedback.
        """
        standing = self._approval(known_kind(kind))
        if standing is not None:
            return standing
        _require_name(who)
        refuse_late_clock(self._space)
        decision = self.gate(kind)
        if not decision.awaits_only_approval:
            raise ApprovalRefusedError(decision)
        conditions = [asdict(condition) for condition in decision.conditions]
        evidence = {"evidence": conditions, "as_of": decision.as_of.isoformat(), "kind": kind}
        return self._write(APPROVE, who, why, evidence)

    def withdraw(self, *, who: str, why: str = "", kind: Kind = WORDS) -> LearningEvent:
        """Withdraw the approval: nothing learned is used, and nothing more is learned.

        Rows stay: a new approval reactivates what has not expired. `roll_back` deletes them.

        Raises:
            LearningError: no approval, no name, or an unknown kind.
        """
        approval, _ = latest_decision(self._acts(), known_kind(kind))
        if approval is None or not approval.given:
            what = "Learning of words" if kind == WORDS else "Learning of search keys"
            raise LearningError(f"{what} of {self._namespace} is not approved. There is nothing to withdraw.")
        return self._write(WITHDRAW, who, why, {"kind": kind})

    def ratings_off(self) -> str:
        """Return the reason why ratings are off in searches; empty while they count (default)."""
        return ratings_off(self._acts())

    def switch_ratings(self, *, on: bool, who: str, why: str = "") -> LearningEvent:
        """Turn ratings in ranking on or off; feedback is aggregated either way.

        Raises:
            LearningError: no name, or no change.
        """
        if on != bool(self.ratings_off()):
            raise LearningError(f"Ratings are {'on' if on else 'off'} in {self._namespace} already.")
        return self._write(APPROVE if on else WITHDRAW, who, why, {"kind": RATINGS})

    def roll_back(
        self, scope: Scope, value: str = "", *, who: str, why: str = "", kind: Kind = WORDS
    ) -> TakenBack:
        """Delete what was learned and proposed within a scope.

        It covers selections up to now, including unprocessed ones. A running nightly job is waited for, then
        its rows are deleted as well.

        Args:
            scope: everything, memory, search, principal or since.
            value: Id of the memory, search or principal, or the moment (ISO); empty for everything.
            who: Name of the person who decides.
            why: Reason, stored in the audit log.
            kind: words or keys.

        Raises:
            LearningError: an unknown scope or kind, a missing or superfluous value, an invalid moment, or no
                name.
        """
        _require_name(who)
        preview = self.preview_rollback(scope, value, kind=kind)
        rollback = preview.rollback
        detail = {"scope": rollback.scope, "value": rollback.value, "kind": kind}
        event = self._write(ROLLBACK, who, why, detail, at=rollback.at)
        [rollback] = rollbacks([event], kind)
        deleted = applied_terms.rolled_back(self._space.store, rollback, kind)
        with self._space.one_night(task(WAITING)):  # a night that began earlier may have written such rows
            more = applied_terms.rolled_back(self._space.store, rollback, kind)
        applied = pl.concat([deleted, more]).unique(
            applied_terms.KEY[kind], keep="first", maintain_order=True
        )
        return TakenBack(
            rollback,
            learned_items.taken_back(self._space.store, applied, rollback),
            preview.proposed,
            preview.live,
            event,
            kind,
        )

    def preview_rollback(self, scope: Scope, value: str = "", *, kind: Kind = WORDS) -> TakenBack:
        """Return what `roll_back` would delete now.

        Raises:
            LearningError: the same as `roll_back`.
        """
        evidence, store = self._evidence(), self._space.store
        rollback = rollback_of(self._namespace, evidence.now.astimezone(UTC), scope, value)
        if known_kind(kind) == WORDS:
            rows, all_lessons = evidence.applied, learned_items.with_applied(evidence)
        else:
            views = learned_items.seen_with_applied(evidence).filter(pl.col("taken") > 0)
            rows, all_lessons = evidence.applied_keys, views.rename({"query_id": "term"})
        live = evidence.live if kind == WORDS else _live_keys(evidence)
        hit = applied_terms.affected(rows, rollback, kind)
        stand = standing(all_lessons, evidence.rollbacks[kind], rollback.at).filter(rollback.hits())
        columns = ["memory_id", "term", "search_id", "principal", "taught_at"]
        remaining = live(rows.join(hit, on=applied_terms.KEY[kind], how="anti"))
        return TakenBack(
            rollback,
            learned_items.taken_back(store, hit, rollback),
            learned_items.taken_back(
                store, stand.select(columns).sort("taught_at", "memory_id", "term"), rollback
            ),
            live(None).height - remaining.height,
            kind=kind,
        )

    would_take_back = deprecated("Use preview_rollback.")(preview_rollback)

    # -- parts -----------------------------------------------------------------------------------

    def _in_state(
        self, listing: Callable[..., pl.DataFrame], state: State | Literal[""], memory_id: str
    ) -> pl.DataFrame:
        if state and state not in STATES:
            raise LearningError(f"state = {state!r} is unknown. Use one of {', '.join(STATES)}.")
        rows = listing(self._evidence(), self._namespace, memory_id=memory_id)
        return rows.filter(state=state) if state else rows

    def _acts(self) -> list[LearningEvent]:
        return learning_events(self._space.journal, self._namespace)

    def _approval(self, kind: Kind) -> LearningEvent | None:
        """Return the approval of a kind in force, if any."""
        decided = self._acts()
        if not approved(decided, kind):
            return None
        return [event for event in decided if event.action == APPROVE and event.about(kind)][-1]

    def _evidence(self) -> Evidence:
        """Return the evidence as of now."""
        return Evidence(self._space, among=[self._namespace])

    def _gate(self, evidence: Evidence, kind: Kind) -> GateDecision:
        return decide(evidence, self._namespace, evidence.now, kind)

    def _write(
        self, action: str, who: str, why: str, detail: Mapping[str, Any], *, at: datetime | None = None
    ) -> LearningEvent:
        """Append a decision to the journal, then all missing decisions to the audit log."""
        moment = at or self._space.now()
        through = {"through": self._principal}
        event = write_event(
            self._space.journal, self._namespace, action, who=_require_name(who), why=why.strip(), at=moment,
            detail={**detail, **through},
        )  # fmt: skip
        log_acts(self._space.store, self._acts())
        return event


def _live_keys(evidence: Evidence) -> Callable[[pl.DataFrame | None], pl.DataFrame]:
    """Return a function that lists keys in effect, a row per memory and past question."""
    return lambda applied: evidence.live_keys(applied).select("memory_id", "query_id").unique()


def _by_state(rows: pl.DataFrame) -> dict[State, int]:
    return dict.fromkeys(STATES, 0) | dict(rows["state"].value_counts().iter_rows())


def _require_name(who: str) -> str:
    if not who.strip():
        raise LearningError("Say who decides: --who NAME. It is recorded.")
    return who.strip()
