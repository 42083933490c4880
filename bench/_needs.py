"""Recurring needs in new words: memories with several questions, half of which are never asked.

A need is what one memory answers. Half of its questions are asked, again and again and each time in new
words; the other half, and the questions of other memories, are for measuring alone. Nobody has the words of a
person at hand, so new words are made: a question is asked with some of its words left out, in order (people
type what they remember), or, to look at words that no memory has, as a private name with one word of the
question. The second is made up, and is called so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

import numpy as np

from slowwave.scoring.ranking.learned import learnable
from slowwave.tuning.collection import Collection as Labelled

LEAST_KEPT, MOST_KEPT = 0.5, 0.9  # share of the words that say something which a wording keeps
LEAST_WORDS = 2  # of them that it keeps (count)
POPULARITY = 0.5  # a question is asked in proportion to its place to the power of minus this
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a collection.

    Attributes:
        text: as it is written there.
        answers: documents that answer it.
    """

    text: str
    answers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Needs:
    """Questions by what is done with them.

    Attributes:
        asked: again and again.
        held: of the same memories, never asked.
        others: of other memories, never asked.
    """

    asked: Sequence[Question]
    held: Sequence[Question]
    others: Sequence[Question]


def needs_of(collection: Labelled, namespace: str, *, most: int, least: int = 2, seed: int = 0) -> Needs:
    """Needs of a namespace of a collection.

    Args:
        collection: labelled queries.
        namespace: whose.
        most: memories that are needed (count).
        least: questions that such a memory has (count).
        seed: of the draw of these memories, and of which of their questions are asked.

    A question with more than two answers belongs to no single memory and is left out.
    """
    draw = np.random.default_rng(seed)
    by_document: dict[str, list[Question]] = defaultdict(list)
    every = []
    for query in collection.answerable():
        answers = frozenset(one for one, grade in collection.qrels[query["_id"]].items() if grade > 0)
        if (query.get("namespace") or "default") != namespace or len(answers) > 2:
            continue
        every.append(Question(query["text"], answers))
        for one in answers:
            by_document[one].append(every[-1])
    several = sorted(one for one, mine in by_document.items() if len(mine) >= least)
    wanted = set(draw.permutation(several)[:most].tolist())
    asked: list[Question] = []
    held: list[Question] = []
    for one in sorted(wanted):
        for number in draw.permutation(len(by_document[one])).tolist():
            question = by_document[one][number]
            if question in asked or question in held:
                continue
            mine = [sum(bool(other.answers & question.answers) for other in part) for part in (asked, held)]
            inside = question.answers <= wanted
            (asked if inside and mine[0] <= mine[1] else held).append(question)
    known = {one for question in asked for one in question.answers}
    near = [one for one in every if one not in asked and one.answers & known]
    far = [one for one in every if not one.answers & known]
    return Needs(asked, near, far)


@dataclass
class Wordings:
    """Puts questions in new words.

    Attributes:
        seed: of all that is random.
        private: words of the question beside a private name for what it is about; 0: no such name, the
            question itself with words left out.
    """

    seed: int = 0
    private: int = 0
    _draw: np.random.Generator = field(init=False, repr=False)
    _names: dict[frozenset[str], str] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._draw = np.random.default_rng([self.seed, 1])

    def __call__(self, question: Question) -> str:
        """The question in other words than the last time, most probably."""
        if self.private:
            return self._private(question)
        said = question.text.rstrip("?. ").split()
        telling = [at for at, word in enumerate(said) if learnable(word)]
        share = self._draw.uniform(LEAST_KEPT, MOST_KEPT)
        keep = max(LEAST_WORDS, round(share * len(telling)))
        kept = set(self._draw.permutation(telling)[:keep].tolist())
        plain = set(telling)
        line = [word for at, word in enumerate(said) if at in kept or (at not in plain and self._coin())]
        return " ".join(line)

    def _coin(self) -> bool:
        return bool(self._draw.random() < 0.7)

    def _private(self, question: Question) -> str:
        telling = [word.strip("?.,") for word in question.text.split() if learnable(word)]
        chosen = sorted(self._draw.permutation(len(telling))[: self.private].tolist())
        return " ".join([f"what of {self.name(question.answers)}:", *(telling[at] for at in chosen)])

    def name(self, answers: frozenset[str]) -> str:
        """What people call what these documents are about: a word that no text has, the same for all."""
        if answers not in self._names:
            draw = np.random.default_rng([len(self._names), 7])
            syllables = [draw.choice(list(_CONSONANTS)) + draw.choice(list(_VOWELS)) for _ in range(3)]
            self._names[answers] = "".join(syllables) + "x"
        return self._names[answers]


@dataclass(frozen=True, slots=True)
class Asking:
    """One search that will be made."""

    at: datetime
    who: str
    text: str
    question: Question


def asked_on(
    needs: Needs,
    days: Sequence[date],
    per_day: int,
    wordings: Callable[[Question], str],
    *,
    people: int,
    seed: int = 0,
) -> Mapping[date, list[Asking]]:
    """Which need is asked for when, by whom and in which words; some needs come more often than others.

    Args:
        needs: those that are asked for.
        days: on which.
        per_day: searches a day (count).
        wordings: makes the words, such as `Wordings`.
        people: who ask, each as often (count).
        seed: of all else that is random.
    """
    draw = np.random.default_rng([seed, 2])
    often = np.arange(1, len(needs.asked) + 1) ** -POPULARITY
    often = draw.permutation(often / often.sum())
    plan: dict[date, list[Asking]] = {}
    for day in days:
        start = datetime.combine(day, time(6), UTC)
        plan[day] = [
            Asking(
                start + timedelta(seconds=second),
                f"person-{draw.integers(people)}",
                wordings(question),
                question,
            )
            for second, question in zip(
                sorted(draw.integers(0, 16 * 3_600, per_day).tolist()),
                (needs.asked[at] for at in draw.choice(len(needs.asked), per_day, p=often)),
                strict=True,
            )
        ]
    return plan
