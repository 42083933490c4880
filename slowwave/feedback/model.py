"""Return types of the feedback calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slowwave.errors import SlowwaveError


class FeedbackError(SlowwaveError):
    """Feedback with an unknown word, or about nothing."""


@dataclass(frozen=True, slots=True)
class Rated:
    """Recorded rating.

    Attributes:
        new: Whether this call wrote it. If False the same rating was recorded before.
    """

    event_id: str
    search_id: str
    memory_id: str
    chunk_id: str
    rating: str
    new: bool


@dataclass(frozen=True, slots=True)
class UsageVerdict:
    """Verdict whether an answer used one returned memory.

    Attributes:
        rank: Rank in the results, from 1.
        verdict: used or ignored.
        evidence: citation (its id is in the answer), denial (the answer contradicts it), similarity,
            short_answer (question and answer together), words, or none: nothing to compare.
        keywords: Keywords of the returned text (count).
        ratio: Share of them in the answer; None without keywords.
        ratio_beyond_query: The same without words of the query; None if no others are left.
        similarity: Similarity given for a result in the grey band.
    """

    memory_id: str
    chunk_id: str | None
    rank: int
    verdict: str
    evidence: str
    keywords: int | None
    ratio: float | None
    ratio_beyond_query: float | None
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """Observed answer; `new` is False when it had been observed before."""

    event_id: str
    search_id: str
    verdicts: tuple[UsageVerdict, ...]
    new: bool


@dataclass(frozen=True, slots=True)
class Concluded:
    """Outcome of a project.

    Attributes:
        searches: Searches for the project since its previous outcome (count).
        new: Whether this call wrote it.
    """

    event_id: str
    project: str
    outcome: str
    searches: int
    new: bool


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """Usage statistics of one memory, including feedback that is not aggregated yet.

    Attributes:
        tier: Importance tier, promotions included.
        used: Answers that used it (count); cited: those that named its id.
        ignored: Answers that did not, though there was something to compare.
        helpful: Ratings as helpful (count); of those of a user on one search, the last. So for the others.
        effectiveness: In [0, 1] as ranking takes it, 0.5 is neutral; feedback_count: data points behind it.
        strength: Current strength in [0, 1]; None before the first aggregated verdict.
        stability: Seconds after which e^-1 of it is left.
        waiting: Events among the above that are not aggregated yet (count).
        recent: Latest ratings and outcomes, newest first.
        earlier: Votes on an earlier text with another meaning (count). No other count includes them; they
            count again if that text returns.
    """

    memory_id: str
    title: str
    tier: str
    used: int
    cited: int
    ignored: int
    helpful: int
    neutral: int
    unhelpful: int
    successes: int
    failures: int
    effectiveness: float
    feedback_count: int
    strength: float | None
    stability: float | None
    last_used_at: datetime | None
    waiting: int
    recent: tuple[Mapping[str, Any], ...]
    earlier: int = 0
