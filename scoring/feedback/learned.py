"""Learned terms: eligibility, selection and liveness (rule 5).

A selection of a badly ranked result teaches its memory the query's words. `propose` checks every selection on
its own. `decide` processes all of them in time order, because the rate cap depends on earlier ones. `live`
returns the terms with an effect at a moment. All three are pure functions of selections and rollbacks, so
processing days again, in any order, gives the same terms.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

import polars as pl

from slowwave.scoring.feedback.policy import KeyTeaching, LearningPolicy

FEATURE_DISABLED, NO_PROVENANCE, TOP_3 = "feature_disabled", "no_provenance", "top_3_exclusion"
NOT_FOUND, TOO_NEW, RATE_LIMITED = "memory_not_found", "memory_too_new", "rate_limited"
NO_TERMS, SHADOW, GATE_CLOSED, APPLIED = "no_learnable_terms", "shadow_period", "gate_closed", "applied"
REASONS: Final = (
    FEATURE_DISABLED, NO_PROVENANCE, TOP_3, NOT_FOUND, TOO_NEW, RATE_LIMITED, NO_TERMS, SHADOW, GATE_CLOSED,
    APPLIED,
)  # fmt: skip
"""Outcomes of a selection, in the order of the checks (rule 5)."""
ORDER: Final = "order_to_assistant"
"""Reason of a selection whose query gives orders to an assistant (rule 7.5, safeguard 1)."""
PROPOSED: Final = "proposed"
"""Passed every check before the learning gate, which decides between the last three reasons."""

Kind = Literal["words", "keys"]
WORDS: Final = "words"
KEYS: Final = "keys"
KINDS: Final[tuple[Kind, ...]] = (WORDS, KEYS)
"""Kinds of learning: learned terms (rule 5) and search keys (rule 7)."""

RATINGS: Final = "ratings"
USE: Final = "use"
Measured = Literal["words", "keys", "ratings", "use"]
MEASURED: Final[tuple[Measured, ...]] = (WORDS, KEYS, RATINGS, USE)
"""Ablations of searches: without learned terms or search keys, which pass the learning gate; without ratings
(rule 8), which count at once; and without any feedback (`use`)."""
SWITCHED: Final[tuple[Measured, ...]] = (WORDS, KEYS, RATINGS)
"""Kinds that a person or the regression guard switches on and off."""

Scope = Literal["everything", "memory", "search", "principal", "since"]
SCOPES: Final[tuple[Scope, ...]] = ("everything", "memory", "search", "principal", "since")
_NAMES_OF: Final = {"memory": "memory_id", "search": "search_id", "principal": "principal"}


@dataclass(frozen=True, slots=True)
class Rollback:
    """Rollback of something learned (rule 5.6, safeguard 6).

    Attributes:
        at: moment of the rollback; it does not affect earlier moments.
        scope: kind of selection that it takes back.
        value: id of the memory, search or principal, or a moment (ISO); empty for everything.
        order: its place among all events, which is `at` if the clock was right; later lessons stand.
    """

    namespace: str
    at: datetime
    scope: Scope
    value: str = ""
    order: datetime | None = None

    @property
    def covers(self) -> datetime:
        """Return the last moment whose lessons it takes back."""
        return self.order or self.at

    def hits(self) -> pl.Expr:
        """Whether the rollback takes a lesson back."""
        in_scope = pl.lit(value=True)
        if self.scope == "since":
            in_scope = pl.col("taught_at") >= datetime.fromisoformat(self.value)
        elif self.scope != "everything":
            in_scope = pl.col(_NAMES_OF[self.scope]) == self.value
        return (pl.col("namespace") == self.namespace) & (pl.col("taught_at") <= self.covers) & in_scope


_MOMENT: Final = pl.Datetime("us", "UTC")
PROPOSAL: Final[dict[str, pl.DataType]] = {
    **dict.fromkeys(
        ("proposal_id", "namespace", "memory_id", "search_id", "question", "principal"), pl.String()
    ),
    "selected_at": _MOMENT,
    "rank": pl.Int32(),
    "terms": pl.List(pl.String()),
    **dict.fromkeys(("refusal", "text"), pl.String()),
}
"""Columns of a proposal. question: the query's learnable words, sorted; queries with the same words are one
query. terms: candidate terms, the best first; for a refused proposal, all but the memory's own. refusal: a
reason that needs no other selection. text: the revision of the memory that was selected; revisions learn
separately (rule 7.6)."""

LESSON: Final[dict[str, pl.DataType]] = {
    **dict.fromkeys(
        ("proposal_id", "namespace", "memory_id", "term", "search_id", "question", "principal"), pl.String()
    ),
    **dict.fromkeys(("taught_at", "expires_at"), _MOMENT),
    "text": pl.String(),
}
"""Columns of a lesson: one term that one selection teaches one memory."""


def refusal(
    policy: LearningPolicy | KeyTeaching,
    *,
    at: str = "at",
    order: pl.Expr | None = None,
    enabled: bool = True,
) -> pl.Expr:
    """Return the reason for which a selection teaches nothing, null if it may teach.

    Only reasons that need no other selection. Reads ``rank`` (null if not logged), ``born_at`` and
    ``gone_at`` (of the selected text; see `propose`).

    Args:
        policy: bounds.
        at: column with the moment of the selection.
        order: whether the query gives orders to an assistant; None: column ``order``.
        enabled: whether learning is on.
    """
    gone = pl.col("gone_at").is_not_null() & (pl.col("gone_at") <= pl.col(at))
    young = pl.col(at) - pl.col("born_at") < timedelta(hours=policy.eligible_hours)
    return (
        pl.when(pl.lit(not enabled)).then(pl.lit(FEATURE_DISABLED))
        .when(pl.col("rank").is_null()).then(pl.lit(NO_PROVENANCE))
        .when(pl.col("rank") <= policy.excluded_ranks).then(pl.lit(TOP_3))
        .when(pl.col("order") if order is None else order).then(pl.lit(ORDER))
        .when(pl.col("born_at").is_null() | gone).then(pl.lit(NOT_FOUND))
        .when(young).then(pl.lit(TOO_NEW))
    )  # fmt: skip


def propose(selections: pl.DataFrame, frequent: pl.DataFrame, policy: LearningPolicy, *, enabled: bool = True
            ) -> pl.DataFrame:  # fmt: skip
    """Check every selection on its own and list its candidate terms.

    Args:
        selections: ``proposal_id``, ``namespace``, ``memory_id``, ``search_id``, ``principal``,
            ``selected_at``, ``rank`` (null if the search was not logged, was imported, or did not return the
            memory), ``text`` (selected revision), ``born_at`` (when the memory first had it; null if never),
            ``gone_at`` (when it was retired, else null), ``asked`` (the query's learnable terms, in order;
            empty for an order to an assistant), ``triggers`` (terms of the memory's own trigger phrases).
        frequent: ``namespace``, ``term``, ``memories`` (with the term, count) and ``share`` of all; joined by
            ``day``, too, if both frames have it.
        policy: bounds.
        enabled: whether learning is on.

    Returns:
        Rows as in `PROPOSAL`, one a selection.
    """
    reason = refusal(policy, at="selected_at", order=pl.lit(value=False), enabled=enabled)
    of = [name for name in ("namespace", "day") if name in selections.columns and name in frequent.columns]
    words = (
        selections.with_columns(refused=reason.is_not_null())
        .select("proposal_id", *of, "asked", "triggers", "refused")
        .explode("asked")
        .drop_nulls("asked")
    )
    words = words.with_columns(place=pl.int_range(pl.len()).over("proposal_id"))
    counted = words.join(frequent, left_on=[*of, "asked"], right_on=[*of, "term"], how="left")
    common = (
        ~pl.col("refused")
        & (pl.col("share") > policy.frequent_share)
        & (pl.col("memories") >= policy.common_term_min_memories)
    )
    own = pl.col("triggers").list.contains(pl.col("asked"))
    order = ["place"] if policy.preference == "question" else ["memories", "place"]
    kept = (
        counted.filter(~common.fill_null(value=False), ~own.fill_null(value=False))
        .with_columns(pl.col("memories").fill_null(0))
        .sort("proposal_id", *order)
        .group_by("proposal_id", maintain_order=True)
        .agg(terms="asked")
    )
    return (
        selections.with_columns(
            refusal=reason,
            question=pl.col("asked").list.sort().list.join(" "),
            rank=pl.col("rank").cast(pl.Int32),
        )
        .join(kept, on="proposal_id", how="left", maintain_order="left")
        .with_columns(pl.col("terms").fill_null([]))
        .select(pl.col(name).cast(kind) for name, kind in PROPOSAL.items())
    )


@dataclass(frozen=True, slots=True)
class Decided:
    """Decisions on proposals, and their lessons.

    Attributes:
        reasons: ``proposal_id`` and ``reason`` (one of `REASONS`, or `PROPOSED`), one row a proposal.
        lessons: lessons of the proposals that passed, rows as in `LESSON`, those taken back since included.
    """

    reasons: pl.DataFrame
    lessons: pl.DataFrame


@dataclass(slots=True)
class _Learning:
    """Recent lessons of a memory."""

    events: deque[datetime] = field(default_factory=deque)
    # term, when it was taught, search, who, text
    lessons: list[tuple[str, datetime, str, str, str]] = field(default_factory=list)


def decide(proposals: pl.DataFrame, rollbacks: Sequence[Rollback], policy: LearningPolicy) -> Decided:
    """Decide proposals in the order of their selections.

    A rollback frees terms from its moment on. The loop runs over eligible proposals only, and the rate cap
    lets few of them pass.

    Args:
        proposals: all up to a moment, rows as in `PROPOSAL`.
        rollbacks: of the same namespaces.
        policy: bounds.
    """
    reasons = proposals.select("proposal_id", reason="refusal")
    eligible = proposals.filter(pl.col("refusal").is_null()).sort("selected_at", "proposal_id")
    taken_back = sorted(rollbacks, key=lambda lesson: lesson.covers)
    memories: dict[tuple[str, str], _Learning] = {}
    decided: list[tuple[str, str]] = []
    taught: list[tuple[str, str]] = []
    window = timedelta(hours=policy.window_hours)
    columns = ["proposal_id", "namespace", "memory_id", "search_id", "principal", "selected_at", "terms"]
    text_column = pl.col("text").fill_null("")
    applied = 0
    for name, namespace, memory, search, principal, at, terms, text in eligible.select(
        *columns, text_column
    ).iter_rows():
        while applied < len(taken_back) and taken_back[applied].covers < at:
            _take_back(memories, taken_back[applied])
            applied += 1
        learning = memories.setdefault((namespace, memory), _Learning())
        while learning.events and learning.events[0] <= at - window:
            learning.events.popleft()
        if len(learning.events) >= policy.max_events_per_window:
            decided.append((name, RATE_LIMITED))
            continue
        learning.lessons = [lesson for lesson in learning.lessons if lesson[1] > at - policy.ttl]
        chosen = _choose(terms, {lesson[0] for lesson in learning.lessons if lesson[4] == text}, policy)
        if not chosen:
            decided.append((name, NO_TERMS))
            continue
        decided.append((name, PROPOSED))
        learning.events.append(at)
        learning.lessons += [(term, at, search, principal, text) for term in chosen]
        taught += [(name, term) for term in chosen]
    outcomes = pl.DataFrame(decided, schema={"proposal_id": pl.String, "found": pl.String}, orient="row")
    terms = pl.DataFrame(taught, schema={"proposal_id": pl.String, "term": pl.String}, orient="row")
    lessons = terms.join(
        eligible.drop("terms"), on="proposal_id", how="left", maintain_order="left"
    ).with_columns(taught_at="selected_at", expires_at=pl.col("selected_at") + policy.ttl)
    return Decided(
        reasons.join(outcomes, on="proposal_id", how="left", maintain_order="left").select(
            "proposal_id", reason=pl.coalesce("reason", "found")
        ),
        lessons.select(pl.col(name).cast(kind) for name, kind in LESSON.items()),
    )


def _choose(terms: Sequence[str], learned_terms: set[str], policy: LearningPolicy) -> list[str]:
    """Choose the terms that a selection teaches, within the limits of the memory."""
    room = policy.terms_per_memory - len(learned_terms)
    ordered = sorted(terms, key=lambda term: term not in learned_terms) if policy.known_first else terms
    chosen: list[str] = []
    for term in ordered:
        if len(chosen) == policy.terms_per_selection:
            break
        if term in learned_terms or room > 0:
            room -= term not in learned_terms
            chosen.append(term)
    return chosen


def _take_back(memories: dict[tuple[str, str], _Learning], rollback: Rollback) -> None:
    """Remove the lessons that a rollback takes back.

    Their events still count for the rate cap.
    """
    moment = datetime.fromisoformat(rollback.value) if rollback.scope == "since" else None
    for (namespace, memory), learning in memories.items():
        if namespace != rollback.namespace or (rollback.scope == "memory" and memory != rollback.value):
            continue
        learning.lessons = [
            lesson
            for lesson in learning.lessons
            if not (
                rollback.scope in ("everything", "memory")
                or (rollback.scope == "search" and lesson[2] == rollback.value)
                or (rollback.scope == "principal" and lesson[3] == rollback.value)
                or (moment is not None and lesson[1] >= moment)
            )
        ]


def standing(lessons: pl.DataFrame, rollbacks: Sequence[Rollback], as_of: datetime) -> pl.DataFrame:
    """Return the lessons before a moment without those taken back; expired ones stay."""
    kept = lessons.filter(pl.col("taught_at") < as_of)
    for rollback in rollbacks:
        if rollback.at <= as_of:
            kept = kept.filter(~rollback.hits())
    return kept


def live(lessons: pl.DataFrame, as_of: datetime, policy: LearningPolicy) -> pl.DataFrame:
    """Return the terms with an effect at a moment: `well_taught`, not expired.

    Args:
        lessons: standing lessons.
        as_of: the moment.
        policy: bounds.

    Returns:
        Rows of `well_taught`.
    """
    open_ = (pl.col("taught_at") < as_of) & (pl.col("expires_at") > as_of)
    return well_taught(lessons.filter(open_), policy)


def well_taught(lessons: pl.DataFrame, policy: LearningPolicy) -> pl.DataFrame:
    """Return the terms that enough distinct questions and users taught.

    Args:
        lessons: lessons that count.
        policy: bounds.

    Returns:
        ``namespace``, ``memory_id``, ``term``, ``added_at`` (first lesson), ``expires_at`` (of the last),
        ``questions`` and ``principals`` (distinct, count), ``searches`` (ids), sorted by the first three.
    """
    return (
        lessons.group_by("namespace", "memory_id", "term")
        .agg(
            added_at=pl.col("taught_at").min(),
            expires_at=pl.col("expires_at").max(),
            questions=pl.col("question").n_unique(),
            principals=pl.col("principal").n_unique(),
            searches=pl.col("search_id").unique().sort(),
        )
        .filter(pl.col("questions") >= policy.min_queries, pl.col("principals") >= policy.min_users)
        .sort("namespace", "memory_id", "term")
    )
