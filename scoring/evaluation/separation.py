"""Separation of two classes by a signal, such as answerable and unanswerable queries (rule 3.9)."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Floats


@dataclass(frozen=True, slots=True)
class AnswerRate:
    """Answer rates for a floor; a query is answered from that signal on.

    Attributes:
        floor: minimum signal.
        answered: share of the answerable queries that are answered.
        false_answers: share of the unanswerable queries that are answered.
    """

    floor: float
    answered: float
    false_answers: float


def auroc(positives: npt.ArrayLike, negatives: npt.ArrayLike) -> float:
    """Return the chance that a positive scores above a negative, ties counting half.

    NaN where either is empty.

    The area under the ROC curve is this chance: Hanley and McNeil, "The Meaning and Use of the Area under a
    Receiver Operating Characteristic Curve" (1982).

    Raises:
        ValueError: a score is NaN.
    """
    high, low = _scores("positives", positives), np.sort(_scores("negatives", negatives))
    if not len(high) or not len(low):
        return float("nan")
    below = np.searchsorted(low, high, side="left")
    up_to = np.searchsorted(low, high, side="right")
    return float((below + up_to).mean() / 2 / len(low))


def answer_rate(
    answerable: npt.ArrayLike, unanswerable: npt.ArrayLike, most_false: float = 0.05
) -> AnswerRate:
    """Find the floor with most answers at a bounded rate of false answers.

    The floor is the signal of the weakest answerable query that is answered: a lower one would answer too
    many unanswerable queries, or no more answerable ones. If every answerable query is too weak, the floor is
    just above the strongest unanswerable query that must be refused.

    Args:
        answerable: (n,) signals of answerable queries; -inf for a search without candidates.
        unanswerable: (m,) signals of unanswerable queries.
        most_false: maximum share of answered unanswerable queries, in [0, 1].

    Raises:
        ValueError: either kind is empty, a signal is NaN or inf, or `most_false` is out of range.
    """
    with_answer, without = _scores("answerable", answerable), _scores("unanswerable", unanswerable)
    for name, signals in (("answerable", with_answer), ("unanswerable", without)):
        if not len(signals):
            raise ValueError(f"no {name} queries: a floor is set between queries of both kinds")
        if np.isposinf(signals).any():
            raise ValueError(f"{name} has an infinite signal: no floor is above it")
    if not 0 <= most_false <= 1:
        raise ValueError(f"most_false = {most_false} is not in [0, 1]")
    allowed = floor(most_false * len(without) + 1e-9)  # 0.29 * 100 is 28.999...
    if allowed == len(without):
        bound = float(with_answer.min())
    else:
        refused = np.sort(without)[::-1][allowed]
        above = with_answer[with_answer > refused]
        bound = float(above.min() if len(above) else np.nextafter(refused, np.inf))
    return AnswerRate(bound, float((with_answer >= bound).mean()), float((without >= bound).mean()))


def _scores(name: str, values: npt.ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64).ravel()
    if np.isnan(array).any():
        raise ValueError(
            f"{name}[{int(np.flatnonzero(np.isnan(array))[0])}] is NaN: give every query a score"
        )
    return array
