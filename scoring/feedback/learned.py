"""What selections teach (rule 5): which of them may teach at all, what they teach, and what of it is live.

A selection of a result that the search ranked badly teaches the memory the query's words. `propose` looks at
every selection by itself; `decide` goes through all of them in their order, because how much a memory may
learn depends on what it learned before; `live` says which terms have an effect at a moment. All three are
functions of what was selected and what was taken back: the same selections give the same terms, in whatever
order and however often the days are worked on.
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
"""What can become of a selection, in the order in which it is checked (rule 5)."""
ORDER: Final = "order_to_assistant"
"""Of a selection whose query is no question but an order to an assistant (rule 7.5, safeguard 1)."""
PROPOSED: Final = "proposed"
"""Passed everything but the gate, which decides between the last three reasons."""

Kind = Literal["words", "keys"]
WORDS: Final = "words"
KEYS: Final = "keys"
KINDS: Final[tuple[Kind, ...]] = (WORDS, KEYS)
"""What use teaches: words of questions (rule 5), and questions as keys to what they led to (rule 7)."""

RATINGS: Final = "ratings"
USE: Final = "use"
Measured = Literal["words", "keys", "ratings", "use"]
MEASURED: Final[tuple[Measured, ...]] = (WORDS, KEYS, RATINGS, USE)
"""What searches are measured without: words and search keys, which a gate lets in; ratings (rule 8), which
count at once; and all use together, as if nobody had ever given feedback (rule 8.3)."""
SWITCHED: Final[tuple[Measured, ...]] = (WORDS, KEYS, RATINGS)
"""What a person or the regression guard switches on and off."""

Scope = Literal["everything", "memory", "search", "principal", "since"]
SCOPES: Final[tuple[Scope, ...]] = ("everything", "memory", "search", "principal", "since")
_NAMES_OF: Final = {"memory": "memory_id", "search": "search_id", "principal": "principal"}


@dataclass(frozen=True, slots=True)
class Rollback:
    """Something learned that was taken back (safeguard 6).

    Attributes:
        at: when; it says nothing of what was known before.
        scope: what was taken back.
        value: the memory's, search's or principal's id, or a moment (ISO); empty for everything.
        order: its moment among all acts, which is `at` where the clock stood right; what is taught later
            stands.
    """

    namespace: str
    at: datetime
    scope: Scope
    value: str = ""
    order: datetime | None = None

    @property
    def covers(self) -> datetime:
        """The last moment of what it takes back."""
        return self.order or self.at

    def hits(self) -> pl.Expr:
        """Whether a lesson is taken back by it."""
        mine = pl.lit(value=True)
        if self.scope == "since":
            mine = pl.col("taught_at") >= datetime.fromisoformat(self.value)
        elif self.scope != "everything":
            mine = pl.col(_NAMES_OF[self.scope]) == self.value
        return (pl.col("namespace") == self.namespace) & (pl.col("taught_at") <= self.covers) & mine


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
"""Columns of a proposal. question: the query's learnable words, sorted: two queries with the same ones teach
as one. terms: that it could teach, the best first; of a refused one all but the memory's own. refusal: a
reason that needs no look at the others. text: which of the memory's texts was selected; what one is taught,
another one does not know (rule 7.6)."""

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
    """Why a selection teaches nothing, as far as it says itself; null where it may.

    Of ``rank`` (null where nobody knows it), ``born_at`` and ``gone_at`` (of the text that was selected; see
    `propose`).

    Args:
        policy: bounds.
        at: column of its moment.
        order: whether its query is an order to an assistant; None: column ``order``.
        enabled: whether anything may be learned at all.
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
    """Look at every selection by itself.

    Args:
        selections: ``proposal_id``, ``namespace``, ``memory_id``, ``search_id``, ``principal``,
            ``selected_at``, ``rank`` (null where the search is not logged, was imported, or did not show the
            memory), ``text`` (that was selected), ``born_at`` (when the memory first said so; null where
            there is none),
            ``gone_at`` (when it was retired, else null), ``asked`` (the query's learnable terms, in order;
            empty where the query is no question but an order to an assistant), ``triggers`` (terms of the
            memory's own trigger phrases).
        frequent: ``namespace``, ``term``, ``memories`` (that have it) and ``share`` of all; where both frames
            have ``day``, as that day ended.
        policy: bounds.
        enabled: whether anything may be learned at all.

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
    known = words.join(frequent, left_on=[*of, "asked"], right_on=[*of, "term"], how="left")
    common = (
        ~pl.col("refused")
        & (pl.col("share") > policy.frequent_share)
        & (pl.col("memories") >= policy.frequent_from)
    )
    own = pl.col("triggers").list.contains(pl.col("asked"))
    order = ["place"] if policy.preference == "question" else ["memories", "place"]
    kept = (
        known.filter(~common.fill_null(value=False), ~own.fill_null(value=False))
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
    """What became of proposals.

    Attributes:
        reasons: ``proposal_id`` and ``reason`` (one of `REASONS`, or `PROPOSED`), a row a proposal.
        lessons: what those that passed teach, rows as in `LESSON`; also what was taken back since.
    """

    reasons: pl.DataFrame
    lessons: pl.DataFrame


@dataclass(slots=True)
class _Learning:
    """What a memory learned lately."""

    events: deque[datetime] = field(default_factory=deque)
    # term, when it was taught, search, who, text
    lessons: list[tuple[str, datetime, str, str, str]] = field(default_factory=list)


def decide(proposals: pl.DataFrame, rollbacks: Sequence[Rollback], policy: LearningPolicy) -> Decided:
    """Go through proposals in the order of their selections.

    What was taken back makes room from that moment on. It is a loop over those that nothing refused, of which
    the rate limit lets few through.

    Args:
        proposals: all up to a moment, of any namespaces, rows as in `PROPOSAL`.
        rollbacks: of these namespaces.
        policy: bounds.
    """
    reasons = proposals.select("proposal_id", reason="refusal")
    eligible = proposals.filter(pl.col("refusal").is_null()).sort("selected_at", "proposal_id")
    taken_back = sorted(rollbacks, key=lambda one: one.covers)
    memories: dict[tuple[str, str], _Learning] = {}
    decided: list[tuple[str, str]] = []
    taught: list[tuple[str, str]] = []
    window = timedelta(hours=policy.window_hours)
    columns = ["proposal_id", "namespace", "memory_id", "search_id", "principal", "selected_at", "terms"]
    said = pl.col("text").fill_null("")
    done = 0
    for name, namespace, memory, search, who, at, terms, text in eligible.select(*columns, said).iter_rows():
        while done < len(taken_back) and taken_back[done].covers < at:
            _take_back(memories, taken_back[done])
            done += 1
        here = memories.setdefault((namespace, memory), _Learning())
        while here.events and here.events[0] <= at - window:
            here.events.popleft()
        if len(here.events) >= policy.events:
            decided.append((name, RATE_LIMITED))
            continue
        here.lessons = [one for one in here.lessons if one[1] > at - policy.ttl]
        chosen = _choose(terms, {one[0] for one in here.lessons if one[4] == text}, policy)
        if not chosen:
            decided.append((name, NO_TERMS))
            continue
        decided.append((name, PROPOSED))
        here.events.append(at)
        here.lessons += [(term, at, search, who, text) for term in chosen]
        taught += [(name, term) for term in chosen]
    found = pl.DataFrame(decided, schema={"proposal_id": pl.String, "found": pl.String}, orient="row")
    terms = pl.DataFrame(taught, schema={"proposal_id": pl.String, "term": pl.String}, orient="row")
    lessons = terms.join(
        eligible.drop("terms"), on="proposal_id", how="left", maintain_order="left"
    ).with_columns(taught_at="selected_at", expires_at=pl.col("selected_at") + policy.ttl)
    return Decided(
        reasons.join(found, on="proposal_id", how="left", maintain_order="left").select(
            "proposal_id", reason=pl.coalesce("reason", "found")
        ),
        lessons.select(pl.col(name).cast(kind) for name, kind in LESSON.items()),
    )


def _choose(terms: Sequence[str], known: set[str], policy: LearningPolicy) -> list[str]:
    """The terms that a selection teaches a memory, which has room for so many."""
    room = policy.terms_per_memory - len(known)
    ordered = sorted(terms, key=lambda term: term not in known) if policy.known_first else terms
    chosen: list[str] = []
    for term in ordered:
        if len(chosen) == policy.terms_per_selection:
            break
        if term in known or room > 0:
            room -= term not in known
            chosen.append(term)
    return chosen


def _take_back(memories: dict[tuple[str, str], _Learning], act: Rollback) -> None:
    """Forget what a rollback takes back; that a memory learned so often in some hours stays counted."""
    moment = datetime.fromisoformat(act.value) if act.scope == "since" else None
    for (namespace, memory), here in memories.items():
        if namespace != act.namespace or (act.scope == "memory" and memory != act.value):
            continue
        here.lessons = [
            one
            for one in here.lessons
            if not (
                act.scope in ("everything", "memory")
                or (act.scope == "search" and one[2] == act.value)
                or (act.scope == "principal" and one[3] == act.value)
                or (moment is not None and one[1] >= moment)
            )
        ]


def standing(lessons: pl.DataFrame, rollbacks: Sequence[Rollback], as_of: datetime) -> pl.DataFrame:
    """Lessons taught before a moment that were not taken back by then, the expired among them."""
    kept = lessons.filter(pl.col("taught_at") < as_of)
    for act in rollbacks:
        if act.at <= as_of:
            kept = kept.filter(~act.hits())
    return kept


def live(lessons: pl.DataFrame, as_of: datetime, policy: LearningPolicy) -> pl.DataFrame:
    """Terms that have an effect at a moment: `well_taught` by lessons that have not expired.

    Args:
        lessons: standing ones.
        as_of: the moment.
        policy: bounds.

    Returns:
        Rows of `well_taught`.
    """
    open_ = (pl.col("taught_at") < as_of) & (pl.col("expires_at") > as_of)
    return well_taught(lessons.filter(open_), policy)


def well_taught(lessons: pl.DataFrame, policy: LearningPolicy) -> pl.DataFrame:
    """Terms that enough distinct questions and people have taught.

    Args:
        lessons: that count.
        policy: bounds.

    Returns:
        ``namespace``, ``memory_id``, ``term``, ``added_at`` (first lesson that counts), ``expires_at`` (of
        the last), ``questions`` and ``principals`` (distinct, count), ``searches`` (their ids), sorted by
        the first three.
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
        .filter(pl.col("questions") >= policy.least_queries, pl.col("principals") >= policy.least_principals)
        .sort("namespace", "memory_id", "term")
    )
