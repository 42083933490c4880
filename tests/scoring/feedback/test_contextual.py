"""Contextual effectiveness: golden numbers, a naive implementation, and properties (rule 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from feedback_helpers import DAY, START, VALUES, signal, signals
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from ranking_helpers import build, near

from slowwave.scoring.feedback.contextual import (
    Ratings,
    contextual,
    fold_ratings,
    ratings_of,
)
from slowwave.scoring.feedback.influence_limits import MAX_USER_GAIN, MAX_USER_IMPACT, MIN_USERS
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.nearness import question_nearness
from slowwave.scoring.ranking import MemoryState, RankingPolicy
from slowwave.scoring.ranking.columns import columns_of
from slowwave.scoring.ranking.score_terms import ScoredMemories

POLICY = FeedbackPolicy()
SAME = (0.83, 0.93)
Row = dict[str, Any]
Near = Mapping[str, float]
"""Nearness of each near question, in (0, 1]."""


def said(
    question: str, verdict: str, memory: str = "m", by: str = "ann", *, day: float = 0.0, search: str = "",
    imported: bool = False, behind: str | None = None, name: str = "",
) -> Row:  # fmt: skip
    """A row of ``usage_signals`` about a result of a search; each of them is a search of its own."""
    search = search or f"{question}-{by}-{day}-{verdict}-{name}"
    row = signal(verdict, memory, at=START + day * DAY, by=by, search=search, name=name)
    row["signal_id"] = f"{row['signal_id']}:{search}:{imported}"
    return row | {"query_id": question, "imported": imported, "behind": behind}


def ratings(rows: Iterable[Row], num_users: int = 1, policy: FeedbackPolicy = POLICY) -> tuple[Ratings, Near]:
    """The rows as arrays, with the number of each question."""
    folded = fold_ratings(signals(list(rows)), num_users, policy)
    questions = {name: at for at, name in enumerate(folded["query_id"].unique().sort())}
    memories = {name: at for at, name in enumerate(folded["memory_id"].unique().sort())}
    return ratings_of(folded, questions, memories), questions


@dataclass(frozen=True)
class Known:
    """What is known of a memory for a question; the doubts by their moment and nearness."""

    effectiveness: float
    count: int
    nearest: str
    last: datetime
    doubts: tuple[tuple[datetime, float], ...]

    @property
    def state(self) -> MemoryState:
        return MemoryState(
            question_effectiveness=self.effectiveness, question_count=self.count,
            question_not_useful=self.doubts,
        )  # fmt: skip


def known(
    rows: Iterable[Row], near_: Near, *, num_users: int = 1, day: float = 0.0, policy: FeedbackPolicy = POLICY
) -> dict[str, Known]:
    """Known of each memory for a question that is so near to others, some days after the start."""
    rows = list(rows)
    made, number = ratings(rows, num_users, policy)
    memories = sorted({row["memory_id"] for row in rows if row["weight"] > 0})
    names = {at: name for name, at in number.items()}
    there = sorted((name for name in near_ if name in number), key=lambda name: (-near_[name], name))
    moment = START + day * DAY
    found = contextual(
        made, np.array([number[name] for name in there], dtype=np.int64),
        np.array([near_[name] for name in there]), round(moment.timestamp() * 1e6), policy,
    )  # fmt: skip
    doubts: dict[int, list[tuple[datetime, float]]] = {}
    for at, when, k in zip(found.doubted, found.doubted_at, found.doubted_near, strict=True):
        doubts.setdefault(int(at), []).append((datetime.fromtimestamp(when, UTC), float(k)))
    return {
        memories[memory]: Known(
            float(found.effectiveness[at]), int(found.count[at]), names[int(found.nearest[at])],
            datetime.fromtimestamp(found.last[at] / 1e6, UTC), tuple(sorted(doubts.get(at, ()))),
        )
        for at, memory in enumerate(found.memory.tolist())
    }  # fmt: skip


def effective(rows: Iterable[Row], near_: Near, **more: Any) -> float:
    """Effectiveness of the memory ``m``."""
    return known(rows, near_, **more)["m"].effectiveness


# -- nearness --------------------------------------------------------------------------------------


def test_nearness_is_a_line_between_two_cosines():
    cosines = np.array([1.0, 0.93, 0.88, 0.84, 0.83, 0.5, -1.0])
    assert question_nearness(cosines, *SAME) == pytest.approx([1, 1, 0.5, 0.1, 0, 0, 0])
    assert question_nearness(cosines, *SAME)[4:].tolist() == [0, 0, 0]
    assert question_nearness(np.array([0.9]), 0.8, 1.0) == pytest.approx([0.5])  # the line of rule 8.1
    for low, high in ((0.9, 0.9), (0.93, 0.83)):
        with pytest.raises(ValueError, match="is not below high"):
            question_nearness(cosines, low, high)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=9))
def test_a_nearer_question_never_counts_less(cosines):
    found = question_nearness(np.sort(np.array(cosines)), *SAME)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= 0).all()


# -- one or two people, by hand: prior 0.5 that is worth one vote ----------------------------------

SAME_QUESTION, HALF = {"q": 1.0}, {"q": 0.5}
CITED = said("q", "used", name="c")


@pytest.mark.parametrize(
    ("rows", "near_", "expected"),
    [
        ([said("q", "helpful")], SAME_QUESTION, (0.5 + 1) / 2),
        ([said("q", "helpful")], HALF, (0.5 + 0.5) / 1.5),
        ([said("q", "unhelpful")], SAME_QUESTION, 0.25),
        ([said("q", "unhelpful")], HALF, 0.5 / 1.5),
        ([said("q", "neutral")], SAME_QUESTION, 0.5),
        ([said("q", "success")], SAME_QUESTION, 0.75),
        ([said("q", "failure")], SAME_QUESTION, 0.25),
        ([CITED], SAME_QUESTION, (0.5 + 0.25) / 1.25),
        ([CITED], HALF, (0.5 + 0.125) / 1.125),
        ([CITED, said("q", "helpful")], SAME_QUESTION, (0.5 + 0.25 + 1) / 2.25),
        ([CITED, said("q", "ignored")], SAME_QUESTION, (0.5 + 0.25 + 0.125) / 1.5),
        ([said("q", "helpful"), said("q", "helpful", by="bob")], SAME_QUESTION, 2.5 / 3),
        ([said("q", "helpful"), said("q", "unhelpful", by="bob")], SAME_QUESTION, 0.5),
    ],
)  # fmt: skip
def test_by_hand(rows, near_, expected):
    assert effective(rows, near_, num_users=2) == pytest.approx(expected, abs=1e-12)


def test_all_implicit_evidence_together_is_one_vote():
    uses = [said("q", "used", name=f"{n}") for n in range(40)]
    for count, weight in ((1, 0.25), (3, 0.75), (4, 1.0), (40, 1.0)):
        assert effective(uses[:count], SAME_QUESTION) == pytest.approx((0.5 + weight) / (1 + weight))
    # As near as half, eight of them are one vote; over several questions and people there is one, too.
    assert effective(uses[:8], HALF) == pytest.approx(0.75)
    spread = [said(q, "used", by=who, name=f"{q}{who}{n}") for q in "qr" for who in "ab" for n in range(9)]
    assert effective(spread, {"q": 1.0, "r": 1.0}, num_users=2) == pytest.approx(0.75)
    # Half of them were ignored, which is neutral: their mean is three quarters.
    mixed = uses[:20] + [said("q", "ignored", name=f"i{n}") for n in range(20)]
    assert effective(mixed, SAME_QUESTION) == pytest.approx((0.5 + 0.75) / 2)


def test_a_use_that_rests_on_nothing_counts_nothing():
    padding = said("q", "ignored") | {"weight": 0.0, "evidence": "none"}
    assert known([padding], SAME_QUESTION) == {}
    assert known([padding, said("q", "helpful")], SAME_QUESTION)["m"].count == 1


def test_one_person_counts_once_for_near_questions():
    """Who rates the same answer to five wordings of a question has one vote, as near as the nearest."""
    wordings = {f"q{n}": k for n, k in enumerate((0.4, 1.0, 0.6, 0.2, 0.9))}
    rows = [said(question, "helpful") for question in wordings]
    nearest = effective([said("q1", "helpful")], {"q1": 1.0})
    assert effective(rows, wordings) == pytest.approx(nearest) == 0.75
    less = {name: k for name, k in wordings.items() if name in ("q0", "q2")}
    assert effective(rows, less) == pytest.approx((0.5 + 0.6) / 1.6)
    # And so has who rates it again and again for one question.
    again = [said("q", "helpful", name=f"{n}") for n in range(5)]
    assert effective(again, SAME_QUESTION) == pytest.approx(0.75)
    # Two people are two.
    both = rows + [said(question, "helpful", by="bob") for question in wordings]
    assert effective(both, wordings, num_users=2) == pytest.approx(2.5 / 3)


def test_one_person_of_two_minds_is_heard_as_near_as_each_question_is():
    rows = [said("q", "helpful"), said("r", "unhelpful")]
    # A vote for it and half a vote against it, squeezed into one vote: 1/6 above neutral.
    assert effective(rows, {"q": 1.0, "r": 0.5}) == pytest.approx((0.5 + 0.5 + 1 / 6) / 2)
    assert effective(rows, {"q": 0.5, "r": 1.0}) == pytest.approx((0.5 + 0.5 - 1 / 6) / 2)
    assert effective(rows, {"q": 1.0, "r": 1.0}) == pytest.approx(0.5)


def test_a_vote_fades_by_half_in_a_half_life():
    old = [said("q", "helpful")]
    assert effective(old, SAME_QUESTION, day=90) == pytest.approx((0.5 + 0.5) / 1.5)
    assert effective(old, HALF, day=180) == pytest.approx((0.5 + 0.125) / 1.125)
    quick = replace(POLICY, half_life_days=30.0)
    assert effective(old, SAME_QUESTION, day=90, policy=quick) == pytest.approx((0.5 + 0.125) / 1.125)
    # Use fades below the cap before the cap counts: eight uses of a half-life ago weigh one vote.
    uses = [said("q", "used", name=f"{n}") for n in range(8)]
    assert effective(uses, SAME_QUESTION, day=90) == pytest.approx(0.75)
    assert effective(uses[:4], SAME_QUESTION, day=90) == pytest.approx((0.5 + 0.5) / 1.5)
    # A new vote of the same person does not make the old ones young: of one half and one whole vote the
    # mean counts, weighing one.
    two = [said("q", "helpful"), said("q", "unhelpful", day=90)]
    assert effective(two, SAME_QUESTION, day=90) == pytest.approx((0.5 + 0.5 - 0.25 / 1.5) / 2)


def test_the_prior_weighs_as_many_votes_as_the_policy_says():
    heavy = replace(POLICY, question_prior_weight=3.0, prior=0.4)
    assert effective([said("q", "helpful")], SAME_QUESTION, policy=heavy) == pytest.approx((1.2 + 1) / 4)
    other = replace(POLICY, prior_weight=50.0)  # of a memory as a whole
    assert effective([said("q", "helpful")], SAME_QUESTION, policy=other) == 0.75


def test_the_last_word_on_a_search_counts_and_so_many_votes_of_one_person():
    changed = [said("q", "helpful", search="s"), said("q", "unhelpful", search="s", day=1)]
    found = known(changed, SAME_QUESTION, day=1)["m"]
    assert (found.effectiveness, found.count, len(found.doubts)) == (pytest.approx(0.25), 1, 1)
    bad = [said("q", "unhelpful", day=n / 100, name=f"{n}") for n in range(9)]
    assert len(known(bad, SAME_QUESTION)["m"].doubts) == POLICY.principal_votes
    # On another question he may speak again, and what is said on one displaces nothing on the other.
    more = [*bad, *(said("r", "unhelpful", day=n / 100, name=f"r{n}") for n in range(9))]
    assert len(known(more, {"q": 1.0, "r": 1.0})["m"].doubts) == 2 * POLICY.principal_votes
    assert len(known(more, {"q": 1.0})["m"].doubts) == POLICY.principal_votes


def test_each_unhelpful_vote_counts_for_the_multiplier_as_near_as_its_question():
    rows = [
        said("q", "unhelpful", day=1), said("r", "unhelpful", day=2), said("r", "unhelpful", day=3),
        said("q", "failure", day=4), said("q", "helpful", day=5), said("far", "unhelpful", day=6),
    ]  # fmt: skip
    found = known(rows, {"q": 1.0, "r": 0.25}, day=6)["m"]
    assert found.doubts == (
        (START + DAY, 1.0), (START + 2 * DAY, 0.25), (START + 3 * DAY, 0.25),
    )  # fmt: skip
    columns, _ = columns_of(build(near(m=0.5), states={"m": found.state}), START + 3 * DAY)
    (multiplier,) = ScoredMemories(columns, RankingPolicy()).multiplier
    ages = 2 ** (-np.array([2, 1, 0]) / 30)
    assert multiplier == pytest.approx(1 - 0.1 * (ages * [1.0, 0.25, 0.25]).sum())


def test_the_nearest_question_is_named_with_the_last_word_on_it():
    rows = [
        said("q", "helpful", day=1), said("q", "used", day=5), said("r", "helpful", day=9),
        said("r", "helpful", "n", day=2), said("q", "ignored", "n", day=3) | {"weight": 0.0},
    ]  # fmt: skip
    found = known(rows, {"q": 1.0, "r": 0.5}, day=9)
    assert (found["m"].nearest, found["m"].last, found["m"].count) == ("q", START + 5 * DAY, 3)
    assert (found["n"].nearest, found["n"].last, found["n"].count) == ("r", START + 2 * DAY, 1)
    swapped = known(rows, {"q": 0.5, "r": 1.0}, day=9)
    assert (swapped["m"].nearest, swapped["m"].last) == ("r", START + 9 * DAY)


def test_what_was_only_ignored_has_no_data_point_and_is_neutral():
    found = known([said("q", "ignored", name=f"{n}") for n in range(9)], SAME_QUESTION)["m"]
    assert (found.effectiveness, found.count) == (pytest.approx(0.5), 0)


# -- three people or more: each is one vote, and one alone lifts nothing and sinks nothing ---------


def people(word: str, *who: str, question: str = "q", **more: Any) -> list[Row]:
    return [said(question, word, by=name, **more) for name in who]


@pytest.mark.parametrize(
    ("rows", "expected", "doubts"),
    [
        (people("helpful", "a"), 0.5, 0),
        (people("success", "a"), 0.5, 0),
        (people("used", "a"), 0.5, 0),
        (people("helpful", "a", "b"), 2.5 / 3, 0),
        (people("helpful", "a") + people("used", "b"), (0.5 + 1 + 0.25) / 2.25, 0),
        (people("used", "a", "b"), (0.5 + 0.5) / 1.5, 0),
        (people("unhelpful", "a"), 0.5, 1),  # a step of the multiplier, and no more
        (people("unhelpful", "a", "b"), 0.5 / 3, 2),
        (people("helpful", "a", "b") + people("unhelpful", "c"), (0.5 + 2 + 0.5) / 4, 0),  # answered
        (people("helpful", "a") + people("unhelpful", "c"), 0.5, 1),  # one alone answers nobody
        (people("helpful", "a", "b") + people("unhelpful", "c", "d"), 0.5, 0),
        (people("helpful", "a", "b") + people("unhelpful", "c", "d", "e"), 2.5 / 6, 1),
    ],
)
def test_a_crowd_by_hand(rows, expected, doubts):
    found = known(rows, SAME_QUESTION, num_users=MIN_USERS)["m"]
    assert found.effectiveness == pytest.approx(expected, abs=1e-12)
    assert len(found.doubts) == doubts


def test_a_crowd_is_no_crowd_for_a_question_by_who_speaks_of_it_but_by_who_is_there():
    rows = people("helpful", "a")
    assert [effective(rows, SAME_QUESTION, num_users=n) for n in (1, 2, 3, 9)] == [0.75, 0.75, 0.5, 0.5]


def test_one_of_a_crowd_takes_one_step_as_near_as_its_nearest_vote_and_of_its_last_moment():
    rows = [said(q, "unhelpful", by="a", day=day) for q, day in (("q", 1), ("q", 2), ("r", 3))]
    found = known(rows, {"q": 1.0, "r": 0.5}, num_users=MIN_USERS, day=3)["m"]
    assert found.doubts == ((START + 3 * DAY, 1.0),)
    liked = [*rows, *(said("q", "helpful", by="a", day=4, name=f"{n}") for n in range(3))]
    assert (
        known(liked, {"q": 1.0, "r": 0.5}, num_users=MIN_USERS, day=4)["m"].doubts == ()
    )  # on the whole it likes it


def test_as_many_as_like_it_answer_the_newest_of_those_who_do_not():
    rows = [said("q", "unhelpful", by=who, day=day) for day, who in enumerate("cde")]
    rows += people("helpful", "a", "b")
    assert known(rows, SAME_QUESTION, num_users=MIN_USERS, day=9)["m"].doubts == ((START, 1.0),)


def test_a_weak_vote_answers_as_much_as_it_weighs():
    """Two like it for a question that is half as near: of two who do not, half is left."""
    rows = people("helpful", "a", "b", question="r") + people("unhelpful", "c", "d")
    found = effective(rows, {"q": 1.0, "r": 0.5}, num_users=MIN_USERS)
    # For it: two halves of a vote. Against it: two votes, of which half is left.
    assert found == pytest.approx((0.5 + 2 * 0.5) / (1 + 2 * 0.5 + 2 * 0.5))


@pytest.mark.parametrize("days", [(at * 1.7, at * 3.1, at * 0.9) for at in range(1, 25)])
def test_as_often_helpful_as_not_is_no_praise(days):
    """Sums of fractions are not exact: what is left of them does not make somebody a second friend."""
    rows = [said("q", "helpful", by="eve", day=day) for day in days]
    for question, day in zip("rss", days, strict=True):
        rows.append(said(question, "unhelpful", by="eve", day=day))
    near_ = dict.fromkeys("pqrs", 1.0)
    alone = people("helpful", "a", question="p")
    assert effective(rows + alone, near_, num_users=MIN_USERS, day=80) == pytest.approx(0.5, abs=1e-9)


def test_an_outcome_is_the_word_of_whom_it_rests_on():
    rows = [said("q", "success", by="ann", behind=who) for who in ("cy", "dee")]
    assert effective(rows, SAME_QUESTION, num_users=MIN_USERS) == pytest.approx(2.5 / 3)
    same = [said("q", "success", by=by, behind="cy") for by in ("ann", "bob")]
    assert effective(same, SAME_QUESTION, num_users=MIN_USERS) == 0.5


def test_what_was_imported_is_one_voice_and_beside_anybody_here_one_vote():
    names = [said("q", "helpful", by=f"n{n}", imported=True) for n in range(9)]
    assert effective(names, SAME_QUESTION, num_users=0) == 0.75  # a home of nothing else
    assert effective(names, SAME_QUESTION, num_users=1) == 0.5  # it lifts nothing alone
    own = said("q", "helpful")
    assert effective([*names, own], SAME_QUESTION, num_users=1) == pytest.approx(2.5 / 3)
    assert effective([own], SAME_QUESTION, num_users=1) == 0.75
    against = [said("q", "unhelpful", by=f"n{n}", imported=True, name=f"{n}") for n in range(9)]
    assert len(known(against, SAME_QUESTION, num_users=0)["m"].doubts) == POLICY.principal_votes
    alone = known(against, SAME_QUESTION, num_users=1)["m"]
    assert (alone.effectiveness, len(alone.doubts)) == (0.5, 1)
    answered = known([*against, own], SAME_QUESTION, num_users=1)["m"]
    assert (answered.effectiveness, answered.doubts) == (pytest.approx((0.5 + 1 + 0.5) / 3), ())
    # It does not speak in the name of somebody here.
    forged = [said("q", "helpful", by="ann", imported=True), said("q", "unhelpful", by="ann")]
    assert len(known(forged, SAME_QUESTION, num_users=1)["m"].doubts) == 1


def test_what_was_imported_seconds_nobody_who_finds_a_memory_unhelpful():
    """Whoever brings it in may be the one of many who is against it."""
    brought = [said("q", "unhelpful", by=f"n{n}", imported=True, name=f"{n}") for n in range(9)]
    one = known([*brought, *people("unhelpful", "c")], SAME_QUESTION, num_users=MIN_USERS)["m"]
    assert (one.effectiveness, len(one.doubts)) == (pytest.approx(0.5), 2)
    two = known([*brought, *people("unhelpful", "c", "d")], SAME_QUESTION, num_users=MIN_USERS)["m"]
    assert (two.effectiveness, len(two.doubts)) == (pytest.approx(0.5 / 4), 3)


# -- always ----------------------------------------------------------------------------------------

QUESTIONS, MEMORIES, WHO, LAST = "qrst", "mn", ("ann", "bob", "cy", "dee"), 400


@st.composite
def rows_of(
    draw: Any, who: tuple[str, ...] = WHO, *, most: int = 14, imported: bool = False, prefix: str = "",
    questions: str = QUESTIONS,
) -> list[Row]:  # fmt: skip
    """Anything that some people may say; a search may be rated again."""
    rows = []
    for number in range(draw(st.integers(0, most))):
        question, by = draw(st.sampled_from(questions)), draw(st.sampled_from(who))
        search = f"{question}-{draw(st.integers(0, 7))}"
        rows.append(
            said(question, draw(st.sampled_from(sorted(VALUES))), draw(st.sampled_from(MEMORIES)), by,
                 day=draw(st.integers(0, LAST)), search=search, name=f"{prefix}{number}",
                 imported=imported and draw(st.booleans()))
        )  # fmt: skip
    return rows


nears = st.dictionaries(st.sampled_from(QUESTIONS), st.floats(1e-9, 1) | st.sampled_from([0.5, 1.0]))
voices_there = st.integers(0, MIN_USERS + 1)
ends = st.integers(LAST, LAST + 200)


@given(rows_of(imported=True), nears, voices_there, ends)
def test_effectiveness_is_a_share_and_nearness_in_its_bounds(rows, near_, num_users, day):
    for one in known(rows, near_, num_users=num_users, day=day).values():
        assert 0 <= one.effectiveness <= 1
        assert one.nearest in near_
        assert all(0 < k <= max(near_.values()) for _, k in one.doubts)
        assert len(one.doubts) <= one.count


@given(rows_of(imported=True), nears, voices_there, ends, st.randoms(use_true_random=False))
def test_the_order_of_signals_and_days_does_not_matter(rows, near_, num_users, day, random):
    mixed = random.sample(rows, len(rows))
    assert_frame_equal(
        fold_ratings(signals(mixed), num_users, POLICY), fold_ratings(signals(rows), num_users, POLICY),
        check_exact=True,
    )  # fmt: skip
    assert known(mixed, near_, num_users=num_users, day=day) == known(
        rows, near_, num_users=num_users, day=day
    )


@given(st.randoms(use_true_random=False))
def test_many_uses_in_any_order_have_one_sum(random):
    """Sums of fractions depend on the order of their parts in the last digit."""
    rows = [said("q", "used", day=at * 7.3 % 61, name=f"{at}") for at in range(40)]
    rows += [said("q", "unhelpful", day=at * 5.9 % 61, name=f"v{at}") for at in range(5)]
    whole = fold_ratings(signals(rows), 1, POLICY)
    assert_frame_equal(fold_ratings(signals(random.sample(rows, 45)), 1, POLICY), whole, check_exact=True)


@given(rows_of(imported=True), rows_of(most=20, prefix="far", questions="axyz"), nears, voices_there, ends)
def test_what_is_said_on_far_questions_changes_nothing_to_the_last_bit(rows, far, near_, num_users, day):
    """Whatever is said there, of the same memories, by the same people, before and after."""
    far = [{**row, "query_id": f"{row['query_id']}-far"} for row in far]
    mine = [row for row in rows if row["query_id"] in near_]
    alone = known(mine, near_, num_users=num_users, day=day)
    for more in (rows, rows + far):
        assert known(more, near_, num_users=num_users, day=day) == alone
    assert known(far, near_, num_users=num_users, day=day) == {}


@given(rows_of(imported=True), nears, voices_there, ends)
def test_what_is_said_of_another_memory_changes_nothing(rows, near_, num_users, day):
    mine = [row for row in rows if row["memory_id"] == "m"]
    alone, both = (known(some, near_, num_users=num_users, day=day) for some in (mine, rows))
    assert alone.get("m") == both.get("m")


@given(rows_of(("ann", "bob")), nears, ends, st.sampled_from(QUESTIONS), st.sampled_from(["ann", "bob"]))
def test_of_few_people_one_more_helpful_vote_of_somebody_new_never_lowers(rows, near_, day, question, by):
    rows = [row for row in rows if row["principal"] != by]
    more = [*rows, said(question, "helpful", by=by, day=LAST, name="more")]
    before, after = (known(some, near_, num_users=2, day=day).get("m") for some in (rows, more))
    assert (after.effectiveness if after else 0.5) >= (before.effectiveness if before else 0.5) - 1e-12


# -- how far one user of many moves a score ----------------------------------------------------

LIKES = ("helpful", "success", "used")
DEFAULT = RankingPolicy()


def scores(
    rows: list[Row], near_: Near, semantic: float, day: float, policy: RankingPolicy = DEFAULT
) -> dict[str, float]:
    """Scores of two memories of one semantic score, of which this was said."""
    states = {name: one.state for name, one in known(rows, near_, num_users=MIN_USERS, day=day).items()}
    cosine = policy.cosine_floor + (1 - policy.cosine_floor) * semantic
    columns, names = columns_of(
        build(near(**dict.fromkeys(MEMORIES, cosine)), states=states), START + day * DAY
    )
    return dict(zip(names, ScoredMemories(columns, policy).score.tolist(), strict=True))


@st.composite
def crowds(draw: Any, *, friends: int = 0) -> tuple[list[Row], int, int]:
    """What others say of the memory ``m`` on near questions, and how many like it and do not."""
    likes, dislikes = draw(st.integers(friends, 4)), draw(st.integers(0, 4))
    rows = []
    for number in range(likes + dislikes):
        word = draw(st.sampled_from(LIKES)) if number < likes else "unhelpful"
        day = LAST - draw(st.sampled_from([0, 1, 30, 300]))
        rows.append(said(draw(st.sampled_from("qr")), word, by=f"person-{number}", day=day))
    return rows, likes, dislikes


his_rows = rows_of(("eve",), most=8, prefix="eve", questions="qr")
near_two = st.fixed_dictionaries(dict.fromkeys("qr", st.floats(1e-9, 1) | st.sampled_from([0.5, 1.0])))


@pytest.mark.slow
@given(crowds(friends=2), his_rows, near_two, st.floats(0, 1), ends)
def test_one_of_many_moves_nothing_that_others_found_helpful_below_what_only_he_did(
    others, his, near_, semantic, day
):
    rows, likes, dislikes = others
    if likes <= dislikes:
        rows = [row for row in rows if row["verdict"] != "unhelpful"]
    marks = scores(rows + his, near_, semantic, day)
    assert marks["m"] >= marks["n"] - 1e-9


@pytest.mark.slow
@given(crowds(), his_rows, near_two, st.floats(0, 1), ends)
def test_one_of_many_lowers_no_score_by_more_than_his_reach(others, his, near_, semantic, day):
    before, after = (scores(rows, near_, semantic, day) for rows in (others[0], others[0] + his))
    for name in MEMORIES:
        assert after[name] >= before[name] - MAX_USER_IMPACT - 1e-9


FRIEND = people("helpful", "a", question="r", day=LAST)
CRITICS = people("unhelpful", "c", "d", day=LAST)


@pytest.mark.slow
@given(crowds(), his_rows, near_two, st.floats(0, 1), ends)
@example(([*FRIEND, *CRITICS], 1, 2), people("helpful", "eve", day=LAST), {"q": 1.0, "r": 0.5}, 1.0, LAST)
def test_one_of_many_raises_no_score_by_more_than_his_reach(others, his, near_, semantic, day):
    before, after = (scores(rows, near_, semantic, day) for rows in (others[0], others[0] + his))
    for name in MEMORIES:
        assert abs(after[name] - before[name]) <= MAX_USER_GAIN + 1e-9


# -- a naive implementation, for one or two people -------------------------------------------------


def in_force_naively(votes: list[Row]) -> list[Row]:
    """The votes of one person on one memory and question, of which a new one may displace one."""
    held: list[Row] = []
    for vote in sorted(votes, key=lambda row: (row["occurred_at"], row["signal_id"])):
        same = [row for row in held if (row["search_id"], row["tier"]) == (vote["search_id"], vote["tier"])]
        gone = same or (held[:1] if len(held) == POLICY.principal_votes else [])
        held = [row for row in held if row not in gone] + [vote]
    return held


def naive(rows: list[Row], near_: Near, day: float, memory: str) -> Known | None:
    """Rule 8.1 for one memory, written as it reads; nobody is one of many."""
    moment = START + day * DAY

    def weight(row: Row) -> float:
        age = (moment - row["occurred_at"]) / DAY
        return near_[row["query_id"]] * row["weight"] * 2 ** (-age / POLICY.half_life_days)

    mine = [row for row in rows if row["memory_id"] == memory and row["query_id"] in near_]
    implicit = [row for row in mine if row["tier"] == "implicit"]
    votes = [
        vote
        for who in sorted({row["principal"] for row in mine})
        for question in sorted(near_)
        for vote in in_force_naively(
            [row for row in mine if row["tier"] != "implicit"
             and (row["principal"], row["query_id"]) == (who, question)]
        )
    ]  # fmt: skip
    counted = implicit + votes
    if not counted:
        return None
    value, total = POLICY.prior * POLICY.question_prior_weight, POLICY.question_prior_weight
    for who in {row["principal"] for row in votes}:
        weights = [(weight(row), row["value"]) for row in votes if row["principal"] == who]
        whole, most = sum(w for w, _ in weights), max(w for w, _ in weights)
        share = min(1.0, most / whole)
        value += share * sum(w * v for w, v in weights)
        total += share * whole
    if implicit:
        whole = sum(weight(row) for row in implicit)
        share = min(1.0, POLICY.implicit_cap / whole)
        value += share * sum(weight(row) * row["value"] for row in implicit)
        total += share * whole
    nearest = min({row["query_id"] for row in counted}, key=lambda name: (-near_[name], name))
    return Known(
        value / total,
        len(votes) + sum(row["verdict"] == "used" for row in implicit),
        nearest,
        max(row["occurred_at"] for row in counted if row["query_id"] == nearest),
        tuple(sorted((row["occurred_at"], near_[row["query_id"]])
                     for row in votes if row["verdict"] == "unhelpful")),
    )  # fmt: skip


@pytest.mark.slow
@given(rows_of(("ann", "bob")), nears, st.sampled_from([1, 2]), ends)
def test_it_is_what_a_plain_loop_makes_of_it(rows, near_, num_users, day):
    if num_users == 1:
        rows = [row for row in rows if row["principal"] == "ann"]
    found = known(rows, near_, num_users=num_users, day=day)
    for memory in MEMORIES:
        expected, one = naive(rows, near_, day, memory), found.get(memory)
        if expected is None:
            assert one is None
            continue
        assert one is not None
        assert one.effectiveness == pytest.approx(expected.effectiveness, abs=1e-9)
        assert replace(one, effectiveness=0.5) == replace(expected, effectiveness=0.5)


# -- the arrays ------------------------------------------------------------------------------------


def test_a_question_without_a_rating_has_a_place_and_no_rows():
    folded = fold_ratings(signals([said("b", "helpful"), said("d", "unhelpful", "n")]), 1, POLICY)
    made = ratings_of(folded, {"a": 0, "b": 1, "c": 2, "d": 3}, {"m": 7, "n": 2})
    assert (len(made), made.starts.tolist(), made.memory.tolist()) == (4, [0, 0, 1, 1, 2], [7, 2])
    assert made.against.tolist() == [0, 0, 1]
    at = np.array([0, 2], dtype=np.int64)
    found = contextual(made, at, np.array([1.0, 0.5]), 0, POLICY)
    assert (len(found.memory), len(found.effectiveness), len(found.doubted)) == (0, 0, 0)
    with pytest.raises(ValueError, match="2 questions, but 1 nearness"):
        contextual(made, at, np.array([1.0]), 0, POLICY)


def test_nothing_said_is_no_rows():
    for number, memory in (({}, {}), ({"q": 0}, {"m": 0})):
        made = ratings_of(fold_ratings(signals([]), 0, POLICY), number, memory)
        assert (len(made), made.starts.tolist()) == (len(number), [0] * (len(number) + 1))
        none = np.zeros(0, dtype=np.int64)
        assert len(contextual(made, none, np.zeros(0), 0, POLICY).memory) == 0
