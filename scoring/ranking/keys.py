"""Search keys: boosts from past similar queries (rules 7.3, 7.5).

A past search is a key to the memories that were selected from its results. A new query near some keys boosts
those memories. The boost grows with nearness and with the selection rate: a returned memory that was not
selected gets less, and a high rank alone earns nothing. Several questions boost more than one question,
however often that one was asked. From three users on, the boost of a few users is limited.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import NamedTuple

import numpy as np

from slowwave.scoring.arrays import Flags, Floats, Integers, places, ranges
from slowwave.scoring.key_policy import KeyPolicy
from slowwave.scoring.validation import MIN_USERS

_DIGITS = 12  # decimals in which two users' influence is compared
_ROUNDS = 8  # maximum users removed one after the other (count)


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Returned results of n past questions, for memories that have a key.

    Attributes:
        starts: first row of each question, and p at the end, (n + 1,).
        memory: number of the memory, (p,); a row for each user who asked.
        user: number of the user who asked, (p,).
        taken: evidence of a selection, in [0, 1], (p,); 0 where the memory was only returned.
        examined: chance that its rank was examined, in [0, 1], (p,).
        num_teachers: users of the namespace that taught any key (count).
    """

    starts: Integers
    memory: Integers
    user: Integers
    taken: Floats
    examined: Floats
    num_teachers: int

    def __post_init__(self) -> None:
        if not len(self.starts) or self.starts[-1] != len(self.memory):
            raise ValueError(f"{len(self.starts)} starts for {len(self.memory)} rows")
        if not len(self.memory) == len(self.user) == len(self.taken) == len(self.examined):
            raise ValueError(
                f"{len(self.memory)} memories, {len(self.user)} users, {len(self.taken)} taken, "
                f"{len(self.examined)} examined"
            )
        if self.num_teachers < 0:
            raise ValueError(f"num_teachers = {self.num_teachers} is below 0")


@dataclass(frozen=True, slots=True, eq=False)
class Lifts:
    """Query boosts of one query.

    Attributes:
        memory: numbers of the boosted memories, ascending, (m,).
        lift: boosts, above 0, (m,).
        led: near questions from which each was selected (count), (m,).
        nearest: place of the nearest of those questions in the keys, (m,).
        search: places of the past questions near the query, the nearest first, (k,).
        near: their nearness, in (0, 1], (k,).
    """

    memory: Integers
    lift: Floats
    led: Integers
    nearest: Integers
    search: Integers
    near: Floats


class _ExaminedRows(NamedTuple):
    """Rows of keys near a query, r of them.

    Attributes:
        group: group whose sum the row enters, from 0, (r,).
        turn: place of its question among the near ones, (r,).
        near: nearness of its question, (r,).
        user: see `Keys`, (r,).
        taken: see `Keys`, (r,).
        examined: see `Keys`, (r,).
    """

    group: Integers
    turn: Integers
    near: Floats
    user: Integers
    taken: Floats
    examined: Floats

    def at(self, rows: Flags | Integers, group: Integers | None = None) -> _ExaminedRows:
        """Select some rows, in other groups if these are given."""
        some = _ExaminedRows._make(column[rows] for column in self)
        return some if group is None else some._replace(group=group)


def lifted(keys: Keys, search: Integers, near: Floats, policy: KeyPolicy) -> Lifts:
    """Compute the query boost of each memory (rule 7.3).

    ``weight · min(1, max W · Σ W·taken ÷ (Σ W·examined + prior · max W) · 2n ÷ (n + 1))``. W is the nearness
    of the query to a question, max W that to the nearest question from which the memory was selected, and n
    the number of those questions.

    From `MIN_USERS` on, one user adds at most ``max_user_boost · MIN_USERS ÷ users`` to the boost. The same
    bound holds without the strongest `minority_of` users (rule 7.5).

    Args:
        keys: keys of the namespace.
        search: places of the questions near the query, the nearest first, (k,); the policy limits how many
            count.
        near: their nearness, in (0, 1], (k,).
        policy: constants of the boost.

    Raises:
        ValueError: `search` and `near` differ in length.
    """
    if len(search) != len(near):
        raise ValueError(f"{len(search)} searches, but {len(near)} nearness values")
    positive = np.flatnonzero(near > 0)[: policy.nearest]
    search, near = search[positive], near[positive]
    counts = keys.starts[search + 1] - keys.starts[search]
    rows, turn = ranges(keys.starts[search], counts), np.repeat(np.arange(len(search)), counts)
    memory, group = np.unique(keys.memory[rows], return_inverse=True)
    rows_near = _ExaminedRows(group, turn, near[turn], keys.user[rows], keys.taken[rows], keys.examined[rows])
    lift, led = _lift(rows_near, len(memory), policy)
    if keys.num_teachers >= MIN_USERS:
        reach = policy.max_user_boost * MIN_USERS / keys.num_teachers
        lift = _bounded(rows_near, lift, policy, reach, minority_of(keys.num_teachers, policy))
    selected = rows_near.taken > 0
    first = np.full(len(memory), len(search), dtype=np.int64)
    np.minimum.at(first, group[selected], turn[selected])
    up = lift > 0
    return Lifts(memory[up], lift[up], led[up], search[first[up]], search, near)


def _lift(rows: _ExaminedRows, size: int, policy: KeyPolicy) -> tuple[Floats, Integers]:
    """Return each group's boost without user limits and its number of questions, (size,) each."""
    selected = rows.taken > 0
    best = np.zeros(size)
    np.maximum.at(best, rows.group[selected], rows.near[selected])
    wanted = np.bincount(rows.group, rows.near * rows.taken, minlength=size)
    examined = np.bincount(rows.group, rows.near * rows.examined, minlength=size)
    searches = int(rows.turn.max(initial=0)) + 1
    pairs = np.unique(rows.group[selected] * searches + rows.turn[selected])
    led = np.bincount(pairs // searches, minlength=size)
    rate = np.divide(
        wanted, examined + policy.impression_pseudocount * best, out=np.zeros(size), where=best > 0
    )
    return policy.weight * np.minimum(best * rate * 2 * led / (led + 1), 1.0), led


def minority_of(num_teachers: int, policy: KeyPolicy) -> int:
    """Return the number of users that may agree on a wrong result: a share, and at least one."""
    return max(1, floor(policy.minority_fraction * num_teachers + 1e-9))


def _bounded(rows: _ExaminedRows, lift: Floats, policy: KeyPolicy, reach: float, minority: int) -> Floats:
    """Limit each boost to the reach of a few users, (m,).

    The few are chosen twice. First the user whose removal lowers the boost most, then the same among the
    others, and so on, since users that agree cover for each other. Then the users with the most evidence.
    """
    remaining = rows = rows.at(np.argsort(rows.group, kind="stable"))
    bounded = lift.copy()
    for _ in range(min(minority, _ROUNDS)):
        memory, user, without = _missed(remaining, bounded > reach, policy)
        if not len(memory):
            break
        np.minimum.at(bounded, memory, without + reach)
        order = np.lexsort((user, without.round(_DIGITS), memory))
        remaining = remaining.at(_others(remaining, *_first(memory, user, order, 1)))
    if minority > 1:
        selected = rows.taken > 0
        pairs, at = np.unique(
            np.stack([rows.group[selected], rows.user[selected]]), axis=1, return_inverse=True
        )
        memory, user = pairs
        evidence = np.bincount(at.ravel(), (rows.near * rows.taken)[selected], minlength=len(memory))
        order = np.lexsort((user, -evidence.round(_DIGITS), memory))
        many = rows.at(_others(rows, *_first(memory, user, order, minority)))
        bounded = np.minimum(bounded, _lift(many, len(lift), policy)[0] + reach)
    return bounded


def _missed(rows: _ExaminedRows, high: Flags, policy: KeyPolicy) -> tuple[Integers, Integers, Floats]:
    """Return each user behind a high boost, and the boost without that user, (k,) each."""
    selected = (rows.taken > 0) & high[rows.group]  # only a user who selected it can have boosted it
    memory, user = np.unique(np.stack([rows.group[selected], rows.user[selected]]), axis=1)
    starts = np.searchsorted(rows.group, memory)
    counts = np.searchsorted(rows.group, memory, side="right") - starts
    pair, every = np.repeat(np.arange(len(memory)), counts), ranges(starts, counts)
    others = rows.user[every] != user[pair]
    without, _ = _lift(rows.at(every[others], pair[others]), len(memory), policy)
    return memory, user, without


def _first(memory: Integers, user: Integers, order: Integers, most: int) -> tuple[Integers, Integers]:
    """Return the first `most` users of each memory, in an order sorted by memory."""
    among = memory[order]
    few = order[places(among) < most]
    return memory[few], user[few]


def _others(rows: _ExaminedRows, memory: Integers, user: Integers) -> Flags:
    """Mark the rows of none of these pairs of memory and user."""
    num_users = int(rows.user.max(initial=0)) + 1
    return ~np.isin(rows.group * num_users + rows.user, memory * num_users + user)
