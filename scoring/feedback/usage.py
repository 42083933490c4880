"""Verdicts on use: whether an answer used the returned memories (rule 4.1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from slowwave.scoring.feedback.keywords import keywords
from slowwave.scoring.feedback.policy import UsagePolicy

Verdict = Literal["used", "ignored"]
Evidence = Literal["citation", "denial", "similarity", "short_answer", "words", "none"]
Similarity = Callable[[str, str], float]
Remaining = Callable[[str], str]

_TOKEN = re.compile(r"[^\W_]+(?::\d+)?")
_ROUNDING = 1e-6  # the cosine of a text with itself may be 1.0000001 in single precision


DEFAULT = UsagePolicy()


@dataclass(frozen=True, slots=True)
class Usage:
    """Verdict on one memory for one answer.

    Attributes:
        verdict: used or ignored.
        evidence: basis of the verdict; ``none`` if the memory has no keywords, ``similarity`` only if that
            made it used.
        keywords: distinct keywords of the memory (count).
        ratio: share of the keywords that the answer has; None without keywords.
        ratio_beyond_query: the same for keywords that the query does not have; None without any.
        similarity: of memory and answer, if it was computed.
        beyond_query: whether it was used by citation, by similarity, or with a `ratio_beyond_query` above the
            policy's `used_ratio`. Signal weights rest on this.
    """

    verdict: Verdict
    evidence: Evidence
    keywords: int
    ratio: float | None
    ratio_beyond_query: float | None
    similarity: float | None
    beyond_query: bool


def usage(
    shown: Sequence[str],
    response: str,
    query: str,
    *,
    cited: Collection[int] = (),
    completed: Collection[int] = (),
    indistinct: Collection[int] = (),
    remaining: Remaining | None = None,
    similarity: Similarity | None = None,
    policy: UsagePolicy = DEFAULT,
) -> tuple[Usage, ...]:
    """Return one verdict for each returned memory, independent of the others.

    Args:
        shown: text of each memory as returned, (n,).
        response: the whole answer.
        query: query of the search; its words in the answer are no evidence.
        cited: positions in `shown`, from 0, that the answer cites: used with certainty.
        completed: positions in `shown` from which a short answer takes its words
            (`slowwave.quality.short_answers`).
        indistinct: positions whose words in a short answer others have, too: words prove no use of them.
        remaining: function that drops from a memory what the answer contradicts
            (`slowwave.quality.denial.without_denied`); called only for a use without a citation.
        similarity: function of a memory's text and the answer, in [0, 1]; called only in the grey band. It
            can add a use and never takes one away.
        policy: thresholds of use.

    Returns:
        (n,) verdicts in the order of `shown`.

    Raises:
        ValueError: `cited` has a position outside `shown`, or `similarity` failed or gave no number in [0,
            1].
    """
    for position in cited:
        if not 0 <= position < len(shown):
            raise ValueError(
                f"cited has {position!r}, but the {len(shown)} memories shown are counted from 0"
            )
    answer_words, query_words = keywords(response), keywords(query)
    cited_positions, completed_positions = frozenset(cited), frozenset(completed)
    verdicts = []
    for at, text in enumerate(shown):
        own = keywords(text)
        ratio, beyond = _share(own, answer_words), _share(own - query_words, answer_words)
        similarity_value = None
        if similarity is not None and at not in cited_positions and _is_grey(beyond, policy):
            similarity_value = _asked_for(similarity, at, text, response)
        verdict, evidence = _judged(
            at in cited_positions, at in completed_positions, ratio, similarity_value, policy
        )
        counts_by_words = beyond is not None and beyond > policy.used_ratio
        if at in completed_positions and evidence == "words" and not counts_by_words:
            evidence = "short_answer"
        if verdict == "used" and evidence != "citation" and remaining is not None:
            is_denied = _is_denied(text, remaining(text), own & answer_words)
            verdict, evidence = ("ignored", "denial") if is_denied else (verdict, evidence)
        if verdict == "used" and evidence == "words" and counts_by_words and at in indistinct:
            verdict, evidence = "ignored", "none"
        counts = evidence != "words" or counts_by_words
        verdicts.append(
            Usage(verdict, evidence, len(own), ratio, beyond, similarity_value, verdict == "used" and counts)
        )
    return tuple(verdicts)


def cited_in(response: str, ids: Collection[str]) -> frozenset[str]:
    """Return the ids that an answer contains, whole and case-sensitive.

    Args:
        response: the whole answer.
        ids: of memories, or of chunks (``memory:00000``). A cited chunk cites its memory, too.
    """
    tokens = set(_TOKEN.findall(response))
    tokens |= {token.partition(":")[0] for token in tokens}
    return frozenset(item for item in ids if item in tokens)


def _share(own: frozenset[str], answer_words: frozenset[str]) -> float | None:
    return len(own & answer_words) / len(own) if own else None


def _is_grey(beyond: float | None, policy: UsagePolicy) -> bool:
    return beyond is not None and policy.grey_ratio <= beyond <= policy.used_ratio


def _asked_for(similarity: Similarity, at: int, text: str, response: str) -> float:
    try:
        near = float(similarity(text, response))
    except Exception as error:
        raise ValueError(f"similarity failed for memory {at} of those shown: {error!r}") from error
    if not -_ROUNDING <= near <= 1 + _ROUNDING:
        raise ValueError(f"similarity gave {near} for memory {at} of those shown: not a number in [0, 1]")
    return min(max(near, 0.0), 1.0)


def _judged(
    is_cited: bool, is_completed: bool, ratio: float | None, near: float | None, policy: UsagePolicy
) -> tuple[Verdict, Evidence]:
    if is_cited:
        return "used", "citation"
    if ratio is None:
        return ("used", "short_answer") if is_completed else ("ignored", "none")
    if near is not None and near >= policy.similarity:
        return "used", "similarity"
    if ratio > policy.used_ratio:
        return "used", "words"
    return ("used", "short_answer") if is_completed else ("ignored", "words")


def _is_denied(text: str, remaining: str, hits: frozenset[str]) -> bool:
    """Whether most of what an answer repeats is in statements that it contradicts."""
    if remaining == text:
        return False
    return 2 * len(hits & keywords(remaining)) < len(hits) if hits else not remaining
