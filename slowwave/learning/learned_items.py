"""What is listed of selections and of what they taught: no word that belongs to a secret memory."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, Literal, get_args

import polars as pl

from slowwave.common import ids
from slowwave.home.visibility import Viewer, access_view, closed_queries, redact
from slowwave.learning.active_boosts import lessons_of
from slowwave.learning.gate import decide
from slowwave.learning.gate_evidence import Evidence, of_kind
from slowwave.scoring.feedback.learned import APPLIED, KEYS, PROPOSED, WORDS, Kind, standing
from slowwave.store import quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.scoring.feedback.learned import Rollback
    from slowwave.store import Store

State = Literal["proposed", "live", "expired", "taken back"]
STATES: Final[tuple[State, ...]] = get_args(State)
"""Of a term of a memory: taught, but without effect (yet); with effect; too old; taken back."""
TAKEN_BACK: Final = "taken_back"
"""Of a selection that taught, or could have, and was taken back since."""
_ORDER = pl.Enum(["live", "proposed", "expired", "taken back"])
_TERM = ["memory_id", "term"]
_WORDS = ("title", "term", "detail", "query", "terms", "taught", "trigger_id", "question")


def listed(store: Store, namespace: str, rows: pl.DataFrame, *, named: Collection[str] = ()) -> pl.DataFrame:
    """The rows without titles and words of secret memories that nobody named.

    Args:
        store: the tables.
        namespace: whose the rows are.
        rows: with ``memory_id``.
        named: memories that a person named by their ids.
    """
    return access_view(store, namespace, rows["memory_id"].unique(), Viewer.REPORT, named=named).veiled(
        rows, *_WORDS
    )


def taken_back(store: Store, rows: pl.DataFrame, asked: Rollback) -> pl.DataFrame:
    """Lessons that a rollback is about; one of a memory names it."""
    return listed(store, asked.namespace, rows, named=[asked.value] if asked.scope == "memory" else [])


def titled(store: Store, namespace: str, rows: pl.DataFrame, *, named: Collection[str] = ()) -> pl.DataFrame:
    """The same with the titles of the memories."""
    titles = store.read_by(
        "memories", "memory_id", rows["memory_id"].unique().to_list(), columns=["memory_id", "title"],
        also=within(namespace),
    )  # fmt: skip
    return listed(
        store, namespace, rows.join(titles, on="memory_id", how="left", maintain_order="left"), named=named
    )


def terms(evidence: Evidence, namespace: str, *, memory_id: str = "") -> pl.DataFrame:
    """Rows of `slowwave.learning.review.Learning.terms`, of one memory or of all."""
    now, policy = evidence.now, evidence.space.learning_policy
    lessons = with_applied(evidence)
    stand = standing(lessons, evidence.rollbacks[WORDS], now)
    young = stand.filter(pl.col("expires_at") > now)
    found = (
        lessons.group_by(_TERM)
        .agg(
            pl.col("taught_at").min(),
            pl.col("expires_at").max(),
            searches=pl.col("search_id").unique().sort(),
        )
        .join(_of_terms(young), on=_TERM, how="left")
        .join(evidence.live().select(*_TERM, live=True), on=_TERM, how="left")
        .join(stand.select(*_TERM, stands=True).unique(), on=_TERM, how="left")
        .with_columns(
            pl.col("questions", "principals").fill_null(0),
            state=_state(pl.col("questions").is_not_null()),
            weight=((pl.coalesce("until", "expires_at") - now) / policy.ttl).clip(0, 1),
        )
    )  # fmt: skip
    found = found.with_columns(
        weight=pl.when(pl.col("state").is_in(["live", "proposed"])).then("weight").otherwise(0.0),
        order=pl.col("state").cast(_ORDER).to_physical(),
    ).sort("order", "taught_at", "memory_id", "term", descending=[False, True, False, False])
    if memory_id:
        found = found.filter(memory_id=memory_id)
    columns = ["memory_id", "title", "term", "state", "questions", "principals", "taught_at", "expires_at",
               "weight", "searches"]  # fmt: skip
    return titled(evidence.space.store, namespace, found, named=[memory_id]).select(columns)


def _state(proposed: pl.Expr) -> pl.Expr:
    """Which of `STATES` each row is in, by ``live``, ``stands`` and whether it may have an effect later."""
    return (
        pl.when("live").then(pl.lit("live"))
        .when(proposed).then(pl.lit("proposed"))
        .when("stands").then(pl.lit("expired"))
        .otherwise(pl.lit("taken back"))
    )  # fmt: skip


def proposals(
    evidence: Evidence, namespace: str, *, reason: str = "", limit: int | None = None
) -> pl.DataFrame:
    """Rows of `slowwave.learning.review.Learning.proposals`.

    Of a question that a secret memory was shown for no word is there.
    """
    taught = evidence.decided.lessons.group_by("proposal_id").agg(taught=pl.col("term").sort())
    found = (
        evidence.proposals.join(evidence.decided.reasons, on="proposal_id")
        .join(taught, on="proposal_id", how="left")
        .with_columns(pl.col("taught").fill_null([]))
    )
    columns = ["proposal_id", "selected_at", "memory_id", "title", "query", "principal", "rank", "search_id",
               "terms", "taught", "reason"]  # fmt: skip
    return _selections(evidence, namespace, found, WORDS, reason, limit).select(columns)


def selections(
    evidence: Evidence, namespace: str, *, reason: str = "", limit: int | None = None
) -> pl.DataFrame:
    """Rows of `slowwave.learning.review.Learning.selections`.

    Of a question that a secret memory was shown for no word is there.
    """
    found = evidence.views.filter("selected").join(evidence.seen.reasons, on="view_id")
    found = found.rename({"view_id": "proposal_id", "at": "selected_at"})
    columns = ["proposal_id", "selected_at", "memory_id", "title", "query", "principal", "rank", "search_id",
               "taken", "reason"]  # fmt: skip
    return _selections(evidence, namespace, found, KEYS, reason, limit).select(columns)


def _selections(
    evidence: Evidence, namespace: str, found: pl.DataFrame, kind: Kind, reason: str, limit: int | None
) -> pl.DataFrame:
    """Selections with what became of them, the newest first, without words of secret memories."""
    store, key = evidence.space.store, ["search_id", "memory_id"]
    log = of_kind(store.of(namespace).read("learning_log", "search_id IS NOT NULL"), kind)
    done = log.filter(pl.col("action").is_in(["add", "refresh"])).select(*key, done=True).unique()
    kept = log.filter(action="refuse").select(*key, kept="reason").unique(key, keep="last")
    by_gate = decide(evidence, namespace, evidence.now, kind).reason or PROPOSED
    taught = found.with_columns(taught_at="selected_at")
    gone = [taught.filter(act.hits())["proposal_id"] for act in evidence.rollbacks[kind]]
    taken_back = pl.concat([pl.Series("proposal_id", [], dtype=pl.String), *gone])
    found = (
        found.join(done, on=key, how="left")
        .join(kept, on=key, how="left")
        .with_columns(
            reason=pl.when(pl.col("reason") != PROPOSED).then("reason")
            .when(pl.col("proposal_id").is_in(taken_back.implode())).then(pl.lit(TAKEN_BACK))
            .when(pl.col("done")).then(pl.lit(APPLIED))
            .otherwise(pl.coalesce("kept", pl.lit(by_gate))),
        )
        .sort("selected_at", "proposal_id", descending=True)
    )  # fmt: skip
    if reason:
        found = found.filter(reason=reason)
    rows = titled(store, namespace, found if limit is None else found.head(limit))
    return redact(rows, _closed(evidence, namespace, rows), "query", "terms", "taught")


def _closed(evidence: Evidence, namespace: str, rows: pl.DataFrame) -> pl.Expr:
    """Whether the query of each row is one that a secret memory was shown for."""
    asked = pl.Series([ids.query_id(namespace, one or "") for one in rows["query"]], dtype=pl.String)
    return pl.lit(asked.is_in(sorted(closed_queries(evidence.space.store, namespace))))


_KEY = ["memory_id", "query_id"]


def keys(evidence: Evidence, namespace: str, *, memory_id: str = "") -> pl.DataFrame:
    """Rows of `slowwave.learning.review.Learning.keys`, of one memory or of all."""
    now = evidence.now
    taken = seen_with_applied(evidence).filter(pl.col("taken") > 0)
    stand = standing(taken, evidence.rollbacks[KEYS], now)
    asked = evidence.views.select("query_id", "query").unique("query_id", keep="first", maintain_order=True)
    found = (
        taken.group_by(_KEY)
        .agg(
            pl.col("taught_at").max(),
            pl.col("expires_at").max(),
            times=pl.col("search_id").n_unique(),
            principals=pl.col("principal").n_unique(),
            searches=pl.col("search_id").unique().sort(),
        )
        .join(asked, on="query_id", how="left")
        .join(evidence.live_keys().select(*_KEY, live=True).unique(), on=_KEY, how="left")
        .join(stand.select(*_KEY, stands=True).unique(), on=_KEY, how="left")
        .with_columns(pl.col("query").fill_null(""))
        .with_columns(
            state=_state(pl.col("stands") & (pl.col("expires_at") > now)),
            weight=((pl.col("expires_at") - now) / evidence.space.key_teaching.ttl).clip(0, 1),
        )
        .with_columns(order=pl.col("state").cast(_ORDER).to_physical())
        .sort("order", "taught_at", *_KEY, descending=[False, True, False, False])
    )  # fmt: skip
    if memory_id:
        found = found.filter(memory_id=memory_id)
    rows = titled(evidence.space.store, namespace, found, named=[memory_id])
    rows = redact(rows, _closed(evidence, namespace, rows), "query")
    rows = listed(evidence.space.store, namespace, rows, named=[memory_id])
    columns = ["memory_id", "title", "query", "state", "times", "principals", "taught_at", "expires_at",
               "weight", "searches"]  # fmt: skip
    return rows.select(columns)


def seen_with_applied(evidence: Evidence) -> pl.DataFrame:
    """All that was seen and counts; also what was applied and later news of the same days would leave out."""
    columns = ["view_id", "namespace", "memory_id", "search_id", "query_id", "principal", "taken",
               "taught_at", "expires_at"]  # fmt: skip
    applied = evidence.applied_keys.rename({"key_id": "view_id", "at": "taught_at"}).select(columns)
    both = pl.concat([evidence.seen.views.select(columns), applied])
    return both.unique("view_id", keep="first", maintain_order=True)


def log(store: Store, namespace: str, *, action: str = "", limit: int | None = None) -> pl.DataFrame:
    """Rows of `slowwave.learning.review.Learning.log`."""
    where = within(namespace) + (f" AND action = {quote(action)}" if action else "")
    rows = store.read("learning_log", where).sort("at", "log_id", descending=True).drop("day", "namespace")
    found = listed(store, namespace, rows).select(pl.exclude("log_id"), "log_id")
    return found if limit is None else found.head(limit)


def with_applied(evidence: Evidence) -> pl.DataFrame:
    """All lessons; also applied ones that later news of the same days would not teach again."""
    both = pl.concat([evidence.decided.lessons, lessons_of(evidence.applied)])
    return both.unique(["proposal_id", "term"], keep="first", maintain_order=True)


def _of_terms(lessons: pl.DataFrame) -> pl.DataFrame:
    """By memory and term: distinct questions and people, and until when."""
    return lessons.group_by(_TERM).agg(
        questions=pl.col("question").n_unique(),
        principals=pl.col("principal").n_unique(),
        until=pl.col("expires_at").max(),
    )
