"""Simulated user on an accelerated clock: asks answerable questions and examines the results.

The user reads from the top and gives up on the way (position bias), recognises most of what answers the
question, and now and then takes something that does not (noise). The position-based model: Craswell and
others, "An Experimental Comparison of Click Position-Bias Models" (2008).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

import numpy as np


@dataclass
class Clock:
    """The present moment of a simulated life."""

    moment: datetime

    def __call__(self) -> datetime:
        """The present moment; every look is a millisecond later."""
        self.moment += timedelta(milliseconds=1)
        return self.moment


@dataclass
class User:
    """Selects results.

    Attributes:
        seed: of all that is random.
        bias: probability of looking at rank r is r^(-bias): 0 looks at everything.
        finds: probability of taking a relevant result that is looked at.
        noise: probability of taking another one that is looked at.
    """

    seed: int = 0
    bias: float = 0.5
    finds: float = 0.9
    noise: float = 0.05
    _draw: np.random.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._draw = np.random.default_rng(self.seed)

    def select(self, shown: Sequence[str], relevant: Collection[str]) -> list[str]:
        """Those of the shown memories, best first, that the user takes."""
        seen = self._draw.random(len(shown)) < np.arange(1, len(shown) + 1) ** -self.bias
        chance = np.where([one in relevant for one in shown], self.finds, self.noise)
        taken = seen & (self._draw.random(len(shown)) < chance)
        return [one for one, here in zip(shown, taken, strict=True) if here]


@dataclass
class Careless:
    """A user of whose selections a share is wrong.

    Attributes:
        user: reads and takes; of those it finds.
        wrong: probability that what is taken is another result instead, which does not answer; and that
            something is taken where no answer was found.
    """

    user: User
    wrong: float
    _draw: np.random.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._draw = np.random.default_rng([self.user.seed, 3])

    def select(self, shown: Sequence[str], relevant: Collection[str]) -> list[str]:
        """Those of the shown memories, best first, that the user takes."""
        found = [one for one in self.user.select(shown, relevant) if one in relevant]
        others = [at for at, one in enumerate(shown) if one not in relevant]
        taken: set[str] = set()
        for one in found or [""]:  # nothing found is a moment for a mistake, too
            if self._draw.random() >= self.wrong:
                taken.add(one)
            elif others:
                looked = np.array([(at + 1) ** -self.user.bias for at in others])
                taken.add(shown[others[self._draw.choice(len(others), p=looked / looked.sum())]])
        return [one for one in shown if one in taken]


def asked_on(
    questions: Sequence[str], days: Sequence[date], per_day: int, *, seed: int = 0, repeats: float = 0.2
) -> Mapping[date, list[tuple[datetime, str]]]:
    """Which question is asked when.

    Args:
        questions: ids; each is asked once before one is asked again by chance.
        days: on which questions are asked.
        per_day: questions a day (count).
        seed: of all that is random.
        repeats: share of the searches that ask again what was asked before.
    """
    draw = np.random.default_rng(seed)
    waiting, known = [questions[at] for at in draw.permutation(len(questions))], list[str]()
    plan: dict[date, list[tuple[datetime, str]]] = {}
    for day in days:
        start = datetime.combine(day, time(6), UTC)
        moments = sorted(draw.integers(0, 16 * 3_600, per_day).tolist())
        plan[day] = []
        for second in moments:
            again = known and (not waiting or draw.random() < repeats)
            one = known[draw.integers(len(known))] if again else waiting.pop()
            if not again:
                known.append(one)
            plan[day].append((start + timedelta(seconds=second), one))
    return plan
