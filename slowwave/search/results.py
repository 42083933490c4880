"""Search response: results, with explanations on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

import pyarrow as pa

from slowwave.quality.admission.statuses import SUPERSEDED
from slowwave.scoring.ranking import Candidates, Contribution, RankedMemory, Ranking, RankingPolicy
from slowwave.scoring.ranking.identifiers import sentence
from slowwave.scoring.ranking.names import covers_question
from slowwave.scoring.ranking.results import positions
from slowwave.scoring.ranking.sparse_recall import Injection
from slowwave.search.empty_results import NoResultsReason
from slowwave.search.searcher import SearchCandidates
from slowwave.search.stored_pairs import ComparedPassage, contradictions
from slowwave.store.frames import column_values

_RETURNED = (
    "chunk_id", "title", "text", "source", "headings", "status", "memory_type", "importance_tier", "tags",
    "created_at", "updated_at", "sensitivity", "chunk_count",
)  # fmt: skip
ONLY_NEAR = "only_near"
"""Flag of a result of a question none of whose identifiers a memory mentions."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Chunk of a result that a channel found."""

    chunk_id: str
    text: str
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Explanation of one result's score.

    Attributes:
        contributions: Rows (source, field, term, value) that sum to the score.
        channels: Every channel that found the memory.
        scores: Channel scores of its best passage: cosine, bm25, rerank; absent if unknown.
        semantic_score: Score of the text alone.
        effectiveness_score: Effectiveness that counted; 0.5 is neutral.
        combined_score: Combination of these two.
        feedback_count: Data points (count).
        multiplier: Factor of not-useful votes, 1 without any.
        formula: Formula with its numbers.
        recent_feedback: Latest feedback on it, newest first.
        recall: Reason, chunk and distance of a recalled short memory.
    """

    contributions: tuple[Contribution, ...]
    channels: tuple[str, ...]
    scores: Mapping[str, float]
    semantic_score: float
    effectiveness_score: float
    combined_score: float
    feedback_count: int
    multiplier: float
    formula: str
    recent_feedback: tuple[Mapping[str, Any], ...] = ()
    recall: Injection | None = None

    def __str__(self) -> str:
        """Format a line per contribution, and the formula."""
        rows = self.contributions
        lines = [f"{row.value:+.4f}  {' '.join(' '.join(row[:3]).split())}" for row in rows]
        return "\n".join([*lines, self.formula])


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Other result that gives the same thing another value, or denies it."""

    memory_id: str
    chunk_id: str
    title: str


@dataclass(frozen=True, slots=True)
class Result:
    """One result.

    Attributes:
        score: In [0, 1].
        confidence: In the memory itself, whatever the query: high, medium or low.
        fit: To the query: strong, fair or weak.
        flags: highly_effective, recall_injected, may_be_newer, superseded, only_near.
        chunk_id: Of the best passage.
        text: Best passage; `passages` are all that were found, in document order.
        explanation: Explanation of the score, if requested.
        duplicates: Memories with the same words that are not returned for it.
        outdated_by: Memory with a newer value of the same thing; empty without one.
        newer_title: Its title.
        valid_until: Moment from which the newer value holds; None without one.
        contradicts: Other results that contradict it, unless one is an update of the other.
        team: In an interleaved list, a label of the result's policy, meaningless beyond this search; else
            empty.
    """

    rank: int
    memory_id: str
    chunk_id: str
    title: str
    text: str
    source: str
    score: float
    confidence: str
    fit: str
    flags: tuple[str, ...]
    headings: tuple[str, ...]
    memory_type: str
    importance_tier: str
    tags: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    passages: tuple[Passage, ...]
    explanation: Explanation | None = None
    duplicates: tuple[str, ...] = ()
    outdated_by: str = ""
    newer_title: str = ""
    valid_until: datetime | None = None
    contradicts: tuple[Contradiction, ...] = ()
    team: str = ""


@dataclass(frozen=True, slots=True)
class NotShown:
    """Candidate that was not returned, with the reason: weak, duplicate, limit, displaced or abstained."""

    memory_id: str
    title: str
    score: float
    place: int
    reason: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Result that the session was given before; `rank` is its place among all results."""

    memory_id: str
    title: str
    rank: int


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds of one search by part; `total` is wall-clock time, and parts may overlap."""

    embedding: float
    candidates: float
    scoring: float
    journal: float
    total: float


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """Response of a search.

    Attributes:
        search_id: Id to give feedback with.
        results: Best first; iterate over the response to get them.
        abstained: No results because nothing is near enough, or fits well enough, to be an answer.
        signal: Certainty that there is an answer, in [0, 1]; below the policy's floor the search abstains.
        policy: Version of the ranking policy.
        warnings: Warnings, such as a journal that could not be written.
        not_shown: Other candidates, best first, if an explanation was requested.
        nothing: Reason for an empty result; None with results.
        unknown: Identifiers of the question that no visible memory mentions, such as a ticket or a version.
        left_out: Results that the session was given before; no impressions.
    """

    search_id: str
    namespace: str
    query: str
    results: tuple[Result, ...]
    abstained: bool
    signal: float
    policy: str
    timings: Timings
    warnings: tuple[str, ...] = field(default=())
    not_shown: tuple[NotShown, ...] = ()
    nothing: NoResultsReason | None = None
    unknown: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def unknown_message(self) -> str:
        """Return the sentences to read before the results if the question has `unknown`; else empty."""
        only_near = bool(self.results) and all(ONLY_NEAR in result.flags for result in self.results)
        then = (
            f" The results are only near {'it' if len(self.unknown) == 1 else 'them'}." if only_near else ""
        )
        return sentence(self.unknown) + then

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, at: int) -> Result:
        return self.results[at]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; a contribution is a mapping."""
        data = asdict(self) | {"unknown_message": self.unknown_message}
        for result, plain in zip(self.results, data["results"], strict=True):
            if result.explanation is not None:
                rows = [row._asdict() for row in result.explanation.contributions]
                plain["explanation"]["contributions"] = rows
        return data


def present(
    ranking: Ranking, retrieved: SearchCandidates, teams: Sequence[str] = (), *, query: str = ""
) -> tuple[Result, ...]:
    """Return the memories of a ranking as results.

    They have a flag if they are only near the identifiers of the question.

    Args:
        ranking: Ranking of the candidates.
        retrieved: The candidates.
        teams: Team labels of an interleaved ranking.
        query: Text of the query; empty for a list.
    """
    wanted = positions(ranking.results)
    shown = retrieved.shown.select(_RETURNED).take(pa.array(wanted))
    columns = [column_values(shown.column(name)) for name in _RETURNED]
    values = (dict(zip(_RETURNED, row, strict=True)) for row in zip(*columns, strict=True))
    rows = dict(zip(wanted.tolist(), values, strict=True))
    labels = teams or [""] * len(ranking.results)
    flags = (ONLY_NEAR,) if retrieved.identifiers.all_unknown else ()
    results = tuple(
        _at_most_fair(_result(memory, rows, team, flags), query, retrieved)
        for memory, team in zip(ranking.results, labels, strict=True)
    )
    return _with_contradictions(_with_updates(results, ranking, retrieved), rows, ranking, retrieved)


def _at_most_fair(result: Result, query: str, retrieved: SearchCandidates) -> Result:
    """Return a result that is at most fair without most of the query.

    It needs most words and all names (rule 3.9); one with a whole phrase, or found by learning, needs none.
    """
    candidates, memory = retrieved.candidates, result.memory_id
    _, strength = candidates.triggers.get(memory, ("", 0.0))
    taught = (retrieved.learned, retrieved.led, retrieved.rated)
    is_known = not query or strength >= 1.0 or any(memory in one for one in taught)
    if result.fit != "strong" or is_known:
        return result
    labels = (*result.headings, *result.tags, result.title, result.source, candidates.aliases.get(memory, ""))
    texts = (*labels, *(passage.text for passage in result.passages))
    return result if covers_question(query, candidates.time_words, texts) else replace(result, fit="fair")


def _with_updates(
    results: tuple[Result, ...], ranking: Ranking, retrieved: SearchCandidates
) -> tuple[Result, ...]:
    """Add to each outdated result where the newest value is; that one fits as well."""
    pairs = [(result, memory.outdated_by) for result, memory in zip(results, ranking.results, strict=True)]
    strong = {newer for result, newer in pairs if newer and result.fit == "strong"}
    marked = []
    for result, newer in pairs:
        if result.memory_id in strong and result.fit == "fair":  # a newer text may lack words of the query
            result = replace(result, fit="strong")
        if newer and (update := retrieved.outdated.get(result.memory_id)):
            title, until = retrieved.titles[newer] or "", update.until
            result = replace(result, outdated_by=newer, newer_title=title, valid_until=until)
        marked.append(result)
    return tuple(marked)


def _with_contradictions(
    results: tuple[Result, ...],
    rows: Mapping[int, dict[str, Any]],
    ranking: Ranking,
    retrieved: SearchCandidates,
) -> tuple[Result, ...]:
    """Name in each result the others that contradict it."""
    if retrieved.pairs is None:
        return results
    passages = [
        ComparedPassage(
            result.memory_id, row["sensitivity"] or "", result.title, result.source, result.text,
            is_whole=row["chunk_count"] == 1,
        )
        for result, memory in zip(results, ranking.results, strict=True)
        for row in (rows[memory.best],)
    ]  # fmt: skip
    others: dict[int, dict[str, Contradiction]] = {}
    for pair in contradictions(retrieved.pairs, passages):
        for at, there in (pair, pair[::-1]):
            other = results[there]
            if results[at].memory_id != other.outdated_by and other.memory_id != results[at].outdated_by:
                mark = Contradiction(other.memory_id, other.chunk_id, other.title)
                others.setdefault(at, {})[other.memory_id] = mark
    return tuple(
        replace(result, contradicts=tuple(others[at].values())) if at in others else result
        for at, result in enumerate(results)
    )


def _result(
    memory: RankedMemory, rows: Mapping[int, dict[str, Any]], team: str, flags: tuple[str, ...]
) -> Result:
    best = rows[memory.best]
    outdated = (SUPERSEDED,) if best["status"] == SUPERSEDED else ()
    return Result(
        rank=memory.rank,
        memory_id=memory.memory_id,
        chunk_id=best["chunk_id"],
        title=best["title"],
        text=best["text"],
        source=best["source"],
        score=memory.score,
        confidence=memory.confidence.tier,
        fit="weak" if ONLY_NEAR in flags else memory.fit_label,
        flags=memory.flags + outdated + flags,
        headings=tuple(best["headings"] or ()),
        memory_type=best["memory_type"],
        importance_tier=best["importance_tier"],
        tags=tuple(best["tags"] or ()),
        created_at=best["created_at"],
        updated_at=best["updated_at"],
        passages=tuple(
            Passage(rows[at]["chunk_id"], rows[at]["text"], tuple(rows[at]["headings"] or ()))
            for at in memory.chunks
        ),
        duplicates=memory.duplicates,
        team=team,
    )


def explanation(
    memory: RankedMemory,
    candidates: Candidates,
    policy: RankingPolicy,
    rows: tuple[Contribution, ...],
    injections: Sequence[Injection],
    recent: Sequence[Mapping[str, Any]] = (),
) -> Explanation:
    """Build the explanation of one result.

    Args:
        memory: The result.
        candidates: Candidates of the search.
        policy: The ranking policy.
        rows: Contributions, with the words of the query.
        injections: Recalled short memories of the ranking.
        recent: Latest feedback on it, newest first.
    """
    ((channels, scores),) = candidates.origins([memory.best], [memory.chunks])
    return Explanation(
        contributions=rows,
        channels=channels,
        scores=scores,
        semantic_score=memory.semantic,
        effectiveness_score=memory.effectiveness,
        combined_score=memory.combined,
        feedback_count=memory.feedback_count,
        multiplier=memory.multiplier,
        formula=formula(memory, policy),
        recent_feedback=tuple(recent),
        recall=next((injection for injection in injections if injection.memory_id == memory.memory_id), None),
    )


def formula(memory: RankedMemory, policy: RankingPolicy) -> str:
    """Format the formula of the score with its numbers."""
    weight = policy.effectiveness_weight
    added = {row.source: row.value for row in memory.contributions}
    text = f"{1 - weight:g} · {memory.semantic:.3f} + {weight:g} · {memory.effectiveness:.3f}"
    for source in ("learned", "key", "confidence"):
        if value := added.get(source, 0.0):
            text += f" {'+' if value > 0 else '-'} {abs(value):.3f} ({source})"
    if memory.multiplier != 1.0:
        text = f"({text}) · {memory.multiplier:.3f} (not useful)"
    if value := added.get("outdated", 0.0):
        text += f" + {value:.3f} (newer value)"
    if "clamp" in added:
        text += ", clipped to [0, 1]"
    return f"{text} = {memory.score:.3f}"
