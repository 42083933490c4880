"""Learning, for people: what the gate says, what was learned, who approves it, and how it is taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl

from slowwave.common.boundary import public_calls
from slowwave.common.progress import task
from slowwave.journal.kinds.learning import APPROVE, ROLLBACK, WITHDRAW
from slowwave.learning import lessons, shown
from slowwave.learning.acts import (
    Act,
    LearningError,
    acts,
    approved,
    last_word,
    rollback_of,
    rollbacks,
    write_act,
)
from slowwave.learning.applied import lessons_of
from slowwave.learning.evidence import Evidence
from slowwave.learning.gate import decide
from slowwave.learning.log import log_acts
from slowwave.learning.shown import STATES, State
from slowwave.quality.learning_gate import APPROVAL, REGRESSION
from slowwave.scoring.feedback.learned import Rollback, Scope, standing

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.quality.learning_gate import GateDecision

WAITING: Final = "waiting for the night"


class RefusedError(LearningError):
    """An approval that may not be given yet; `decision` says what is missing."""

    def __init__(self, decision: GateDecision) -> None:
        self.decision = decision
        lacking = "; ".join(
            f"{one.name} {one.lacking if one.state == 'closed' else one.value}"
            for one in decision.missing
            if one.name not in (APPROVAL, REGRESSION)
        )
        super().__init__(
            f"Learning of {decision.namespace} cannot be approved yet. Missing: {lacking}. "
            f"Nothing was recorded."
        )


@dataclass(frozen=True, slots=True)
class Status:
    """What is known of the learning of a namespace.

    Attributes:
        gate: what it says now, condition by condition.
        terms: of its memories, by state (count).
        proposals: by what became of them (count).
    """

    gate: GateDecision
    terms: Mapping[State, int]
    proposals: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What a rollback takes back, or would.

    Attributes:
        rollback: what was asked.
        applied: rows of ``learned_triggers`` that are gone, as they were.
        proposed: lessons that no longer stand, the applied ones among them: ``memory_id``, ``term``,
            ``search_id``, ``principal``, ``taught_at``.
        live: terms that had an effect and have none any more (count).
        act: as it is in the journal; None where it was only tried.
    """

    rollback: Rollback
    applied: pl.DataFrame
    proposed: pl.DataFrame
    live: int
    act: Act | None = None


@public_calls
class Learning:
    """What was learned in one namespace, and the decisions of people about it.

    Args:
        space: of the home.
        namespace: whose learning.
        principal: through whom people act here, recorded beside their names.
    """

    def __init__(self, space: Workspace, namespace: str, principal: str) -> None:
        self._space, self._namespace, self._principal = space, namespace, principal

    # -- what there is ---------------------------------------------------------------------------

    def gate(self) -> GateDecision:
        """What the learning gate says now."""
        return self._gate(self._evidence())

    def status(self) -> Status:
        """The gate as it is now, and how many terms and proposals there are in which state."""
        evidence = self._evidence()
        terms = dict.fromkeys(STATES, 0)
        terms.update(shown.terms(evidence, self._namespace)["state"].value_counts().iter_rows())
        reasons = shown.proposals(evidence, self._namespace)["reason"].value_counts()
        became = reasons.sort("count", "reason", descending=True)
        return Status(self._gate(evidence), terms, dict(became.iter_rows()))

    def terms(self, *, state: State | Literal[""] = "", memory_id: str = "") -> pl.DataFrame:
        """Every term that a selection has taught a memory; those of a secret one only where it is named.

        Args:
            state: proposed, live, expired, taken back; empty: all.
            memory_id: only of this memory; empty: of all.

        Returns:
            A row a memory and term: ``memory_id``, ``title``, ``term``, ``state``, ``questions`` and
            ``principals`` (distinct ones that taught it and stand, count), ``taught_at`` (the first time),
            ``expires_at`` (at the latest), ``weight`` (now, in [0, 1]), ``searches`` (ids of those that
            taught it); live ones first, the newest first.

        Raises:
            LearningError: an unknown state.
        """
        if state and state not in STATES:
            raise LearningError(f"state = {state!r}: say {', '.join(STATES)}.")
        rows = shown.terms(self._evidence(), self._namespace, memory_id=memory_id)
        return rows.filter(state=state) if state else rows

    def proposals(self, *, reason: str = "", limit: int | None = 50) -> pl.DataFrame:
        """Every selection, and what became of what it could have taught; the newest first.

        Of a question that a secret memory was shown for, and of what was taught to one, no word is listed.

        Args:
            reason: only with this one (rule 5); empty: all. Of those that only the gate keeps, it is that of
                the night on which they were refused; `proposed` are those that the next night applies.
            limit: how many; None is all.

        Returns:
            ``proposal_id``, ``selected_at``, ``memory_id``, ``title``, ``query``, ``principal``, ``rank``,
            ``search_id``, ``terms`` (that it could teach), ``taught`` (that it does, where it is allowed to),
            ``reason``.
        """
        return shown.proposals(self._evidence(), self._namespace, reason=reason, limit=limit)

    def log(self, *, action: str = "", limit: int | None = 50) -> pl.DataFrame:
        """The audit log of learning, the newest first.

        Args:
            action: only add, refresh, expire, rollback, refuse, approve, withdraw or regression.
            limit: how many; None is all.

        Returns:
            ``at``, ``action``, ``reason``, ``memory_id``, ``term``, ``search_id``, ``principal``,
            ``detail``, ``log_id``.
        """
        return shown.log(self._space.store, self._namespace, action=action, limit=limit)

    # -- what people decide ----------------------------------------------------------------------

    def approve(self, *, who: str, why: str = "") -> Act:
        """Approve that selections teach from today on; it stands until it is withdrawn or learning does harm.

        The evidence that was there is recorded with it. Where it is approved already nothing changes.

        Args:
            who: approves; a person's name.
            why: in words.

        Returns:
            The approval that stands.

        Raises:
            RefusedError: something but the approval is missing; says what.
            LearningError: nobody was named.
        """
        standing = self._approval()
        if standing is not None:
            return standing
        _named(who)
        decision = self.gate()
        if not decision.awaits_only_approval:
            raise RefusedError(decision)
        conditions = [asdict(one) for one in decision.conditions]
        return self._write(APPROVE, who, why, {"evidence": conditions, "as_of": decision.as_of.isoformat()})

    def withdraw(self, *, who: str, why: str = "") -> Act:
        """Withdraw the approval: from now on nothing learned is used, and nothing more is learned.

        What was learned is kept: a new approval brings back what has not expired. `roll_back` deletes it.

        Raises:
            LearningError: nothing is approved, or nobody was named.
        """
        given, _ = last_word(self._acts())
        if given is None or not given.given:
            raise LearningError(
                f"Learning of {self._namespace} is not approved. There is nothing to withdraw."
            )
        return self._write(WITHDRAW, who, why, {})

    def roll_back(self, scope: Scope, value: str = "", *, who: str, why: str = "") -> TakenBack:
        """Take back what was learned and proposed, as if it had never been taught.

        It also covers selections up to now that no night has looked at yet. When a night is running, it
        waits for it and looks again.

        Args:
            scope: everything, memory, search, principal or since.
            value: the memory's, search's or principal's id, or the moment (ISO); empty for everything.
            who: decides.
            why: in words.

        Raises:
            LearningError: an unknown scope, a value that is missing or too much, no moment, or nobody named.
        """
        _named(who)
        tried = self.would_take_back(scope, value)
        asked = tried.rollback
        act = self._write(ROLLBACK, who, why, {"scope": asked.scope, "value": asked.value}, at=asked.at)
        [asked] = rollbacks([act])
        gone = lessons.taken_back(self._space.store, asked)
        with self._space.one_night(task(WAITING)):  # a night that began before may have written what it hits
            more = lessons.taken_back(self._space.store, asked)
        applied = pl.concat([gone, more]).unique("trigger_id", keep="first", maintain_order=True)
        return TakenBack(
            asked, shown.taken_back(self._space.store, applied, asked), tried.proposed, tried.live, act
        )

    def would_take_back(self, scope: Scope, value: str = "") -> TakenBack:
        """What `roll_back` would take back now.

        Raises:
            LearningError: as there.
        """
        evidence, store = self._evidence(), self._space.store
        asked = rollback_of(self._namespace, evidence.now.astimezone(UTC), scope, value)
        rows = evidence.applied
        hit = lessons_of(rows).filter(asked.hits())
        stand = standing(shown.with_applied(evidence), evidence.rollbacks, asked.at).filter(asked.hits())
        columns = ["memory_id", "term", "search_id", "principal", "taught_at"]
        left = evidence.live(rows.join(hit, on=["proposal_id", "term"], how="anti"))
        return TakenBack(
            asked,
            shown.taken_back(store, rows.join(hit, on=["proposal_id", "term"], how="semi"), asked),
            shown.taken_back(store, stand.select(columns).sort("taught_at", "memory_id", "term"), asked),
            evidence.live().height - left.height,
        )

    # -- parts -----------------------------------------------------------------------------------

    def _acts(self) -> list[Act]:
        return acts(self._space.journal, self._namespace)

    def _approval(self) -> Act | None:
        """The approval that stands, if one does."""
        decided = self._acts()
        if not approved(decided):
            return None
        return [act for act in decided if act.action == APPROVE][-1]

    def _evidence(self) -> Evidence:
        """What is known now."""
        return Evidence(self._space, among=[self._namespace])

    def _gate(self, evidence: Evidence) -> GateDecision:
        return decide(evidence, self._namespace, evidence.now)

    def _write(
        self, action: str, who: str, why: str, detail: Mapping[str, Any], *, at: datetime | None = None
    ) -> Act:
        """Into the journal, then into the audit log, with what a killed process left out of it."""
        moment = at or self._space.now()
        through = {"through": self._principal}
        act = write_act(
            self._space.journal, self._namespace, action, who=_named(who), why=why.strip(), at=moment,
            detail={**detail, **through},
        )  # fmt: skip
        log_acts(self._space.store, self._acts())
        return act


def _named(who: str) -> str:
    if not who.strip():
        raise LearningError("Say who decides: --who NAME. It is recorded.")
    return who.strip()
