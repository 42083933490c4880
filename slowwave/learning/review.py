"""Learning, for people: what the gate says, what was learned, who approves it, and how it is taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl

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

WAITING: Final = "waiting for the night"


class ApprovalRefusedError(LearningError):
    """An approval that may not be given yet; `decision` says what is missing."""

    def __init__(self, decision: GateDecision) -> None:
        self.decision = decision
        lacking = "; ".join(
            f"{one.name} {one.lacking if one.state == 'closed' else one.value}"
            for one in decision.missing
            if one.name not in (APPROVAL, REGRESSION)
        )
        what = "Learning of words" if decision.kind == WORDS else "Learning of search keys"
        super().__init__(
            f"{what} in {decision.namespace} cannot be approved yet. Missing: {lacking}. "
            f"Nothing was recorded."
        )


@dataclass(frozen=True, slots=True)
class Status:
    """What is known of the learning of a namespace.

    Attributes:
        gate: what it says now of words, condition by condition.
        terms: of its memories, by state (count).
        proposals: by what became of them (count).
        key_gate: what it says of search keys.
        keys: of its memories, by state (count).
        selections: by what became of them as keys (count).
    """

    gate: GateDecision
    terms: Mapping[State, int]
    proposals: Mapping[str, int]
    key_gate: GateDecision
    keys: Mapping[State, int]
    selections: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What a rollback takes back, or would.

    Attributes:
        rollback: what was asked.
        applied: rows of ``learned_triggers`` or ``search_keys`` that are gone, as they were.
        proposed: lessons that no longer stand, the applied ones among them: ``memory_id``, ``term`` (of a
            key the id of the past question), ``search_id``, ``principal``, ``taught_at``.
        live: terms or keys that had an effect and have none any more (count).
        act: as it is in the journal; None where it was only tried.
        kind: of learning.
    """

    rollback: Rollback
    applied: pl.DataFrame
    proposed: pl.DataFrame
    live: int
    act: LearningEvent | None = None
    kind: Kind = WORDS


@api_calls
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

    def gate(self, kind: Kind = WORDS) -> GateDecision:
        """What the learning gate says now of a kind: words or keys.

        Raises:
            LearningError: an unknown kind.
        """
        return self._gate(self._evidence(), known_kind(kind))

    def status(self) -> Status:
        """The gates as they are now, and how many terms, keys and selections there are in which state."""
        return self.overview()[0]

    def overview(self) -> tuple[Status, pl.DataFrame, pl.DataFrame]:
        """`status`, `terms` and `keys` at once, of which each by itself looks at all the evidence."""
        evidence, mine = self._evidence(), self._namespace
        terms, keys = learned_items.terms(evidence, mine), learned_items.keys(evidence, mine)
        status = Status(
            self._gate(evidence, WORDS),
            _by_state(terms),
            _became(learned_items.proposals(evidence, mine)),
            self._gate(evidence, KEYS),
            _by_state(keys),
            _became(learned_items.selections(evidence, mine)),
        )
        return status, terms, keys

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
        return self._in_state(learned_items.terms, state, memory_id)

    def keys(self, *, state: State | Literal[""] = "", memory_id: str = "") -> pl.DataFrame:
        """Every past question that led to a memory; those of a secret one only where it is named.

        Args:
            state: proposed, live, expired, taken back; empty: all.
            memory_id: only of this memory; empty: of all.

        Returns:
            A row a memory and question: ``memory_id``, ``title``, ``query``, ``state``, ``times`` (searches
            that led there, count), ``principals`` (distinct, count), ``taught_at`` (the last time),
            ``expires_at``, ``weight`` (now, in [0, 1]), ``searches`` (their ids); live ones first, the newest
            first.

        Raises:
            LearningError: an unknown state.
        """
        return self._in_state(learned_items.keys, state, memory_id)

    def selections(self, *, reason: str = "", limit: int | None = 50) -> pl.DataFrame:
        """Every selection, and what became of it as a search key; the newest first.

        Args:
            reason: only with this one; empty: all.
            limit: how many; None is all.

        Returns:
            ``proposal_id``, ``selected_at``, ``memory_id``, ``title``, ``query``, ``principal``, ``rank``,
            ``search_id``, ``taken`` (how far it was what was looked for, in [0, 1]), ``reason``.
        """
        return learned_items.selections(self._evidence(), self._namespace, reason=reason, limit=limit)

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
        return learned_items.proposals(self._evidence(), self._namespace, reason=reason, limit=limit)

    def log(self, *, action: str = "", limit: int | None = 50) -> pl.DataFrame:
        """The audit log of learning, the newest first.

        Args:
            action: only add, refresh, expire, rollback, refuse, approve, withdraw or regression.
            limit: how many; None is all.

        Returns:
            ``at``, ``action``, ``reason``, ``memory_id``, ``term``, ``search_id``, ``principal``,
            ``detail``, ``kind`` (of learning), ``log_id``.
        """
        return learned_items.log(self._space.store, self._namespace, action=action, limit=limit)

    # -- what people decide ----------------------------------------------------------------------

    def approve(self, *, who: str, why: str = "", kind: Kind = WORDS) -> LearningEvent:
        """Approve that selections teach from today on; it stands until it is withdrawn or learning does harm.

        Words and search keys are approved apart: each has evidence of its own.

        The evidence that was there is recorded with it. Where it is approved already nothing changes.

        Args:
            who: approves; a person's name.
            why: in words.
            kind: words or keys.

        Returns:
            The approval that stands.

        Raises:
            ApprovalRefusedError: something but the approval is missing; says what.
            LearningError: nobody was named, an unknown kind, or a clock that is behind the memory.
        """
        standing = self._approval(known_kind(kind))
        if standing is not None:
            return standing
        _named(who)
        refuse_late_clock(self._space)
        decision = self.gate(kind)
        if not decision.awaits_only_approval:
            raise ApprovalRefusedError(decision)
        conditions = [asdict(one) for one in decision.conditions]
        shown_then = {"evidence": conditions, "as_of": decision.as_of.isoformat(), "kind": kind}
        return self._write(APPROVE, who, why, shown_then)

    def withdraw(self, *, who: str, why: str = "", kind: Kind = WORDS) -> LearningEvent:
        """Withdraw the approval: from now on nothing learned is used, and nothing more is learned.

        What was learned is kept: a new approval brings back what has not expired. `roll_back` deletes it.

        Raises:
            LearningError: nothing is approved, nobody was named, or an unknown kind.
        """
        given, _ = latest_decision(self._acts(), known_kind(kind))
        if given is None or not given.given:
            what = "Learning of words" if kind == WORDS else "Learning of search keys"
            raise LearningError(f"{what} of {self._namespace} is not approved. There is nothing to withdraw.")
        return self._write(WITHDRAW, who, why, {"kind": kind})

    def ratings_off(self) -> str:
        """Why ratings do not count in searches; empty where they do, as they do from the beginning."""
        return ratings_off(self._acts())

    def switch_ratings(self, *, on: bool, who: str, why: str = "") -> LearningEvent:
        """Let ratings count in searches, or not; feedback is taken and folded either way.

        Raises:
            LearningError: nobody was named, or nothing would change.
        """
        if on != bool(self.ratings_off()):
            raise LearningError(f"Ratings are {'on' if on else 'off'} in {self._namespace} already.")
        return self._write(APPROVE if on else WITHDRAW, who, why, {"kind": RATINGS})

    def roll_back(
        self, scope: Scope, value: str = "", *, who: str, why: str = "", kind: Kind = WORDS
    ) -> TakenBack:
        """Take back what was learned and proposed, as if it had never been taught.

        It also covers selections up to now that no night has looked at yet. When a night is running, it
        waits for it and looks again.

        Args:
            scope: everything, memory, search, principal or since.
            value: the memory's, search's or principal's id, or the moment (ISO); empty for everything.
            who: decides.
            why: in words.
            kind: words or keys.

        Raises:
            LearningError: an unknown scope or kind, a value that is missing or too much, no moment, or nobody
                named.
        """
        _named(who)
        tried = self.preview_rollback(scope, value, kind=kind)
        asked = tried.rollback
        detail = {"scope": asked.scope, "value": asked.value, "kind": kind}
        act = self._write(ROLLBACK, who, why, detail, at=asked.at)
        [asked] = rollbacks([act], kind)
        gone = applied_terms.rolled_back(self._space.store, asked, kind)
        with self._space.one_night(task(WAITING)):  # a night that began before may have written what it hits
            more = applied_terms.rolled_back(self._space.store, asked, kind)
        applied = pl.concat([gone, more]).unique(applied_terms.KEY[kind], keep="first", maintain_order=True)
        return TakenBack(
            asked,
            learned_items.taken_back(self._space.store, applied, asked),
            tried.proposed,
            tried.live,
            act,
            kind,
        )

    def preview_rollback(self, scope: Scope, value: str = "", *, kind: Kind = WORDS) -> TakenBack:
        """What `roll_back` would take back now.

        Raises:
            LearningError: as there.
        """
        evidence, store = self._evidence(), self._space.store
        asked = rollback_of(self._namespace, evidence.now.astimezone(UTC), scope, value)
        if known_kind(kind) == WORDS:
            rows, all_lessons = evidence.applied, learned_items.with_applied(evidence)
        else:
            seen = learned_items.seen_with_applied(evidence).filter(pl.col("taken") > 0)
            rows, all_lessons = evidence.applied_keys, seen.rename({"query_id": "term"})
        live = evidence.live if kind == WORDS else _live_keys(evidence)
        hit = applied_terms.affected(rows, asked, kind)
        stand = standing(all_lessons, evidence.rollbacks[kind], asked.at).filter(asked.hits())
        columns = ["memory_id", "term", "search_id", "principal", "taught_at"]
        left = live(rows.join(hit, on=applied_terms.KEY[kind], how="anti"))
        return TakenBack(
            asked,
            learned_items.taken_back(store, hit, asked),
            learned_items.taken_back(
                store, stand.select(columns).sort("taught_at", "memory_id", "term"), asked
            ),
            live(None).height - left.height,
            kind=kind,
        )

    # -- parts -----------------------------------------------------------------------------------

    def _in_state(
        self, listing: Callable[..., pl.DataFrame], state: State | Literal[""], memory_id: str
    ) -> pl.DataFrame:
        if state and state not in STATES:
            raise LearningError(f"state = {state!r}: say {', '.join(STATES)}.")
        rows = listing(self._evidence(), self._namespace, memory_id=memory_id)
        return rows.filter(state=state) if state else rows

    def _acts(self) -> list[LearningEvent]:
        return learning_events(self._space.journal, self._namespace)

    def _approval(self, kind: Kind) -> LearningEvent | None:
        """The approval of a kind that stands, if one does."""
        decided = self._acts()
        if not approved(decided, kind):
            return None
        return [act for act in decided if act.action == APPROVE and act.about(kind)][-1]

    def _evidence(self) -> Evidence:
        """What is known now."""
        return Evidence(self._space, among=[self._namespace])

    def _gate(self, evidence: Evidence, kind: Kind) -> GateDecision:
        return decide(evidence, self._namespace, evidence.now, kind)

    def _write(
        self, action: str, who: str, why: str, detail: Mapping[str, Any], *, at: datetime | None = None
    ) -> LearningEvent:
        """Into the journal, then into the audit log, with what a killed process left out of it."""
        moment = at or self._space.now()
        through = {"through": self._principal}
        act = write_event(
            self._space.journal, self._namespace, action, who=_named(who), why=why.strip(), at=moment,
            detail={**detail, **through},
        )  # fmt: skip
        log_acts(self._space.store, self._acts())
        return act


def _live_keys(evidence: Evidence) -> Callable[[pl.DataFrame | None], pl.DataFrame]:
    """Keys that have an effect: a row a memory and past question."""
    return lambda applied: evidence.live_keys(applied).select("memory_id", "query_id").unique()


def _by_state(rows: pl.DataFrame) -> dict[State, int]:
    return dict.fromkeys(STATES, 0) | dict(rows["state"].value_counts().iter_rows())


def _became(rows: pl.DataFrame) -> dict[str, int]:
    """By what became of selections, the most frequent first (count)."""
    return dict(rows["reason"].value_counts().sort("count", "reason", descending=True).iter_rows())


def _named(who: str) -> str:
    if not who.strip():
        raise LearningError("Say who decides: --who NAME. It is recorded.")
    return who.strip()
