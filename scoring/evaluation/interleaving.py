"""Two rankings in one list of results: whose are used more (team-draft interleaving).

Source: Radlinski, Kurup and Joachims, "How Does Clickthrough Data Reflect Retrieval Quality?" (2008).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from slowwave.scoring.evaluation.comparison import DRAWS, Comparison, compare
from slowwave.scoring.evaluation.digest import uniform
from slowwave.scoring.evaluation.resampling import LEVEL

Team = Literal["a", "b", ""]


@dataclass(frozen=True, slots=True)
class Interleaved:
    """One list made of two.

    Attributes:
        results: ids, best first, each once.
        teams: by place who gets the credit for it: ``a``, ``b``, or nobody (empty) where the two rankings
            did not compete.
    """

    results: tuple[str, ...]
    teams: tuple[Team, ...]


def team_draft(a: Sequence[str], b: Sequence[str], *, seed: str, limit: int) -> Interleaved:
    """Interleave two rankings.

    The results at which both begin alike are nobody's: whichever had been chosen, they would be there. Then,
    round by round, a coin decides who picks first, and each picks its best result that is not yet in the
    list. When one has none left, what the other one still has fills the list up, for nobody's credit: its
    places were not contested. So of contested places each team has half, or one more at an odd number.

    Args:
        a: ids of one ranking, best first; of a repeated id only the first counts.
        b: of the other one.
        seed: decides the coins, such as the search's id.
        limit: most results.
    """
    one, other = list(dict.fromkeys(a)), list(dict.fromkeys(b))
    alike = next(
        (at for at, (mine, its) in enumerate(zip(one, other, strict=False)) if mine != its),
        min(len(one), len(other)),
    )
    results: list[str] = one[:alike]
    teams: list[Team] = [""] * alike
    turn = 0
    while len(results) < limit:
        there = set(results)
        left = {"a": [x for x in one if x not in there], "b": [x for x in other if x not in there]}
        if not left["a"] or not left["b"]:
            rest = left["a"] or left["b"]
            results += rest
            teams += [""] * len(rest)
            break
        order: tuple[Team, Team] = ("a", "b") if uniform("coin", seed, str(turn)) < 0.5 else ("b", "a")
        for team in order:
            pick = next((x for x in left[team] if x not in results), None)
            if pick is None:
                break
            results.append(pick)
            teams.append(team)
        turn += 1
    return Interleaved(tuple(results[:limit]), tuple(teams[:limit]))


def credit(shown: Interleaved, used: Collection[str]) -> tuple[int, int]:
    """How many results of each team were used, (a, b); those of nobody, and what was not shown, are not."""
    gained = [team for result, team in zip(shown.results, shown.teams, strict=True) if result in used]
    return gained.count("a"), gained.count("b")


def preference(
    credit_a: npt.ArrayLike,
    credit_b: npt.ArrayLike,
    *,
    questions: Sequence[str] | None = None,
    margin: float,
    level: float = LEVEL,
    n_draws: int = DRAWS,
    seed: int = 0,
) -> Comparison:
    """Which ranking users prefer, over the questions whose results were observed.

    A search won counts 1, a tie ½, a search lost 0, and a question the mean of its searches: one that is
    asked again and again is one piece of evidence (rule 7.7). The mean for b is `candidate`, that for a is
    1 minus it, and `difference` = `candidate` − ½ is the Δ of Chapelle and others, "Large-Scale Validation
    and Analysis of Interleaved Search Evaluation" (2012), between −½ and ½. `baseline` is ½: no preference.
    Where no question was asked twice, all differences are ½ or nothing, and the randomisation test is the
    sign test. Wins and losses are those of b.

    Args:
        credit_a: (n,) used results of the ranking in force, a number for each search.
        credit_b: of the other one.
        questions: (n,) what each search asked; None: each something else.
        margin: preference that does not matter, in units of Δ.
        level: level of the interval.
        n_draws: draws of the bootstrap, and of the test.
        seed: the same seed gives the same figures.

    Raises:
        ValueError: they differ in length, or a number is out of range.
    """
    mine, its = np.asarray(credit_a, dtype=np.float64), np.asarray(credit_b, dtype=np.float64)
    if mine.shape != its.shape:
        raise ValueError(
            f"credit_a has {mine.size} searches and credit_b {its.size}: compare the same searches"
        )
    won = (1 + np.sign(its - mine)) / 2
    if questions is not None:
        if len(questions) != mine.size:
            raise ValueError(
                f"there are {len(questions)} questions of {mine.size} searches: give one of each"
            )
        _, of = np.unique(np.asarray(questions, dtype=np.str_), return_inverse=True)
        won = np.bincount(of, won) / np.bincount(of)
    return compare(
        np.full(len(won), 0.5), won, margin=margin, level=level, n_draws=n_draws, seed=seed
    )  # fmt: skip
