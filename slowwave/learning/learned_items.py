"""Listings of selections, terms and keys, with words of secret memories redacted."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, Literal, get_args

import polars as pl

from slowwave.common import ids
from slowwave.home.visibility import Viewer, access_view, redact
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
"""States of a term or key: taught without effect (yet), in effect, expired, rolled back."""
TAKEN_BACK: Final = "taken_back"
"""Outcome of a selection that was rolled back."""
_ORDER = pl.Enum(["live", "proposed", "expired", "taken back"])
_TERM = ["memory_id", "term"]
_WORDS = ("title", "term", "detail", "query", "terms", "taught", "trigger_id", "question")


def listed(store: Store, namespace: str, rows: pl.DataFrame, *, named: Collection[str] = ()) -> pl.DataFrame:
    """Return the rows without titles and words of secret memories, unless a user named them.

    Args:
        store: Store with the labels of the memories.
        namespace: Namespace of the rows.
        rows: Rows with ``memory_id``.
        named: Ids of memories that the user named.
    """
    return access_view(store, namespace, rows["memory_id"].unique(), Viewer.REPORT, named=named).veiled(
        rows, *_WORDS
    )


def taken_back(store: Store, rows: pl.DataFrame, rollback: Rollback) -> pl.DataFrame:
    """Return the lessons that a rollback covers; scope memory counts as naming that memory."""
    return listed(
        store, rollback.namespace, rows, named=[rollback.value] if rollback.scope == "memory" else []
    )


def titled(store: Store, namespace: str, rows: pl.DataFrame, *, named: Collection[str] = ()) -> pl.DataFrame:
    """Add the titles of the memories."""
    titles = store.read_by(
        "memories", "memory_id", rows["memory_id"].unique().to_list(), columns=["memory_id", "title"],
        also=within(namespace),
    )  # fmt: skip
    return listed(
        store, namespace, rows.join(titles, on="memory_id", how="left", maintain_order="left"), named=named
    )


def terms(evidence: Evidence, namespace: str, *, memory_id: str = "") -> pl.DataFrame:
    """Return the rows of `slowwave.learning.review.Learning.terms`, of one memory or all."""
    now, policy = evidence.now, evidence.space.learning_policy
    lessons = with_applied(evidence)
    stand = standing(lessons, evidence.rollbacks[WORDS], now)
    young = stand.filter(pl.col("expires_at") > now)
    rows = (
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
    rows = rows.with_columns(
        weight=pl.when(pl.col("state").is_in(["live", "proposed"])).then("weight").otherwise(0.0),
        order=pl.col("state").cast(_ORDER).to_physical(),
    ).sort("order", "taught_at", "memory_id", "term", descending=[False, True, False, False])
    if memory_id:
        rows = rows.filter(memory_id=memory_id)
    columns = ["memory_id", "title", "term", "state", "questions", "principals", "taught_at", "expires_at",
               "weight", "searches"]  # fmt: skip
    return titled(evidence.space.store, namespace, rows, named=[memory_id]).select(columns)


def _state(proposed: pl.Expr) -> pl.Expr:
    """Compute the state of each row (one of `STATES`)."""
    return (
        pl.when("live").then(pl.lit("live"))
        .when(proposed).then(pl.lit("proposed"))
        .when("stands").then(pl.lit("expired"))
        .otherwise(pl.lit("taken back"))
    )  # fmt: skip


def proposals(
    evidence: Evidence, namespace: str, *, reason: str = "", limit: int | None = None
) -> pl.DataFrame:
    """Return the rows of `slowwave.learning.review.Learning.proposals`.

    A query that returned a secret memory is redacted.
    """
    taught = evidence.decided.lessons.group_by("proposal_id").agg(taught=pl.col("term").sort())
    rows = (
        _taken(evidence, WORDS)
        .join(taught, on="proposal_id", how="left")
        .with_columns(pl.col("taught").fill_null([]))
    )
    columns = ["proposal_id", "selected_at", "memory_id", "title", "query", "principal", "rank", "search_id",
               "terms", "taught", "reason"]  # fmt: skip
    return _selections(evidence, namespace, rows, WORDS, reason, limit).select(columns)


def selections(
    evidence: Evidence, namespace: str, *, reason: str = "", limit: int | None = None
) -> pl.DataFrame:
    """Return the rows of `slowwave.learning.review.Learning.selections`.

    A query that returned a secret memory is redacted.
    """
    columns = ["proposal_id", "selected_at", "memory_id", "title", "query", "principal", "rank", "search_id",
               "taken", "reason"]  # fmt: skip
    return _selections(evidence, namespace, _taken(evidence, KEYS), KEYS, reason, limit).select(columns)


def reasons(evidence: Evidence, namespace: str, kind: Kind) -> dict[str, int]:
    """Count the selections by outcome, most frequent first; without their titles, which are not read."""
    rows = _outcomes(evidence, namespace, _taken(evidence, kind), kind)
    return dict(rows["reason"].value_counts().sort("count", "reason", descending=True).iter_rows())


def _taken(evidence: Evidence, kind: Kind) -> pl.DataFrame:
    """Return the selections that teach, with the outcome of their rules."""
    if kind == WORDS:
        return evidence.proposals.join(evidence.decided.reasons, on="proposal_id")
    rows = evidence.views.filter("selected").join(evidence.decided_views.reasons, on="view_id")
    return rows.rename({"view_id": "proposal_id", "at": "selected_at"})


def _selections(
    evidence: Evidence, namespace: str, rows: pl.DataFrame, kind: Kind, reason: str, limit: int | None
) -> pl.DataFrame:
    """Return selections with their outcome, newest first, without words of secret memories."""
    rows = _outcomes(evidence, namespace, rows, kind).sort("selected_at", "proposal_id", descending=True)
    if reason:
        rows = rows.filter(reason=reason)
    titled_rows = titled(evidence.space.store, namespace, rows if limit is None else rows.head(limit))
    return redact(titled_rows, _closed(evidence, namespace, titled_rows), "query", "terms", "taught")


def _outcomes(evidence: Evidence, namespace: str, rows: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    """Return selections with their outcome: applied, refused, rolled back, or as their rules say."""
    key = ["search_id", "memory_id"]
    log = of_kind(evidence.log(namespace).filter(pl.col("search_id").is_not_null()), kind)
    applied = log.filter(pl.col("action").is_in(["add", "refresh"])).select(*key, done=True).unique()
    refused = log.filter(action="refuse").select(*key, kept="reason").unique(key, keep="last")
    by_gate = decide(evidence, namespace, evidence.now, kind).reason or PROPOSED
    taught = rows.with_columns(taught_at="selected_at")
    rolled_back = [taught.filter(rollback.hits())["proposal_id"] for rollback in evidence.rollbacks[kind]]
    taken_back = pl.concat([pl.Series("proposal_id", [], dtype=pl.String), *rolled_back])
    return (
        rows.join(applied, on=key, how="left")
        .join(refused, on=key, how="left")
        .with_columns(
            reason=pl.when(pl.col("reason") != PROPOSED).then("reason")
            .when(pl.col("proposal_id").is_in(taken_back.implode())).then(pl.lit(TAKEN_BACK))
            .when(pl.col("done")).then(pl.lit(APPLIED))
            .otherwise(pl.coalesce("kept", pl.lit(by_gate))),
        )
    )  # fmt: skip


def _closed(evidence: Evidence, namespace: str, rows: pl.DataFrame) -> pl.Expr:
    """Return whether the query of each row returned a secret memory."""
    query_ids = pl.Series([ids.query_id(namespace, query or "") for query in rows["query"]], dtype=pl.String)
    return pl.lit(query_ids.is_in(sorted(evidence.closed_queries(namespace))))


_KEY = ["memory_id", "query_id"]


def keys(evidence: Evidence, namespace: str, *, memory_id: str = "") -> pl.DataFrame:
    """Return the rows of `slowwave.learning.review.Learning.keys`, of one memory or all."""
    now = evidence.now
    views = seen_with_applied(evidence).filter(pl.col("taken") > 0)
    stand = standing(views, evidence.rollbacks[KEYS], now)
    queries = evidence.views.select("query_id", "query").unique("query_id", keep="first", maintain_order=True)
    rows = (
        views.group_by(_KEY)
        .agg(
            pl.col("taught_at").max(),
            pl.col("expires_at").max(),
            times=pl.col("search_id").n_unique(),
            principals=pl.col("principal").n_unique(),
            searches=pl.col("search_id").unique().sort(),
        )
        .join(queries, on="query_id", how="left")
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
        rows = rows.filter(memory_id=memory_id)
    titled_rows = titled(evidence.space.store, namespace, rows, named=[memory_id])
    titled_rows = redact(titled_rows, _closed(evidence, namespace, titled_rows), "query")
    titled_rows = listed(evidence.space.store, namespace, titled_rows, named=[memory_id])
    columns = ["memory_id", "title", "query", "state", "times", "principals", "taught_at", "expires_at",
               "weight", "searches"]  # fmt: skip
    return titled_rows.select(columns)


def seen_with_applied(evidence: Evidence) -> pl.DataFrame:
    """Return all views that count, plus applied ones that a reprocessed day would leave out."""
    columns = ["view_id", "namespace", "memory_id", "search_id", "query_id", "principal", "taken",
               "taught_at", "expires_at"]  # fmt: skip
    applied = evidence.applied_keys.rename({"key_id": "view_id", "at": "taught_at"}).select(columns)
    both = pl.concat([evidence.decided_views.views.select(columns), applied])
    return both.unique("view_id", keep="first", maintain_order=True)


def log(store: Store, namespace: str, *, action: str = "", limit: int | None = None) -> pl.DataFrame:
    """Return the rows of `slowwave.learning.review.Learning.log`."""
    where = within(namespace) + (f" AND action = {quote(action)}" if action else "")
    entries = store.read("learning_log", where).sort("at", "log_id", descending=True).drop("day", "namespace")
    visible = listed(store, namespace, entries).select(pl.exclude("log_id"), "log_id")
    return visible if limit is None else visible.head(limit)


def with_applied(evidence: Evidence) -> pl.DataFrame:
    """Return all lessons, plus applied ones that a reprocessed day would leave out."""
    both = pl.concat([evidence.decided.lessons, lessons_of(evidence.applied)])
    return both.unique(["proposal_id", "term"], keep="first", maintain_order=True)


def _of_terms(lessons: pl.DataFrame) -> pl.DataFrame:
    """Count distinct questions and users by memory and term, with the latest expiry."""
    return lessons.group_by(_TERM).agg(
        questions=pl.col("question").n_unique(),
        principals=pl.col("principal").n_unique(),
        until=pl.col("expires_at").max(),
    )
