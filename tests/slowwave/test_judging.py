"""Labels by hand, the default judge, runs, anchors, and what a day's entries come to."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slowwave.common import ids
from slowwave.embedding.reranking import load_reranker
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.evaluation.judging import Grade, JudgmentError, Pair
from slowwave.evaluation.judging.active_sampling import last_words, pairs_to_judge, worth_judging
from slowwave.evaluation.judging.agreement import agreement_now, as_row
from slowwave.evaluation.judging.anchors import drift, judge_again
from slowwave.evaluation.judging.default_judge import PASSAGES, WordsAndModel
from slowwave.evaluation.judging.entries import NewJudgment, drain_judgments, write_judgments
from slowwave.evaluation.judging.judge_run import run
from slowwave.evaluation.judging.loading import load_judge
from slowwave.evaluation.judging.model import JudgeError
from slowwave.journal import Entry
from slowwave.memory import Memory

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUERY = "How long does the battery of the gauge last?"
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
DEPLOY = "We deploy on Thursday since 2 March; Friday is for repairs only."
ROTA = "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night."


@pytest.fixture(scope="module")
def judge() -> WordsAndModel:
    return WordsAndModel(load_reranker())


@pytest.fixture
def notes(memory: Memory) -> dict[str, str]:
    """Three memories, by title."""
    texts = {"Battery": BATTERY, "Deploy": DEPLOY, "Rota": ROTA}
    return {title: memory.save(text, title=title).memory_id for title, text in texts.items()}


def entries(memory: Memory) -> list[Entry]:
    rows = memory.journal.read(kinds=["judgment"])
    return [memory.journal.get(name) for name in rows["event_id"]]


def today() -> str:
    return datetime.now(UTC).date().isoformat()


class Fixed:
    """A judge whose grades a test sets; `calls` are the pairs that it was asked about."""

    name, version, model, prompt_hash = "fixed", "1", "table", "0123456789"
    remote, batch = False, 2

    def __init__(self, grades: dict[str, int | None], tokens: int = 0) -> None:
        self.grades, self.tokens, self.calls = grades, tokens, []

    def cost(self, pair: Pair) -> int:
        return self.tokens

    def grade(self, pairs: list[Pair]) -> list[Grade]:
        self.calls += pairs
        return [Grade(self.grades[pair.title], "by the table", tokens=self.tokens) for pair in pairs]


# -- labels by hand --------------------------------------------------------------------------------


def test_a_label_is_one_entry_and_the_same_again_is_none(memory, notes):
    first = memory.judge(QUERY, notes["Battery"], 3, explanation="says both")
    again = memory.judge(f"  {QUERY.upper()} ", notes["Battery"], 3, explanation="says both")
    assert (first.new, again.new) == (True, False)
    assert first.event_id == again.event_id
    [entry] = entries(memory)
    assert (entry.kind, entry.origin, entry.principal) == ("judgment", "manual", "application")
    assert entry.subject == ids.query_id("ada", QUERY) == first.query_id
    assert dict(entry.payload) == {
        "query": QUERY, "memory_id": notes["Battery"], "grade": 3, "state": "graded",
        "explanation": "says both",
    }  # fmt: skip


def test_a_label_can_be_corrected_and_corrected_back(memory, notes):
    said = [(3, "graded"), (1, "graded"), (3, "graded"), (None, "later"), (None, "unrateable"), (0, "graded")]
    for grade, state in said:
        assert memory.judge(QUERY, notes["Battery"], grade, state=state).new
    assert len(entries(memory)) == len(said)
    [row] = drain_judgments(memory.journal, [today()]).rows.to_dicts()
    assert (row["grade"], row["state"]) == (0, "graded")


def test_two_people_have_a_word_each(memory, notes, open_memory):
    memory.judge(QUERY, notes["Battery"], 3)
    other = open_memory()
    other.principal = "ruaridh"
    other.judge(QUERY, notes["Battery"], 1)
    rows = drain_judgments(memory.journal, [today()]).rows
    assert dict(rows.select("principal", "grade").iter_rows()) == {"application": 3, "ruaridh": 1}


@pytest.mark.parametrize(
    ("grade", "state", "words"),
    [
        (4, "graded", "from 0 to 3"), (-1, "graded", "from 0 to 3"), (None, "graded", "from 0 to 3"),
        (True, "graded", "whole number"), (1.5, "graded", "whole number"),
        (float("nan"), "graded", "whole number"),
        ("3", "graded", "whole number"), (2, "later", "has no grade"), (2, "maybe", "use graded, unrateable"),
    ],
)  # fmt: skip
def test_what_is_no_label_is_refused(memory, notes, grade, state, words):
    with pytest.raises(SlowwaveError, match=words):
        memory.judge(QUERY, notes["Battery"], grade, state=state)
    assert entries(memory) == []


def test_a_label_needs_a_query_and_a_memory_of_the_namespace(memory, notes, open_memory):
    with pytest.raises(JudgmentError, match="query is empty"):
        memory.judge(" \n", notes["Battery"], 3)
    with pytest.raises(NotFoundError, match="has no memory"):
        open_memory("bob").judge(QUERY, notes["Battery"], 3)
    with pytest.raises(SlowwaveError, match="not valid Unicode"):
        memory.judge("half a \ud83c", notes["Battery"], 3)
    assert entries(memory) == []


def test_a_forgotten_memory_can_still_be_labelled(memory, notes):
    memory.forget(notes["Battery"])
    assert memory.judge(QUERY, notes["Battery"], 3).new


def test_the_same_label_from_many_threads_is_one_entry(memory, notes):
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: memory.judge(QUERY, notes["Battery"], 2), range(16)))
    assert len({one.event_id for one in done}) == 1
    assert len(entries(memory)) == 1


def test_corrections_from_many_threads_lose_none(memory, notes):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: memory.judge(QUERY, notes["Battery"], 1, explanation=str(n)), range(16)))
    assert sorted(int(one.payload["explanation"]) for one in entries(memory)) == list(range(16))


# -- what a day comes to ---------------------------------------------------------------------------


def test_rows_have_the_columns_of_the_table_and_fit_in(memory, notes, judge):
    memory.judge(QUERY, notes["Battery"], 3)
    run(memory._space, "ada", judge, [(QUERY, notes["Rota"])], now=datetime.now(UTC))
    rows = drain_judgments(memory.journal, [today()]).rows
    assert rows.columns == memory.store.specs["judgments"].schema.names
    memory.store.replace_partition("judgments", rows, [today()])
    stored = memory.store.read("judgments").sort("source")
    assert stored["source"].to_list() == ["judge", "manual"]
    assert stored["judge"][0] == f"default/ms-marco-MiniLM-L-12-v2/1/{judge.prompt_hash[:8]}"
    assert stored["text_hash"][0] == Pair(QUERY, "Rota", ROTA).text_hash


def test_no_judgments_are_no_rows_of_the_same_columns(memory):
    rows = drain_judgments(memory.journal, ["2026-03-01"]).rows
    assert rows.is_empty()
    assert rows.columns == memory.store.specs["judgments"].schema.names


def test_entries_that_are_no_judgments_are_counted_and_stop_nothing(memory, notes):
    memory.judge(QUERY, notes["Battery"], 3)
    sound = dict(entries(memory)[0].payload)
    bad: dict[str, dict[str, Any]] = {
        "list": sound | {"grade": [3]}, "high": sound | {"grade": 9}, "none": sound | {"grade": None},
        "state": sound | {"state": "x"}, "lacks": {"grade": 1, "state": "graded"}, "empty": {},
        "both": sound | {"state": "later"},
    }  # fmt: skip
    common = {"kind": "judgment", "namespace": "ada", "subject": "q", "principal": "x", "origin": "manual"}
    memory.journal.append(
        [Entry(event_id=name, occurred_at=datetime.now(UTC), payload=p, **common) for name, p in bad.items()]
    )
    found = drain_judgments(memory.journal, [today()])
    assert sorted(found.unreadable) == sorted(bad)
    assert found.rows["grade"].to_list() == [3]


@pytest.mark.parametrize("later", [timedelta(days=2), timedelta(0), -timedelta(days=2)])
def test_the_last_word_written_wins_whatever_its_date(memory, later):
    first = NewJudgment(QUERY, "m", 1, "graded", "", "ann", NOON)
    last = replace(first, grade=3, at=NOON + later)
    write_judgments(memory.journal, "ada", [first])
    write_judgments(memory.journal, "ada", [last])
    assert last_words(memory.journal, "ada")["grade"].to_list() == [3]
    after = max(NOON + later, NOON + timedelta(microseconds=1))  # days are folded by moments
    assert [entry.occurred_at for entry in entries(memory)] == [NOON, after]


def test_what_was_said_elsewhere_keeps_its_date(memory):
    first = NewJudgment(QUERY, "m", 1, "graded", "", "ann", NOON)
    early = replace(first, grade=3, at=NOON - timedelta(days=2), more={"imported_from": "a file"})
    write_judgments(memory.journal, "ada", [first])
    write_judgments(memory.journal, "ada", [early])
    assert [entry.occurred_at for entry in entries(memory)] == [NOON, early.at]


# -- the default judge -----------------------------------------------------------------------------


def test_the_default_judge_tells_an_answer_from_something_else(judge):
    answer, other = judge.grade([Pair(QUERY, "Battery", BATTERY), Pair(QUERY, "Rota", ROTA)])
    assert answer.grade == 3
    assert other.grade == 0
    assert "words" in answer.explanation
    assert (answer.tokens, answer.problem) == (0, "")


def test_a_grade_depends_on_its_pair_alone(judge):
    pairs = [Pair(QUERY, title, text) for title, text in (("Rota", ROTA), ("", BATTERY), ("Deploy", DEPLOY))]
    together = judge.grade(pairs)
    assert [judge.grade([pair])[0] for pair in pairs] == together
    assert judge.grade(pairs[::-1])[::-1] == together


@pytest.mark.parametrize("pair", [Pair(QUERY, "", ""), Pair("the of", "", ROTA), Pair("?", "x", "x")])
def test_nothing_to_read_is_not_relevant(judge, pair):
    assert judge.grade([pair])[0].grade == 0


def test_an_answer_deep_in_a_long_note_is_found_and_reading_has_an_end(judge, monkeypatch):
    quiet = "The harbour was quiet.\n\n" * 3_000
    read = []
    scores = judge._reranker.scores
    monkeypatch.setattr(
        judge._reranker, "scores", lambda query, texts: read.extend(texts) or scores(query, texts)
    )
    found = judge.signal(Pair(QUERY, "", f"{quiet}# Gauge\n\n{BATTERY}"))
    assert len(read) <= PASSAGES
    assert found.relevance > 0.6 > 0.2 > judge.signal(Pair(QUERY, "", quiet)).relevance


def test_other_thresholds_are_another_judge(judge, monkeypatch):
    monkeypatch.setattr("slowwave.evaluation.judging.default_judge.THRESHOLDS", (0.1, 0.2, 0.3))
    assert WordsAndModel(load_reranker()).prompt_hash != judge.prompt_hash


def test_a_judge_that_is_off_cannot_be_asked(open_memory):
    with pytest.raises(JudgeError, match=r'Set judge.kind to "default"'):
        load_judge(open_memory(judge={"kind": "off"})._space)
    assert load_judge(open_memory()._space).name == "default"


# -- runs ------------------------------------------------------------------------------------------


def test_a_run_writes_grades_once(memory, notes):
    judge = Fixed({"Battery": 3, "Deploy": 0, "Rota": None})
    pairs = [(QUERY, one) for one in notes.values()]
    done = run(memory._space, "ada", judge, [*pairs, pairs[0], (QUERY, "gone")], now=NOON)
    assert (done.asked, done.graded, done.failed, done.unknown, done.skipped) == (3, 2, 1, 1, 0)
    rows = drain_judgments(memory.journal, ["2026-03-01"]).rows
    assert dict(rows.select("memory_id", "grade").iter_rows()) == {notes["Battery"]: 3, notes["Deploy"]: 0}
    assert set(rows["made_at"]) == {NOON}
    again = run(memory._space, "ada", judge, pairs, now=NOON + timedelta(days=1))
    assert (again.asked, again.graded, again.failed, again.skipped) == (1, 0, 1, 2)
    assert drain_judgments(memory.journal, ["2026-03-02"]).rows.is_empty()


def test_another_text_version_or_prompt_is_asked_again(memory, notes):
    judge = Fixed({"Battery": 3})
    pairs = [(QUERY, notes["Battery"])]
    run(memory._space, "ada", judge, pairs, now=NOON)
    judge.prompt_hash = "9876543210"
    assert run(memory._space, "ada", judge, pairs, now=NOON).graded == 1
    judge.version = "2"
    assert run(memory._space, "ada", judge, pairs, now=NOON).graded == 1
    source = memory.get(notes["Battery"]).source
    memory.save(f"{BATTERY} Ruaridh changes it.", title="Battery", key=source)
    assert run(memory._space, "ada", judge, pairs, now=NOON).graded == 1
    assert run(memory._space, "ada", judge, pairs, now=NOON).skipped == 1


def test_a_namespace_is_judged_by_itself(memory, notes, open_memory):
    judge = Fixed({"Battery": 3})
    assert run(memory._space, "bob", judge, [(QUERY, notes["Battery"])], now=NOON).unknown == 1
    assert judge.calls == []


def test_a_run_stops_before_its_budget_is_passed_and_goes_on_later(memory, notes):
    judge = Fixed({"Battery": 3, "Deploy": 0, "Rota": 1}, tokens=40)
    judge.batch = 1
    pairs = [(QUERY, one) for one in notes.values()]
    done = run(memory._space, "ada", judge, pairs, now=NOON, budget=100)
    assert (done.graded, done.left, done.tokens, done.stopped) == (2, 1, 80, "budget")
    rest = run(memory._space, "ada", judge, pairs, now=NOON, budget=100)
    assert (rest.graded, rest.skipped, rest.stopped) == (1, 2, "")
    none = run(memory._space, "ada", replace_prompt(judge), pairs, now=NOON, budget=0)
    assert (none.asked, none.left) == (0, 3)


def replace_prompt(judge: Fixed) -> Fixed:
    other = Fixed(judge.grades, judge.tokens)
    other.prompt_hash = "another"
    return other


def test_secret_memories_are_not_shown_to_a_judge_elsewhere(memory, notes):
    secret = memory.save(
        "The door code of the pump house at the harbour is 4711 until the end of March.",
        title="Code",
        sensitivity="secret",
    ).memory_id
    judge = Fixed({"Battery": 3, "Code": 2})
    judge.remote = True
    pairs = [(QUERY, secret), (QUERY, notes["Battery"])]
    done = run(memory._space, "ada", judge, pairs, now=NOON)
    assert (done.withheld, done.graded) == (1, 1)
    assert [pair.title for pair in judge.calls] == ["Battery"]
    judge.remote = False
    assert run(memory._space, "ada", judge, pairs, now=NOON).graded == 1


# -- anchors ---------------------------------------------------------------------------------------


@pytest.fixture
def anchored(open_memory: Callable[..., Memory]) -> tuple[Memory, Fixed, list[tuple[str, str]]]:
    """A memory with two anchors, its judge and the pairs that it judged."""
    memory = open_memory(judge={"anchors": 2})
    names = [
        memory.save(text, title=title).memory_id
        for title, text in (("A", ROTA), ("B", DEPLOY), ("C", BATTERY))
    ]
    judge = Fixed({"A": 0, "B": 1, "C": 3})
    pairs = [(QUERY, name) for name in names]
    run(memory._space, "ada", judge, pairs, now=NOON)
    return memory, judge, pairs


def test_anchors_are_judged_again_as_they_were_and_replace_nothing(anchored):
    memory, judge, pairs = anchored
    before = drain_judgments(memory.journal, ["2026-03-01"]).rows
    assert before.height == 3
    for _, name in pairs:
        memory.save("Now it says something else, at some length.", title="D", key=memory.get(name).source)
    judge.calls = []
    done = judge_again(memory.journal, "ada", judge, "ada#1", now=NOON, budget=0)
    assert (done.asked, done.graded) == (2, 2)
    assert {pair.text for pair in judge.calls} < {ROTA, DEPLOY, BATTERY}
    assert drain_judgments(memory.journal, ["2026-03-01"]).rows.equals(before)
    again = judge_again(memory.journal, "ada", judge, "ada#1", now=NOON, budget=0)
    assert (again.asked, again.skipped) == (0, 2)


def test_the_set_of_anchors_is_fixed(anchored):
    memory, judge, pairs = anchored
    run(memory._space, "ada", judge, [("another query", name) for _, name in pairs], now=NOON)
    judge_again(memory.journal, "ada", judge, "ada#1", now=NOON, budget=0)
    assert {pair.query for pair in judge.calls[-2:]} == {QUERY}
    first = [one for one in entries(memory) if one.payload.get("frozen")]
    assert len(first) == 2
    assert [one.payload["anchor_id"] for one in first] == sorted(one.payload["anchor_id"] for one in first)


def test_drift_is_what_changed_since_the_first_grades(anchored):
    memory, judge, _ = anchored
    judge_again(memory.journal, "ada", judge, "ada#1", now=NOON, budget=0)
    judge.grades = {title: grade and min(3, grade + 2) for title, grade in judge.grades.items()}
    judge.prompt_hash = "another prompt"
    judge_again(memory.journal, "ada", judge, "ada#2", now=NOON, budget=0)
    first, second = drift(memory.journal, "ada", "fixed")
    assert (first.cycle_id, first.pairs, first.exact, first.shift, first.changed) == ("ada#1", 2, 1, 0, False)
    old = [one.payload["grade"] for one in entries(memory) if one.payload.get("frozen")]
    new = [grade and min(3, grade + 2) for grade in old]
    assert second.exact == sum(a == b for a, b in zip(old, new, strict=True)) / 2
    assert second.shift == (sum(new) - sum(old)) / 2
    assert second.changed
    assert drift(memory.journal, "bob", "fixed") == []


# -- which pairs, and agreement --------------------------------------------------------------------


def test_pairs_of_searches_wait_those_with_the_fewest_labels_first(memory, notes):
    memory.search("how long does the battery last")
    memory.search("How long does the battery  LAST", limit=2)
    found = pairs_to_judge(memory.journal, "ada", who="ann")
    order = worth_judging(found, 10, seed="a day")
    assert {one.rank: one.shown for one in order} == {1: 2, 2: 2, 3: 1}
    assert worth_judging(found, 10, seed="a day") == order
    assert worth_judging(found, 1, seed="a day") == order[:1]
    first, second, _ = sorted(order, key=lambda one: one.rank)
    memory.principal = "bob"
    memory.judge(first.query, first.memory_id, 2)
    memory.principal = "ann"
    memory.judge(second.query, second.memory_id, None, state="later")
    order = worth_judging(pairs_to_judge(memory.journal, "ada", who="ann"), 10, seed="a day")
    assert [(one.rank, one.labels, one.later) for one in order] == [
        (3, 0, False),
        (1, 1, False),
        (2, 0, True),
    ]
    assert {one.memory_id for one in pairs_to_judge(memory.journal, "ada", who="bob")} == set(
        notes.values()
    ) - {first.memory_id}
    assert pairs_to_judge(memory.journal, "other") == []


@pytest.mark.parametrize(("same", "met"), [(4, True), (3, False), (0, False)])
def test_four_of_five_meet_the_bar(memory, same, met):
    names = [memory.save(f"{ROTA} Note number {n}.", title=f"{n}").memory_id for n in range(6)]
    judge = Fixed({f"{n}": n % 4 for n in range(6)})
    run(memory._space, "ada", judge, [(QUERY, name) for name in names], now=NOON)
    [nothing] = (as_row(*one, 0.8) for one in agreement_now(memory.journal, "ada").items())
    assert (nothing["pairs"], nothing["met"], nothing["kappa"]) == (0, False, None)
    for n, name in enumerate(names[:5]):
        memory.judge(QUERY, name, n % 4 if n < same else (n + 1) % 4)
    memory.judge(QUERY, names[5], None, state="unrateable")
    [found] = (as_row(*one, 0.8) for one in agreement_now(memory.journal, "ada").items())
    assert (found["pairs"], found["exact"], found["met"]) == (5, same / 5, met)
    assert found["judge"] == "fixed/table/1/01234567"
