"""Feedback by day: what the calls of `Memory` take, refuse and remember."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import permutations

import pytest
from feedback_days import fold_days

from slowwave.common import ids
from slowwave.errors import ArgumentError, NotFoundError, SlowwaveError
from slowwave.feedback import FeedbackError
from slowwave.journal import FEEDBACK_KINDS, Entry, JournalError
from slowwave.scoring.feedback.signals import CERTAINTY

DEPLOY = "We deploy on Thursday since 2 March; Friday is reserved for repairs and nothing else."
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, nineteen in summer."
ROTA = "Ishbel is on call in odd weeks, Ruaridh in even ones; both telephones ring at night."


@pytest.fixture
def saved(memory):
    """Three memories, and their ids by key."""
    notes = {"deploy": DEPLOY, "battery": BATTERY, "rota": ROTA}
    memory.save_many([{"content": text, "key": key, "title": key} for key, text in notes.items()])
    return {key: ids.memory_id("ada", key) for key in notes}


def given(memory) -> list:
    return memory.journal.read(kinds=FEEDBACK_KINDS)["event_id"].to_list()


# -- ratings ---------------------------------------------------------------------------------------


def test_a_result_is_rated_by_rank_id_chunk_or_itself_and_once(memory, saved):
    found = memory.search("when do we deploy?")
    first = memory.feedback(found.search_id, 1, "helpful")
    assert (first.memory_id, first.chunk_id, first.new) == (saved["deploy"], f"{saved['deploy']}:00000", True)
    for same in (found[0], saved["deploy"], first.chunk_id, 1):
        again = memory.feedback(found.search_id, same, "helpful")
        assert (again.event_id, again.new) == (first.event_id, False)
    assert given(memory) == [first.event_id]
    entry = memory.journal.get(first.event_id)
    assert (entry.principal, entry.subject, entry.namespace) == ("application", found.search_id, "ada")


def test_a_rating_can_be_corrected_and_corrected_back(memory, saved):
    found = memory.search("when do we deploy?")
    said = [memory.feedback(found.search_id, 1, word) for word in ("helpful", "unhelpful", "helpful")]
    assert [one.new for one in said] == [True] * 3
    assert len({one.event_id for one in said}) == 3
    assert not memory.feedback(found.search_id, 1, "helpful").new
    counts = memory.stats(saved["deploy"])
    assert (counts.helpful, counts.unhelpful, counts.waiting) == (1, 0, 3)  # the last word counts
    fold_days(memory._space, [memory.journal.get(said[0].event_id).occurred_at.date().isoformat()])
    counts = memory.stats(saved["deploy"])
    assert (counts.waiting, counts.feedback_count) == (0, 1)
    assert counts.effectiveness > 0.6


def test_equal_ratings_at_once_are_one(memory, saved):
    found = memory.search("when do we deploy?")
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda _: memory.feedback(found.search_id, 1, "helpful"), range(16)))
    assert len(given(memory)) == 1
    assert sum(one.new for one in said) == 1


@pytest.mark.parametrize("rating", ["", "Helpful", "good", "5"])
def test_an_unknown_rating_is_refused_and_nothing_is_written(memory, saved, rating):
    found = memory.search("when do we deploy?")
    with pytest.raises(FeedbackError, match="Use helpful, neutral or unhelpful"):
        memory.feedback(found.search_id, 1, rating)
    assert given(memory) == []


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("rating", None, "text"),
        ("rating", 5, "text"),
        ("result", True, "text or a whole number or a Result"),
        ("result", None, "text or a whole number or a Result"),
        ("search_id", None, "text"),
        ("search_id", 7, "text"),
        ("response", None, "text"),
        ("response", 7, "text"),
    ],
)
def test_what_has_the_wrong_type_is_refused_with_its_name_and_nothing_is_written(
    memory, saved, name, value, wanted
):
    found = memory.search("when do we deploy?")
    rated = {"search_id": found.search_id, "result": 1, "rating": "helpful"}
    answered = {"search_id": found.search_id, "response": ANSWER}
    told = f"^{name} = {value}: give {wanted}, not {type(value).__name__}\\.$"
    for call, given_to in ((memory.feedback, rated), (memory.observe, answered)):
        if name in given_to:
            with pytest.raises(ArgumentError, match=told):
                call(**given_to | {name: value})
    assert given(memory) == []


@pytest.mark.parametrize("result", [0, 99, -1, "", "nobody", "nobody:00000"])
def test_what_was_not_shown_cannot_be_rated(memory, saved, result):
    found = memory.search("when do we deploy?")
    with pytest.raises(NotFoundError, match="did not return"):
        memory.feedback(found.search_id, result, "helpful")
    assert given(memory) == []


def test_a_search_of_another_namespace_or_none_at_all_is_not_known(memory, saved, open_memory):
    found = memory.search("when do we deploy?")
    other = open_memory("eve")
    for search in (found.search_id, "nothing", ""):
        for give in (
            lambda s: other.feedback(s, 1, "helpful"),
            lambda s: other.observe(s, "an answer"),
        ):
            with pytest.raises(NotFoundError, match="Namespace 'eve' has no search"):
                give(search)
    with pytest.raises(NotFoundError, match="has no search"):
        memory.feedback(memory.journal.read(kinds=["save"])["event_id"][0], 1, "helpful")
    assert given(memory) == []


# -- answers ---------------------------------------------------------------------------------------

ANSWER = "You deploy on Thursday, ever since March; Friday is reserved for repairs."


def test_an_answer_says_which_memories_it_used(memory, saved):
    found = memory.search("when do we deploy?")
    seen = memory.observe(found.search_id, ANSWER)
    told = {one.memory_id: one for one in seen.verdicts}
    assert set(told) == {one.memory_id for one in found}
    deploy = told[saved["deploy"]]
    assert (deploy.verdict, deploy.evidence, deploy.rank) == ("used", "words", 1)
    assert deploy.ratio > 0.3
    assert deploy.ratio_beyond_query > 0.3
    assert {told[saved[key]].verdict for key in ("battery", "rota")} == {"ignored"}
    assert ANSWER.encode() not in b"".join(memory.journal.read(kinds=FEEDBACK_KINDS)["payload"])


def test_an_answer_counts_once_also_with_other_line_ends(memory, saved):
    found = memory.search("when do we deploy?")
    first = memory.observe(found.search_id, ANSWER)
    again = memory.observe(found.search_id, f"  {ANSWER.replace(' ', chr(10), 1)}\n")
    assert again.event_id == first.event_id
    assert not again.new
    assert again.verdicts == first.verdicts
    assert memory.observe(found.search_id, "Another answer.").new
    assert len(given(memory)) == 2


GREY = "It is on Thursday, says Mairi."
LOOKS = {
    "words": {},
    "similarity": {"similarity": lambda _text, _answer: 0.95},
    "citation": {"cited": [1]},
    "citation of another": {"cited": [2]},
}


def told_of(one) -> dict[str, tuple[str, str]]:
    return {row.memory_id: (row.verdict, row.evidence) for row in one.verdicts}


@pytest.mark.parametrize(
    ("order", "nights_between"),
    [
        *((order, False) for order in permutations(LOOKS, 2) if "words" in order),
        (("words", "citation"), True),
        (("citation", "similarity", "citation of another"), True),
    ],
)
def test_the_most_certain_look_at_an_answer_counts_in_any_order(memory, saved, order, nights_between):
    """By day, by night, in the counts and in the weights; as if everything had been said at once."""
    found = memory.search("when do we deploy?")
    day = memory.journal.get(found.search_id).occurred_at.date().isoformat()
    words, padding = ("ignored", "words"), ("ignored", "none")  # the question found one of the three
    best = {name: words if name == saved["deploy"] else padding for name in saved.values()}
    for look in order:
        name = found[1 if look == "citation of another" else 0].memory_id
        row = {"words": words, "similarity": ("used", "similarity")}.get(look, ("used", "citation"))
        best[name] = max(best[name], row, key=lambda one: CERTAINTY[one[1]])
        seen = memory.observe(found.search_id, GREY, **LOOKS[look])
        assert told_of(seen) == best
        if nights_between:
            fold_days(memory._space, [day])
    before = given(memory)
    for look in order:  # nothing that was said is said again
        assert not memory.observe(found.search_id, GREY, **LOOKS[look]).new
    assert given(memory) == before
    cited = [name for name, row in best.items() if row[1] == "citation"]
    for taken in (False, True):
        if taken:
            fold_days(memory._space, [day])
        for name, (verdict, evidence) in best.items():
            counts = memory.stats(name)
            assert counts.used == (verdict == "used")
            assert counts.ignored == (verdict == "ignored" and evidence != "none")
            assert counts.cited == (name in cited)
    rows = memory.store.read("usage_signals")
    weighed = {row["memory_id"]: (row["verdict"], row["evidence"]) for row in rows.iter_rows(named=True)}
    assert weighed == best
    assert rows.height == len(best)
    one_vote = memory._space.feedback_policy.implicit_weight
    assert set(rows.filter(rows["verdict"] == "used")["weight"]) <= {one_vote}


def test_a_late_citation_is_of_the_moment_of_its_answer(memory, saved):
    """So the day of the answer is folded again, and the answer has one verdict on one day."""
    found = memory.search("when do we deploy?")
    first = memory.journal.get(memory.observe(found.search_id, GREY).event_id)
    memory._space.now = lambda: first.occurred_at + timedelta(days=3)
    late = memory.observe(found.search_id, GREY, cited=[1])
    assert late.new
    assert memory.journal.get(late.event_id).occurred_at == first.occurred_at


def test_what_is_seen_goes_before_what_was_imported_of_the_same_answer(memory, saved):
    found = memory.search("when do we deploy?")
    search = memory.journal.get(found.search_id)
    words = ids.digest("response", GREY)
    rows = [
        {"memory_id": saved["deploy"], "chunk_id": f"{saved['deploy']}:00000", "verdict": "ignored",
         "evidence": "words"},
        {"memory_id": saved["rota"], "chunk_id": f"{saved['rota']}:00000", "verdict": "used",
         "evidence": "citation"},
    ]  # fmt: skip
    imported = Entry(
        event_id="imported", kind="observation", namespace="ada", subject=found.search_id,
        occurred_at=search.occurred_at, principal="ann", payload={
            "response": words, "verdicts": rows, "imported_from": "jsonl"},
    )  # fmt: skip
    memory.journal.append([imported])
    seen = memory.observe(found.search_id, GREY, similarity=LOOKS["similarity"]["similarity"])
    assert seen.new
    assert told_of(seen) == {
        saved["deploy"]: ("used", "similarity"),
        saved["rota"]: ("used", "citation"),
        saved["battery"]: ("ignored", "none"),  # it filled the list, the question did not find it
    }
    assert len(given(memory)) == 2
    fold_days(memory._space, [search.occurred_at.date().isoformat()])
    weighed = memory.store.read("usage_signals").select("memory_id", "evidence", "event_id")
    assert sorted(weighed.rows()) == sorted(
        [
            (saved["deploy"], "similarity", seen.event_id),
            (saved["rota"], "citation", "imported"),
            (saved["battery"], "none", seen.event_id),
        ]
    )


def test_a_rating_after_a_look_and_a_look_after_a_rating_both_count(memory, saved):
    for rated_first in (True, False):
        found = memory.search("when do we deploy?")
        if rated_first:
            assert memory.feedback(found.search_id, 1, "helpful").new
        assert memory.observe(found.search_id, ANSWER).new
        if not rated_first:
            assert memory.feedback(found.search_id, 1, "helpful").new
    assert (memory.stats(saved["deploy"]).used, memory.stats(saved["deploy"]).helpful) == (2, 2)


def test_an_answer_that_is_looked_at_in_two_ways_at_once_counts_with_both(memory, saved, monkeypatch):
    found = memory.search("when do we deploy?")
    journal = memory.journal
    append, first = journal.append, []

    def append_too_late(entries):
        if not first:
            first.append(None)
            first[0] = memory.observe(found.search_id, ANSWER, cited=[2])
        return append(entries)

    monkeypatch.setattr(journal, "append", append_too_late)
    second = memory.observe(found.search_id, ANSWER, cited=[1])
    assert (first[0].new, second.new) == (True, True)
    cited = {name for name, row in told_of(second).items() if row[1] == "citation"}
    assert cited == {found[0].memory_id, found[1].memory_id}
    assert len(given(memory)) == 2


def test_a_citation_is_use_however_it_is_given(memory, saved):
    found = memory.search("when do we deploy?")
    named = memory.observe(found.search_id, f"See [{saved['rota']}].")
    told = {one.memory_id: (one.verdict, one.evidence) for one in named.verdicts}
    assert told[saved["rota"]] == ("used", "citation")
    assert told[saved["battery"]][0] == "ignored"
    listed = memory.observe(found.search_id, "Nothing of it is in here.", cited=[saved["battery"], found[0]])
    used = {one.memory_id for one in listed.verdicts if one.evidence == "citation"}
    assert used == {saved["battery"], found[0].memory_id}
    assert memory.stats(saved["battery"]).cited == 1


def test_words_of_the_query_alone_are_use_without_weight(memory, saved):
    memory.save("The northern gauge battery, as it is now and as it was when we put it in.", key="short")
    found = memory.search("northern gauge battery")
    memory.observe(found.search_id, "The northern gauge battery? I do not know.")
    fold_days(memory._space, [memory.journal.get(found.search_id).occurred_at.date().isoformat()])
    name = ids.memory_id("ada", "short")
    row = memory.store.read("usage_signals", f"memory_id = '{name}'").row(0, named=True)
    assert (row["verdict"], row["weight"]) == ("used", 0.0)
    assert memory.stats(name).effectiveness == 0.5
    assert memory.stats(name).strength is not None


def test_a_similarity_is_asked_in_the_grey_band_and_its_faults_are_told(memory, saved):
    found = memory.search("when do we deploy?")
    grey = "It is on Thursday, says Mairi."
    asked: list[str] = []

    def near(one: str, _other: str) -> float:
        asked.append(one)
        return 0.95

    told = {one.memory_id: one for one in memory.observe(found.search_id, grey, similarity=near).verdicts}
    assert asked == [DEPLOY]
    assert (told[saved["deploy"]].verdict, told[saved["deploy"]].evidence) == ("used", "similarity")
    with pytest.raises(FeedbackError, match="similarity gave 7"):
        memory.observe(found.search_id, "Then on Thursday.", similarity=lambda _a, _b: 7)
    assert len(given(memory)) == 1


@pytest.mark.parametrize("response", ["", "  \n"])
def test_an_empty_answer_is_refused(memory, saved, response):
    found = memory.search("when do we deploy?")
    with pytest.raises(FeedbackError, match="response is empty"):
        memory.observe(found.search_id, response)


def test_a_memory_that_was_forgotten_meanwhile_is_no_evidence(memory, saved):
    found = memory.search("when do we deploy?")
    memory.forget(saved["deploy"])
    told = {one.memory_id: one for one in memory.observe(found.search_id, ANSWER).verdicts}
    assert told[saved["deploy"]].verdict in ("used", "ignored")
    nothing = memory.search("zzz", memory_type="project")
    assert memory.observe(nothing.search_id, "I know nothing of it.").verdicts == ()


# -- outcomes --------------------------------------------------------------------------------------


def test_an_outcome_is_about_the_searches_since_the_last(memory, saved):
    for question in ("when do we deploy?", "how long does the battery last?"):
        memory.search(question, project="ship")
    memory.search("who is on call?")
    first = memory.outcome("ship", "success")
    assert (first.searches, first.new) == (2, True)
    assert not memory.outcome("ship", "success").new
    corrected = memory.outcome("ship", "failure")
    assert (corrected.searches, corrected.new) == (0, True)
    memory.search("who is on call?", project="ship")
    assert memory.outcome("ship", "failure").searches == 1
    assert len(given(memory)) == 3


def test_an_outcome_reaches_what_was_used(memory, saved):
    found = memory.search("when do we deploy?", project="ship")
    memory.feedback(found.search_id, saved["deploy"], "helpful")
    memory.outcome("ship", "success")
    day = memory.journal.get(found.search_id).occurred_at.date().isoformat()
    fold_days(memory._space, [day])
    assert {key: memory.stats(name).successes for key, name in saved.items()} == {
        "deploy": 1,
        "battery": 0,
        "rota": 0,
    }


def test_a_project_without_searches_and_an_unknown_outcome_are_refused(memory, saved, open_memory):
    memory.search("when do we deploy?", project="ship")
    with pytest.raises(NotFoundError, match="no search for a project 'shop'"):
        memory.outcome("shop", "success")
    with pytest.raises(NotFoundError, match="Namespace 'eve'"):
        open_memory("eve").outcome("ship", "success")
    with pytest.raises(NotFoundError, match="project ''"):
        memory.outcome("", "success")
    with pytest.raises(FeedbackError, match="Use success or failure"):
        memory.outcome("ship", "won")
    with pytest.raises(SlowwaveError, match=r"at most 200\."):
        memory.search("when?", project="x" * 201)
    assert given(memory) == []


# -- what it comes to ------------------------------------------------------------------------------


def test_stats_of_what_nobody_used(memory, saved):
    plain = memory.stats(saved["rota"])
    assert (plain.used, plain.helpful, plain.effectiveness, plain.feedback_count) == (0, 0, 0.5, 0)
    assert (plain.strength, plain.last_used_at, plain.tier, plain.recent) == (None, None, "normal", ())
    with pytest.raises(NotFoundError, match="has no memory"):
        memory.stats("nobody")


@pytest.mark.slow
def test_what_use_taught_changes_the_next_search_and_is_told(memory, saved):
    before = {one.memory_id: one.score for one in memory.search("who is on call, and when do we deploy?")}
    for _ in range(3):
        found = memory.search("who is on call, and when do we deploy?")
        memory.feedback(found.search_id, saved["rota"], "helpful")
        memory.feedback(found.search_id, saved["deploy"], "unhelpful")
    same = {one.memory_id: one.score for one in memory.search("who is on call, and when do we deploy?")}
    assert same == before  # by day nothing changes
    fold_days(memory._space, [memory.journal.get(found.search_id).occurred_at.date().isoformat()])
    after = {
        one.memory_id: one for one in memory.search("who is on call, and when do we deploy?", explain=True)
    }
    assert after[saved["rota"]].score > before[saved["rota"]]
    assert after[saved["deploy"]].score < before[saved["deploy"]]
    account = after[saved["deploy"]].explanation
    assert account.feedback_count == 3
    assert account.multiplier == pytest.approx(0.7, abs=0.01)
    assert [one["verdict"] for one in account.recent_feedback] == ["unhelpful"] * 3
    assert sum(row.value for row in account.contributions) == pytest.approx(
        after[saved["deploy"]].score, abs=1e-9
    )


def test_a_promoted_memory_is_shown_found_and_protected_as_such(memory, saved):
    from feedback_days import at

    day = at(1).date().isoformat()
    row = {"promotion_id": "p", "day": day, "namespace": "ada", "memory_id": saved["rota"],
           "from_tier": "normal", "to_tier": "critical", "reason": "promoted",
           "decided_at": at(2)}  # fmt: skip
    import polars as pl

    from slowwave.feedback import apply_state

    memory.store.upsert("promotions", pl.DataFrame([row]))
    apply_state.apply_state(memory.store, [day], memory._space.feedback_policy)
    assert memory.get(saved["rota"]).importance_tier == "critical"
    found = {one.memory_id: one.importance_tier for one in memory.search("who is on call?")}
    assert found[saved["rota"]] == "critical"
    assert found[saved["deploy"]] == "normal"
    assert [one.memory_id for one in memory.search("who is on call?", tier="critical")] == [saved["rota"]]
    assert saved["rota"] not in {one.memory_id for one in memory.search("who is on call?", tier="normal")}
    both = memory.search("who is on call?", tier=["normal", "critical"])
    assert {one.memory_id for one in both} == set(saved.values())
    assert {item.memory_id: item.importance_tier for s in memory.wakeup().sections for item in s.items}[
        saved["rota"]
    ] == "critical"


def test_a_search_that_cannot_be_journalled_answers_and_takes_no_feedback(memory, saved, monkeypatch):
    def broken(_entries):
        raise JournalError("journal.db: the disk is full")

    monkeypatch.setattr(memory.journal, "append", broken)
    found = memory.search("when do we deploy?")
    assert len(found) == 3
    assert "feedback on it is not possible" in found.warnings[0]
    monkeypatch.undo()
    with pytest.raises(NotFoundError, match="missing in the journal"):
        memory.feedback(found.search_id, 1, "helpful")
    monkeypatch.setattr(memory.journal, "append", broken)
    kept = memory.journal.read(kinds=["search"])
    assert kept.is_empty()
