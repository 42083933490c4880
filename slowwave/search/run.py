"""One search from query to response, with explanation and journal record."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.feedback.recent_feedback import recent_votes
from slowwave.feedback.text_attribution import texts_in
from slowwave.home.visibility import closed_queries
from slowwave.journal import Entry, JournalError
from slowwave.learning.active_boosts import without
from slowwave.notes.chunking import indexed_text
from slowwave.scoring.days import MICROSECOND, day_end
from slowwave.scoring.feedback.learned import KEYS, WORDS
from slowwave.scoring.ranking import Candidates, Contribution, RankedMemory, Ranking, RankingPolicy, rank
from slowwave.scoring.ranking.asking import without_asking
from slowwave.scoring.ranking.breakdown import split_by_term
from slowwave.scoring.ranking.candidates import BM25, LEARNED
from slowwave.scoring.ranking.time_words import time_words
from slowwave.scoring.ranking.word_pieces import needs_pieces
from slowwave.scoring.ranking.words import asked_words
from slowwave.search.deliveries import deliveries_of, without_given
from slowwave.search.empty_results import explain_no_results
from slowwave.search.filters import Filters
from slowwave.search.interleaving import interleave
from slowwave.search.listed_memories import as_asked, asked_candidates
from slowwave.search.log import logged
from slowwave.search.query_window import for_full_text
from slowwave.search.results import LeftOut, NotShown, Result, SearchResponse, Timings, explanation, present
from slowwave.search.searcher import MAX_QUERY_CHARACTERS, SearchCandidates, Searcher, searcher_in
from slowwave.telemetry import span

if TYPE_CHECKING:
    from slowwave.feedback.context import RatedFor
    from slowwave.home.workspace import Workspace
    from slowwave.learning.search_keys import LedTo

WORDS_EXPLAINED = 32  # maximum words of a query in an explanation (count)
MAX_PROJECT_CHARACTERS = 200
_FILTERS = tuple(field.name for field in fields(Filters))
NOT_SHOWN = 20  # maximum listed in an explanation (count)
ANY_QUESTION, READY_RESULTS = "what do we know?", 10
"""Query and results of the warm-up search, which nobody sees."""


def search(
    space: Workspace,
    namespace: str,
    query: str,
    *,
    limit: int,
    filters: Filters,
    as_of: date | None,
    explain: bool,
    principal: str,
    project: str = "",
    include_weak: bool = False,
    log: bool = True,
    session: str = "",
    repeat: bool = False,
) -> SearchResponse:
    """Search a namespace; see `slowwave.Memory.search`."""
    _check(query, limit, project)
    counted = "" if explain or as_of is not None else session
    deliveries = deliveries_of(space, namespace, principal, counted, lasting=log)
    ranked_limit = limit if deliveries is None else deliveries.depth(query, limit, repeat=repeat)
    doubts = _keep_up(space)
    moment, searcher = _at(space, as_of)
    filters.refuse_unknown(namespace, lambda: space.store.table("chunks"))
    start = time.perf_counter()
    with space.store.explaining("chunks"), space.store.one_look():
        candidates, asked = asked_candidates(
            space, searcher, namespace, query, depth(space, limit), filters, moment,
            limit=ranked_limit, past=as_of is not None,
        )  # fmt: skip
    policy = space.policy.with_weak if include_weak or asked else space.policy
    policy = replace(policy, rerank_weight=0.0) if asked else policy
    fetched = time.perf_counter()
    search_id = ids.new_event_id()
    other = _other(space, candidates, search_id) if log and as_of is None and not asked else None
    if other is not None and include_weak:
        other = other.with_weak
    candidates = read_by_cross_encoder(space, candidates, _reader(policy, other), query, moment)
    candidates = _with_questions(space, namespace, candidates) if explain else candidates
    with span("slowwave.search.rank", candidates=len(candidates.candidates)):
        ranking = rank(candidates.candidates, policy, as_of=moment, limit=ranked_limit)
    ranking = as_asked(ranking, candidates) if asked else ranking
    turns = None
    if other is not None:
        second = rank(candidates.candidates, other, as_of=moment, limit=ranked_limit)
        turns = interleave(ranking, second, other, seed=search_id, limit=ranked_limit)
        ranking = turns.ranking if turns else ranking
    results = present(ranking, candidates, turns.labels if turns else (), query="" if asked else query)
    if explain:
        best = [candidates.candidates.chunk_ids[result.best] for result in ranking.results]
        question = without_asking(query)
        words = asked_words(for_full_text(question, time_words(question, moment)))[:WORDS_EXPLAINED]
        terms = {}
        if policy.fusion == "convex" and not asked:
            cut = needs_pieces(query)
            terms = searcher.term_scores(namespace, words, best, filters, in_pieces=cut)
        result_ids = [result.memory_id for result in ranking.results]
        recent = recent_votes(space.store, namespace, result_ids, moment, texts_in(space))
        policies = [policy] * len(results)
        if turns:
            policies = [turns.other if team == "b" else policy for team in turns.teams]
        results = _explained(results, ranking, candidates, policies, terms, recent)
    given = () if deliveries is None else deliveries.given(query, results, limit, repeat=repeat)
    if ranked_limit > limit:
        results, ranking, turns = without_given(given, results, ranking, turns, limit)
    ranked = time.perf_counter()
    warnings = candidates.warnings
    if log and as_of is None and space.settings.journal.log_searches:
        payload = logged(
            ranking, candidates, policy, query=query, limit=limit, as_of=moment,
            filters=_given_filters(filters), turns=turns, left_out=[result.memory_id for result in given],
        )  # fmt: skip
        # One warning is enough for a journal that can be neither read nor written.
        doubts = _journal(space, search_id, namespace, payload, moment, principal, project) or doubts
    warnings += doubts
    if deliveries is not None:
        deliveries.add_search(query, results)
    nothing = None
    if not results:
        nothing = explain_no_results(
            space,
            namespace,
            filters,
            limit=limit,
            abstained=ranking.abstained,
            weakly=ranking.signal >= policy.abstention_floor,
            as_of=as_of,
            asked=asked,
            given=len(given),
        )  # fmt: skip
    end = time.perf_counter()
    timings = Timings(
        embedding=candidates.embedding_ms,
        candidates=candidates.total_ms - candidates.embedding_ms,
        scoring=(ranked - fetched) * 1e3,
        journal=(end - ranked) * 1e3,
        total=(end - start) * 1e3,
    )
    return SearchResponse(
        search_id,
        namespace,
        query,
        results,
        ranking.abstained,
        ranking.signal,
        policy.version,
        timings,
        warnings,
        _not_shown(ranking, candidates) if explain else (),
        nothing,
        candidates.identifiers.unknown,
        tuple(LeftOut(result.memory_id, result.title, result.rank) for result in given),
    )


def make_ready(space: Workspace, namespace: str) -> None:
    """Load what the first search of a namespace needs: the model and its chunks.

    It runs a search without a journal entry, so nothing learns from it.

    Args:
        space: Workspace of the home.
        namespace: Namespace to be searched.
    """
    moment = space.now()
    with space.store.explaining("chunks"):
        size = depth(space, READY_RESULTS)
        candidates = searcher_in(space).find(namespace, ANY_QUESTION, size, Filters(), moment)
    candidates = read_by_cross_encoder(space, candidates, space.policy, ANY_QUESTION, moment)
    present(rank(candidates.candidates, space.policy, as_of=moment, limit=READY_RESULTS), candidates)


def _keep_up(space: Workspace) -> tuple[str, ...]:
    """Reopen the tables if they were replaced; an unreadable journal does not stop the search.

    Returns:
        Warnings for the user.

    Raises:
        StoreError: the home was moved, so the search could not be recorded.
    """
    try:
        space.refresh_if_changed()
    except JournalError as error:
        warning = "Cannot read the journal, so maintenance of the tables may be in progress"
        return (f"{warning}: {error}",)
    return ()


def _check(query: str, limit: int, project: str) -> None:
    if not query.strip():
        raise SlowwaveError("The query is empty. Enter a question or some words.")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise SlowwaveError(f"The query has {len(query):,} characters; at most {MAX_QUERY_CHARACTERS:,}.")
    if limit < 0:
        raise SlowwaveError(f"limit = {limit}: ask for 0 or more results.")
    if not isinstance(project, str) or len(project) > MAX_PROJECT_CHARACTERS or "\0" in project:
        raise SlowwaveError(
            f"project = {project!r} is no name of at most {MAX_PROJECT_CHARACTERS} characters."
        )


def depth(space: Workspace, limit: int) -> int:
    """Return the number of candidates to fetch from each channel for `limit` results."""
    return max(space.settings.ranking.candidates, space.policy.sparse_limit_factor * limit)


def _other(space: Workspace, candidates: SearchCandidates, search_id: str) -> RankingPolicy | None:
    """Return the policy to interleave with the one in force, if any.

    If no policy is configured, a share of the searches that learning may change is interleaved with results
    without learning. Selections then measure its worth (rule 6.6).
    """
    if space.settings.evaluation.interleave is not None:
        return space.interleaved_policy
    draw = int(ids.digest("interleave", search_id)[:8], 16) / 16**8
    if draw >= space.settings.learning.interleave or not (candidates.learned or candidates.led):
        return None
    # If both kinds may change a search, each is left out half of the time.
    keys = not candidates.learned or (
        bool(candidates.led) and ids.digest("left out", search_id)[0] in "01234567"
    )
    return without(space.policy, KEYS if keys else WORDS)


def _reader(policy: RankingPolicy, other: RankingPolicy | None) -> RankingPolicy:
    """Return the policy that decides about the cross-encoder."""
    return policy if other is None or policy.rerank_weight else other


def _at(space: Workspace, as_of: date | None) -> tuple[datetime, Searcher]:
    """Return the moment of the search, and the searcher of that moment."""
    now = space.now()
    if isinstance(as_of, datetime) or not isinstance(as_of, date | None):
        raise SlowwaveError(f"as_of = {as_of!r}: give a date. A search answers as of the end of a day (UTC).")
    if as_of is None or as_of == now.date():
        return now, searcher_in(space)
    from slowwave.search.time_travel import searcher_as_of

    return day_end(as_of) - MICROSECOND, searcher_as_of(space, as_of)


def read_by_cross_encoder(
    space: Workspace, retrieved: SearchCandidates, policy: RankingPolicy, query: str, moment: datetime
) -> SearchCandidates:
    """Add cross-encoder scores of the best candidates, if the policy uses them.

    Args:
        space: Workspace with the cross-encoder.
        retrieved: The candidates.
        policy: Decides how many candidates are scored.
        query: Text of the query.
        moment: Moment of the search.
    """
    if not policy.rerank_weight or not policy.rerank_top or not len(retrieved.candidates):
        return retrieved
    first = rank(
        retrieved.candidates, replace(policy.complete, sparse_recall=False),
        as_of=moment, limit=policy.rerank_top,
    )  # fmt: skip
    best = [memory.best for memory in first.results]
    rows = retrieved.shown.select(["title", "headings", "text"]).take(best).to_pylist()
    texts = [indexed_text(row["title"], row["headings"] or (), row["text"]) for row in rows]
    scores = np.full(len(retrieved.candidates), np.nan)
    scores[best] = np.round(space.reranker.scores(query, texts), 6)
    return replace(retrieved, candidates=replace(retrieved.candidates, rerank=scores))


def _explained(
    results: tuple[Result, ...],
    ranking: Ranking,
    retrieved: SearchCandidates,
    policies: Sequence[RankingPolicy],
    terms: Mapping[str, Mapping[str, float]],
    recent: Mapping[str, Sequence[Mapping[str, Any]]],
) -> tuple[Result, ...]:
    """Add explanations to the results, down to the words of the query."""
    candidates: Candidates = retrieved.candidates
    return tuple(
        replace(
            result,
            explanation=explanation(
                memory,
                candidates,
                policy,
                _by_term(memory, retrieved, terms),
                ranking.injections,
                recent.get(memory.memory_id, ()),
            ),
        )
        for result, memory, policy in zip(results, ranking.results, policies, strict=True)
    )


def _with_questions(space: Workspace, namespace: str, retrieved: SearchCandidates) -> SearchCandidates:
    """Add the past questions behind the candidates, except those that returned a secret memory."""
    if not retrieved.led and not retrieved.rated:
        return retrieved
    closed = closed_queries(space.store, namespace)

    def text(of: LedTo | RatedFor) -> str:
        return "" if of.question in closed else of.text

    candidates = retrieved.candidates
    led = {name: replace(entry, query=text(retrieved.led[name])) for name, entry in candidates.led.items()}
    rated = {
        name: replace(entry, query=text(retrieved.rated[name])) for name, entry in candidates.rated.items()
    }
    return replace(retrieved, candidates=replace(candidates, led=led, rated=rated))


def _by_term(
    memory: RankedMemory, retrieved: SearchCandidates, terms: Mapping[str, Mapping[str, float]]
) -> tuple[Contribution, ...]:
    """Split a result's contributions by query words and learned terms."""
    rows = split_by_term(
        memory.contributions, BM25, terms.get(retrieved.candidates.chunk_ids[memory.best], {})
    )
    learned = retrieved.learned.get(memory.memory_id)
    return rows if learned is None else split_by_term(rows, LEARNED, learned.terms)


def _not_shown(ranking: Ranking, retrieved: SearchCandidates) -> tuple[NotShown, ...]:
    listed = ranking.unshown[:NOT_SHOWN]
    titles = retrieved.titles
    return tuple(
        NotShown(memory.memory_id, titles[memory.memory_id], memory.score, memory.place, memory.reason)
        for memory in listed
    )


def _given_filters(filters: Filters) -> dict[str, Any]:
    """Return the given filters for the journal."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name in _FILTERS
        if (value := getattr(filters, name))
    }


def _journal(
    space: Workspace,
    search_id: str,
    namespace: str,
    payload: Mapping[str, Any],
    moment: datetime,
    principal: str,
    project: str,
) -> tuple[str, ...]:
    entry = Entry(
        event_id=search_id,
        kind="search",
        namespace=namespace,
        subject=search_id,
        occurred_at=moment,
        principal=principal,
        origin=project,
        payload=payload,
    )
    try:
        with span("slowwave.journal.append"):
            space.journal.append([entry])
    except JournalError as error:
        return (f"This search could not be recorded, so feedback on it is not possible: {error}",)
    return ()
