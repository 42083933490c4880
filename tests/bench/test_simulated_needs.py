"""The people of the benches of learning: what they need, in which words, and how wrong they are."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import pytest

from bench._needs import Needs, Question, Wordings, asked_on, needs_of
from bench._user import Careless, User
from slowwave.scoring.ranking.learned import learnable
from slowwave.tuning.collection import Collection

DAYS = [date(2026, 1, 1) + timedelta(days=day) for day in range(30)]
SHOWN = [f"m{place}" for place in range(1, 11)]


def collection() -> Collection:
    """Ten documents with three questions each, one with a single question, and a question of two of them."""
    pairs = [(f"d{at}-{n}", f"d{at}", f"Which harbour number {at}{n} ships copper?")
             for at in range(10) for n in range(3)]  # fmt: skip
    pairs.append(("alone", "d10", "Who painted the lighthouse?"))
    qrels = {name: {document: 1} for name, document, _ in pairs} | {"both": {"d0": 1, "d1": 1}}
    qrels["d3-1"]["d5"] = 0  # judged, and no answer
    queries = [{"_id": name, "text": text} for name, _, text in pairs]
    queries.append({"_id": "both", "text": "Which two harbours ship copper?"})
    return Collection("made", [{"_id": f"d{at}", "text": "."} for at in range(11)], queries, qrels)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_held_out_is_never_asked_and_is_of_a_memory_that_is_asked_for(seed: int):
    needs = needs_of(collection(), "default", most=6, seed=seed)
    asked, held, others = (set(part) for part in (needs.asked, needs.held, needs.others))

    assert not asked & held
    assert not asked & others
    assert not held & others
    assert len(asked | held | others) == 32
    needed = {one for question in asked for one in question.answers}
    assert len(needed) == 6
    assert "d10" not in needed
    assert all(question.answers & needed for question in held)
    assert not any(question.answers & needed for question in others)
    for one in needed:
        assert any(question.answers == {one} for question in held), "a need without a held-out question"


def test_new_words_are_words_of_the_question_and_seldom_the_same():
    question = Question("Which harbour ships copper ingots across the northern strait?", frozenset({"d1"}))
    wordings = Wordings(3)
    said = [wordings(question) for _ in range(50)]

    assert len(set(said)) > 20
    assert all(set(learnable(one)) <= set(learnable(question.text)) for one in said)
    assert min(len(learnable(one)) for one in said) >= 2
    assert Wordings(3)(question) == said[0]


def test_a_private_name_is_one_for_a_memory_and_in_no_question():
    wordings = Wordings(0, private=1)
    first, second = (Question("Which harbour ships copper?", frozenset({name})) for name in ("d1", "d2"))
    names = {wordings.name(frozenset({name})) for name in ("d1", "d2")}

    assert len(names) == 2
    assert all(wordings.name(first.answers) in wordings(first) for _ in range(5))
    assert wordings.name(second.answers) in wordings(second)
    assert not names & set(learnable(first.text))
    assert len(learnable(wordings(first))) == 2, "the name, and one word of the question"


def test_a_plan_asks_only_for_needs_and_some_more_often():
    needs = Needs([Question(f"Which harbour number {at} ships copper?", frozenset({f"d{at}"}))
                   for at in range(20)], [], [])  # fmt: skip
    plan = asked_on(needs, DAYS, 20, Wordings(0), people=4, seed=1)
    every = [one for some in plan.values() for one in some]

    assert len(every) == 600
    assert {one.who for one in every} == {f"person-{at}" for at in range(4)}
    assert {one.question for one in every} <= set(needs.asked)
    often = Counter(one.question for one in every).most_common()
    assert often[0][1] > 2 * often[-1][1]
    for day, some in plan.items():
        assert [one.at for one in some] == sorted(one.at for one in some)
        assert {one.at.date() for one in some} == {day}


@pytest.mark.parametrize("wrong", [0.0, 0.2, 0.4])
def test_that_share_of_what_is_taken_is_wrong(wrong: float):
    user = Careless(User(1, noise=0.5), wrong)
    taken = [user.select(SHOWN, {"m1"}) for _ in range(4_000)]
    every = Counter(one for some in taken for one in some)
    right = every.pop("m1", 0)

    assert right == pytest.approx(4_000 * 0.9 * (1 - wrong), rel=0.04)
    # Of those who did not find it a share takes something else, too; the noise of the user never counts.
    assert sum(every.values()) == pytest.approx(4_000 * wrong, rel=0.1, abs=0)
    if wrong:
        assert every["m2"] > every["m10"], "what is looked at more is more often taken by mistake"


def test_who_is_shown_nothing_else_cannot_be_wrong():
    assert Careless(User(0, finds=1.0), 1.0).select(["m1"], {"m1"}) == []
    assert Careless(User(0), 1.0).select([], {"m1"}) == []
