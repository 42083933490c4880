"""Search keys: a question that is like past ones is led to what those led to (rule 7).

A past search is a key to the memories that were taken from it. A new query near some keys lifts those
memories, by how near they are and by how often who looked took them: a memory that was shown and not taken is
lifted less, and one that stood in front earns nothing by that. What several questions led to is lifted more
than what one did, however often that one was asked. In a crowd a few do not lift a memory far by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import NamedTuple

import numpy as np

from slowwave.scoring.arrays import Flags, Floats, Integers, places, ranges
from slowwave.scoring.key_policy import KeyPolicy
from slowwave.scoring.validation import CROWD

_DIGITS = 12  # in which two voices are missed alike
_ROUNDS = 8  # voices that are looked for one after the other, at most (count)


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """What was shown in n past questions of a namespace, of the memories that have a key.

    Attributes:
        starts: where the rows of each question begin, and p at the end, (n + 1,).
        memory: number of the memory, (p,); a row for each voice that asked.
        voice: number of the principal who asked, (p,).
        taken: evidence that it was what was looked for, in [0, 1], (p,); 0 where it was only shown.
        examined: chance that its rank was looked at, in [0, 1], (p,).
        crowd: voices of the namespace that taught any key (count).
    """

    starts: Integers
    memory: Integers
    voice: Integers
    taken: Floats
    examined: Floats
    crowd: int

    def __post_init__(self) -> None:
        if not len(self.starts) or self.starts[-1] != len(self.memory):
            raise ValueError(f"{len(self.starts)} starts for {len(self.memory)} rows")
        if not len(self.memory) == len(self.voice) == len(self.taken) == len(self.examined):
            raise ValueError(
                f"{len(self.memory)} memories, {len(self.voice)} voices, {len(self.taken)} taken, "
                f"{len(self.examined)} examined"
            )
        if self.crowd < 0:
            raise ValueError(f"crowd = {self.crowd} is below 0")


@dataclass(frozen=True, slots=True, eq=False)
class Lifts:
    """What keys add for one query.

    Attributes:
        memory: numbers of memories that are lifted, ascending, (m,).
        lift: what is added to their scores, above 0, (m,).
        led: near questions from which each was taken (count), (m,).
        nearest: place of the nearest of those questions in the keys, (m,).
        search: places of the past questions that the query is near to, the nearest first, (k,).
        near: how near, in (0, 1], (k,).
    """

    memory: Integers
    lift: Floats
    led: Integers
    nearest: Integers
    search: Integers
    near: Floats


class _ExaminedRows(NamedTuple):
    """r rows of keys that are near to a query.

    Attributes:
        group: what each is summed into, from 0, (r,).
        turn: place of its question among the near ones, (r,).
        near: nearness of its question, (r,).
        voice: see `Keys`, (r,).
        taken: see `Keys`, (r,).
        examined: see `Keys`, (r,).
    """

    group: Integers
    turn: Integers
    near: Floats
    voice: Integers
    taken: Floats
    examined: Floats

    def at(self, rows: Flags | Integers, group: Integers | None = None) -> _ExaminedRows:
        """Some of them, summed into other groups where these are given."""
        some = _ExaminedRows._make(column[rows] for column in self)
        return some if group is None else some._replace(group=group)


def lifted(keys: Keys, search: Integers, near: Floats, policy: KeyPolicy) -> Lifts:
    """What past questions add to the score of each memory (rule 7.3).

    ``weight · min(1, max W · Σ W·taken ÷ (Σ W·examined + prior · max W) · 2n ÷ (n + 1))``; W is the nearness
    of the query to a question, max W that to the nearest question from which the memory was taken, and n the
    number of those questions. From `CROWD` voices on it is at most what it would be without the rows of any
    one voice, and without those of the strongest `minority_of` them, and ``reach · CROWD ÷ voices``: the more
    there are, the less do a few alone.

    Args:
        keys: past questions.
        search: places of those that the query is near to, the nearest first, (k,); so many count as the
            policy says.
        near: how near, in (0, 1], (k,).
        policy: how keys lift.

    Raises:
        ValueError: there are not as many places as numbers that say how near.
    """
    if len(search) != len(near):
        raise ValueError(f"{len(search)} searches, {len(near)} of them with a nearness")
    there = np.flatnonzero(near > 0)[: policy.nearest]
    search, near = search[there], near[there]
    counts = keys.starts[search + 1] - keys.starts[search]
    rows, turn = ranges(keys.starts[search], counts), np.repeat(np.arange(len(search)), counts)
    memory, group = np.unique(keys.memory[rows], return_inverse=True)
    shown = _ExaminedRows(group, turn, near[turn], keys.voice[rows], keys.taken[rows], keys.examined[rows])
    lift, led = _lift(shown, len(memory), policy)
    if keys.crowd >= CROWD:
        reach = policy.reach * CROWD / keys.crowd
        lift = _bounded(shown, lift, policy, reach, minority_of(keys.crowd, policy))
    took = shown.taken > 0
    first = np.full(len(memory), len(search), dtype=np.int64)
    np.minimum.at(first, group[took], turn[took])
    up = lift > 0
    return Lifts(memory[up], lift[up], led[up], search[first[up]], search, near)


def _lift(rows: _ExaminedRows, size: int, policy: KeyPolicy) -> tuple[Floats, Integers]:
    """The lift of each group without regard to voices, and the questions from which it was taken, (size,)."""
    took = rows.taken > 0
    best = np.zeros(size)
    np.maximum.at(best, rows.group[took], rows.near[took])
    wanted = np.bincount(rows.group, rows.near * rows.taken, minlength=size)
    looked = np.bincount(rows.group, rows.near * rows.examined, minlength=size)
    searches = int(rows.turn.max(initial=0)) + 1
    pairs = np.unique(rows.group[took] * searches + rows.turn[took])
    led = np.bincount(pairs // searches, minlength=size)
    of_looks = np.divide(wanted, looked + policy.prior * best, out=np.zeros(size), where=best > 0)
    return policy.weight * np.minimum(best * of_looks * 2 * led / (led + 1), 1.0), led


def minority_of(crowd: int, policy: KeyPolicy) -> int:
    """Voices of a crowd that may agree on what is wrong (count): a share of them, and at least one.

    Args:
        crowd: voices (count).
        policy: has the share.
    """
    return max(1, floor(policy.minority * crowd + 1e-9))


def _bounded(rows: _ExaminedRows, lift: Floats, policy: KeyPolicy, reach: float, minority: int) -> Floats:
    """Lifts that so few voices raise by no more than their reach, (m,), of those of all voices.

    The few are looked for twice: who is missed most, then who is missed most of the others, and so on, since
    voices that agree cover for each other; and those with the most evidence.
    """
    left = rows = rows.at(np.argsort(rows.group, kind="stable"))
    bounded = lift.copy()
    for _ in range(min(minority, _ROUNDS)):
        memory, voice, without = _missed(left, bounded > reach, policy)
        if not len(memory):
            break
        np.minimum.at(bounded, memory, without + reach)
        order = np.lexsort((voice, without.round(_DIGITS), memory))
        left = left.at(_others(left, *_first(memory, voice, order, 1)))
    if minority > 1:
        took = rows.taken > 0
        pairs, at = np.unique(np.stack([rows.group[took], rows.voice[took]]), axis=1, return_inverse=True)
        memory, voice = pairs
        evidence = np.bincount(at.ravel(), (rows.near * rows.taken)[took], minlength=len(memory))
        order = np.lexsort((voice, -evidence.round(_DIGITS), memory))
        many = rows.at(_others(rows, *_first(memory, voice, order, minority)))
        bounded = np.minimum(bounded, _lift(many, len(lift), policy)[0] + reach)
    return bounded


def _missed(rows: _ExaminedRows, high: Flags, policy: KeyPolicy) -> tuple[Integers, Integers, Floats]:
    """Each voice that took a memory whose lift is high, and what the lift is without it, (k,) each."""
    took = (rows.taken > 0) & high[rows.group]  # only who took it can have lifted it
    memory, voice = np.unique(np.stack([rows.group[took], rows.voice[took]]), axis=1)
    starts = np.searchsorted(rows.group, memory)
    counts = np.searchsorted(rows.group, memory, side="right") - starts
    pair, every = np.repeat(np.arange(len(memory)), counts), ranges(starts, counts)
    others = rows.voice[every] != voice[pair]
    without, _ = _lift(rows.at(every[others], pair[others]), len(memory), policy)
    return memory, voice, without


def _first(memory: Integers, voice: Integers, order: Integers, most: int) -> tuple[Integers, Integers]:
    """The first so many voices of each memory, in an order that goes by memory."""
    among = memory[order]
    few = order[places(among) < most]
    return memory[few], voice[few]


def _others(rows: _ExaminedRows, memory: Integers, voice: Integers) -> Flags:
    """Which rows are of none of these memories and voices."""
    voices = int(rows.voice.max(initial=0)) + 1
    return ~np.isin(rows.group * voices + rows.voice, memory * voices + voice)
