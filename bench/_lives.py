"""Simulated lives on questions searched once: users ask and select, and selections become keys.

A need is a memory that answers two questions or more. Some needs are taught: half of their questions are
asked again and again, the other half nobody asks, and is what is measured. People look at rank r with
probability r^-0.5, take the right result where they look at it, and a share of what they take is wrong.
Rules are called, not written again: what a search teaches, what is known of a question at a moment, how far
that lifts. Days follow each other: what was folded at the end of a week changes what people are shown
afterwards, from the first day on which the gate can be open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import numpy as np
import polars as pl
from _lives_sets import Floats, Integers, Searched, World
from _needs import Asking, Needs, Question, Wordings, asked_on
from _user import Careless, User

from slowwave.embedding import profile
from slowwave.scoring.feedback.learned import PROPOSAL, decide, live, propose
from slowwave.scoring.feedback.policy import KeyTeaching, LearningPolicy
from slowwave.scoring.feedback.query_key_features import (
    VIEW,
    aggregate_keys,
    is_examined,
    is_selected,
    search_keys_of,
)
from slowwave.scoring.nearness import question_nearness
from slowwave.scoring.ranking.keys import KeyPolicy, Keys, Lifts, lifted
from slowwave.scoring.ranking.learned import LearnedTerms, learnable
from slowwave.scoring.validation import CAP

FIRST: Final = date(2026, 1, 1)
WEEK = 7
OPEN = 36  # first day on which the gate can let keys through (day of the life)
TAUGHT = 0.6  # share of the needs of a half that are asked for
RATED = 0.2  # share of what is taken that is cited or rated, the rest is used
BIAS = 0.5  # rank r is looked at with probability r^-BIAS
SHOWN = (5, 10)  # results of a search, either as often (count)
SAME: Final = profile("bge-small-en-v1.5").same_question
OLD = timedelta(days=10)  # age of the memories on the first day
DEPTH = 5  # of the measure, MRR@5
HALVES: Final = {"tuning": 0, "reported": 1}
_ROW: Final = {**VIEW, "evidence": pl.Float64(), "share": pl.Float64(), "rank": pl.Int32()}
_SPLIT = 7  # seed of the halves: the same in all lives


@dataclass(frozen=True, slots=True)
class Point:
    """Constants that a life is lived with.

    Attributes:
        keys: how keys lift.
        teaching: what a search teaches.
        same_low: cosine of two questions up to which one does not count for the other.
        same_high: cosine from which it counts in full.
        passed: times that a result in front of one that was taken counts as looked at; 1 as the rule has it.
        silent: whether a search from which nothing was taken counts as looked at.
    """

    keys: KeyPolicy = field(default_factory=KeyPolicy)
    teaching: KeyTeaching = field(default_factory=KeyTeaching)
    same_low: float = SAME[0]
    same_high: float = SAME[1]
    passed: float = 1.0
    silent: bool = True

    def changed(self, **values: Any) -> Point:  # noqa: ANN401 - of any constant
        """The point with other values of some constants, whichever part has them."""
        there = {one.name for one in fields(KeyPolicy)}
        taught = {one.name for one in fields(KeyTeaching)}
        return replace(
            self,
            keys=replace(self.keys, **{name: one for name, one in values.items() if name in there}),
            teaching=replace(self.teaching, **{name: one for name, one in values.items() if name in taught}),
            **{name: one for name, one in values.items() if name not in there | taught},
        )

    def told(self) -> dict[str, float]:
        """The constants as a row has them."""
        return {
            "weight": self.keys.weight, "impression_pseudocount": self.keys.impression_pseudocount,
            "same_low": self.same_low, "same_high": self.same_high,
            "max_user_boost": self.keys.max_user_boost, "minority_fraction": self.keys.minority_fraction,
            "score_exponent": self.teaching.score_exponent, "excluded_ranks": self.teaching.excluded_ranks,
            "max_per_memory": self.teaching.max_per_memory, "ttl_days": self.teaching.ttl_days,
        }  # fmt: skip


class AsWritten(Wordings):
    """Asks every question in the words of the collection."""

    def __call__(self, question: Question) -> str:
        """The question as it is."""
        return question.text


@dataclass
class Resembling(Careless):
    """A person whose mistakes are hard to tell: what is taken instead resembles what was looked for.

    Attributes:
        near: how much a result resembles what is looked for, by id.
    """

    near: Mapping[str, float] = field(default_factory=dict)

    def select(self, shown: Sequence[str], relevant: Collection[str]) -> list[str]:
        """Those of the shown memories, best first, that the user takes."""
        found = [one for one in self.user.select(shown, relevant) if one in relevant]
        others = [one for one in shown if one not in relevant]
        taken: set[str] = set()
        for one in found or [""]:  # nothing found is a moment for a mistake, too
            if self._draw.random() >= self.wrong:
                taken.add(one)
            elif others:
                taken.add(max(others, key=lambda other: self.near[other]))
        return [one for one in shown if one in taken]


def selected_by(people: Careless, world: World, question: int, shown: Integers) -> list[str]:
    """Select results as people do: ids of those of the shown memories that are taken, best first.

    Args:
        people: who select.
        world: the collection.
        question: number of what is asked.
        shown: numbers of the memories that are shown, best first.
    """
    names = [str(one) for one in shown.tolist()]
    if isinstance(people, Resembling):
        right = world.about[sorted(world.answers[question])]
        near = (world.about[shown] @ right.T).max(axis=1)
        people.near = dict(zip(names, near.tolist(), strict=True))
    return people.select(names, {str(one) for one in world.answers[question]})


@dataclass(frozen=True)
class Parts:
    """Questions of a collection by what is done with them in a life, by number.

    Attributes:
        asked: again and again, of the needs that are taught.
        held: of the same needs, in words nobody used.
        others: of no such need.
        need: of each question of `held` and `others`, whose mistakes belong together.
    """

    asked: Sequence[int]
    held: Sequence[int]
    others: Sequence[int]
    need: Mapping[int, int]


def parts_of(world: World, half: str, seed: int, most: int) -> Parts:
    """Who is asked for in a life on one half of the needs.

    Args:
        world: the collection.
        half: of `HALVES`; which needs it has is the same in all lives.
        seed: of the draw of those that are taught.
        most: questions of each part that are measured, at most (count).
    """
    of: dict[int, list[int]] = defaultdict(list)
    for question, answers in enumerate(world.answers):
        for memory in answers:
            of[memory].append(question)
    needs = np.array(sorted(memory for memory, mine in of.items() if len(mine) > 1), dtype=np.int64)
    mine = np.random.default_rng(_SPLIT).permutation(needs)[HALVES[half] :: 2]
    draw = np.random.default_rng([seed, 4])
    wanted = set(draw.permutation(mine)[: max(round(TAUGHT * len(mine)), 1)].tolist())
    asked: set[int] = set()
    touched: set[int] = set()
    for memory in sorted(wanted):
        turns = [one for one in draw.permutation(of[memory]).tolist() if one not in touched]
        touched.update(turns)
        inside = [one for one in turns if world.answers[one] <= wanted]
        asked.update(inside[: max(len(turns) // 2, 1)])
    texts = {world.asked.texts[one] for one in asked}  # the same words twice are not new words
    held = [one for one in sorted(touched - asked) if world.asked.texts[one] not in texts]
    others = [one for one, answers in enumerate(world.answers) if answers and not answers & wanted]
    need = {one: min(world.answers[one] & wanted) for one in held}
    need |= {one: min(world.answers[one]) for one in others}
    return Parts(sorted(asked), _some(held, most), _some(others, most), need)


def _some(questions: Sequence[int], most: int) -> list[int]:
    """So many of them, the same in all lives that have the same ones."""
    if len(questions) <= most:
        return list(questions)
    draw = np.random.default_rng(_SPLIT).permutation(len(questions))[:most]
    return [questions[at] for at in sorted(draw.tolist())]


def plan_of(
    world: World, parts: Parts, days: int, per_day: int, people: int, seed: int
) -> Mapping[date, list[Asking]]:
    """Who asks what on which day."""
    questions = [
        Question(world.asked.texts[one], frozenset({str(one)})) for one in parts.asked
    ]  # its number is all that a life needs to know
    days_of = [FIRST + timedelta(days=number) for number in range(days)]
    return asked_on(Needs(questions, [], []), days_of, per_day, AsWritten(seed), people=people, seed=seed)


@dataclass(frozen=True, eq=False)
class Known:
    """What the keys of a collection are at a moment.

    Attributes:
        keys: by number of the namespace.
        asked: numbers of the questions that the searches of `keys` asked.
        same: nearness of two questions.
    """

    keys: Mapping[int, Keys] = field(default_factory=dict)
    asked: Mapping[int, Integers] = field(default_factory=dict)
    same: tuple[float, float] = SAME

    def lifts(self, space: int, cosines: np.ndarray, policy: KeyPolicy) -> Lifts | None:
        """What they add for a question of a namespace, whose cosines with all questions are known."""
        if space not in self.keys:
            return None
        near = question_nearness(cosines[self.asked[space]], *self.same)
        search = np.flatnonzero(near)
        search = search[np.argsort(-near[search], kind="stable")]
        return lifted(self.keys[space], search, near[search], policy)


@dataclass(frozen=True)
class Moment:
    """What was learned by the end of a day of a life."""

    day: int
    known: Known
    terms: LearnedTerms
    now: datetime


@dataclass
class Life:
    """One life.

    Attributes:
        world: that is searched.
        plan: what is asked.
        point: constants.
        wrong: share of what is taken.
        person: ``chance`` or ``resembling``.
        seed: of all that is random.
        words: whether words are learned, too; they are measured, not shown.
    """

    world: World
    plan: Mapping[date, Sequence[Asking]]
    point: Point
    wrong: float
    person: str
    seed: int
    words: bool = True
    _views: list[pl.DataFrame] = field(init=False, repr=False, default_factory=list)
    _logged: set[int] = field(init=False, repr=False, default_factory=set)

    def __post_init__(self) -> None:
        user = User(self.seed, bias=BIAS, finds=1.0, noise=0.0)
        kind = Resembling if self.person == "resembling" else Careless
        self._people = kind(user, self.wrong)
        self._draw = np.random.default_rng([self.seed, 5])

    def moments(self, days: Collection[int]) -> Iterator[Moment]:
        """Live, and tell what was learned by the end of some days."""
        known, rows = Known(), list[tuple[Any, ...]]()
        for number, (day, asked) in enumerate(sorted(self.plan.items()), start=1):
            shown_with = known if number >= OPEN else Known()
            for asking in asked:
                rows += self._search(asking, shown_with)
            if number % WEEK == 0 or number in days:
                self._views.append(self._taught(rows))
                rows = []
                now = datetime.combine(day, datetime.min.time(), UTC) + timedelta(days=1)
                folded = self._known(now)
                known = folded if number % WEEK == 0 else known
                if number in days:
                    yield Moment(number, folded, self._terms(now), now)

    def _search(self, asking: Asking, known: Known) -> list[tuple[Any, ...]]:
        """A search and what is taken: a row for each result that is shown."""
        question = int(next(iter(asking.question.answers)))
        self._logged.add(question)
        memory, score = ranked(self.world, question, known, self.point.keys)
        count = SHOWN[int(self._draw.integers(len(SHOWN)))]
        shown, scores = [str(one) for one in memory[:count].tolist()], score[:count]
        selected = set(selected_by(self._people, self.world, question, memory[:count]))
        if not selected and not self.point.silent:
            return []
        space = self.world.namespaces[self.world.asked.spaces[question]]
        last = max((at for at, one in enumerate(shown) if one in selected), default=-1)
        rows = []
        for at, one in enumerate(shown):
            rank = at + 1
            evidence = 0.0
            if one in selected:
                evidence = 1.0 if self._draw.random() < RATED else self.point.teaching.usage_weight
            times = self.point.passed if at < last and one not in selected else 1.0
            share = float(scores[at] / scores[0]) if scores[0] > 0 else 0.0
            told = (space, str(question), asking.who, one, asking.at)
            rows.append((*told, 0.0, times, evidence, share, rank))
        return rows

    def _taught(self, rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
        """The rows as views, with what each teaches."""
        policy = self.point.teaching
        teaches = pl.col("rank") > policy.excluded_ranks
        may = pl.when(teaches).then(pl.col("evidence")).otherwise(0.0)
        return pl.DataFrame(rows, schema=_ROW, orient="row").with_columns(
            taken=is_selected(may, pl.col("share"), policy),
            examined=pl.col("examined") * is_examined(pl.col("rank"), policy),
        )

    def _known(self, now: datetime) -> Known:
        folded = aggregate_keys(pl.concat(self._views).select(*VIEW), now, self.point.teaching)
        keys, asked = {}, {}
        for at, name in enumerate(self.world.namespaces):
            mine = folded.filter(pl.col("namespace") == name)
            logged = sorted(one for one in self._logged if self.world.asked.spaces[one] == at)
            if mine.is_empty():
                continue
            mine = mine.filter(pl.col("query_id").is_in([str(one) for one in logged]))
            memory = {one: int(one) for one in mine["memory_id"].unique()}
            keys[at] = search_keys_of(mine, memory)
            asked[at] = np.array(
                [int(one) for one in mine["query_id"].unique(maintain_order=True)], dtype=np.int64
            )
        return Known(keys, asked, (self.point.same_low, self.point.same_high))

    def _terms(self, now: datetime) -> LearnedTerms:
        """Words that have an effect by rule 5, of the same selections."""
        policy = LearningPolicy()
        if not self.words:
            return LearnedTerms(live(decide(_no_proposals(), [], policy).lessons, now, policy), policy.ttl)
        views = pl.concat(self._views).filter(pl.col("evidence") > 0)
        start = datetime.combine(FIRST, datetime.min.time(), UTC)
        asks = self._asks()
        selections = views.with_row_index("at_row").select(
            proposal_id=pl.col("at_row").cast(pl.String),
            namespace="namespace",
            memory_id="memory_id",
            search_id=pl.col("at_row").cast(pl.String),
            principal="principal",
            selected_at="at",
            rank="rank",
            text=pl.col("memory_id"),
            born_at=pl.lit(start - OLD),
            gone_at=pl.lit(None, dtype=pl.Datetime("us", "UTC")),
            asked=pl.Series([asks[int(one)] for one in views["query_id"]], dtype=pl.List(pl.String)),
            triggers=pl.Series([[]] * views.height, dtype=pl.List(pl.String)),
        )
        proposals = propose(selections, self.world.frequent, policy)
        return LearnedTerms(live(decide(proposals, [], policy).lessons, now, policy), policy.ttl)

    def _asks(self) -> dict[int, list[str]]:
        return {one: list(learnable(self.world.asked.texts[one])) for one in sorted(self._logged)}


def ranked(world: World, question: int, known: Known, policy: KeyPolicy) -> tuple[Integers, Floats]:
    """Memories of a question, best first, and their scores, with what keys add."""
    memory, score = world.asked.of(question)
    added = known.lifts(int(world.asked.spaces[question]), world.cosines[question], policy)
    memory, score = with_lifts(memory, score, added)
    order = np.argsort(-score, kind="stable")
    return memory[order], score[order]


def with_lifts(memory: Integers, score: Floats, added: Lifts | None) -> tuple[Integers, Floats]:
    """Candidates, ascending by number, with what keys add to them; at most 1.

    A memory that only keys found enters with its lift alone: a hundred chunks of each channel leave out what
    has next to no score of its own.
    """
    if added is None or not len(added.memory):
        return memory, score
    every = np.union1d(memory, added.memory)
    total = np.zeros(len(every))
    total[np.searchsorted(every, memory)] = score
    total[np.searchsorted(every, added.memory)] += added.lift
    return every, np.minimum(total, 1.0)


def with_words(text: str, memory: Integers, score: Floats, moment: Moment) -> Floats:
    """Scores of candidates with what learned words add to them; at most 1."""
    matched = moment.terms.match(text, moment.now)
    if not matched:
        return score
    policy, names = LearningPolicy(), [str(one) for one in memory.tolist()]
    boosts = [matched[one].boost(CAP, policy.coefficient) if one in matched else 0.0 for one in names]
    return np.minimum(score + np.array(boosts), 1.0)


def reciprocal(memory: Integers, score: Floats, answers: Collection[int]) -> float:
    """One over the rank of the best answer among the first five, else 0."""
    best = memory[np.argsort(-score, kind="stable")[:DEPTH]].tolist()
    return next((1.0 / rank for rank, one in enumerate(best, start=1) if one in answers), 0.0)


def rises(outside: Searched, question: int, known: Known, cosines: np.ndarray, policy: KeyPolicy) -> float:
    """How far keys lift the best score of a question that nothing here answers."""
    memory, score = outside.of(question)
    added = known.lifts(int(outside.spaces[question]), cosines, policy)
    _, after = with_lifts(memory, score, added)
    return float(after.max(initial=0.0) - score.max(initial=0.0))


def _no_proposals() -> pl.DataFrame:
    return pl.DataFrame(schema=PROPOSAL)
