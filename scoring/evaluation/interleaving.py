"""Team-draft interleaving: two rankings in one list, compared by use.

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

Team = Literal["a", "b", ""]


@dataclass(frozen=True, slots=True)
class Interleaved:
    """Interleaved list of two rankings.

    Attributes:
        results: ids, best first, each once.
        teams: team of each place: ``a``, ``b``, or empty where the two rankings did not compete.
    """

    results: tuple[str, ...]
    teams: tuple[Team, ...]


def team_draft(a: Sequence[str], b: Sequence[str], *, seed: str, limit: int) -> Interleaved:
    """Interleave two rankings by team draft.

    The common beginning of both belongs to no team: either ranking would return it. Then, round by round, a
    coin decides which team picks first. Each picks its best result that is not in the list yet. When one team
    has none left, the other one's rest fills the list without credit, because its places were not contested.
    So each team has half of the contested places, or one more at an odd number.

    Args:
        a: ids of the first ranking, best first; a repeated id counts once.
        b: ids of the second ranking.
        seed: seed of the coins, such as the search's id.
        limit: maximum results.
    """
    first, second = list(dict.fromkeys(a)), list(dict.fromkeys(b))
    alike = next(
        (at for at, (from_a, from_b) in enumerate(zip(first, second, strict=False)) if from_a != from_b),
        min(len(first), len(second)),
    )
    results: list[str] = first[:alike]
    teams: list[Team] = [""] * alike
    turn = 0
    while len(results) < limit:
        listed = set(results)
        remaining = {"a": [x for x in first if x not in listed], "b": [x for x in second if x not in listed]}
        if not remaining["a"] or not remaining["b"]:
            rest = remaining["a"] or remaining["b"]
            results += rest
            teams += [""] * len(rest)
            break
        order: tuple[Team, Team] = ("a", "b") if uniform("coin", seed, str(turn)) < 0.5 else ("b", "a")
        for team in order:
            pick = next((x for x in remaining[team] if x not in results), None)
            if pick is None:
                break
            results.append(pick)
            teams.append(team)
        turn += 1
    return Interleaved(tuple(results[:limit]), tuple(teams[:limit]))


def credit(shown: Interleaved, used: Collection[str]) -> tuple[int, int]:
    """Count the used results of each team, (a, b).

    Results of no team, and those not in the list, do not count.
    """
    gained = [team for result, team in zip(shown.results, shown.teams, strict=True) if result in used]
    return gained.count("a"), gained.count("b")


def preference(
    credit_a: npt.ArrayLike,
    credit_b: npt.ArrayLike,
    *,
    questions: Sequence[str] | None = None,
    margin: float,
    n_draws: int = DRAWS,
) -> Comparison:
    """Compare two rankings by the use of their interleaved results.

    A search won counts 1, a tie ½, a search lost 0, and a question the mean of its searches, so repeats are
    one piece of evidence (rule 7.7). Wins and losses are those of b. `candidate` is the mean for b, and that
    for a is 1 minus it. `baseline` is ½: no preference. `difference` = `candidate` − ½ is the Δ of Chapelle
    and others, "Large-Scale Validation and Analysis of Interleaved Search Evaluation" (2012), between −½ and
    ½. If no question was asked twice, all differences are ±½ or 0, and the randomisation test is the sign
    test.

    Args:
        credit_a: (n,) used results of ranking a (served by default), one number a search.
        credit_b: the same for ranking b.
        questions: (n,) question of each search; None: all differ.
        margin: preference that does not matter, in units of Δ.
        n_draws: draws of the bootstrap, and of the test.

    Raises:
        ValueError: they differ in length, or a number is out of range.
    """
    used_a, used_b = np.asarray(credit_a, dtype=np.float64), np.asarray(credit_b, dtype=np.float64)
    if used_a.shape != used_b.shape:
        raise ValueError(
            f"credit_a has {used_a.size} searches and credit_b {used_b.size}: compare the same searches"
        )
    won = (1 + np.sign(used_b - used_a)) / 2
    if questions is not None:
        if len(questions) != used_a.size:
            raise ValueError(
                f"there are {len(questions)} questions of {used_a.size} searches: give one of each"
            )
        _, of = np.unique(np.asarray(questions, dtype=np.str_), return_inverse=True)
        won = np.bincount(of, won) / np.bincount(of)
    return compare(np.full(len(won), 0.5), won, margin=margin, n_draws=n_draws)
