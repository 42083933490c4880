"""Rankings with and without learned data, and of a memory that nobody ever used.

*Applied* is what a search does. *Would be* applies all that was proposed, whatever the learning gate says.
*Without* leaves out what was learned, but keeps ratings and citations. *Never used* leaves out these as well:
no ratings, no citations, no learned words, no search keys. Only beside that the harm of ratings can be seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
from _home import Home
from _needs import Question

from slowwave.home.workspace import Workspace
from slowwave.learning.active_boosts import in_use, learned_boost
from slowwave.learning.gate_evidence import Evidence
from slowwave.learning.search_keys import KeyIndex, LedTo
from slowwave.scoring.days import day_start
from slowwave.scoring.evaluation import compare
from slowwave.scoring.evaluation.replay import Batch, Variant, replay
from slowwave.scoring.feedback.learned import KEYS, KINDS, WORDS, Kind
from slowwave.scoring.ranking import Candidates, RankingPolicy
from slowwave.scoring.ranking.candidates import KEYS as KEY_CHANNEL
from slowwave.scoring.ranking.candidates import LEARNED
from slowwave.scoring.ranking.learned import Learned, LearnedTerms
from slowwave.search.searcher import Searcher, searcher_in
from slowwave.search.signals import signals_in

OFF, APPLIED, WOULD_BE = "off", "applied", "would be"
BOTH = "both"
WHAT = (WORDS, KEYS, BOTH)
CHANNELS: Mapping[str, str] = {WORDS: LEARNED, KEYS: KEY_CHANNEL}
DEPTH = 20  # results that are looked at (count)
FOUND = 100  # chunks of each channel (count)
Asked = Sequence[tuple[str, Question]]
"""Words, and the question that they ask."""


@dataclass(frozen=True)
class Proposed:
    """Learned data, as if all of it were applied.

    Attributes:
        terms: words.
        keys: past questions; None: none.
    """

    terms: LearnedTerms
    keys: KeyIndex | None = None


def proposed_now(home: Home, space: Workspace) -> Proposed:
    """All that was proposed by now of the kinds that are in use, and would have an effect."""
    all_of, begin = Evidence(space, among=[home.namespace]), day_start(space.now().date())
    terms = all_of.would_be(space.now())
    return Proposed(
        LearnedTerms(terms if in_use(space, WORDS) else terms.clear(), space.learning_policy.ttl),
        all_of.keys_at(home.namespace, begin) if in_use(space, KEYS) else None,
    )


class _AsIf:
    """Knowledge of a search, with all proposed learned data in place of what is applied."""

    def __init__(self, space: Workspace, proposed: Proposed) -> None:
        self._stored, self._proposed = signals_in(space), proposed

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - all else is as it is stored
        return getattr(self._stored, name)

    def learned(self, namespace: str, query: str, now: datetime) -> Mapping[str, Learned]:
        return self._proposed.terms.match(query, now)

    def led(self, namespace: str, vector: np.ndarray, now: datetime) -> Mapping[str, LedTo]:
        return {} if self._proposed.keys is None else self._proposed.keys.led(vector)


def found_for(home: Home, space: Workspace, texts: Sequence[str], proposed: Proposed | None = None
              ) -> list[Candidates]:  # fmt: skip
    """Candidates of questions with what is applied, or with what was proposed as if that were."""
    now, search = space.now(), searcher_in(space)
    if proposed is None:
        return [search.find(home.namespace, text, FOUND, now=now).candidates for text in texts]
    tried = Searcher(search._channels, space.embedder, _AsIf(space, proposed), learned_boost(space))
    found = [tried.find(home.namespace, text, FOUND, now=now).candidates for text in texts]
    tried.close()
    return found


def kinds_on(space: Workspace) -> list[Kind]:
    """The kinds of learning that the settings have switched on."""
    return [kind for kind in KINDS if in_use(space, kind)]


def variants(policy: RankingPolicy, kinds: Sequence[str]) -> dict[str, Variant]:
    """The ranking with each of some kinds alone, and with both where both are there."""
    every = frozenset(CHANNELS.values())
    alone = {kind: Variant(kind, policy, every - {CHANNELS[kind]}) for kind in kinds}
    return alone | ({BOTH: Variant(BOTH, policy)} if len(kinds) > 1 else {})


def without_any(policy: RankingPolicy) -> Variant:
    """The ranking with nothing that was learned."""
    return Variant(OFF, policy, frozenset(CHANNELS.values()))


def never_used(variant: Variant) -> Variant:
    """Return the ranking without learned data; with `unrated` candidates nobody ever used the memory."""
    return replace(variant, without=variant.without | frozenset(CHANNELS.values()))


def unrated(batch: Batch) -> Batch:
    """Return the searches as if nobody had ever rated or cited a result."""
    return replace(batch, columns=batch.columns.unrated())


def ranked(
    found: Sequence[Candidates], now: datetime, variant: Variant, *, used: bool = True
) -> dict[str, list[str]]:
    """Rank the candidates of each search: memories, best first, by the place of the search.

    Args:
        found: candidates of each search.
        now: moment of the searches.
        variant: ranking.
        used: False ranks as in a memory that nobody ever used.
    """
    batch = Batch.of((one, now, DEPTH) for one in found)
    if not used:
        batch, variant = unrated(batch), never_used(variant)
    rows = replay(batch, [variant], depth=DEPTH)
    lists: dict[str, list[str]] = {str(at): [] for at in range(len(found))}
    for search, memory in rows.sort("search", "rank").select("search", "memory_id").iter_rows():
        lists[str(search)].append(memory)
    return lists


def beside(never: pl.Series | Sequence[float], value: pl.Series | Sequence[float]) -> dict[str, float | None]:
    """Compare a measure with the same in a memory that nobody ever used.

    Args:
        never: the measure of each question in that memory.
        value: the measure of the same questions, in the same order.

    Returns:
        ``never_used`` (its mean there), ``change`` beside it, and ``low`` and ``high`` of the change: an
        interval of 95 % drawn by question. All are None of no questions.
    """
    if not len(never):
        return dict.fromkeys(("never_used", "change", "low", "high"))
    both = compare(never, value, margin=0.0)
    return {"never_used": both.baseline, "change": both.difference, "low": both.low, "high": both.high}


def touched(found: Sequence[Candidates], what: str) -> float:
    """Share of the searches in which something is lifted by what was learned of a kind, or of any."""
    wanted = [CHANNELS[what]] if what in CHANNELS else list(CHANNELS.values())
    lifts = {LEARNED: "learned", KEY_CHANNEL: "key"}
    names = [lifts[one] for one in wanted]
    hit = (any(getattr(state, name) > 0 for state in one.states.values() for name in names) for one in found)
    return sum(hit) / max(len(found), 1)
