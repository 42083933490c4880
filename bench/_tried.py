"""Rankings without what was learned, with what is applied, and with all that was proposed: of each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from _home import Home
from _needs import Question

from slowwave.home.workspace import Workspace
from slowwave.learning.applied import in_use, learned_boost
from slowwave.learning.evidence import Evidence
from slowwave.learning.keys import KeyIndex, LedTo
from slowwave.scoring.days import day_start
from slowwave.scoring.evaluation.replay import Batch, Variant, replay
from slowwave.scoring.feedback.learned import KEYS, KINDS, WORDS, Kind
from slowwave.scoring.ranking import Candidates, RankingPolicy
from slowwave.scoring.ranking.candidates import KEYS as KEY_CHANNEL
from slowwave.scoring.ranking.candidates import LEARNED
from slowwave.scoring.ranking.learned import Learned, LearnedTerms
from slowwave.search.opened import knowledge_in, searcher_in
from slowwave.search.searcher import Searcher

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
    """What was learned, as if all of it were applied.

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
    """What a search knows of memories, and of what was learned all that was proposed."""

    def __init__(self, space: Workspace, proposed: Proposed) -> None:
        self._stored, self._proposed = knowledge_in(space), proposed

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


def ranked(found: Sequence[Candidates], now: datetime, variant: Variant) -> dict[str, list[str]]:
    """Memories by the place of the search, best first."""
    rows = replay(Batch.of((one, now, DEPTH) for one in found), [variant], depth=DEPTH)
    lists: dict[str, list[str]] = {str(at): [] for at in range(len(found))}
    for search, memory in rows.sort("search", "rank").select("search", "memory_id").iter_rows():
        lists[str(search)].append(memory)
    return lists


def touched(found: Sequence[Candidates], what: str) -> float:
    """Share of the searches in which something is lifted by what was learned of a kind, or of any."""
    wanted = [CHANNELS[what]] if what in CHANNELS else list(CHANNELS.values())
    lifts = {LEARNED: "learned", KEY_CHANNEL: "key"}
    names = [lifts[one] for one in wanted]
    hit = (any(getattr(state, name) > 0 for state in one.states.values() for name in names) for one in found)
    return sum(hit) / max(len(found), 1)
