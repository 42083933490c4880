"""Learning, for people: what the gate says, what was learned, who approves it, and how it is taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import polars as pl

from slowwave.common.boundary import public_calls
from slowwave.common.progress import task
from slowwave.learning import shown as lists
from slowwave.learning.acts import (
    APPROVE,
    ROLLBACK,
    WITHDRAW,
    Act,
    LearningError,
    acts,
    approved,
    last_word,
    rollback_of,
    rollbacks,
    write_act,
)
from slowwave.learning.applied import learned_triggers
from slowwave.quality.learning_gate import APPROVAL, REGRESSION
from slowwave.scoring.feedback.learned import APPLIED, PROPOSED, Rollback, Scope, live, standing
from slowwave.store import quote

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.learning.lessons import Known
    from slowwave.quality.learning_gate import GateDecision

State = Literal["proposed", "live", "expired", "taken back"]
STATES: Final[tuple[State, ...]] = get_args(State)
"""Of a term of a memory: taught, but without effect (yet); with effect; too old; taken back."""
_TERM = ["memory_id", "term"]
WAITING: Final = "waiting for the night"


class RefusedError(LearningError):
    """An approval that may not be given yet; `decision` says what is missing."""

    def __init__(self, decision: GateDecision) -> None:
        self.decision = decision
        lacking = "; ".join(
            f"{one.name} {one.value}" + (f" (needs {one.bound})" if one.state == "closed" else "")
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
        from slowwave.learning.gate import gate

        return gate(self._space, self._namespace)

    def status(self) -> Status:
        """The gate as it is now, and how many terms and proposals there are in which state."""
        terms = dict.fromkeys(STATES, 0)
        terms.update(self.terms()["state"].value_counts().iter_rows())
        became = self.proposals(limit=None)["reason"].value_counts().sort("count", "reason", descending=True)
        return Status(self.gate(), terms, dict(became.iter_rows()))

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
        now, policy = self._space.now(), self._space.learning_policy
        known = self._known()
        lessons = _with_applied(known, self._applied())
        stand = standing(lessons, known.rollbacks, now)
        young = stand.filter(pl.col("expires_at") > now)
        found = (
            lessons.group_by(_TERM)
            .agg(
                pl.col("taught_at").min(),
                pl.col("expires_at").max(),
                searches=pl.col("search_id").unique().sort(),
            )
            .join(_of_terms(young), on=_TERM, how="left")
            .join(self._live(known).select(*_TERM, live=True), on=_TERM, how="left")
            .join(stand.select(*_TERM, stands=True).unique(), on=_TERM, how="left")
            .with_columns(
                pl.col("questions", "principals").fill_null(0),
                state=pl.when(pl.col("live")).then(pl.lit("live"))
                .when(pl.col("questions").is_not_null()).then(pl.lit("proposed"))
                .when(pl.col("stands")).then(pl.lit("expired"))
                .otherwise(pl.lit("taken back")),
                weight=((pl.coalesce("until", "expires_at") - now) / policy.ttl).clip(0, 1),
            )
        )  # fmt: skip
        found = found.with_columns(
            weight=pl.when(pl.col("state").is_in(["live", "proposed"])).then("weight").otherwise(0.0),
            order=pl.col("state").cast(pl.Enum(["live", "proposed", "expired", "taken back"])).to_physical(),
        ).sort("order", "taught_at", "memory_id", "term", descending=[False, True, False, False])
        columns = ["memory_id", "title", "term", "state", "questions", "principals", "taught_at",
                   "expires_at", "weight", "searches"]  # fmt: skip
        if memory_id:
            found = found.filter(memory_id=memory_id)
        shown = lists.titled(self._space.store, self._namespace, found, named=[memory_id]).select(columns)
        return shown.filter(state=state) if state else shown

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
        known = self._known()
        where = f"namespace = {quote(self._namespace)} AND search_id IS NOT NULL"
        log = self._space.store.read("learning_log", where)
        key = ["search_id", "memory_id"]
        done = log.filter(pl.col("action").is_in(["add", "refresh"])).select(*key, done=True).unique()
        kept = log.filter(action="refuse").select(*key, kept="reason").unique(key, keep="last")
        taught = known.decided.lessons.group_by("proposal_id").agg(taught=pl.col("term").sort())
        found = (
            known.proposals.join(known.decided.reasons, on="proposal_id")
            .join(taught, on="proposal_id", how="left")
            .join(done, on=key, how="left")
            .join(kept, on=key, how="left")
            .with_columns(
                pl.col("taught").fill_null([]),
                reason=pl.when(pl.col("reason") != PROPOSED).then("reason")
                .when(pl.col("done")).then(pl.lit(APPLIED))
                .otherwise(pl.coalesce("kept", pl.lit(self.gate().reason or PROPOSED))),
            )
            .sort("selected_at", "proposal_id", descending=True)
        )  # fmt: skip
        if reason:
            found = found.filter(reason=reason)
        columns = ["proposal_id", "selected_at", "memory_id", "title", "query", "principal", "rank",
                   "search_id", "terms", "taught", "reason"]  # fmt: skip
        shown = found.head(found.height if limit is None else limit)
        return lists.proposals(self._space.store, self._namespace, shown).select(columns)

    def log(self, *, action: str = "", limit: int | None = 50) -> pl.DataFrame:
        """The audit log of learning, the newest first.

        Args:
            action: only add, refresh, expire, rollback, refuse, approve, withdraw or regression.
            limit: how many; None is all.

        Returns:
            ``at``, ``action``, ``reason``, ``memory_id``, ``term``, ``search_id``, ``principal``,
            ``detail``, ``log_id``.
        """
        where = f"namespace = {quote(self._namespace)}"
        rows = self._space.store.read(
            "learning_log", where + (f" AND action = {quote(action)}" if action else "")
        )
        rows = rows.sort("at", "log_id", descending=True).drop("day", "namespace")
        rows = lists.listed(self._space.store, self._namespace, rows)
        return rows.select(pl.exclude("log_id"), "log_id").head(rows.height if limit is None else limit)

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
        shown = [asdict(one) for one in decision.conditions]
        return self._write(APPROVE, who, why, {"evidence": shown, "as_of": decision.as_of.isoformat()})

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
        from slowwave.learning.lessons import taken_back

        _named(who)
        tried = self.would_take_back(scope, value)
        asked = tried.rollback
        act = self._write(ROLLBACK, who, why, {"scope": asked.scope, "value": asked.value}, at=asked.at)
        [asked] = rollbacks([act])
        gone = taken_back(self._space.store, asked)
        with self._space.one_night(task(WAITING)):  # a night that began before may have written what it hits
            more = taken_back(self._space.store, asked)
        applied = pl.concat([gone, more]).unique("trigger_id", keep="first", maintain_order=True)
        return TakenBack(
            asked, lists.taken_back(self._space.store, applied, asked), tried.proposed, tried.live, act
        )

    def would_take_back(self, scope: Scope, value: str = "") -> TakenBack:
        """What `roll_back` would take back now.

        Raises:
            LearningError: as there.
        """
        from slowwave.learning.lessons import lessons_of

        asked = rollback_of(self._namespace, self._space.now().astimezone(UTC), scope, value)
        store, known, rows = self._space.store, self._known(), self._applied()
        hit = lessons_of(rows).filter(asked.hits())
        stand = standing(_with_applied(known, rows), known.rollbacks, asked.at).filter(asked.hits())
        columns = ["memory_id", "term", "search_id", "principal", "taught_at"]
        before = self._live(known)
        left = self._live(known, rows.join(hit, on=["proposal_id", "term"], how="anti"))
        return TakenBack(
            asked,
            lists.taken_back(store, rows.join(hit, on=["proposal_id", "term"], how="semi"), asked),
            lists.taken_back(store, stand.select(columns).sort("taught_at", "memory_id", "term"), asked),
            before.height - left.height,
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

    def _known(self) -> Known:
        """All proposals up to now, and what they come to."""
        from slowwave.learning.lessons import known

        return known(self._space, self._space.now().astimezone(UTC).date().isoformat(), self._namespace)

    def _applied(self) -> pl.DataFrame:
        """Rows of ``learned_triggers``."""
        return self._space.store.read("learned_triggers", f"namespace = {quote(self._namespace)}")

    def _live(self, known: Known, rows: pl.DataFrame | None = None) -> pl.DataFrame:
        """Terms that have an effect on searches now."""
        from slowwave.feedback.texts import in_force, of_text
        from slowwave.learning.isolation import prove
        from slowwave.learning.lessons import lessons_of

        space = self._space
        now, policy = space.now(), space.learning_policy
        lessons = lessons_of(self._applied() if rows is None else rows)
        if learned_triggers(space) is None or not approved(known.acts) or prove(space.store):
            lessons = lessons.clear()
        lessons = of_text(lessons, in_force(known.texts))
        return live(standing(lessons, known.rollbacks, now), now, policy)

    def _write(
        self, action: str, who: str, why: str, detail: Mapping[str, Any], *, at: datetime | None = None
    ) -> Act:
        """Into the journal, then into the audit log, with what a killed process left out of it."""
        from slowwave.learning.log import log_acts

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


def _with_applied(known: Known, rows: pl.DataFrame) -> pl.DataFrame:
    """All lessons; also applied ones that later news of the same days would not teach again."""
    from slowwave.learning.lessons import lessons_of

    both = pl.concat([known.decided.lessons, lessons_of(rows)])
    return both.unique(["proposal_id", "term"], keep="first", maintain_order=True)


def _of_terms(lessons: pl.DataFrame) -> pl.DataFrame:
    """By memory and term: distinct questions and people, and until when."""
    return lessons.group_by(_TERM).agg(
        questions=pl.col("question").n_unique(),
        principals=pl.col("principal").n_unique(),
        until=pl.col("expires_at").max(),
    )
