"""What a search gives: results, and on request the whole account of how they came about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa

from slowwave.scoring.ranking import Candidates, Contribution, RankedMemory, Ranking, RankingPolicy
from slowwave.scoring.ranking.results import positions
from slowwave.scoring.ranking.sparse_recall import Injection
from slowwave.search.empty_results import NoResultsReason
from slowwave.search.searcher import SearchCandidates

SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of a found memory that a channel found."""

    chunk_id: str
    text: str
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the score of one result came about.

    Attributes:
        contributions: rows (source, field, term, value) that sum to the score.
        channels: every channel that found the memory.
        scores: of its best passage as the channels gave them: cosine, bm25, rerank; absent where unknown.
        semantic_score: of the text alone.
        effectiveness_score: that counted; .5 is neutral.
        combined_score: of these two.
        feedback_count: data points (count).
        multiplier: that not-useful votes leave, 1 where there are none.
        formula: with its numbers.
        recent_feedback: what people and assistants said of it last, the newest first.
        recall: why a short memory was given this place: reason, chunk and distance.
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
        """A line for each contribution, and the formula."""
        rows = self.contributions
        lines = [f"{row.value:+.4f}  {' '.join(' '.join(row[:3]).split())}" for row in rows]
        return "\n".join([*lines, self.formula])


@dataclass(frozen=True, slots=True)
class Result:
    """One found memory.

    Attributes:
        score: in [0, 1].
        confidence: in the memory: high, medium or low.
        flags: highly_effective, recall_injected, superseded.
        text: its best passage; `passages` are all that were found, in document order.
        explanation: of the score, when it was asked for.
        team: while two rankings are shown in turn, a name for the one that this result is of, which means
            nothing beyond this search; else empty.
    """

    rank: int
    memory_id: str
    title: str
    text: str
    source: str
    score: float
    confidence: str
    flags: tuple[str, ...]
    headings: tuple[str, ...]
    memory_type: str
    importance_tier: str
    tags: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    passages: tuple[Passage, ...]
    explanation: Explanation | None = None
    team: str = ""


@dataclass(frozen=True, slots=True)
class NotShown:
    """A memory that was found and is not shown, and why: cut, displaced or abstained."""

    memory_id: str
    title: str
    score: float
    place: int
    reason: str


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds of one search, by part; `total` is the wall clock, the parts may overlap."""

    embedding: float
    candidates: float
    scoring: float
    journal: float
    total: float


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """What a search gives.

    Attributes:
        search_id: names this search when feedback is given on it.
        results: best first; iterate over the response to get them.
        abstained: nothing is shown because nothing that was found is near enough to be an answer.
        signal: how sure the search is that there is an answer, in [0, 1]; below the policy's floor it
            abstains.
        policy: version of the ranking policy.
        warnings: what the caller should know, such as a journal that could not be written.
        not_shown: what else was found, the best first, when an explanation was asked for.
        nothing: why there are no results; None where there are some.
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

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, at: int) -> Result:
        return self.results[at]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; a row of a breakdown is a mapping."""
        data = asdict(self)
        for result, plain in zip(self.results, data["results"], strict=True):
            if result.explanation is not None:
                rows = [row._asdict() for row in result.explanation.contributions]
                plain["explanation"]["contributions"] = rows
        return data


def present(ranking: Ranking, found: SearchCandidates, teams: Sequence[str] = ()) -> tuple[Result, ...]:
    """The memories of a ranking as results.

    Args:
        ranking: of the candidates.
        found: the candidates.
        teams: of the results, where they are those of two rankings in turn.
    """
    wanted = positions(ranking.results)
    rows = dict(zip(wanted.tolist(), found.shown.take(pa.array(wanted)).to_pylist(), strict=True))
    named = teams or [""] * len(ranking.results)
    return tuple(_result(one, rows, team) for one, team in zip(ranking.results, named, strict=True))


def _result(memory: RankedMemory, rows: Mapping[int, dict[str, Any]], team: str) -> Result:
    best = rows[memory.best]
    outdated = (SUPERSEDED,) if best["status"] == SUPERSEDED else ()
    return Result(
        rank=memory.rank,
        memory_id=memory.memory_id,
        title=best["title"],
        text=best["text"],
        source=best["source"],
        score=memory.score,
        confidence=memory.confidence.tier,
        flags=memory.flags + outdated,
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
    """The account of one result.

    Args:
        memory: the result.
        candidates: it was found among.
        policy: the ranking.
        rows: its breakdown, with the words of the query.
        injections: of the ranking.
        recent: what was said of it last, the newest first.
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
        recall=next((one for one in injections if one.memory_id == memory.memory_id), None),
    )


def formula(memory: RankedMemory, policy: RankingPolicy) -> str:
    """How the score is made, with its numbers."""
    weight = policy.effectiveness_weight
    added = {row.source: row.value for row in memory.contributions}
    text = f"{1 - weight:g} · {memory.semantic:.3f} + {weight:g} · {memory.effectiveness:.3f}"
    for source in ("learned", "key", "confidence"):
        if value := added.get(source, 0.0):
            text += f" {'+' if value > 0 else '-'} {abs(value):.3f} ({source})"
    if memory.multiplier != 1.0:
        text = f"({text}) · {memory.multiplier:.3f} (not useful)"
    if "clamp" in added:
        text += ", held to [0, 1]"
    return f"{text} = {memory.score:.3f}"
