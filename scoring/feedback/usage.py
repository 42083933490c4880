"""Whether an answer used the memories that it was given (rule 4.1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from slowwave.scoring.feedback.keywords import keywords
from slowwave.scoring.feedback.policy import UsagePolicy

Verdict = Literal["used", "ignored"]
Evidence = Literal["citation", "words", "similarity", "none"]
Similarity = Callable[[str, str], float]

_TOKEN = re.compile(r"[^\W_]+(?::\d+)?")
_ROUNDING = 1e-6  # the cosine of a text with itself may be 1.0000001 in single precision


DEFAULT = UsagePolicy()


@dataclass(frozen=True, slots=True)
class Usage:
    """What one answer says of one memory.

    Attributes:
        verdict: used or ignored.
        evidence: what the verdict rests on; ``none`` where the memory has no keywords, so that nobody can
            tell, and ``similarity`` only where that made it used.
        keywords: distinct keywords of the memory (count).
        ratio: share of them that is in the answer; None where there are none.
        ratio_beyond_query: the same of those that the query does not have; None where there are none.
        similarity: of memory and answer, where it was asked for.
        beyond_query: whether it was used, and not only by the words of the query: by citation or similarity,
            or with a `ratio_beyond_query` above the policy's `used_ratio`. Weights rest on this.
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
    similarity: Similarity | None = None,
    policy: UsagePolicy = DEFAULT,
) -> tuple[Usage, ...]:
    """One verdict for each memory shown; none depends on the other memories.

    Args:
        shown: the text of each memory as it was shown, (n,).
        response: the whole answer.
        query: of the search; its words in the answer say nothing of a memory.
        cited: positions in `shown`, from 0, that the answer cites: used with certainty.
        similarity: of a memory's text and the answer, in [0, 1]; asked only in the grey band. It can add a
            use and never takes one away.
        policy: what counts as used.

    Returns:
        (n,) verdicts in the order of `shown`.

    Raises:
        ValueError: `cited` has a position that was not shown, or `similarity` failed or gave no number in
            [0, 1].
    """
    for position in cited:
        if not 0 <= position < len(shown):
            raise ValueError(
                f"cited has {position!r}, but the {len(shown)} memories shown are counted from 0"
            )
    said, asked, named = keywords(response), keywords(query), frozenset(cited)
    found = []
    for at, text in enumerate(shown):
        own = keywords(text)
        ratio, beyond = _share(own, said), _share(own - asked, said)
        near = None
        if similarity is not None and at not in named and _is_grey(beyond, policy):
            near = _asked_for(similarity, at, text, response)
        verdict, evidence = _judged(at in named, ratio, near, policy)
        counts = evidence != "words" or (beyond is not None and beyond > policy.used_ratio)
        found.append(Usage(verdict, evidence, len(own), ratio, beyond, near, verdict == "used" and counts))
    return tuple(found)


def cited_in(response: str, ids: Collection[str]) -> frozenset[str]:
    """Those of the ids that an answer names, whole and letter by letter.

    Args:
        response: the whole answer.
        ids: of memories, or of chunks (``memory:00000``). A chunk that is named names its memory, too.
    """
    tokens = set(_TOKEN.findall(response))
    tokens |= {token.partition(":")[0] for token in tokens}
    return frozenset(one for one in ids if one in tokens)


def _share(own: frozenset[str], said: frozenset[str]) -> float | None:
    return len(own & said) / len(own) if own else None


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
    is_cited: bool, ratio: float | None, near: float | None, policy: UsagePolicy
) -> tuple[Verdict, Evidence]:
    if is_cited:
        return "used", "citation"
    if ratio is None:
        return "ignored", "none"
    if near is not None and near >= policy.similarity:
        return "used", "similarity"
    return ("used" if ratio > policy.used_ratio else "ignored"), "words"
