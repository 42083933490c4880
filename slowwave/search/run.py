"""One search from the question to the answer, its account and its line in the journal."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
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
from slowwave.scoring.days import day_end
from slowwave.scoring.feedback.learned import KEYS, WORDS
from slowwave.scoring.ranking import Candidates, Contribution, RankedMemory, Ranking, RankingPolicy, rank
from slowwave.scoring.ranking.breakdown import split_by_term
from slowwave.scoring.ranking.candidates import BM25, LEARNED
from slowwave.scoring.ranking.words import asked_words
from slowwave.search.empty_results import explain_no_results
from slowwave.search.filters import Filters
from slowwave.search.interleaving import InterleavedRanking, interleave
from slowwave.search.log import logged
from slowwave.search.results import NotShown, Result, SearchResponse, Timings, explanation, present
from slowwave.search.searcher import MAX_QUERY_CHARACTERS, SearchCandidates, Searcher, searcher_in
from slowwave.telemetry import span

if TYPE_CHECKING:
    from slowwave.feedback.context import RatedFor
    from slowwave.home.workspace import Workspace
    from slowwave.learning.search_keys import LedTo

WORDS_EXPLAINED = 32  # of a query, each with its part in a score (count)
MAX_PROJECT_CHARACTERS = 200
NOT_SHOWN = 20  # listed in an account (count)
ANY_QUESTION, READY_RESULTS = "what do we know?", 10
"""Of the search that makes a home ready: what it finds is shown to nobody."""


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
    log: bool = True,
) -> SearchResponse:
    """Search a namespace; see `slowwave.Memory.search`."""
    _check(query, limit, project)
    doubts = _keep_up(space)
    moment, searcher = _at(space, as_of)
    filters.refuse_unknown(namespace, lambda: space.store.table("chunks"))
    policy = space.policy
    start = time.perf_counter()
    with space.store.explaining("chunks"), space.store.one_look():
        found = searcher.find(namespace, query, depth(space, limit), filters, moment)
    fetched = time.perf_counter()
    search_id = ids.new_event_id()
    other = _other(space, found, search_id) if log and as_of is None else None
    found = read_by_cross_encoder(space, found, _reader(policy, other), query, moment)
    found = _with_questions(space, namespace, found) if explain else found
    with span("slowwave.search.rank", candidates=len(found.candidates)):
        ranking = rank(found.candidates, policy, as_of=moment, limit=limit)
    turns = None
    if other is not None:
        second = rank(found.candidates, other, as_of=moment, limit=limit)
        turns = interleave(ranking, second, other, seed=search_id, limit=limit)
        ranking = turns.ranking if turns else ranking
    results = present(ranking, found, turns.labels if turns else ())
    if explain:
        best = [found.candidates.chunk_ids[one.best] for one in ranking.results]
        words = asked_words(query)[:WORDS_EXPLAINED]
        terms = searcher.term_scores(namespace, words, best, filters) if policy.fusion == "convex" else {}
        shown = [one.memory_id for one in ranking.results]
        recent = recent_votes(space.store, namespace, shown, moment, texts_in(space))
        whose = [other if turns and other and team == "b" else policy for team in _teams(turns, results)]
        results = _explained(results, ranking, found, whose, terms, recent)
    ranked = time.perf_counter()
    warnings = found.warnings
    if log and as_of is None and space.settings.journal.log_searches:
        payload = logged(
            ranking, found, policy, query=query, limit=limit, as_of=moment, filters=_given(filters),
            turns=turns,
        )  # fmt: skip
        # One warning tells of a journal that can be neither read nor written.
        doubts = _journal(space, search_id, namespace, payload, moment, principal, project) or doubts
    warnings += doubts
    nothing = None
    if not results:
        nothing = explain_no_results(
            space, namespace, filters, limit=limit, abstained=ranking.abstained, as_of=as_of
        )
    end = time.perf_counter()
    timings = Timings(
        embedding=found.embedding_ms,
        candidates=found.total_ms - found.embedding_ms,
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
        _not_shown(ranking, found) if explain else (),
        nothing,
    )


def make_ready(space: Workspace, namespace: str) -> None:
    """Do now what the first search of a namespace would wait for: load the model and the namespace's chunks.

    It is a search that nobody sees: nothing of it is in the journal, and nothing learns from it.

    Args:
        space: the home.
        namespace: that is going to be searched.
    """
    moment = space.now()
    with space.store.explaining("chunks"):
        size = depth(space, READY_RESULTS)
        found = searcher_in(space).find(namespace, ANY_QUESTION, size, Filters(), moment)
    found = read_by_cross_encoder(space, found, space.policy, ANY_QUESTION, moment)
    present(rank(found.candidates, space.policy, as_of=moment, limit=READY_RESULTS), found, ())


def _keep_up(space: Workspace) -> tuple[str, ...]:
    """Open the tables again if others are in their place; a journal that cannot say so costs no search.

    Returns:
        What a person should know of it.

    Raises:
        StoreError: the home was moved; its journal of before may be gone, and this search would be in none.
    """
    try:
        space.refresh_if_changed()
    except JournalError as error:
        told = "It is not known whether a work on the tables is under way, since the journal cannot be read"
        return (f"{told}: {error}",)
    return ()


def _check(query: str, limit: int, project: str) -> None:
    if not query.strip():
        raise SlowwaveError("The query is empty. Give a question or some words.")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise SlowwaveError(f"The query has {len(query):,} characters; at most {MAX_QUERY_CHARACTERS:,}.")
    if limit < 0:
        raise SlowwaveError(f"limit = {limit}: ask for 0 or more results.")
    if not isinstance(project, str) or len(project) > MAX_PROJECT_CHARACTERS or "\0" in project:
        raise SlowwaveError(
            f"project = {project!r}: give a name of at most {MAX_PROJECT_CHARACTERS} characters."
        )


def depth(space: Workspace, limit: int) -> int:
    """Candidates to fetch from each channel for a search of `limit` results, whatever looks at them."""
    return max(space.settings.ranking.candidates, space.policy.sparse_limit_factor * limit)


def _other(space: Workspace, found: SearchCandidates, search_id: str) -> RankingPolicy | None:
    """The ranking to be shown in turn with the one in force, if any.

    Where no policy is being tried, of the searches that learning may change a share shows what they would
    without it: so its worth is measured by what people then use (rule 6.6).
    """
    if space.settings.evaluation.interleave is not None:
        return space.interleaved_policy
    draw = int(ids.digest("interleave", search_id)[:8], 16) / 16**8
    if draw >= space.settings.learning.interleave or not (found.learned or found.led):
        return None
    # Of a search that both may change, each is left out half of the time.
    keys = not found.learned or (bool(found.led) and ids.digest("left out", search_id)[0] in "01234567")
    return without(space.policy, KEYS if keys else WORDS)


def _reader(policy: RankingPolicy, other: RankingPolicy | None) -> RankingPolicy:
    """Whose wish for the cross-encoder counts."""
    return policy if other is None or policy.rerank_weight else other


def _teams(turns: InterleavedRanking | None, results: Sequence[Result]) -> Sequence[str]:
    return turns.teams if turns else [""] * len(results)


def _at(space: Workspace, as_of: date | None) -> tuple[datetime, Searcher]:
    """The moment of the search, and what searches the memory of then."""
    now = space.now()
    if isinstance(as_of, datetime) or not isinstance(as_of, date | None):
        raise SlowwaveError(f"as_of = {as_of!r}: give a date, a search answers as of the end of a day (UTC).")
    if as_of is None or as_of == now.date():
        return now, searcher_in(space)
    from slowwave.search.time_travel import searcher_as_of

    return day_end(as_of), searcher_as_of(space, as_of)


def read_by_cross_encoder(
    space: Workspace, found: SearchCandidates, policy: RankingPolicy, query: str, moment: datetime
) -> SearchCandidates:
    """The candidates with the cross-encoder's opinion of the best ones, where the policy wants it.

    Args:
        space: has the cross-encoder.
        found: the candidates.
        policy: says how many are read, if any.
        query: the text.
        moment: of the search.
    """
    if not policy.rerank_weight or not policy.rerank_top or not len(found.candidates):
        return found
    first = rank(
        found.candidates, replace(policy, abstention_floor=0.0, sparse_recall=False),
        as_of=moment, limit=policy.rerank_top,
    )  # fmt: skip
    best = [one.best for one in first.results]
    rows = found.shown.select(["title", "headings", "text"]).take(best).to_pylist()
    texts = [indexed_text(row["title"], row["headings"] or (), row["text"]) for row in rows]
    scores = np.full(len(found.candidates), np.nan)
    scores[best] = np.round(space.reranker.scores(query, texts), 6)
    return replace(found, candidates=replace(found.candidates, rerank=scores))


def _explained(
    results: tuple[Result, ...],
    ranking: Ranking,
    found: SearchCandidates,
    policies: Sequence[RankingPolicy],
    terms: Mapping[str, Mapping[str, float]],
    recent: Mapping[str, Sequence[Mapping[str, Any]]],
) -> tuple[Result, ...]:
    """The results with the account of their scores, down to the words of the query."""
    candidates: Candidates = found.candidates
    return tuple(
        replace(
            result,
            explanation=explanation(
                one,
                candidates,
                policy,
                _by_term(one, found, terms),
                ranking.injections,
                recent.get(one.memory_id, ()),
            ),
        )
        for result, one, policy in zip(results, ranking.results, policies, strict=True)
    )


def _with_questions(space: Workspace, namespace: str, found: SearchCandidates) -> SearchCandidates:
    """The candidates with the past questions behind them, but none that a secret memory answered."""
    if not found.led and not found.rated:
        return found
    closed = closed_queries(space.store, namespace)

    def text(of: LedTo | RatedFor) -> str:
        return "" if of.question in closed else of.text

    candidates = found.candidates
    led = {name: replace(one, query=text(found.led[name])) for name, one in candidates.led.items()}
    rated = {name: replace(one, query=text(found.rated[name])) for name, one in candidates.rated.items()}
    return replace(found, candidates=replace(candidates, led=led, rated=rated))


def _by_term(
    one: RankedMemory, found: SearchCandidates, terms: Mapping[str, Mapping[str, float]]
) -> tuple[Contribution, ...]:
    """The breakdown of a result with the words of the query, and with the terms that were learned."""
    rows = split_by_term(one.contributions, BM25, terms.get(found.candidates.chunk_ids[one.best], {}))
    learned = found.learned.get(one.memory_id)
    return rows if learned is None else split_by_term(rows, LEARNED, learned.terms)


def _not_shown(ranking: Ranking, found: SearchCandidates) -> tuple[NotShown, ...]:
    listed = ranking.unshown[:NOT_SHOWN]
    titles = dict(zip(found.candidates.memory_ids, found.shown.column("title").to_pylist(), strict=True))
    return tuple(
        NotShown(one.memory_id, titles[one.memory_id], one.score, one.place, one.reason) for one in listed
    )


def _given(filters: Filters) -> dict[str, Any]:
    """The filters that were given, for the journal."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in asdict(filters).items()
        if value
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
        return (f"This search is not in the journal, so feedback on it cannot be taken: {error}",)
    return ()
