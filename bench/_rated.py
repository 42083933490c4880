"""Simulated lives with ratings and citations, under each mechanism of counting them.

The same people, questions and mistakes live with one mechanism each: no feedback, ratings counted in every
search (the preset seeds), ratings counted for similar questions, search keys, or ratings and keys together.
Rules are called, not written again. People are shown what the mechanism makes of the ranking from the day
after; search keys from the first day on which their gate can be open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, Literal

import numpy as np
import polars as pl
from _lives import BIAS, FIRST, OPEN, RATED, SAME, Known, Resembling, selected_by
from _lives_sets import Floats, Integers, World
from _needs import Asking
from _user import Careless, User

from slowwave.scoring.days import DAY_S
from slowwave.scoring.feedback.contextual import SIGNAL, Ratings, contextual, fold_ratings
from slowwave.scoring.feedback.contextual import ratings_of as contextual_ratings
from slowwave.scoring.feedback.effectiveness import SUMS, effectiveness, growth
from slowwave.scoring.feedback.influence_limits import capped_votes
from slowwave.scoring.feedback.policy import FeedbackPolicy, KeyTeaching
from slowwave.scoring.feedback.query_key_features import (
    VIEW,
    aggregate_keys,
    is_examined,
    is_selected,
    search_keys_of,
)
from slowwave.scoring.feedback.signals import VALUES
from slowwave.scoring.nearness import question_nearness
from slowwave.scoring.ranking.effectiveness import counted
from slowwave.scoring.ranking.keys import KeyPolicy
from slowwave.scoring.ranking.negative_feedback import multiplier, vote_weight
from slowwave.scoring.ranking_policy import RankingPolicy
from slowwave.scoring.validation import MIN_USERS

What = Literal["none", "seeds", "context", "keys", "both", "seeds and keys"]
WHAT: Final[tuple[What, ...]] = ("none", "seeds", "context", "keys", "both", "seeds and keys")
SHOWN: Final = 5  # results of a search (count)
_SIGNALS: Final[dict[str, Any]] = {
    **dict.fromkeys(SIGNAL, pl.String), "occurred_at": pl.Datetime("us", "UTC"), "imported": pl.Boolean,
    "value": pl.Float64, "weight": pl.Float64, "namespace": pl.String, "query_id": pl.String,
}  # fmt: skip
_VIEWS: Final[dict[str, Any]] = {
    **VIEW, "evidence": pl.Float64(), "share": pl.Float64(), "rank": pl.Int32(),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Constants:
    """Constants that a life is lived with.

    Attributes:
        same: cosine of two questions up to which what was said of one does not count for the other, and from
            which in full.
        feedback: what feedback counts.
        ranking: weights of effectiveness and of not-useful votes.
        keys: how search keys lift.
        teaching: what a search teaches as a key.
    """

    same: tuple[float, float] = SAME
    feedback: FeedbackPolicy = field(default_factory=FeedbackPolicy)
    ranking: RankingPolicy = field(default_factory=RankingPolicy)
    keys: KeyPolicy = field(default_factory=KeyPolicy)
    teaching: KeyTeaching = field(default_factory=KeyTeaching)

    def changed(self, **values: float) -> Constants:
        """The same with other values of some of the constants that `told` names."""
        same = (values.get("same_low", self.same[0]), values.get("same_high", self.same[1]))
        prior = values.get("prior_weight", self.feedback.question_prior_weight)
        weight = values.get("effectiveness_weight", self.ranking.effectiveness_weight)
        return replace(
            self,
            same=same,
            feedback=replace(self.feedback, question_prior_weight=prior),
            ranking=replace(self.ranking, effectiveness_weight=weight),
        )

    def told(self) -> dict[str, float]:
        """The constants as a row has them."""
        return {
            "same_low": self.same[0], "same_high": self.same[1],
            "prior_weight": self.feedback.question_prior_weight,
            "effectiveness_weight": self.ranking.effectiveness_weight,
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Learned:
    """Everything that a memory has learned by the end of a day.

    Attributes:
        world: the collection.
        constants: of the life.
        moment: the end of the day.
        effect: effectiveness, and weight of not-useful votes, of each memory (rules 3.4 and 3.7); empty where
            these do not count.
        ratings: feedback by question; None where it does not count.
        places: of the questions in it, by their number, −1 where there is none, (n,).
        known: search keys.
    """

    world: World
    constants: Constants
    moment: datetime
    effect: tuple[Floats, Floats] | None = None
    ratings: Ratings | None = None
    asked: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    known: Known = field(default_factory=Known)

    def ranked(self, memory: Integers, score: Floats, cosine: Floats, space: int) -> tuple[Integers, Floats]:
        """Candidates of a question with what was learned, ascending by number.

        Args:
            memory: numbers of the candidates, ascending, (m,).
            score: without anything learned, (m,).
            cosine: of the question with all questions of the collection, (n,).
            space: number of the namespace.
        """
        policy = self.constants.ranking
        lifts = self.known.lifts(space, cosine, self.constants.keys)
        if lifts is not None and len(lifts.memory):
            every = np.union1d(memory, lifts.memory)
            whole = np.zeros(len(every))
            whole[np.searchsorted(every, memory)] = score
            memory, score = every, whole
        served, weight = np.full(len(memory), 0.5), np.zeros(len(memory))
        gained = np.zeros(len(memory))
        if self.effect is not None:
            served, weight = self.effect[0][memory], self.effect[1][memory]
        elif self.ratings is not None:
            served, weight = self._contextual(memory, cosine, space)
            gained = policy.effectiveness_weight * np.maximum(served - 0.5, 0.0)
        total = score + policy.effectiveness_weight * (served - 0.5)
        if lifts is not None and len(lifts.memory):
            lift = np.zeros(len(memory))
            lift[np.searchsorted(memory, lifts.memory)] = lifts.lift
            total = total + np.maximum(lift - gained, 0.0)
        left = multiplier(weight, step=policy.negative_step, floor=policy.negative_floor)
        return memory, np.minimum(total + np.minimum(total * (left - 1.0), 0.0), 1.0)

    def _contextual(self, memory: Integers, cosine: Floats, space: int) -> tuple[Floats, Floats]:
        """Effectiveness of each memory for the question, and weight of not-useful votes, (m,) each."""
        assert self.ratings is not None
        low, high = self.constants.same
        mine = np.where(self.world.asked.spaces[self.asked] == space, cosine[self.asked], -1.0)
        place = np.flatnonzero(mine > low)
        place = place[np.argsort(-mine[place], kind="stable")][: self.constants.feedback.nearest_questions]
        served, weight = np.full(len(memory), 0.5), np.zeros(len(memory))
        if not len(place):
            return served, weight
        as_of = int(self.moment.timestamp() * 1e6)
        near = question_nearness(mine[place], low, high)
        found = contextual(self.ratings, place, near, as_of, self.constants.feedback)
        at = np.minimum(np.searchsorted(memory, found.memory), len(memory) - 1)
        there = memory[at] == found.memory
        served[at[there]] = found.effectiveness[there]
        age = (self.moment.timestamp() - found.doubted_at) / DAY_S
        doubts = found.doubted_near * vote_weight(age, self.constants.ranking.negative_half_life_days)
        summed = np.bincount(found.doubted, doubts, minlength=len(found.memory))
        weight[at[there]] = summed[there]
        return served, weight


@dataclass
class RatedLife:
    """One life.

    Attributes:
        world: that is searched.
        plan: what is asked.
        what: mechanism that learns.
        constants: of it.
        wrong: share of what is taken.
        person: ``chance`` or ``resembling``.
        seed: of all that is random.
    """

    world: World
    plan: Mapping[date, Sequence[Asking]]
    what: What
    constants: Constants
    wrong: float
    person: str
    seed: int
    asked: set[int] = field(init=False, default_factory=set)
    _signals: list[tuple[Any, ...]] = field(init=False, repr=False, default_factory=list)
    _views: list[tuple[Any, ...]] = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        kind = Resembling if self.person == "resembling" else Careless
        self._people = kind(User(self.seed, bias=BIAS, finds=1.0, noise=0.0), self.wrong)
        self._draw = np.random.default_rng([self.seed, 5])

    def moments(self, days: Collection[int]) -> Iterator[tuple[int, Learned]]:
        """Live, and give what was learned by the end of some days (from 1)."""
        start = datetime.combine(FIRST, datetime.min.time(), UTC)
        learned = Learned(self.world, self.constants, start)
        for number, (_, asked) in enumerate(sorted(self.plan.items()), start=1):
            if number > max(days):
                return
            shown_with = learned if number >= OPEN else replace(learned, known=Known())
            for asking in asked:
                self._search(asking, shown_with)
            learned = self._learned(start + timedelta(days=number), number)
            if number in days:
                yield number, learned

    def _search(self, asking: Asking, learned: Learned) -> None:
        """A search, and what is said of its results."""
        question = int(next(iter(asking.question.answers)))
        self.asked.add(question)
        space = int(self.world.asked.spaces[question])
        memory, score = learned.ranked(
            *self.world.asked.of(question), self.world.cosines[question].astype(np.float64), space
        )
        best = np.argsort(-score, kind="stable")[:SHOWN]
        shown, scores = memory[best], score[best]
        selected = selected_by(self._people, self.world, question, shown)
        rated = self._draw.random() < RATED
        helpful = selected[:1] if rated else []
        search = str(len(self._signals))
        for at, one in enumerate(shown.tolist()):
            name = str(one)
            verdict = "used" if name in selected else "ignored"
            if rated:
                verdict = "helpful" if name in helpful else "unhelpful" if not selected and at == 0 else ""
            if verdict:
                self._signals.append(self._signal(search, question, name, verdict, asking))
            evidence = float(name in (helpful if rated else selected))
            share = float(scores[at] / scores[0]) if scores[0] > 0 else 0.0
            self._views.append(
                (self.world.namespaces[space], str(question), asking.who, name, asking.at, 0.0, 1.0, evidence,
                 share, at + 1)
            )  # fmt: skip

    def _signal(
        self, search: str, question: int, memory: str, verdict: str, asking: Asking
    ) -> tuple[Any, ...]:
        """A row of ``usage_signals``."""
        implicit = verdict in ("used", "ignored")
        value = 1.0 if verdict == "used" else VALUES.get(verdict, 0.5)
        weight = self.constants.feedback.implicit_weight if implicit else 1.0
        row = {
            "signal_id": f"{len(self._signals):08d}", "memory_id": memory, "occurred_at": asking.at,
            "principal": asking.who, "behind": None, "imported": False, "search_id": search,
            "tier": "implicit" if implicit else "quick", "verdict": verdict, "value": value, "weight": weight,
            "namespace": "all", "query_id": str(question),
        }  # fmt: skip
        return tuple(row[name] for name in _SIGNALS)

    def _learned(self, moment: datetime, number: int) -> Learned:
        """Fold the feedback so far as the mechanism of this life counts it."""
        learned = Learned(self.world, self.constants, moment)
        signals = pl.DataFrame(self._signals, schema=_SIGNALS, orient="row")
        num_users = min(signals["principal"].n_unique(), MIN_USERS)
        if self.what in ("seeds", "seeds and keys"):
            learned = replace(learned, effect=self._effect(signals, num_users, moment))
        if self.what in ("context", "both"):
            folded = fold_ratings(signals, num_users, self.constants.feedback)
            questions = folded["query_id"].unique().sort().to_list()
            memory = {name: int(name) for name in folded["memory_id"].unique()}
            place = {name: at for at, name in enumerate(questions)}
            asked = np.array([int(one) for one in questions], dtype=np.int64)
            learned = replace(learned, ratings=contextual_ratings(folded, place, memory), asked=asked)
        if self.what in ("keys", "both", "seeds and keys") and number >= OPEN - 1:
            learned = replace(learned, known=self._keys(moment))
        return learned

    def _effect(self, signals: pl.DataFrame, num_users: int, moment: datetime) -> tuple[Floats, Floats]:
        """Effectiveness, and weight of not-useful votes, of every memory by the seeds' rule."""
        policy, size = self.constants.feedback, len(self.world.memories)
        implicit = signals.filter(pl.col("tier") == "implicit")
        grown = growth(implicit["occurred_at"].dt.epoch("us").to_numpy(), policy.half_life_days)
        weighed = implicit.with_columns(w=pl.col("weight") * pl.Series(grown, dtype=pl.Float64))
        sums = weighed.group_by("memory_id").agg(
            implicit_value=(pl.col("w") * pl.col("value")).sum(), implicit_weight=pl.col("w").sum()
        )
        votes, uses = signals.filter(pl.col("tier") != "implicit"), implicit.filter(verdict="used")
        rows = capped_votes(votes, uses, sums, {"all": num_users}, policy)
        made = effectiveness(rows.with_columns(pl.col(SUMS).fill_null(0.0)), moment, policy).to_numpy()
        at = np.array([int(one) for one in rows["memory_id"]], dtype=np.int64)
        served, weight = np.full(size, 0.5), np.zeros(size)
        counts = rows["feedback_count"].to_numpy().astype(np.int64)
        served[at] = counted(made, counts, self.constants.ranking.effectiveness_from)
        doubts = rows.select(at=pl.Series(at), when="not_useful_at").explode("when").drop_nulls()
        age = (moment.timestamp() - doubts["when"].dt.epoch("us").to_numpy() / 1e6) / DAY_S
        half_life = self.constants.ranking.negative_half_life_days
        np.add.at(weight, doubts["at"].to_numpy(), vote_weight(age, half_life))
        return served, weight

    def _keys(self, moment: datetime) -> Known:
        """Search keys, if every selection so far had been applied."""
        policy = self.constants.teaching
        views = pl.DataFrame(self._views, schema=_VIEWS, orient="row").with_columns(
            taken=is_selected(pl.col("evidence"), pl.col("share"), policy),
            examined=is_examined(pl.col("rank"), policy),
        )
        folded = aggregate_keys(views.select(*VIEW), moment, policy)
        keys, asked = {}, {}
        for at, name in enumerate(self.world.namespaces):
            mine = folded.filter(pl.col("namespace") == name)
            if mine.is_empty():
                continue
            keys[at] = search_keys_of(mine, {one: int(one) for one in mine["memory_id"].unique()})
            names = mine["query_id"].unique().sort().to_list()
            asked[at] = np.array([int(one) for one in names], dtype=np.int64)
        return Known(keys, asked, self.constants.same)
