"""The regression guard switches ratings off where they make searches worse, and a person switches them on."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import warm
from feedback_days import at, name
from key_life import KeyLife
from question_life import (
    FAR,
    NEAR,
    QUESTION,
    at_noon,
    begun,
    begun_and_rated,
    effective,
    put_effect,
    rate,
    result,
    saved,
)

from slowwave.errors import SlowwaveError
from slowwave.journal.kinds.learning import APPROVE, REGRESSION, WITHDRAW
from slowwave.learning.events import learning_events, malformed_events, write_event
from slowwave.learning.guard import GUARD, close_where_worse
from slowwave.maintenance.doctor import Finding, examine
from slowwave.memory import Memory
from slowwave.scoring.feedback.learned import KEYS, RATINGS, USE, WORDS

DAY = name(6)


@pytest.fixture
def life(open_memory: Callable[..., Memory], home: Path) -> KeyLife:
    """A question was rated on the fifth of March, and the night has seen it."""
    made = begun_and_rated(open_memory, home)
    made.moment = at(7, 4)
    return made


@pytest.fixture
def unused(open_memory: Callable[..., Memory], tmp_path: Path) -> KeyLife:
    """The same notes in another home, in which nobody ever says anything."""
    return begun(open_memory, tmp_path / "unused")


def found(life: KeyLife, subject: str = "ratings") -> list[Finding]:
    """What doctor says of a subject."""
    return [one for one in examine(life.space.settings) if one.subject == subject]


def words(life: KeyLife) -> list[tuple[str, str, str]]:
    """Every decision about ratings: action, who and namespace."""
    decided = [act for act in learning_events(life.space.journal) if act.about(RATINGS)]
    return [(act.action, act.who, act.namespace) for act in decided]


def moved(life: KeyLife) -> bool:
    return effective(life, QUESTION, "ferry") > 0.7 and effective(life, NEAR, "deploy") < 0.4


# -- what is heard ---------------------------------------------------------------------------------


def test_where_ratings_are_surely_worse_they_are_switched_off_and_searches_are_neutral(life, unused):
    assert moved(life)
    put_effect(life.space.store, DAY)
    closed = close_where_worse(life.space, DAY)
    assert list(closed) == ["ada"]
    assert closed["ada"].startswith("ratings: MRR@5 of the searches that ratings changed: ")
    assert words(life) == [(REGRESSION, GUARD, "ada")]
    assert malformed_events(life.space.journal) == []
    assert closed["ada"].endswith(life.memory.learning.ratings_off())
    for asked in (QUESTION, NEAR, FAR):
        assert at_noon(life, 8, asked) == at_noon(unused, 8, asked)
        assert result(life, asked, "deploy").explanation.multiplier == 1
    (row,) = life.space.store.read("learning_log").to_dicts()
    assert (row["action"], row["namespace"], row["principal"]) == (REGRESSION, "ada", GUARD)
    # Feedback is taken and folded as before.
    rate(life, NEAR, 8, ferry="helpful")
    life.fold(6, 8)
    assert life.space.store.count("question_vectors") == 2
    assert life.memory.stats(life.id("ferry")).helpful == 2
    assert at_noon(life, 9, QUESTION) == at_noon(unused, 9, QUESTION)


def test_it_is_decided_once(life):
    put_effect(life.space.store, DAY)
    assert close_where_worse(life.space, DAY)
    assert close_where_worse(life.space, DAY) == {}
    assert len(words(life)) == 1


@pytest.mark.parametrize(
    "rows",
    [
        {"after": 0.8},
        {"after": 0.495},  # within the margin
        {"questions": 1, "searches": 60},  # a question is one user, however often it is asked
        {"moved": False},
        {"kind": USE},
        {"kind": WORDS},
        {"kind": KEYS},
        {"namespace": "bob"},
    ],
)
def test_what_is_not_surely_worse_by_ratings_leaves_them_on(life, rows):
    put_effect(life.space.store, DAY, **rows)
    assert "ada" not in close_where_worse(life.space, DAY)
    assert moved(life)
    assert life.memory.learning.ratings_off() == ""


def test_harm_to_answers_without_feedback_is_heard_where_the_others_outweigh_it(life):
    store = life.space.store
    put_effect(store, DAY, after=0.9, searches=60, questions=60, rated=True)
    assert close_where_worse(life.space, DAY) == {}
    put_effect(store, name(5), after=0.3, rated=False)
    closed = close_where_worse(life.space, DAY)["ada"]
    assert "MRR@5 of the searches that they changed for answers without feedback" in closed
    assert not moved(life)


def test_days_after_the_one_that_is_looked_at_are_not_heard(life):
    put_effect(life.space.store, name(7))
    assert close_where_worse(life.space, DAY) == {}
    assert close_where_worse(life.space, name(7))


def test_another_namespace_keeps_its_ratings(life, open_memory):
    other = saved(open_memory("bob"))
    rate(other, QUESTION, 5, deploy="unhelpful", ferry="helpful")
    other.fold(1, 5)
    put_effect(life.space.store, DAY)
    put_effect(life.space.store, DAY, "bob", after=0.6)
    assert list(close_where_worse(life.space, DAY)) == ["ada"]
    other.moment = at(7)
    assert moved(other)
    assert not moved(life)
    assert [one.message.split(",")[0] for one in found(life)] == ["ratings are switched off in ada"]


def test_a_past_day_has_the_ratings_that_counted_then(life):
    before = at_noon(life, 7, QUESTION, as_of=at(6).date())
    put_effect(life.space.store, DAY)
    close_where_worse(life.space, DAY)
    assert at_noon(life, 8, QUESTION, as_of=at(6).date()) == before
    assert at_noon(life, 9, QUESTION, as_of=at(7).date()) != before


# -- who sees it -----------------------------------------------------------------------------------

_SEARCHER = """
import sys
from pathlib import Path
import json
from slowwave.memory import Memory
from slowwave.settings import load
settings = load(Path(sys.argv[1]), embedding={"model": "wordllama-256"})
with Memory(settings, namespace="ada") as memory:
    for line in sys.stdin:
        found = memory.search(line.strip(), log=False)
        print(json.dumps({one.memory_id: one.score for one in found}), flush=True)
"""


def test_another_open_process_hears_it_with_its_next_search(life, unused, home):
    # Its clock is that of the machine: its scores have faded feedback, so they are compared by their order.
    neutral = {one.memory_id: one.score for one in unused.memory.search(QUESTION, log=False)}
    with subprocess.Popen(
        warm.python("-c", _SEARCHER, home), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env=dict(os.environ),
    ) as other:  # fmt: skip

        def ask() -> dict[str, float]:
            assert other.stdin is not None
            assert other.stdout is not None
            other.stdin.write(f"{QUESTION}\n")
            other.stdin.flush()
            found: dict[str, float] = json.loads(other.stdout.readline())
            return found

        ferry = life.id("ferry")
        assert ask()[ferry] > neutral[ferry]
        put_effect(life.space.store, DAY)
        close_where_worse(life.space, DAY)
        assert ask() == neutral
        life.memory.learning.switch_ratings(on=True, who="ida")
        assert ask()[ferry] > neutral[ferry]
        assert other.stdin is not None
        other.stdin.close()


def test_doctor_says_that_the_guard_has_switched_them_off_until_a_person_decides(life):
    assert found(life) == []
    put_effect(life.space.store, DAY)
    why = close_where_worse(life.space, DAY)["ada"].removeprefix("ratings: ")
    (finding,) = found(life)
    assert not finding.ok
    assert finding.message.endswith(why)
    assert finding.message.startswith("ratings are switched off in ada")
    assert finding.advice == "slowwave learning ratings -n ada"
    life.memory.learning.switch_ratings(on=True, who="ida")
    assert found(life) == []


# -- what a person decides -------------------------------------------------------------------------


def test_a_person_switches_them_on_again_and_old_evidence_does_not_count_against_it(life):
    before = {asked: at_noon(life, 7, asked) for asked in (QUESTION, NEAR)}
    put_effect(life.space.store, DAY)
    close_where_worse(life.space, DAY)
    assert at_noon(life, 7, QUESTION) != before[QUESTION]
    act = life.memory.learning.switch_ratings(on=True, who="ida", why="the judge was wrong")
    assert (act.action, act.who, act.why) == (APPROVE, "ida", "the judge was wrong")
    assert life.memory.learning.ratings_off() == ""
    for asked, told in before.items():
        assert at_noon(life, 7, asked) == told
    assert close_where_worse(life.space, name(8)) == {}
    put_effect(life.space.store, name(8))
    assert list(close_where_worse(life.space, name(8))) == ["ada"]
    assert [action for action, *_ in words(life)] == [REGRESSION, APPROVE, REGRESSION]


def test_a_person_switches_them_off_and_the_guard_says_nothing_more(life, unused):
    with pytest.raises(SlowwaveError, match="on in ada already"):
        life.memory.learning.switch_ratings(on=True, who="ida")
    with pytest.raises(SlowwaveError, match="Say who decides"):
        life.memory.learning.switch_ratings(on=False, who=" ")
    life.memory.learning.switch_ratings(on=False, who="ida")
    assert life.memory.learning.ratings_off() == "ida switched them off"
    assert at_noon(life, 8, QUESTION) == at_noon(unused, 8, QUESTION)
    with pytest.raises(SlowwaveError, match="off in ada already"):
        life.memory.learning.switch_ratings(on=False, who="ida")
    put_effect(life.space.store, DAY)
    assert close_where_worse(life.space, DAY) == {}
    assert words(life) == [(WITHDRAW, "ida", "ada")]


def test_decisions_about_words_and_keys_leave_ratings_alone(life):
    before = at_noon(life, 7, QUESTION)
    for action, kind in ((APPROVE, WORDS), (WITHDRAW, KEYS), (REGRESSION, KEYS), (REGRESSION, None)):
        detail = {"scope": "everything"} | ({"kind": kind} if kind else {})
        write_event(life.space.journal, "ada", action, who="ida", why="", at=at(6), detail=detail)
    assert life.memory.learning.ratings_off() == ""
    assert at_noon(life, 7, QUESTION) == before


def test_they_stay_off_in_a_home_that_is_rebuilt(life, unused):
    from slowwave.maintenance.rebuild import rebuild

    put_effect(life.space.store, DAY)
    close_where_worse(life.space, DAY)
    rebuild(life.space)
    assert life.memory.learning.ratings_off()
    assert at_noon(life, 8, QUESTION)["results"] == at_noon(unused, 8, QUESTION)["results"]
