"""Results that contradict each other say so, and near duplicates collapse into one (rules 2.3, 3.2)."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations

import pytest

from slowwave.adapters.quoting import metadata_of, text_of
from slowwave.quality.divergence.contradiction import opposed
from slowwave.quality.divergence.note import ComparedNote
from slowwave.search.log import replay
from slowwave.search.stored_pairs import (
    MAX_COMPARED,
    ComparedPassage,
    contradictions,
    indexed,
    with_near_duplicates,
)
from slowwave.views.answers import Found
from slowwave.views.data import plain
from slowwave.views.mcp_text import found as mcp_text

TUESDAY = "We deploy on Tuesday at nine in the morning, everybody is there."
THURSDAY = TUESDAY.replace("Tuesday", "Thursday")
OPEN = "The north door of the maritime museum is open on Sunday. Volunteers built its ramp of old oak."
SHUT = "The north door of the maritime museum is not open on Sunday. The alarm code changes every quarter."
QUESTION = "Is the north door of the museum open on Sunday?"
NOTE = "The spare key of the boathouse hangs behind the second oar on the left wall."
AGAIN = NOTE.replace("hangs", "is hanging")


def contradicting(memory, query=QUESTION):
    return [(one.memory_id, [other.memory_id for other in one.contradicts]) for one in memory.search(query)]


def test_two_notes_that_stay_name_each_other_in_every_face(guarded):
    first = guarded.save(OPEN, title="North door")
    second = guarded.save(SHUT, title="North door")
    guarded.save("The canteen opens at eleven.", title="Canteen")
    assert second.outcome == "related"
    response = guarded.explain(QUESTION, limit=3)
    by_id = {one.memory_id: one for one in response}
    one, other = by_id[first.memory_id], by_id[second.memory_id]
    (mark,) = one.contradicts
    assert (mark.memory_id, mark.chunk_id, mark.title) == (other.memory_id, other.chunk_id, other.title)
    assert [back.memory_id for back in other.contradicts] == [first.memory_id]
    assert not any(by_id[name].contradicts for name in by_id.keys() - {first.memory_id, second.memory_id})
    data = next(row for row in plain(response.to_dict())["results"] if row["memory_id"] == first.memory_id)
    named = {"memory_id": second.memory_id, "chunk_id": other.chunk_id, "title": "North door"}
    assert list(data["contradicts"]) == [named]
    answer = Found.of(response, "", account=False)
    assert f'> contradicts: "North door" ({second.memory_id})\n' in mcp_text(answer)
    assert f'> contradicts: "North door" ({second.memory_id})\n' in text_of(one, quote=True)
    assert metadata_of(response, one)["contradicts"] == [named]


def test_a_waiting_decision_is_open_until_somebody_declines_it(guarded):
    old = guarded.save(TUESDAY, title="Deploy day", source_of_truth=True)
    new = guarded.save(THURSDAY, title="Deploy day")
    asked = "When do we deploy?"
    assert dict(contradicting(guarded, asked)) == {
        old.memory_id: [new.memory_id], new.memory_id: [old.memory_id],
    }  # fmt: skip
    guarded.decline(new.decision_id)
    assert dict(contradicting(guarded, asked)) == {old.memory_id: [], new.memory_id: []}


def test_another_text_a_forgotten_note_and_another_namespace_end_or_have_no_mark(guarded, open_memory):
    first = guarded.save(OPEN, title="North door", key="first")
    guarded.save(SHUT, title="North door", key="second")
    assert dict(contradicting(guarded))[first.memory_id]
    bob = open_memory("bob", reconsolidation={"policy": "guarded"})
    bob.save(OPEN, title="North door")
    secret = bob.save(SHUT, title="North door", sensitivity="secret")
    assert [marks for _, marks in contradicting(bob)] == [[]]
    shown = bob.search(QUESTION, sensitivity="secret")
    assert secret.memory_id in {one.memory_id for one in shown}
    assert not any(one.contradicts for one in shown)
    guarded.save(SHUT.replace("is not", "is"), title="North door", key="second")
    assert not any(marks for _, marks in contradicting(guarded))


def test_a_past_day_has_the_marks_of_that_day(guarded):
    old = guarded.save(TUESDAY, title="Deploy day", source_of_truth=True)
    guarded.save(THURSDAY, title="Deploy day")
    response = guarded.search("When do we deploy?", as_of=datetime.now(UTC).date())
    assert any(one.contradicts for one in response if one.memory_id == old.memory_id)


def test_two_notes_of_equal_form_need_no_title(guarded):
    first, second = guarded.save(TUESDAY), guarded.save(THURSDAY)
    assert second.outcome == "related"
    assert dict(contradicting(guarded, "When do we deploy?")) == {
        first.memory_id: [second.memory_id], second.memory_id: [first.memory_id],
    }  # fmt: skip


@pytest.fixture
def warned(open_memory):
    memory = open_memory(gate={"mode": "warn"})
    memory.save(NOTE, title="Boathouse key", key="first")
    memory.save(AGAIN, title="Boathouse key", key="second")
    return memory


def test_a_near_duplicate_that_the_gate_only_warned_of_collapses(warned):
    (row,) = warned.store.read("decisions").to_dicts()
    assert (row["reasons"], row["refused"]) == (["near_duplicate"], False)
    response = warned.explain("Where is the spare key of the boathouse?")
    (result,) = response
    assert {result.memory_id, *result.duplicates} == {row["memory_id"], row["other_memory"]}
    assert [one.reason for one in response.not_shown] == ["duplicate"]
    whole = warned.search("Where is the spare key of the boathouse?", include_weak=True)
    assert [(one.memory_id, one.duplicates) for one in whole] == [(result.memory_id, result.duplicates)]
    again = replay(warned.journal.get(response.search_id).payload)
    assert [(one.memory_id, one.duplicates) for one in again.results] == [
        (result.memory_id, result.duplicates)
    ]


def test_a_changed_value_ends_the_collapse(warned):
    warned.save(AGAIN.replace("second", "third"), title="Boathouse key", key="second")
    assert len(warned.search("Where is the spare key of the boathouse?")) == 2


def test_groups_join_over_shared_members_and_never_over_sensitivities_or_values():
    def passage(name, text=NOTE, label="internal"):
        return ComparedPassage(name, label, "", "", text)

    near = {"b": ["c"], "c": ["b", "f"], "d": ["e"], "e": ["d"], "f": ["c"]}
    whole = {name: passage(name) for name in "abcd"} | {"e": passage("e", label="secret")}
    whole["f"] = passage("f", NOTE.replace("second", "third"))
    assert with_near_duplicates({"b": "a"}, near, whole) == {"b": "a", "c": "a"}
    assert with_near_duplicates({}, {"x": ["a"], "a": ["x"]}, whole) == {}


@pytest.mark.parametrize(
    ("left", "right", "contradict"),
    [
        (
            "The API limit is 60. It is new.",
            "The API limit is 90. It is loud.",
            True,
        ),
        ("The museum is open on Sunday.", "The museum is not open on Sunday.", True),
        (TUESDAY, THURSDAY, True),
        ("The ferry to the island leaves at nine.", "The ferry to the island leaves at ten.", True),
        ("The ferry of line 9 leaves early.", "The ferry of line 10 leaves early.", False),
        ("The crew mended nine nets on the pier.", "The crew mended ten nets on the pier.", False),
        ("We were on the pier on Tuesday.", "We were on the pier on Thursday.", False),
        ("The ferry leaves the island at nine.", "The ferry leaves the pier at ten.", False),
        ("Flat 8 has a balcony and 3 rooms.", "Flat 1 has a balcony and 2 rooms.", False),
        ("Ticket #4821 was closed by Ada.", "Ticket #4822 was closed by Ada.", False),
        ("The review is on 3 May 2026.", "The review is on 10 May 2026.", False),
        ("The piano is in the hall.", "The instrument is in the hall.", False),
        (
            "The API limit is 60.",
            "The API limit is 60. It is loud.",
            False,
        ),
    ],
)
def test_which_passages_of_related_notes_contradict_each_other(left, right, contradict):
    notes = ComparedNote("", "", left), ComparedNote("", "", right)
    assert opposed(*notes) is opposed(*notes[::-1]) is contradict


@pytest.mark.parametrize(
    ("one", "other", "query"),
    [
        ("Tom is allergic to peanuts.", "Tom is not allergic to peanuts.", "Is Tom allergic to peanuts?"),
        ("Meetings must be recorded.", "Meetings must not be recorded.", "Must meetings be recorded?"),
        ("Der Zug nach Bonn fährt um 9 Uhr.", "Der Zug nach Bonn fährt um 10 Uhr.", "Wann fährt der Zug?"),
    ],
)
def test_short_notes_contradict_each_other_without_any_decision(memory, one, other, query):
    moment = datetime(2026, 3, 2, tzinfo=UTC)  # one date, so neither is newer
    first, second = (memory.save(text, created_at=moment).memory_id for text in (one, other))
    third = memory.save("The kettle in the kitchen is not new.", created_at=moment).memory_id
    assert memory.settings.reconsolidation.policy == "off"
    marks = dict(contradicting(memory, query))
    assert (marks[first], marks[second], marks.get(third, [])) == ([second], [first], [])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Am 3. Mai habe ich 40 Euro getankt.", "Am 9. Mai habe ich 52 Euro getankt."),
        ("If it rains, the market is closed.", "If it does not rain, the market is not closed."),
        ("With a card the entry is free.", "Without a card the entry is not free."),
        ("Perhaps Ella comes to the party.", "Perhaps Ella does not come to the party."),
    ],
)
def test_dated_events_conditions_and_doubts_may_both_hold(one, other):
    passages = [ComparedPassage(text, "", "", "", text) for text in (one, other)]
    assert list(contradictions(indexed(0, {}, ()), passages)) == []


def test_pairs_of_short_notes_are_compared_up_to_a_limit_and_secret_ones_never_with_others():
    def passage(number, label="internal"):
        text = f"The ferry of the island leaves at {number} in the morning."
        return ComparedPassage(str(number), label, "", "", text)

    none = indexed(0, {}, ())
    many = [passage(number) for number in range(2, 12)]
    assert list(contradictions(none, many)) == list(combinations(range(10), 2))[:MAX_COMPARED]
    assert list(contradictions(none, [passage(2), passage(3, "secret")])) == []
    long = passage(3)._replace(text=passage(3).text + " It is loud and old." * 30)
    assert list(contradictions(none, [passage(2), long])) == []
    assert list(contradictions(none, [passage(2), passage(3)._replace(is_whole=False)])) == []
