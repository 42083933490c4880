"""What the calls that give feedback return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slowwave.errors import SlowwaveError


class FeedbackError(SlowwaveError):
    """Feedback with a word that is not known, or about nothing."""


@dataclass(frozen=True, slots=True)
class Rated:
    """A rating that was taken.

    Attributes:
        new: whether this call wrote it; False: it had been given before, and nothing was written.
    """

    event_id: str
    search_id: str
    memory_id: str
    chunk_id: str
    rating: str
    new: bool


@dataclass(frozen=True, slots=True)
class UsageVerdict:
    """Whether an answer used one memory that it was shown.

    Attributes:
        rank: at which it was shown, from 1.
        verdict: used or ignored.
        evidence: citation (its id is in the answer), words, similarity, or none: nothing to compare.
        keywords: that what was shown of it has (count).
        ratio: share of them in the answer; None where there are none.
        ratio_beyond_query: the same without the words of the query; None where no others are left.
        similarity: that was given for one in the grey band.
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
    """An answer that was looked at; `new` is False when it had been before."""

    event_id: str
    search_id: str
    verdicts: tuple[UsageVerdict, ...]
    new: bool


@dataclass(frozen=True, slots=True)
class Concluded:
    """The outcome of a project.

    Attributes:
        searches: made for the project since its outcome before (count).
        new: whether this call wrote it.
    """

    event_id: str
    project: str
    outcome: str
    searches: int
    new: bool


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """What use says of one memory: all acts are counted, also those that no night has taken up.

    Attributes:
        tier: of importance, promotions included.
        used: answers that used it (count); cited: those of them that named its id.
        ignored: answers that did not though there was something to compare.
        effectiveness: in [0, 1] as ranking takes it, .5 is neutral; feedback_count: data points behind it.
        strength: what is left of it now, in [0, 1]; None before the first verdict that a night took up.
        stability: seconds after which e^-1 of it is left.
        waiting: of the acts above, those that no night has taken up (count).
        recent: the last ratings and outcomes, the newest first.
        earlier: votes that an earlier text of it earned, which said something else (count): they are among
            none of the others, and count again if that text comes back.
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
