"""Rows of ``learned_matches`` and ``learned_effect``: measured effect of learning.

Both use the words and keys known before the day of a search, so no search is measured with what it taught.
Proposals are tried on the logged candidates of a search. A memory that only a proposal would have found is
not among them and counts as not found.
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
from slowwave.evaluation.scores import candidate_slices, score, searches_of
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
"""Channel of each kind of learning."""


def touched(evidence: Evidence, searches: pl.DataFrame) -> pl.DataFrame:
    """Return the memories that terms known at the start of a search's day match.

    Args:
        evidence: Evidence up to the last day of the searches.
        searches: ``day`` (of the search), ``namespace``, ``search_id``, ``query``, ``occurred_at``.

    Returns:
        A row per search, memory and term, with the weight of the term then, and ``share``: the term's part of
        strength times weight.
    """
    queries = searches.select("query").unique()
    query_terms = [list(learnable(query)) for query in queries["query"]]
    terms = queries.with_columns(term=pl.Series(query_terms, dtype=pl.List(pl.String)))
    terms = terms.with_columns(words=pl.col("term").list.len())
    parts = [pl.DataFrame(schema=_TOUCHED)]
    ttl = evidence.space.learning_policy.ttl
    for (day,), day_searches in searches.join(terms, on="query").group_by("day"):
        live = evidence.would_be(day_start(str(day))).select("namespace", "memory_id", "term", "expires_at")
        weight = (pl.col("expires_at") - pl.col("occurred_at")) / ttl
        matches = day_searches.explode("term").join(live, on=["namespace", "term"])
        matches = matches.with_columns(weight=weight.clip(0.0, 1.0)).filter(pl.col("weight") > 0)
        parts.append(matches.with_columns(share=pl.col("weight") / pl.col("words")).select(*_TOUCHED))
    return pl.concat(parts)


def led(evidence: Evidence, searches: pl.DataFrame) -> pl.DataFrame:
    """Return the query boosts from search keys known at the start of a search's day.

    Args:
        evidence: Evidence up to the last day of the searches.
        searches: ``day`` (of the search), ``namespace``, ``search_id``, ``query_id``, ``query``.

    Returns:
        A row per search, memory and past question (``term``), with the ``lift`` of the memory and the
        question's ``share`` of it, in score units.
    """
    rows: list[tuple[object, ...]] = []
    with progress.task("query boosts of keys", searches.height) as advance:
        for (namespace,), namespace_searches in searches.group_by("namespace", maintain_order=True):
            vectors = _vectors(evidence, str(namespace), namespace_searches)
            for (day,), day_searches in namespace_searches.group_by("day", maintain_order=True):
                keys = evidence.keys_at(str(namespace), day_start(str(day)))
                if len(keys):
                    for search, question in day_searches.select("search_id", "query_id").iter_rows():
                        rows += [
                            (day, namespace, search, memory, past, share * lift, lift)
                            for memory, lift, past, share in keys.parts(vectors[question])
                        ]
                advance(day_searches.height)
    return pl.DataFrame(rows, schema=_LED, orient="row")


def _vectors(evidence: Evidence, namespace: str, searches: pl.DataFrame) -> dict[str, np.ndarray]:
    """Return the vector of each question of some searches, by its id."""
    questions = evidence.questions(namespace)
    cached = {name: questions.vectors[at] for name, at in questions.number.items()}
    queries = searches.select("query_id", "query").unique("query_id", keep="first", maintain_order=True)
    missing = queries.filter(~pl.col("query_id").is_in(list(questions.names)))
    plain = [normalised_query(query) for query in missing["query"]]
    embedded = vectors_of(evidence.space.embedder, plain)
    return cached | dict(zip(missing["query_id"], embedded, strict=True))


def match_days(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Build the ``learned_matches`` rows of searches whose first feedback came on these days.

    A matched memory was wanted if a person or an accepted judge says so, or if it was used. It was unwanted
    if they say so, if it was rated unhelpful, or if it was skipped: ranked above a used result. Results below
    that may never have been examined (Joachims and others, "Accurately Interpreting Clickthrough Data as
    Implicit Feedback", 2005).
    """
    store, last = space.store, max(days)
    clicked = clicked_results(store, last).filter(pl.col("day").is_in(list(days)))
    first_days = clicked.group_by("search_id").agg(spoken_of=pl.col("day").first())
    empty = store.empty("learned_matches")
    if first_days.is_empty():
        return empty
    searches = store.read_by(
        "searches", "search_id", first_days["search_id"].to_list(),
        columns=["day", "namespace", "search_id", "query", "occurred_at", "shown"],
    )  # fmt: skip
    searches = with_query_ids(searches)
    evidence, queries = Evidence(space, last), searches.drop("shown")
    matches = pl.concat([_matches(evidence, queries, kind) for kind in KINDS])
    if matches.is_empty():
        return empty
    searches = searches.join(matches, on="search_id", how="semi")
    ranks = shown_rows(searches, "search_id").select("search_id", "memory_id", "rank")
    selections = clicked.select("search_id", "memory_id", "clicked")
    ranks = ranks.join(selections, on=["search_id", "memory_id"], how="left")
    lowest = ranks.filter("clicked").group_by("search_id").agg(lowest=pl.col("rank").max())
    searches = searches.join(first_days, on="search_id").drop("day").rename({"spoken_of": "day"})
    unhelpful = store.read_by(
        "usage_signals", "search_id", searches["search_id"].to_list(),
        columns=["day", "search_id", "memory_id"],
        also="verdict = 'unhelpful' AND imported IS NOT TRUE",
    ).unique()  # fmt: skip
    rows = (
        matches.drop("day")
        .join(searches.select("day", "search_id", "query_id"), on="search_id")
        .join(ranks, on=["search_id", "memory_id"], how="left")
        .join(lowest, on="search_id", how="left")
        .join(unhelpful.with_columns(bad=True), on=["day", "search_id", "memory_id"], how="left")
        .join(_judged(space, searches), on=["day", "namespace", "query_id", "memory_id"], how="left")
        .with_columns(
            evidence=pl.when(pl.col("grade").is_not_null()).then(pl.lit("judged"))
            .when(pl.col("clicked")).then(pl.lit("used"))
            .when(pl.col("bad")).then(pl.lit("rated unhelpful"))
            .when(pl.col("rank") < pl.col("lowest")).then(pl.lit("passed over"))
        )
        .filter(pl.col("evidence").is_not_null())
    )  # fmt: skip
    return rows.with_columns(
        match_id=_row_id(pl.concat_str("search_id", "memory_id", "term", separator=":")),
        relevant=pl.coalesce(pl.col("grade") > 0, pl.col("evidence") == "used"),
    ).select(empty.columns)


def _matches(evidence: Evidence, searches: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    """Return the memories that a kind of learning matches, a row per term or key."""
    matches = touched(evidence, searches) if kind == WORDS else led(evidence, searches)
    columns = ["day", "namespace", "search_id", "memory_id", "term"]
    share = pl.lit(None, pl.Float64) if kind == WORDS else pl.col("share")
    return matches.select(*columns, share=share, kind=pl.lit(kind))


def _row_id(key: pl.Expr) -> pl.Expr:
    """Return the key of a row; keys of words have no prefix, as they are older than kinds."""
    return pl.when(pl.col("kind") == WORDS).then(key).otherwise(pl.concat_str("kind", key, separator=":"))


def _judged(space: Workspace, searches: pl.DataFrame) -> pl.DataFrame:
    """Return the grades of people and accepted judges by the end of each query's day."""
    queries = searches.select("day", "namespace", "query_id").unique()
    judgments = judgments_until(space.store, max(queries["day"].to_list()), own=True)
    judgments = judgments.filter(pl.col("source").is_in(["manual", "judge"]))
    return daily_grades(judgments, queries, space.settings.judge.agreement).select(_GRADED)


def effect_days(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Build the ``learned_effect`` rows of judged searches of these days.

    Each row has the metrics without and with what was learned. Only local searches and local judgments count,
    because the learning gate accepts no others.
    """
    store = space.store
    empty = store.empty("learned_effect")
    logged = store.scan(
        "searches", f"{one_of('day', days)} AND imported_from IS NULL",
        columns=["day", "namespace", "search_id", "query", "occurred_at"],
    )  # fmt: skip
    searches = searches_of(space, days).join(logged, on="search_id", how="semi")
    tried = [Tried(Variant(IN_FORCE, space.policy), "in force")]
    tried += [Tried(item, "channel") for item in without_use(space.policy)]
    grades = _grades_then(space, searches)
    scores = score(space, searches, grades, tried)
    id_columns = ["day", "namespace", "search_id", "query_id"]
    scored = scores.filter(pl.col("variant") == IN_FORCE).select(*id_columns, *_COLUMNS)
    if scored.is_empty():
        return empty
    rated = _rated_before(space, scored.select(id_columns), grades)
    others: tuple[tuple[Measured, str], ...] = ((RATINGS, NO_RATINGS), (USE, NEVER_USED))
    use = [
        _without(scored, scores.filter(variant=name).select("search_id", *_COLUMNS), rated, kind)
        for kind, name in others
    ]
    logged = with_query_ids(logged.join(scored, on="search_id", how="semi"))
    evidence = Evidence(space, max(days))
    learned = [_effect(evidence, logged, scored, days, kind) for kind in KINDS]
    return pl.concat([*learned, *(item.select(empty.columns) for item in use)])


def _without(scored: pl.DataFrame, other: pl.DataFrame, rated: pl.DataFrame, kind: Measured) -> pl.DataFrame:
    """Return ``learned_effect`` rows of an ablation: metrics without it, and with it.

    Args:
        scored: Metrics of the policy in force.
        other: ``search_id`` and the metrics of the ablation.
        rated: ``search_id`` of searches with a right answer that had feedback before.
        kind: ratings, or all use.
    """
    learned_columns = [f"{name}_learned" for name in _COLUMNS]
    moved = pl.any_horizontal((pl.col(name) - pl.col(f"{name}_learned")).abs() > TIE for name in _COLUMNS)
    return (
        scored.rename(dict(zip(_COLUMNS, learned_columns, strict=True)))
        .join(other, on="search_id")
        .join(rated.with_columns(rated=pl.lit(value=True)), on="search_id", how="left")
        .with_columns(pl.col("rated").fill_null(value=False), moved=moved, kind=pl.lit(kind))
        .with_columns(live="moved", effect_id=_row_id(pl.col("search_id")))
    )


def _rated_before(space: Workspace, searches: pl.DataFrame, grades: pl.DataFrame) -> pl.DataFrame:
    """Return the ``search_id`` of searches with a right answer that had earlier feedback."""
    right = grades.filter(pl.col("grade") > 0).select("day", "namespace", "query_id", "memory_id").unique()
    pairs = searches.join(right, on=["day", "namespace", "query_id"])
    signals = space.store.read_by(
        "usage_signals", "memory_id", pairs["memory_id"].unique().to_list(),
        columns=["memory_id", "day"], also="weight > 0",
    )  # fmt: skip
    first = signals.group_by("memory_id").agg(first=pl.col("day").min())
    return (
        pairs.join(first, on="memory_id").filter(pl.col("first") < pl.col("day")).select("search_id").unique()
    )


def _effect(
    evidence: Evidence, searches: pl.DataFrame, scored: pl.DataFrame, days: Sequence[str], kind: Kind
) -> pl.DataFrame:
    """Return the ``learned_effect`` rows of a kind.

    Args:
        evidence: Evidence up to the last of the days.
        searches: The judged searches.
        scored: Their metrics.
        days: Their days (YYYY-MM-DD).
        kind: Kind of learning.
    """
    space, store = evidence.space, evidence.space.store
    empty = store.empty("learned_effect")
    boosts = _boosts(evidence, searches, kind)
    affected = store.scan("channel_attribution", f"{one_of('day', days)} AND channel = '{CHANNEL[kind]}'",
                       columns=["search_id"])  # fmt: skip
    candidates = searches.join(
        pl.concat([boosts.select("search_id"), affected]).unique(), on="search_id", how="semi"
    )
    changed = _measured(space, candidates.drop("query_id"), boosts, kind) if candidates.height else None
    rows = scored.with_columns(
        moved=pl.lit(value=False), live=pl.lit(value=False), kind=pl.lit(kind),
        rated=pl.lit(None, pl.Boolean),
        **{f"{name}_learned": name for name in _COLUMNS},
    ).with_columns(effect_id=_row_id(pl.col("search_id"))).select(empty.columns)  # fmt: skip
    if changed is None:
        return rows
    ids = rows.drop("moved", "live", *EFFECT_COLUMNS)
    others = rows.join(changed, on="search_id", how="anti")
    return pl.concat([others, ids.join(changed, on="search_id").select(empty.columns)])


def _boosts(evidence: Evidence, searches: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    """Return the boosts that a kind of learning would add: search_id, memory_id, boost."""
    if kind == KEYS:
        return led(evidence, searches).group_by("search_id", "memory_id").agg(boost=pl.col("lift").first())
    max_boost = evidence.space.learning_policy.coefficient * evidence.space.policy.learned_cap
    matches = touched(evidence, searches)
    return matches.group_by("search_id", "memory_id").agg(boost=max_boost * pl.col("share").sum())


def _grades_then(space: Workspace, searches: pl.DataFrame) -> pl.DataFrame:
    """Return the grades of each search's query as of the end of its day."""
    queries = searches.select("day", "namespace", "query_id").unique()
    judgments = judgments_until(space.store, max(queries["day"].to_list(), default=""), own=True)
    return daily_grades(judgments, queries, space.settings.judge.agreement).select(_GRADED)


def _measured(space: Workspace, affected: pl.DataFrame, boosts: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    """Compute the metrics of some searches without and with what was learned.

    Args:
        space: Workspace with journal and judgments.
        affected: The searches.
        boosts: Proposed boosts: ``search_id``, ``memory_id`` and ``boost``.
        kind: Kind of learning.
    """
    days = affected["day"].unique().sort().to_list()
    searches = searches_of(space, days).join(affected, on="search_id", how="semi")
    grades = _grades_then(space, searches)
    results, flags = [], []
    with progress.task("replay with learning", searches.height) as advance:
        for part, live in _both(space, searches, boosts, kind):
            results.append(part)
            flags.append(live)
            advance(live.height)
    key = pl.concat_str("day", "namespace", "query_id", separator="\n")
    lists = searches.select("search_id", query_id=key).join(
        pl.DataFrame({"variant": [PLAIN, WITH]}), how="cross"
    )
    returned = pl.concat(results)
    metrics = evaluate_frame(
        lists,
        returned,
        grades.with_columns(query_id=key).select("query_id", "memory_id", "grade"),
        OF_LEARNING,
    ).rename({str(measure): measure.column for measure in OF_LEARNING})
    top = returned.filter(pl.col("rank") <= 10).sort("rank").group_by("search_id", "variant").agg("memory_id")
    plain, learned = (top.filter(pl.col("variant") == name).drop("variant") for name in (PLAIN, WITH))
    moved = plain.join(learned, on="search_id", how="full", coalesce=True, suffix="_learned").select(
        "search_id", moved=pl.col("memory_id").ne_missing(pl.col("memory_id_learned"))
    )
    without_learning, with_learning = (
        metrics.filter(pl.col("variant") == name).select("search_id", *_COLUMNS) for name in (PLAIN, WITH)
    )
    return (
        without_learning.join(with_learning, on="search_id", suffix="_learned")
        .join(moved, on="search_id", how="left")
        .join(pl.concat(flags), on="search_id")
        .with_columns(pl.col("moved").fill_null(value=False))
    )


def _both(
    space: Workspace, searches: pl.DataFrame, boosts: pl.DataFrame, kind: Kind
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield per slice of searches: results without and with learning, and whether it was live."""
    policy = space.policy
    wanted = ["search_id", "variant", "rank", "memory_id"]
    for batch, places in candidate_slices(space, searches):
        whole = batch.columns
        live = np.zeros(len(batch), dtype=np.bool_)
        live[whole.search[(whole.learned if kind == WORDS else whole.key) > 0]] = True
        bare = replace(batch, columns=whole.without({CHANNEL[kind]}))
        proposed = _with_boosts(bare, places, boosts, kind)
        parts = [
            ranked_again(bare, [Variant(PLAIN, policy)], depth=None),
            ranked_again(proposed, [Variant(WITH, policy)], depth=None).filter(
                ~pl.col("search").is_in(np.flatnonzero(live))
            ),
            ranked_again(batch, [Variant(WITH, policy)], depth=None).filter(
                pl.col("search").is_in(np.flatnonzero(live))
            ),
        ]
        rows = pl.concat(parts).join(places, on="search").select(wanted)
        yield rows, places.select("search_id", live=pl.Series(live[places["search"].to_numpy()]))


def _with_boosts(batch: Batch, places: pl.DataFrame, boosts: pl.DataFrame, kind: Kind) -> Batch:
    """Return the searches with the proposed boosts on their memories."""
    columns = batch.columns
    memories = pl.DataFrame(
        {"search": columns.search, "memory_id": batch.memory_ids.gather(columns.number)},
        schema_overrides={"search": pl.Int64},
    )
    search_boosts = boosts.join(places, on="search_id").select("search", "memory_id", "boost")
    boosted = memories.join(search_boosts, on=["search", "memory_id"], how="left", maintain_order="left")
    added = boosted["boost"].fill_null(0.0).to_numpy()
    changed = replace(columns, learned=added) if kind == WORDS else replace(columns, key=added)
    return replace(batch, columns=changed)
