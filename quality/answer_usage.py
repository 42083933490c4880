"""Use of returned memories by an answer, with short answers and denials (rule 4.1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from slowwave.quality.denial import without_denied
from slowwave.quality.short_answers import read_short_answer
from slowwave.scoring.feedback.policy import UsagePolicy
from slowwave.scoring.feedback.usage import DEFAULT, Similarity, Usage, usage


def judge_usage(
    shown: Sequence[str],
    response: str,
    query: str,
    *,
    cited: Collection[int] = (),
    similarity: Similarity | None = None,
    policy: UsagePolicy = DEFAULT,
) -> tuple[Usage, ...]:
    """Return one verdict for each returned memory; arguments as `usage`."""
    short = read_short_answer(shown, response, query)
    return usage(
        shown,
        response,
        query,
        cited=cited,
        completed=short.completed,
        indistinct=short.indistinct,
        remaining=without_denied(response, query),
        similarity=similarity,
        policy=policy,
    )
