"""What learning does, or would do: rows of ``learned_matches`` and ``learned_effect``.

Both look at searches with the words and the search keys that were known before the day on which they were
asked, so no search is measured with what it taught itself. What was proposed is tried on the candidates that
a search considered: a memory that nothing but what was proposed would have found is not among them and counts
as not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from slowwave.common import progress
from slowwave.common.ids import normalised_query
from slowwave.evaluation.derived_judgments import clicked_results
from slowwave.evaluation.judgments import daily_grades, judgments_until
from slowwave.evaluation.query_log import logged_searches
from slowwave.evaluation.scores import score, searches_of
from slowwave.evaluation.variants import IN_FORCE, Tried
from slowwave.feedback.questions import vectors_of, with_query_ids
from slowwave.journal.kinds.search import shown_rows
from slowwave.learning.gate_evidence import Evidence
from slowwave.scoring.days import day_start
from slowwave.scoring.evaluation.baselines_and_ablations import NEVER_USED, NO_RATINGS, without_use
from slowwave.scoring.evaluation.comparison import TIE
from slowwave.scoring.evaluation.evaluate import evaluate_frame
from slowwave.scoring.evaluation.replay import Batch, Variant
from slowwave.scoring.evaluation.replay import replay as ranked_again
from slowwave.scoring.feedback.learned import KEYS, KINDS, RATINGS, USE, WORDS, Kind, Measured
from slowwave.scoring.measures import EFFECT_COLUMNS, OF_LEARNING
from slowwave.scoring.ranking.candidates import KEYS as KEY_CHANNEL
from slowwave.scoring.ranking.candidates import LEARNED
from slowwave.scoring.ranking.learned import learnable
from slowwave.store.frames import one_of

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

_COLUMNS = [measure.column for measure in OF_LEARNING]
_GRADED = ["day", "namespace", "query_id", "memory_id", "grade"]
_TOUCHED = {
    "day": pl.String, "namespace": pl.String, "search_id": pl.String, "memory_id": pl.String,
    "term": pl.String, "weight": pl.Float64, "share": pl.Float64,
}  # fmt: skip
_LED = {name: _TOUCHED[name] for name in ("day", "namespace", "search_id", "memory_id", "term", "share")} | {
    "lift": pl.Float64
}
PLAIN, WITH = "plain", "learned"
CHANNEL = {WORDS: LEARNED, KEYS: KEY_CHANNEL}
"""By which what was learned of each kind finds memories."""


def touched(evidence: Evidence, searches: pl.DataFrame) -> pl.DataFrame:
    """Which memories the terms that were known at the start of a search's day bring to mind.

    Args:
        evidence: up to the last day of the searches.
        searches: ``day`` (asked), ``namespace``, ``search_id``, ``query``, ``occurred_at``.

    Returns:
        A row a search, memory and term, with the weight of the term then, and ``share``: that part of
        strength times weight which the term is.
    """
    queries = searches.select("query").unique()
    asked = [list(learnable(query)) for query in queries["query"]]
    terms = queries.with_columns(term=pl.Series(asked, dtype=pl.List(pl.String)))
    terms = terms.with_columns(words=pl.col("term").list.len())
    parts = [pl.DataFrame(schema=_TOUCHED)]
    ttl = evidence.space.learning_policy.ttl
    for (day,), mine in searches.join(terms, on="query").group_by("day"):
        live = evidence.would_be(day_start(str(day))).select("namespace", "memory_id", "term", "expires_at")
        left = (pl.col("expires_at") - pl.col("occurred_at")) / ttl
        found = mine.explode("term").join(live, on=["namespace", "term"])
        found = found.with_columns(weight=left.clip(0.0, 1.0)).filter(pl.col("weight") > 0)
        parts.append(found.with_columns(share=pl.col("weight") / pl.col("words")).select(*_TOUCHED))
    return pl.concat(parts)


def led(evidence: Evidence, searches: pl.DataFrame) -> pl.DataFrame:
    """Where the search keys that were known at the start of a search's day lead it.

    Args:
        evidence: up to the last day of the searches.
        searches: ``day`` (asked), ``namespace``, ``search_id``, ``query_id``, ``query``.

    Returns:
        A row a search, memory and past question (``term``) that leads there, with the ``lift`` of the memory
        and the question's ``share`` of it: what it adds to the score.
    """
    rows: list[tuple[object, ...]] = []
    with progress.task("where keys lead", searches.height) as advance:
        for (namespace,), mine in searches.group_by("namespace", maintain_order=True):
            vectors = _vectors(evidence, str(namespace), mine)
            for (day,), asked in mine.group_by("day", maintain_order=True):
                keys = evidence.keys_at(str(namespace), day_start(str(day)))
                if len(keys):
                    for search, question in asked.select("search_id", "query_id").iter_rows():
                        rows += [
                            (day, namespace, search, memory, past, share * lift, lift)
                            for memory, lift, past, share in keys.parts(vectors[question])
                        ]
                advance(asked.height)
    return pl.DataFrame(rows, schema=_LED, orient="row")


def _vectors(evidence: Evidence, namespace: str, searches: pl.DataFrame) -> dict[str, np.ndarray]:
    """The vector of each question of some searches, by its id."""
    known = evidence.questions(namespace)
    found = {name: known.vectors[at] for name, at in known.number.items()}
    asked = searches.select("query_id", "query").unique("query_id", keep="first", maintain_order=True)
    lacking = asked.filter(~pl.col("query_id").is_in(list(known.names)))
    plain = [normalised_query(query) for query in lacking["query"]]
    made = vectors_of(evidence.space.embedder, plain)
    return found | dict(zip(lacking["query_id"], made, strict=True))


def match_days(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Rows of ``learned_matches``: searches that were first spoken of on these days.

    A memory that a term or a past question brings to mind was wanted if a person or a heard judge says so, or
    if it was used; it was not if they say so, or it was rated unhelpful, or was passed over: shown above a
    result that was used. What is below that nobody may have looked at (Joachims and others, "Accurately
    Interpreting Clickthrough Data as Implicit Feedback", 2005).
    """
    store, last = space.store, max(days)
    clicked = clicked_results(store, last).filter(pl.col("day").is_in(list(days)))
    heard = clicked.group_by("search_id").agg(spoken_of=pl.col("day").first())
    empty = store.empty("learned_matches")
    if heard.is_empty():
        return empty
    asked = store.read_by(
        "searches", "search_id", heard["search_id"].to_list(),
        columns=["day", "namespace", "search_id", "query", "occurred_at", "shown"],
    )  # fmt: skip
    asked = with_query_ids(asked)
    evidence, about = Evidence(space, last), asked.drop("shown")
    found = pl.concat([_found(evidence, about, kind) for kind in KINDS])
    if found.is_empty():
        return empty
    asked = asked.join(found, on="search_id", how="semi")
    ranks = shown_rows(asked, "search_id").select("search_id", "memory_id", "rank")
    said = clicked.select("search_id", "memory_id", "clicked")
    ranks = ranks.join(said, on=["search_id", "memory_id"], how="left")
    lowest = ranks.filter("clicked").group_by("search_id").agg(lowest=pl.col("rank").max())
    asked = asked.join(heard, on="search_id").drop("day").rename({"spoken_of": "day"})
    unhelpful = store.read_by(
        "usage_signals", "search_id", asked["search_id"].to_list(), columns=["day", "search_id", "memory_id"],
        also="verdict = 'unhelpful' AND imported IS NOT TRUE",
    ).unique()  # fmt: skip
    told = (
        found.drop("day")
        .join(asked.select("day", "search_id", "query_id"), on="search_id")
        .join(ranks, on=["search_id", "memory_id"], how="left")
        .join(lowest, on="search_id", how="left")
        .join(unhelpful.with_columns(bad=True), on=["day", "search_id", "memory_id"], how="left")
        .join(_judged(space, asked), on=["day", "namespace", "query_id", "memory_id"], how="left")
        .with_columns(
            evidence=pl.when(pl.col("grade").is_not_null()).then(pl.lit("judged"))
            .when(pl.col("clicked")).then(pl.lit("used"))
            .when(pl.col("bad")).then(pl.lit("rated unhelpful"))
            .when(pl.col("rank") < pl.col("lowest")).then(pl.lit("passed over"))
        )
        .filter(pl.col("evidence").is_not_null())
    )  # fmt: skip
    return told.with_columns(
        match_id=_named(pl.concat_str("search_id", "memory_id", "term", separator=":")),
        relevant=pl.coalesce(pl.col("grade") > 0, pl.col("evidence") == "used"),
    ).select(empty.columns)


def _found(evidence: Evidence, searches: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    """Memories that what was learned of a kind brings to mind: a row for each part that it has in it."""
    found = touched(evidence, searches) if kind == WORDS else led(evidence, searches)
    columns = ["day", "namespace", "search_id", "memory_id", "term"]
    share = pl.lit(None, pl.Float64) if kind == WORDS else pl.col("share")
    return found.select(*columns, share=share, kind=pl.lit(kind))


def _named(key: pl.Expr) -> pl.Expr:
    """The key of a row of a kind; one of words has the name that it had before there was anything else."""
    return pl.when(pl.col("kind") == WORDS).then(key).otherwise(pl.concat_str("kind", key, separator=":"))


def _judged(space: Workspace, asked: pl.DataFrame) -> pl.DataFrame:
    """What people and heard judges have said of the pairs of these queries by the end of their day."""
    about = asked.select("day", "namespace", "query_id").unique()
    said = judgments_until(space.store, max(about["day"].to_list()), own=True)
    said = said.filter(pl.col("source").is_in(["manual", "judge"]))
    return daily_grades(said, about, space.settings.judge.agreement).select(_GRADED)


def effect_days(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Rows of ``learned_effect``: judged searches of these days without what was learned, and with it.

    Only searches made here, by what was said here of them: that is what the learning gate may hear.
    """
    store = space.store
    empty = store.empty("learned_effect")
    asked = store.scan(
        "searches", f"{one_of('day', days)} AND imported_from IS NULL",
        columns=["day", "namespace", "search_id", "query", "occurred_at"],
    )  # fmt: skip
    mine = searches_of(space, days).join(asked, on="search_id", how="semi")
    tried = [Tried(Variant(IN_FORCE, space.policy), "in force")]
    tried += [Tried(one, "channel") for one in without_use(space.policy)]
    known = _known_then(space, mine)
    every = score(space, mine, known, tried)
    about = ["day", "namespace", "search_id", "query_id"]
    scored = every.filter(pl.col("variant") == IN_FORCE).select(*about, *_COLUMNS)
    if scored.is_empty():
        return empty
    rated = _rated_before(space, scored.select(about), known)
    others: tuple[tuple[Measured, str], ...] = ((RATINGS, NO_RATINGS), (USE, NEVER_USED))
    use = [
        _without(scored, every.filter(variant=name).select("search_id", *_COLUMNS), rated, kind)
        for kind, name in others
    ]
    asked = with_query_ids(asked.join(scored, on="search_id", how="semi"))
    evidence = Evidence(space, max(days))
    learned = [_effect(evidence, asked, scored, days, kind) for kind in KINDS]
    return pl.concat([*learned, *(one.select(empty.columns) for one in use)])


def _without(scored: pl.DataFrame, other: pl.DataFrame, rated: pl.DataFrame, kind: Measured) -> pl.DataFrame:
    """Rows of ``learned_effect`` of what counts at once: the figures without it, and as they are.

    Args:
        scored: figures of the ranking in force.
        other: ``search_id`` and the figures without it.
        rated: ``search_id`` of searches of which a right answer had feedback before.
        kind: ratings, or all use.
    """
    after = [f"{name}_learned" for name in _COLUMNS]
    moved = pl.any_horizontal((pl.col(name) - pl.col(f"{name}_learned")).abs() > TIE for name in _COLUMNS)
    return (
        scored.rename(dict(zip(_COLUMNS, after, strict=True)))
        .join(other, on="search_id")
        .join(rated.with_columns(rated=pl.lit(value=True)), on="search_id", how="left")
        .with_columns(pl.col("rated").fill_null(value=False), moved=moved, kind=pl.lit(kind))
        .with_columns(live="moved", effect_id=_named(pl.col("search_id")))
    )


def _rated_before(space: Workspace, searches: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """The ``search_id`` of those searches of which a right answer had feedback before their day."""
    right = known.filter(pl.col("grade") > 0).select("day", "namespace", "query_id", "memory_id").unique()
    pairs = searches.join(right, on=["day", "namespace", "query_id"])
    said = space.store.read_by(
        "usage_signals", "memory_id", pairs["memory_id"].unique().to_list(),
        columns=["memory_id", "day"], also="weight > 0",
    )  # fmt: skip
    first = said.group_by("memory_id").agg(first=pl.col("day").min())
    return (
        pairs.join(first, on="memory_id").filter(pl.col("first") < pl.col("day")).select("search_id").unique()
    )


def _effect(
    evidence: Evidence, asked: pl.DataFrame, scored: pl.DataFrame, days: Sequence[str], kind: Kind
) -> pl.DataFrame:
    """Rows of ``learned_effect`` of a kind.

    Args:
        evidence: up to the last of the days.
        asked: the judged searches.
        scored: their figures.
        days: that they are of.
        kind: of learning.
    """
    space, store = evidence.space, evidence.space.store
    empty = store.empty("learned_effect")
    found = _boosts(evidence, asked, kind)
    shown = store.scan("channel_attribution", f"{one_of('day', days)} AND channel = '{CHANNEL[kind]}'",
                       columns=["search_id"])  # fmt: skip
    about = asked.join(pl.concat([found.select("search_id"), shown]).unique(), on="search_id", how="semi")
    changed = _measured(space, about.drop("query_id"), found, kind) if about.height else None
    rows = scored.with_columns(
        moved=pl.lit(value=False), live=pl.lit(value=False), kind=pl.lit(kind),
        rated=pl.lit(None, pl.Boolean),
        **{f"{name}_learned": name for name in _COLUMNS},
    ).with_columns(effect_id=_named(pl.col("search_id"))).select(empty.columns)  # fmt: skip
    if changed is None:
        return rows
    mine = rows.drop("moved", "live", *EFFECT_COLUMNS)
    others = rows.join(changed, on="search_id", how="anti")
    return pl.concat([others, mine.join(changed, on="search_id").select(empty.columns)])


def _boosts(evidence: Evidence, searches: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    """What was learned of a kind would add to the scores of memories: search_id, memory_id, boost."""
    if kind == KEYS:
        return led(evidence, searches).group_by("search_id", "memory_id").agg(boost=pl.col("lift").first())
    most = evidence.space.learning_policy.coefficient * evidence.space.policy.learned_cap
    found = touched(evidence, searches)
    return found.group_by("search_id", "memory_id").agg(boost=most * pl.col("share").sum())


def _known_then(space: Workspace, searches: pl.DataFrame) -> pl.DataFrame:
    """The grades of what searches asked, as they were known at the end of the day of each."""
    asked = searches.select("day", "namespace", "query_id").unique()
    said = judgments_until(space.store, max(asked["day"].to_list(), default=""), own=True)
    return daily_grades(said, asked, space.settings.judge.agreement).select(_GRADED)


def _measured(space: Workspace, about: pl.DataFrame, found: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    """The figures of some searches without what was learned and with it.

    Args:
        space: has the journal and the judgments.
        about: the searches.
        found: ``search_id``, ``memory_id`` and ``boost``: what was proposed would add.
        kind: of learning.
    """
    days = about["day"].unique().sort().to_list()
    searches = searches_of(space, days).join(about, on="search_id", how="semi")
    grades = _known_then(space, searches)
    results, flags = [], []
    with progress.task("what learning would show", searches.height) as advance:
        for part, live in _both(space, searches, found, kind):
            results.append(part)
            flags.append(live)
            advance(live.height)
    key = pl.concat_str("day", "namespace", "query_id", separator="\n")
    lists = searches.select("search_id", query_id=key).join(
        pl.DataFrame({"variant": [PLAIN, WITH]}), how="cross"
    )
    shown = pl.concat(results)
    done = evaluate_frame(
        lists, shown, grades.with_columns(query_id=key).select("query_id", "memory_id", "grade"), OF_LEARNING
    ).rename({str(measure): measure.column for measure in OF_LEARNING})
    top = shown.filter(pl.col("rank") <= 10).sort("rank").group_by("search_id", "variant").agg("memory_id")
    plain, learned = (top.filter(pl.col("variant") == name).drop("variant") for name in (PLAIN, WITH))
    moved = plain.join(learned, on="search_id", how="full", coalesce=True, suffix="_learned").select(
        "search_id", moved=pl.col("memory_id").ne_missing(pl.col("memory_id_learned"))
    )
    before, after = (
        done.filter(pl.col("variant") == name).select("search_id", *_COLUMNS) for name in (PLAIN, WITH)
    )
    return (
        before.join(after, on="search_id", suffix="_learned")
        .join(moved, on="search_id", how="left")
        .join(pl.concat(flags), on="search_id")
        .with_columns(pl.col("moved").fill_null(value=False))
    )


def _both(
    space: Workspace, searches: pl.DataFrame, found: pl.DataFrame, kind: Kind
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """For each slice of the searches: the results without and with, and where what was learned was live."""
    policy = space.policy
    wanted = ["search_id", "variant", "rank", "memory_id"]
    for (namespace,), mine in searches.sort("namespace").group_by("namespace", maintain_order=True):
        days = mine["day"].unique().sort().to_list()
        for part in logged_searches(space.journal, days, str(namespace), only=mine["search_id"]):
            places = part.searches.select("search", "search_id")
            whole = part.batch.columns
            live = np.zeros(len(part.batch), dtype=np.bool_)
            live[whole.search[(whole.learned if kind == WORDS else whole.key) > 0]] = True
            bare = replace(part.batch, columns=whole.without({CHANNEL[kind]}))
            proposed = _with_boosts(bare, places, found, kind)
            parts = [
                ranked_again(bare, [Variant(PLAIN, policy)], depth=None),
                ranked_again(proposed, [Variant(WITH, policy)], depth=None).filter(
                    ~pl.col("search").is_in(np.flatnonzero(live))
                ),
                ranked_again(part.batch, [Variant(WITH, policy)], depth=None).filter(
                    pl.col("search").is_in(np.flatnonzero(live))
                ),
            ]
            rows = pl.concat(parts).join(places, on="search").select(wanted)
            yield rows, places.select("search_id", live=pl.Series(live[places["search"].to_numpy()]))


def _with_boosts(batch: Batch, places: pl.DataFrame, found: pl.DataFrame, kind: Kind) -> Batch:
    """The searches with what was learned of a kind would add to their memories."""
    columns = batch.columns
    memories = pl.DataFrame(
        {"search": columns.search, "memory_id": batch.memory_ids.gather(columns.number)},
        schema_overrides={"search": pl.Int64},
    )
    boosts = found.join(places, on="search_id").select("search", "memory_id", "boost")
    known = memories.join(boosts, on=["search", "memory_id"], how="left", maintain_order="left")
    added = known["boost"].fill_null(0.0).to_numpy()
    changed = replace(columns, learned=added) if kind == WORDS else replace(columns, key=added)
    return replace(batch, columns=changed)
