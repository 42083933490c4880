"""What is listed of selections and of what they taught: no word that belongs to a secret memory."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, Literal, get_args

import polars as pl

from slowwave.common import ids
from slowwave.home.visibility import Viewer, closed_queries, sight, veiled
from slowwave.learning.applied import lessons_of
from slowwave.learning.evidence import Evidence
from slowwave.learning.gate import decide
from slowwave.scoring.feedback.learned import APPLIED, PROPOSED, standing
from slowwave.store import quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.scoring.feedback.learned import Rollback
    from slowwave.store import Store

State = Literal["proposed", "live", "expired", "taken back"]
STATES: Final[tuple[State, ...]] = get_args(State)
"""Of a term of a memory: taught, but without effect (yet); with effect; too old; taken back."""
_ORDER = pl.Enum(["live", "proposed", "expired", "taken back"])
_TERM = ["memory_id", "term"]
_WORDS = ("title", "term", "detail", "query", "terms", "taught", "trigger_id")


def listed(store: Store, namespace: str, rows: pl.DataFrame, *, named: Collection[str] = ()) -> pl.DataFrame:
    """The rows without titles and words of secret memories that nobody named.

    Args:
        store: the tables.
        namespace: whose the rows are.
        rows: with ``memory_id``.
        named: memories that a person named by their ids.
    """
    return sight(store, namespace, rows["memory_id"].unique(), Viewer.REPORT, named=named).veiled(
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
    stand = standing(lessons, evidence.rollbacks, now)
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
            state=pl.when(pl.col("live")).then(pl.lit("live"))
            .when(pl.col("questions").is_not_null()).then(pl.lit("proposed"))
            .when(pl.col("stands")).then(pl.lit("expired"))
            .otherwise(pl.lit("taken back")),
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


def proposals(
    evidence: Evidence, namespace: str, *, reason: str = "", limit: int | None = None
) -> pl.DataFrame:
    """Rows of `slowwave.learning.review.Learning.proposals`.

    Of a question that a secret memory was shown for no word is there.
    """
    store = evidence.space.store
    log = store.of(namespace).read("learning_log", "search_id IS NOT NULL")
    key = ["search_id", "memory_id"]
    done = log.filter(pl.col("action").is_in(["add", "refresh"])).select(*key, done=True).unique()
    kept = log.filter(action="refuse").select(*key, kept="reason").unique(key, keep="last")
    taught = evidence.decided.lessons.group_by("proposal_id").agg(taught=pl.col("term").sort())
    by_gate = decide(evidence, namespace, evidence.now).reason or PROPOSED
    found = (
        evidence.proposals.join(evidence.decided.reasons, on="proposal_id")
        .join(taught, on="proposal_id", how="left")
        .join(done, on=key, how="left")
        .join(kept, on=key, how="left")
        .with_columns(
            pl.col("taught").fill_null([]),
            reason=pl.when(pl.col("reason") != PROPOSED).then("reason")
            .when(pl.col("done")).then(pl.lit(APPLIED))
            .otherwise(pl.coalesce("kept", pl.lit(by_gate))),
        )
        .sort("selected_at", "proposal_id", descending=True)
    )  # fmt: skip
    if reason:
        found = found.filter(reason=reason)
    rows = titled(store, namespace, found if limit is None else found.head(limit))
    asked = pl.Series([ids.query_id(namespace, one or "") for one in rows["query"]], dtype=pl.String)
    about = asked.is_in(sorted(closed_queries(store, namespace)))
    columns = ["proposal_id", "selected_at", "memory_id", "title", "query", "principal", "rank", "search_id",
               "terms", "taught", "reason"]  # fmt: skip
    return veiled(rows, pl.lit(about), "query", "terms", "taught").select(columns)


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
