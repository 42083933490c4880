"""Influence limits: the reach of one user on a memory, and of users who are alone (rule 4.3)."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from feedback_helpers import DAY, START, frame, signal, signals
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.feedback.effectiveness import effectiveness, fold_effectiveness
from slowwave.scoring.feedback.influence_limits import (
    MAX_USER_IMPACT,
    MIN_USERS,
    capped_votes,
    count_first_seen_users,
    users_by,
)
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.votes import IMPORTED
from slowwave.scoring.ranking.effectiveness import combined, counted
from slowwave.scoring.ranking.negative_feedback import multiplier, vote_weight
from slowwave.scoring.ranking_policy import RankingPolicy

POLICY, RANKING = FeedbackPolicy(), RankingPolicy()
LAST = 400
SAYS = ("helpful", "neutral", "unhelpful", "success", "failure", "used", "ignored")
LIKES = ("helpful", "success", "used")


def states(rows, *, policy=POLICY, end=LAST):
    """What a ranking hears of each memory at the end of a day: its sums, data points and bad votes."""
    said = signals(rows)
    folded = fold_effectiveness(said, frame("effectiveness", []), signals([]), policy)
    whole = folded.filter(pl.col("chunk_id").is_null()).sort("day").unique("memory_id", keep="last")
    uses = said.filter((pl.col("verdict") == "used") & (pl.col("weight") > 0))
    return capped_votes(
        said.filter(pl.col("tier") != "implicit"), uses,
        whole.select("memory_id", "implicit_value", "implicit_weight"),
        users_by(count_first_seen_users(said), "9999"), policy,
    )  # fmt: skip


def scores(rows, semantic, *, end=LAST, ranking=RANKING):
    """The score of each memory that is spoken of, all of one semantic score."""
    found = states(rows)
    at = START + end * DAY
    value = effectiveness(found, at, POLICY).to_numpy()
    known = counted(value, found["feedback_count"].to_numpy(), ranking.effectiveness_from)
    plain = combined(semantic, known, ranking.effectiveness_weight)
    marks = {}
    for name, score, votes in zip(found["memory_id"], plain, found["not_useful_at"], strict=True):
        ages = np.array([(at - vote) / DAY for vote in votes])
        marks[name] = float(score * multiplier(vote_weight(ages).sum()))
    return marks


def score_of(rows, memory, semantic, *, end=LAST):
    neutral = float(combined(semantic, 0.5, RANKING.effectiveness_weight))
    return scores(rows, semantic, end=end).get(memory, neutral) if rows else neutral


def said(verdict, memory, by, day=0, *, imported=False, search="", hour=0):
    at = START + day * DAY + hour * timedelta(hours=1)
    row = signal(verdict, memory, at=at, by=by, search=search or f"{by}-{memory}-{day}-{verdict}-{hour}")
    return {**row, "imported": imported, "signal_id": f"{row['signal_id']}:{imported}"}


@st.composite
def flood(draw, *, memories=("a", "b"), most=14):
    """Anything that one principal may say of some memories; what is imported he says under any name."""
    elsewhere = draw(st.booleans())
    rows = []
    for number in range(draw(st.integers(0, most))):
        by = f"name-{draw(st.integers(0, 60))}" if elsewhere else "eve"
        rows.append(
            said(draw(st.sampled_from(SAYS)), draw(st.sampled_from(memories)), by,
                 draw(st.integers(0, LAST - 1)), imported=elsewhere, search=f"e{number}", hour=number)
        )  # fmt: skip
    return rows


@st.composite
def populations(draw, *, least=0):
    """What others, three or more, said of a memory, on any day; how many like it and how many not."""
    likes, dislikes = draw(st.integers(least, 6)), draw(st.integers(0, 4))
    rows = [said("neutral", "z", f"by-stander-{n}", draw(st.integers(0, LAST - 1))) for n in range(MIN_USERS)]
    for number in range(likes):
        word = draw(st.sampled_from(LIKES))
        rows.append(said(word, "a", f"friend-{number}", draw(st.integers(0, LAST - 1))))
    for number in range(dislikes):
        rows.append(said("unhelpful", "a", f"critic-{number}", draw(st.integers(0, LAST - 1))))
    return rows, likes, dislikes


@pytest.mark.slow
@given(populations(least=2), flood(), st.floats(0, 1))
def test_one_of_many_moves_nothing_that_others_found_helpful_below_what_only_he_did(others, his, semantic):
    rows, likes, dislikes = others
    if likes <= dislikes:
        rows = [row for row in rows if not row["principal"].startswith("critic")]
    marks = scores(rows + his, semantic)
    neutral = float(combined(semantic, 0.5, RANKING.effectiveness_weight))
    assert marks["a"] >= marks.get("b", neutral) - 1e-9


@pytest.mark.slow
@given(populations(), flood(), st.floats(0, 1), st.integers(LAST, LAST + 100))
@pytest.mark.soak
def test_one_of_many_changes_no_score_by_more_than_his_reach(others, his, semantic, end):
    rows = others[0]
    for memory in ("a", "b"):
        before = score_of(rows, memory, semantic, end=end)
        after = score_of(rows + his, memory, semantic, end=end)
        assert abs(after - before) <= MAX_USER_IMPACT + 1e-9


@pytest.mark.parametrize("imported", [False, True])
def test_the_issue_of_one_of_fifty(imported):
    """He rates the right answer down and his own notes up, as often as he can: it stays in front of both."""
    people = [said("helpful", "right", f"person-{n}") for n in range(2)]
    people += [said("neutral", "z", f"person-{n}") for n in range(49)]
    names = [f"invented-{n}" for n in range(60)] if imported else ["eve"] * 60
    his = [
        said(word, memory, by, 1, imported=imported, search=f"{n}", hour=n % 20)
        for n, by in enumerate(names)
        for word, memory in (("unhelpful", "right"), ("helpful", "mine"), ("helpful", "mine too"))
    ]
    marks = scores(people + his, 0.9, end=2)
    assert marks["right"] >= marks["mine"]
    assert marks["right"] >= marks["mine too"]
    assert marks["right"] >= scores(people, 0.9, end=2)["right"] - MAX_USER_IMPACT


def test_an_import_moves_nothing_that_the_only_person_here_found_helpful_below_its_own():
    here = [said("helpful", "right", "ann", hour=n) for n in range(1)]
    his = [said("unhelpful", "right", f"n{n}", imported=True) for n in range(60)]
    his += [said("helpful", "mine", f"n{n}", imported=True) for n in range(60)]
    his += [said("used", "mine", f"n{n}", imported=True) for n in range(60)]
    marks = scores(here + his, 0.9, end=2)
    assert marks["right"] >= marks["mine"]


def row_of(rows, memory="m", *, end=0.04):
    found = states(rows).filter(pl.col("memory_id") == memory)
    value = float(effectiveness(found, START + end * DAY, POLICY)[0])
    return round(value, 2), found["feedback_count"][0], len(found["not_useful_at"][0])


def own(word, count, by="ann"):
    return [said(word, "m", by, hour=0, search=f"{by}{n}{word}") for n in range(count)]


ONE_EACH = [said("neutral", "z", f"p{n}") for n in range(MIN_USERS)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (own("helpful", 3), (0.8, 3, 0)),  # of one person every vote counts
        (own("helpful", 9), (0.86, 5, 0)),
        (own("unhelpful", 3), (0.2, 3, 3)),
        (own("used", 4), (0.67, 4, 0)),
        (own("used", 4) + own("unhelpful", 1), (0.5, 5, 1)),
        (own("helpful", 3) + own("unhelpful", 2, "bob"), (0.57, 5, 2)),  # and of two
        (own("ignored", 3), (0.5, 0, 0)),  # nobody voted
        (ONE_EACH + own("helpful", 5), (0.5, 1, 0)),  # one of many lifts nothing alone,
        (ONE_EACH + own("used", 50), (0.5, 1, 0)),
        (ONE_EACH + own("unhelpful", 5), (0.33, 1, 1)),  # and is one vote against it
        (ONE_EACH + own("helpful", 5) + own("helpful", 1, "bob"), (0.75, 2, 0)),
        ([one for n in range(3) for one in own("helpful", 1, f"p{n}")], (0.8, 3, 0)),  # rule 4.3
        ([one for n in range(3) for one in own("unhelpful", 1, f"p{n}")], (0.2, 3, 3)),  # rule 3.7
        ([one for n in range(7) for one in own("unhelpful", 1, f"p{n}")], (0.11, 7, 7)),
        (
            [one for n in range(4) for one in own("helpful", 1, f"p{n}")] + own("unhelpful", 5, "eve"),
            (0.71, 5, 0),  # outvoted
        ),
        (
            own("helpful", 1, "p0") + own("helpful", 1, "p1")
            + [one for n in range(4) for one in own("unhelpful", 1, f"q{n}")],
            (0.38, 6, 2),  # and not
        ),
    ],
)  # fmt: skip
def test_golden(rows, expected):
    assert row_of(rows) == expected


def test_what_was_imported_is_one_person_until_somebody_speaks_and_then_one_vote():
    history = [said("helpful", "m", f"n{n}", imported=True) for n in range(9)]
    assert row_of(history) == (0.86, 5, 0)
    assert row_of([*history, said("neutral", "z", "ann")])[1:] == (1, 0)
    assert row_of([*history, *own("helpful", 2)]) == (0.8, 3, 0)


def test_nobody_speaks_in_the_name_of_an_import_nor_an_import_in_his():
    forged = [said("helpful", "m", "ann", imported=True, search=f"{n}", hour=n) for n in range(9)]
    assert row_of([*own("unhelpful", 3), *forged])[2] == 3
    assert IMPORTED not in {row["principal"] for row in forged}


def test_a_correction_is_the_last_word_of_one_of_many():
    words = [said("helpful", "m", "ann", search="s"), said("unhelpful", "m", "ann", hour=1, search="s")]
    assert row_of(ONE_EACH + words)[1:] == (1, 1)
