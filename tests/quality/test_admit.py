from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from admit_world import GUARDED, LITERAL, OFF, World, at, embed, note
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.quality.admission.labels import Labels
from slowwave.quality.admission.memories import merge_lines
from slowwave.quality.admission.state_machine import reconsider
from slowwave.quality.admission.types import AdmissionAct, AdmissionPolicy, AdmissionRecord

# -- the golden edges of rule 2.1 ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cosine", "outcome"),
    [(0.92, "merge"), (0.88, "merge"), (0.8799, "supersede"), (0.75, "supersede"), (0.7499, "complement")],
)
def test_the_literal_bands_begin_where_the_rule_says(cosine, outcome):
    world = World(LITERAL)
    world.take(note("a", "one", at(1.0)))
    decision = world.take(note("b", "two", at(cosine))).decisions[0]
    assert decision.outcome == outcome
    if outcome != "complement":
        assert (decision.other, decision.similarity) == ("a", cosine)


@pytest.mark.parametrize(
    ("cosine", "refused"), [(0.92, False), (0.9200005, False), (0.92001, True), (1.0, True)]
)
@pytest.mark.parametrize("policy", [OFF, GUARDED, LITERAL])
def test_a_near_duplicate_is_strictly_above_its_threshold(cosine, refused, policy):
    world = World(policy)
    world.take(note("a", "the gate opens at noon", at(1.0)))
    decision = world.take(note("b", "The gate opens at noon!", at(cosine), content_hash="b")).decisions[0]
    assert decision.refused == refused
    assert ("near_duplicate" in decision.reasons) == refused
    assert world.records.keys() == ({"a"} if refused else {"a", "b"})


def test_the_guard_keeps_a_near_duplicate_that_differs_in_a_number():
    for policy in (OFF, GUARDED):
        world = World(policy)
        world.take(note("a", "the sensor zero is 2.184 m", at(1.0)))
        decision = world.take(note("b", "the sensor zero is 2.148 m", at(0.999))).decisions[0]
        assert not decision.refused
        assert world.status() == {"a": "live", "b": "live"}
    assert decision.outcome == "related"
    assert "2.184" in decision.evidence
    assert "2.148" in decision.evidence


def test_a_zero_vector_is_never_compared():
    world = World(LITERAL)
    world.take(note("a", "one", at(1.0)))
    for vector in (np.zeros(3, np.float32), None):
        fresh = replace(note("b", "two"), vector=vector)
        decision = world.take(fresh).decisions[0] if vector is not None else None
        if decision is not None:
            assert decision.outcome == "complement"
            assert decision.skipped
            assert "Not compared" in decision.evidence


def test_only_the_three_most_similar_are_looked_at():
    world = World(GUARDED)
    for number, cosine in enumerate((0.99, 0.98, 0.97)):
        world.take(note(f"far{number}", f"the pier has {number + 20} lamps", at(cosine)))
    world.take(note("same", "the pier has nine lamps", np.array([0.96, 0, 0.28], np.float32)))
    decision = world.take(note("new", "The pier has nine lamps.", at(1.0), content_hash="x")).decisions[0]
    assert decision.outcome == "related"
    assert decision.other == "far0"
    world.policy = replace(GUARDED, neighbours=4)
    assert (
        world.take(note("newer", "The pier has nine lamps", at(1.0), content_hash="y")).decisions[0].refused
    )


# -- what becomes of them --------------------------------------------------------------------------


def test_a_merge_appends_the_lines_that_lack_and_keeps_both_originals():
    world = World(LITERAL)
    world.take(note("a", "one\ntwo", at(1.0)))
    decision = world.take(note("b", " two \nthree", at(0.9))).decisions[0]
    assert decision.appended == ("three",)
    assert world.records["a"].merged_content == "one\ntwo\nthree"
    assert world.records["a"].content == "one\ntwo"
    assert (world.records["b"].status, world.records["b"].replaced_by) == ("merged", "a")
    assert world.records["b"].content == " two \nthree"
    assert np.array_equal(world.records["a"].merged_vector, embed("", "one\ntwo\nthree"))


@pytest.mark.parametrize(
    ("content", "addition", "merged"),
    [
        ("a\nb", "b\nc\nc", "a\nb\nc"), ("a\n", "", "a\n"), ("a", "  a  ", "a"), ("", "x", "\nx"),
        ("a", "b\n\nd", "a\nb\nd"),
    ],
)  # fmt: skip
def test_lines_are_merged_trimmed_and_once(content, addition, merged):
    assert merge_lines(content, addition)[0] == merged


def test_a_superseded_memory_is_not_superseded_twice_and_is_nobodys_neighbour():
    world = World(LITERAL)
    world.take(note("a", "one", at(1.0)))
    world.take(note("b", "two", at(0.8)))
    assert world.status() == {"a": "superseded", "b": "live"}
    assert world.take(note("c", "three", at(1.0))).decisions[0].other == "b"
    assert world.records["a"].replaced_by == "b"


@pytest.mark.parametrize("policy", [GUARDED, LITERAL])
@pytest.mark.parametrize("cosine", [0.9, 0.8])
def test_a_protected_memory_is_neither_merged_into_nor_superseded(policy, cosine):
    world = World(policy)
    world.take(note("a", "we deploy on Tuesday", at(1.0), title="Deploy day", protected=True))
    decision = world.take(note("b", "we deploy on Thursday", at(cosine), title="Deploy day")).decisions[0]
    assert decision.outcome == "related"
    assert world.status() == {"a": "live", "b": "live"}


def test_guarded_supersedes_on_one_subject_with_another_value():
    world = World(GUARDED)
    world.take(note("a", "we deploy on Tuesday at nine", at(1.0), title="Deploy day"))
    decision = world.take(note("b", "we deploy on Thursday at nine", at(0.95), title="Deploy day")).decisions[
        0
    ]
    assert decision.outcome == "supersede"
    assert world.status() == {"a": "superseded", "b": "live"}


def test_an_exact_duplicate_is_refused_also_of_what_was_merged_but_not_of_what_was_superseded():
    world = World(LITERAL)
    world.take(note("a", "one", at(1.0)))
    world.take(note("b", "two", at(0.9)))  # merged into a
    again = world.take(note("c", "two", at(0.2))).decisions[0]
    assert (again.refused, again.other, again.reasons) == (True, "a", ("exact_duplicate",))
    other = World(LITERAL)
    other.take(note("a", "one", at(1.0)))
    other.take(note("b", "two", at(0.8)))  # supersedes a
    assert not other.take(note("c", "one", at(0.1))).decisions[0].refused


def test_a_released_or_only_warned_duplicate_enters():
    world = World(OFF)
    world.take(note("a", "one", at(1.0)))
    warned = world.take(note("b", "one", at(1.0), warned=True)).decisions[0]
    assert (warned.refused, warned.reasons) == (False, ("exact_duplicate",))
    released = world.take(note("c", "one", at(1.0), released=True)).decisions[0]
    assert (released.refused, released.reasons, released.outcome) == (False, (), "complement")
    assert set(world.status().values()) == {"live"}


def test_a_released_note_is_not_merged_away_again():
    world = World(LITERAL)
    world.take(note("a", "one", at(1.0)))
    assert world.take(note("b", "one more", at(0.99), released=True)).decisions[0].outcome == "related"
    assert world.status() == {"a": "live", "b": "live"}


def test_a_pair_that_a_person_parted_is_never_decided_against_again():
    world = World(LITERAL)
    world.apart = {frozenset(("a", "b"))}
    world.take(note("a", "one", at(1.0)))
    assert world.take(note("b", "two", at(0.9))).decisions[0].outcome == "complement"
    assert world.status() == {"a": "live", "b": "live"}


# -- dissolving ------------------------------------------------------------------------------------


@pytest.mark.parametrize("cosine", [0.9, 0.8])
def test_undoing_is_the_original_exactly(cosine):
    world = World(LITERAL)
    world.take(note("z", "zero", np.array([0, 0, 1], np.float32)))
    world.take(note("a", "one", at(1.0)))
    before = world.state()
    world.take(note("b", "two", at(cosine)))
    assert world.state() != before
    world.take(AdmissionAct("undo", "b", other="a", by="undo"))
    assert {name: state for name, state in world.state().items() if name != "b"} == before
    assert world.records["b"].status == "live"
    assert world.lapsed == [("b", "undo")]
    again = world.state()
    world.take(AdmissionAct("undo", "b", other="a", by="undo"))
    assert (world.state(), world.lapsed) == (again, [("b", "undo")])


@pytest.mark.parametrize("cosine", [0.9, 0.8])
def test_forgetting_the_later_one_brings_the_earlier_one_back(cosine):
    world = World(LITERAL)
    world.take(note("a", "one", at(1.0)))
    before = world.state()
    world.take(note("b", "two", at(cosine)))
    world.take(AdmissionAct("forget", "b"))
    assert world.state()["a"] == before["a"]
    assert world.status()["b"] == "retired"


def test_forgetting_a_memory_frees_what_it_absorbed():
    world = World(LITERAL)
    world.take(note("a", "one", at(1.0)))
    world.take(note("b", "two", at(0.9)))
    world.take(AdmissionAct("forget", "a"))
    assert world.status() == {"a": "retired", "b": "live"}
    assert set(world.lapsed) == {("a", "forgotten"), ("b", "forgotten")}


def test_a_new_text_of_the_later_one_is_decided_anew():
    world = World(LITERAL)
    world.take(note("a", "one", at(1.0)))
    world.take(note("b", "two", at(0.8)))
    world.take(note("b", "three", at(0.1)))
    assert world.status() == {"a": "live", "b": "live"}
    assert world.lapsed == [("b", "changed")]
    world.take(note("b", "four", at(0.8)))
    assert world.status() == {"a": "superseded", "b": "live"}


def test_a_new_text_that_is_refused_changes_nothing():
    world = World(LITERAL)
    world.take(note("x", "other", np.array([0, 0, 1], np.float32)))
    world.take(note("a", "one", at(1.0)))
    world.take(note("b", "two", at(0.8)))
    before = world.state()
    assert world.take(note("b", "other", np.array([0, 0, 1], np.float32))).decisions[0].refused
    assert (world.state(), world.lapsed) == (before, [])


def test_a_new_text_of_a_memory_keeps_what_it_absorbed():
    world = World(LITERAL)
    world.take(note("a", "one", at(1.0)))
    world.take(note("b", "two", at(0.9)))
    world.take(note("a", "one, changed", np.array([0, 0, 1], np.float32)))
    assert world.records["a"].merged_content == "one, changed\ntwo"
    assert world.records["b"].replaced_by == "a"


def test_forgetting_the_middle_of_a_chain_does_not_bring_the_oldest_back():
    world = World(LITERAL)
    world.take(note("a", "one", at(1.0)))
    world.take(note("b", "two", at(0.8)))
    world.take(note("c", "three", at(1.0)))
    assert world.status() == {"a": "superseded", "b": "superseded", "c": "live"}
    world.take(AdmissionAct("forget", "b"))
    assert world.status() == {"a": "superseded", "b": "retired", "c": "live"}


def test_an_absorbed_line_leaves_when_the_new_text_contradicts_it():
    world = World(GUARDED)
    world.take(note("a", "we deploy on Thursday", at(1.0)))
    more = "we deploy on Thursday\nthe captain writes the log"
    assert world.take(note("b", more, at(0.9))).decisions[0].outcome == "merge"
    world.take(note("a", "we deploy on Friday", np.array([0, 0, 1], np.float32)))
    assert world.status() == {"a": "live", "b": "live"}
    assert world.records["a"].merged_content is None


def test_titles_that_name_different_things_keep_two_notes_apart():
    for cosine in (0.97, 0.9):
        world = World(GUARDED)
        text = "the password of the guest network hangs by the door"
        world.take(note("a", text, at(1.0), title="Berlin office"))
        again = note("b", text + "!", at(cosine), title="Munich office")
        decision = world.take(again).decisions[0]
        assert (decision.outcome, decision.refused) == ("related", False)
        assert "Munich" in decision.evidence


def test_a_protected_note_is_not_refused_beside_one_that_is_not():
    world = World(OFF)
    world.take(note("a", "the mast is down above 20 m/s", at(1.0)))
    decision = world.take(note("b", "The mast is down above 20 m/s!", at(0.99), protected=True)).decisions[0]
    assert not decision.refused


# -- a folder changes as a whole -------------------------------------------------------------------


def test_notes_of_a_folder_may_swap_their_texts():
    world = World(OFF)
    world.take(note("a", "one", at(1.0), vault=True), note("b", "two", at(0.0), vault=True))
    done = world.take(note("a", "two", at(0.0), vault=True), note("b", "one", at(1.0), vault=True))
    assert [one.refused for one in done.decisions] == [False, False]
    assert {name: one.content for name, one in world.records.items()} == {"a": "two", "b": "one"}


def test_what_a_refused_note_said_before_counts_from_the_start_of_the_day():
    world = World(OFF)
    world.take(note("b", "one", at(1.0), vault=True), note("k", "two", at(0.0), vault=True))
    # b wants to become a copy of k, so it keeps "one"; a, which comes first, is then its duplicate.
    done = world.take(note("a", "one", at(1.0), vault=True), note("b", "two", at(0.0), vault=True))
    assert [(one.memory_id, one.other) for one in done.decisions if one.refused] == [("a", "b"), ("b", "k")]
    assert world.records.keys() == {"b", "k"}


# -- order, batches --------------------------------------------------------------------------------

WORDS = ("red", "blue", "nine", "ten", "Ada", "Bo")
TITLES = ("", "Deploy day", "Battery")


labels = st.builds(
    Labels,
    memory_type=st.sampled_from(["note", "note", "fact", "constraint"]),
    importance_tier=st.sampled_from(["temporary", "normal", "normal", "important", "critical"]),
    state=st.sampled_from(["draft", "accepted", "accepted", "canonical"]),
    trigger_phrases=st.lists(st.sampled_from(["a", "A", "b"]), max_size=2).map(tuple),
)


@st.composite
def many_notes(draw: st.DrawFn) -> list[AdmissionRecord]:
    count = draw(st.integers(2, 9))
    made = []
    for number in range(count):
        lines = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))
        content = "\n".join(f"the lamp is {word}" for word in lines)
        angle = draw(st.floats(0, 0.9))
        vector = np.array([np.cos(angle), np.sin(angle), 0], dtype=np.float32)
        made.append(
            note(
                f"m{number}", content, vector, title=draw(st.sampled_from(TITLES)),
                protected=draw(st.integers(0, 5)) == 0, released=draw(st.integers(0, 9)) == 0,
                labels=draw(labels), context=draw(st.sampled_from(["", "", "x", "y"])),
                warned=draw(st.integers(0, 5)) == 0,
            )
        )  # fmt: skip
    return made


@settings(max_examples=40)
@given(many_notes(), st.integers(0, 9), st.sampled_from([OFF, GUARDED, LITERAL]))
def test_a_batch_any_split_of_it_and_single_saves_agree(notes, split, policy):
    whole, halves, single = World(policy), World(policy), World(policy)
    whole.take(*notes)
    for part in (notes[:split], notes[split:]):
        halves.take(*part)
    for one in notes:
        single.take(one)
    assert whole.state() == halves.state() == single.state()
    assert whole.decisions == halves.decisions == single.decisions


@pytest.mark.slow
@settings(max_examples=40)
@given(many_notes(), many_notes(), st.integers(0, 9), st.sampled_from([OFF, GUARDED, LITERAL]))
def test_saving_again_agrees_in_a_batch_and_one_by_one(notes, changed, split, policy):
    whole, single = World(policy), World(policy)
    whole.take(*notes)
    single.take(*notes)
    later = [replace(one, revision="s" + one.revision) for one in changed]
    whole.take(*later)
    for one in later:
        single.take(one)
    assert whole.state() == single.state()
    assert set(whole.lapsed) == set(single.lapsed)


@settings(max_examples=40)
@given(many_notes(), st.sampled_from([GUARDED, LITERAL]))
def test_every_memory_is_reachable_and_nothing_is_lost(notes, policy):
    world = World(policy)
    world.take(*notes)
    for name, record in world.records.items():
        assert record.replaced_by != name
        assert (record.status == "live") == (record.replaced_by is None)
        if record.status == "merged":
            target = world.records[record.replaced_by]
            assert name in target.absorbed
            said = {line.strip() for line in (target.merged_content or target.content).split("\n")}
            assert {line.strip() for line in record.content.split("\n")} <= said
    refused = {name for name, one in world.decisions.items() if one.refused}
    assert world.records.keys() == {one.memory_id for one in notes} - refused


@settings(max_examples=40)
@given(many_notes(), st.sampled_from([GUARDED, LITERAL]))
def test_undoing_everything_in_any_order_brings_every_memory_back(notes, policy):
    world = World(policy)
    world.take(*notes)
    for name, decision in world.decisions.items():
        if decision.outcome in ("merge", "supersede"):
            world.take(AdmissionAct("undo", name, other=decision.other, by="undo"))
    for name, (status, replaced_by, absorbed, content, united, _) in world.state().items():
        original = next(one for one in notes if one.memory_id == name)
        assert (status, replaced_by, absorbed, content) == ("live", None, (), original.content)
        assert united == original.labels


@settings(max_examples=40)
@given(many_notes())
def test_looking_again_at_what_is_live_equals_having_looked_at_once(notes):
    notes = [replace(one, released=False, warned=False, content_hash=one.memory_id) for one in notes]
    stored, direct = World(AdmissionPolicy(gate=False)), World(replace(LITERAL, gate=False))
    stored.take(*notes)
    direct.take(*notes)
    stored.policy = direct.policy
    live = [one for one in stored.records.values() if one.status == "live"]
    done = reconsider([one.memory_id for one in live], stored.around(stored.records, live))
    stored.keep(done)
    assert stored.state() == direct.state()
    assert all(not one.refused for one in done.decisions)


def test_more_neighbours_than_are_kept_make_no_difference():
    rng = np.random.default_rng(7)
    notes = []
    for number in range(90):
        angle = rng.uniform(0, 0.45)
        vector = np.array([np.cos(angle), np.sin(angle), 0], dtype=np.float32)
        notes.append(note(f"m{number:02}", f"lamp {number}", vector))
    whole, single = World(LITERAL), World(LITERAL)
    whole.policy = single.policy = replace(LITERAL, gate=False)
    whole.take(*notes)
    for one in notes:
        single.take(one)
    assert whole.state() == single.state()
