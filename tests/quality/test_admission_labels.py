"""What a merge keeps of labels, and what stands too low to take another's place (rule 2.5)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from admit_world import GUARDED, LITERAL, OFF, World, at, note
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.quality.admission.labels import (
    KINDS,
    LISTS,
    PRIORITIES,
    STATES,
    TIERS,
    Labels,
    WeighedMemory,
    apart,
    confidence,
    unite,
    weaker,
)
from slowwave.quality.admission.types import AdmissionAct
from slowwave.quality.structure import KNOWN_WORDS

ORDERS = {"importance_tier": TIERS, "retrieval_priority": PRIORITIES, "state": STATES}
DRAFT = Labels(state="draft", importance_tier="temporary", source_kind="generated")
CONSTRAINT = Labels(
    memory_type="constraint", importance_tier="important", state="canonical", source_kind="generated",
    trigger_phrases=("closing time",), tags=("vault",), links=("rules",),
)  # fmt: skip

words = st.lists(st.sampled_from(["a", "A", "ａ", "b", "b ", "c"]), max_size=3).map(tuple)
labels = st.builds(
    Labels,
    memory_type=st.sampled_from(["note", "note", "fact", "constraint"]),
    source_of_truth=st.booleans(),
    source_kind=st.sampled_from(KINDS),
    **{name: st.sampled_from(order) for name, order in ORDERS.items()},
    **dict.fromkeys(LISTS, words),
)


def standing(one: Labels, **more: object) -> WeighedMemory:
    return WeighedMemory(one, one.importance_tier, **more)  # type: ignore[arg-type]


def test_every_word_that_the_gate_knows_has_its_place():
    known = {name: set(order) for name, order in (ORDERS | {"source_kind": KINDS}).items()}
    assert {name: set(KNOWN_WORDS[name]) for name in known} == known


def test_a_draft_with_a_canonical_constraint_is_the_constraint():
    assert unite(DRAFT, [CONSTRAINT]) == CONSTRAINT
    assert unite(CONSTRAINT, [DRAFT]) == CONSTRAINT


def test_names_are_united_in_order_and_once_without_case():
    first = Labels(tags=("Boat", "pier"), aliases=("A", "a"))
    more = [Labels(tags=("PIER", "mast")), Labels(tags=("ｍａｓｔ", "boat ", "sea"), aliases=("b",))]
    assert unite(first, more) == Labels(tags=("Boat", "pier", "mast", "sea"), aliases=("A", "a", "b"))


def test_who_said_it_goes_with_the_state_that_counts():
    """What was accepted by a program is not made by hand because a draft was."""
    accepted = Labels(state="accepted", source_kind="generated")
    draft = Labels(state="draft", source_kind="manual")
    for united in (unite(accepted, [draft]), unite(draft, [accepted])):
        assert (united.state, united.source_kind) == ("accepted", "generated")
    assert unite(accepted, [Labels(source_kind="manual")]).source_kind == "manual"


@given(labels, st.lists(labels, max_size=4))
def test_no_label_is_ever_weaker_and_no_name_is_lost(own, parts):
    united = unite(own, parts)
    for one in (own, *parts):
        for name, order in ORDERS.items():
            assert order.index(getattr(united, name)) >= order.index(getattr(one, name))
        assert united.source_of_truth >= one.source_of_truth
        for name in LISTS:
            folded = {" ".join(word.casefold().replace("ａ", "a").split()) for word in getattr(united, name)}
            for word in getattr(one, name):
                assert " ".join(word.casefold().replace("ａ", "a").split()) in folded
    assert unite(unite(own, parts[:1]), parts[1:]) == united
    assert unite(united, parts) == united  # a part that is told twice adds nothing


@given(labels, labels, st.booleans(), st.booleans())
def test_what_may_be_one_is_trusted_as_much_as_either(one, other, one_vault, other_vault):
    new, old = standing(one, vault=one_vault), standing(other, vault=other_vault)
    if apart(new, old):
        return
    left = confidence(unite(other, [one]), vault=other_vault, sensitivity="")
    order = ("low", "medium", "high")
    assert order.index(left) >= max(order.index(new.confidence), order.index(old.confidence))


@given(labels, labels)
def test_of_two_that_differ_in_standing_one_may_not_replace_the_other(one, other):
    assert weaker(standing(one), standing(one)) == ""
    if one.importance_tier != other.importance_tier and one.source_of_truth == other.source_of_truth:
        assert weaker(standing(one), standing(other)) or weaker(standing(other), standing(one))


@pytest.mark.parametrize(
    ("new", "old", "why"),
    [
        ({}, {"state": "canonical"}, "it is accepted, the other canonical"),
        ({"state": "candidate"}, {}, "it is candidate, the other accepted"),
        ({"importance_tier": "temporary"}, {}, "it is temporary, the other normal"),
        ({}, {"importance_tier": "important"}, "it is normal, the other important"),
        ({}, {"source_of_truth": True}, "the other is a source of truth"),
        ({"source_kind": "generated"}, {}, "its confidence is medium, the other's high"),
        ({"source_of_truth": True}, {"state": "canonical"}, ""),
        ({"state": "canonical"}, {"state": "draft"}, ""),
        ({}, {}, ""),
    ],
)
def test_what_stands_lower_says_in_what(new, old, why):
    assert weaker(standing(Labels(**new)), standing(Labels(**old))) == why


@pytest.mark.parametrize(
    ("new", "old", "why"),
    [
        (standing(Labels(memory_type="fact")), standing(Labels()), ""),
        (standing(Labels()), standing(Labels(memory_type="fact")), ""),
        (standing(Labels(memory_type="preference")), standing(Labels(memory_type="constraint")),
         "one is a preference, the other a constraint"),
        (standing(Labels(), context="the boat"), standing(Labels(), context="The  Boat"), ""),
        (standing(Labels(), context="the boat"), standing(Labels(), context="the car"),
         "they are about different contexts"),
        (standing(Labels(state="canonical")), standing(Labels(), vault=True),
         "together their confidence would fall from high to medium"),
        (WeighedMemory(Labels(), "important"), standing(Labels()),
         "it was promoted to important, which a merge cannot keep"),
    ],
)  # fmt: skip
def test_what_cannot_be_one_says_why(new, old, why):
    assert apart(new, old) == why


# -- in admission ----------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [GUARDED, LITERAL])
@pytest.mark.parametrize("cosine", [0.9, 0.99])
def test_a_merge_unites_and_its_undo_gives_each_its_own(policy, cosine):
    world = World(policy)
    world.take(note("a", "only Ada opens the vault", at(1.0), labels=DRAFT))
    before = world.state()["a"]
    new = note("b", "Only Ada opens the vault.", at(cosine), labels=CONSTRAINT, content_hash="b")
    assert world.take(new).decisions[0].outcome == "merge"  # above .92 it would be refused, labels and all
    assert world.united["a"] == CONSTRAINT
    assert world.records["a"].labels == DRAFT
    assert world.united["b"] == world.records["b"].labels == CONSTRAINT
    world.take(AdmissionAct("undo", "b", other="a", by="undo"))
    assert world.state()["a"] == before
    assert world.united["b"] == CONSTRAINT


@pytest.mark.parametrize("policy", [GUARDED, LITERAL])
def test_the_same_text_with_labels_that_say_more_is_merged_and_else_refused(policy):
    world = World(policy)
    world.take(note("a", "only Ada opens the vault", at(1.0), labels=Labels(tags=("Vault",))))
    same = note("b", "only Ada opens the vault", at(1.0))
    assert world.take(replace(same, labels=Labels(tags=("vault",)))).decisions[0].refused
    decision = world.take(replace(same, labels=Labels(tags=("rules",)))).decisions[0]
    assert (decision.outcome, decision.refused, decision.appended) == ("merge", False, ())
    assert world.united["a"].tags == ("Vault", "rules")


def test_with_reconsolidation_off_a_duplicate_that_stands_higher_waits_and_others_are_refused():
    for text, digest in (("we close at six", "we close at six"), ("We close at six!", "x")):
        world = World(OFF)
        world.take(note("a", "we close at six", at(1.0), labels=DRAFT))
        low = note("b", text, at(0.99), content_hash=digest, labels=replace(DRAFT, tags=("hours",)))
        assert world.take(low).decisions[0].refused
        high = note("c", text, at(0.99), content_hash=digest, labels=CONSTRAINT)
        decision = world.take(high).decisions[0]
        assert (decision.outcome, decision.proposed, decision.refused) == ("related", "merge", False)
        assert "a person has to decide" in decision.evidence
        assert world.status() == {"a": "live", "c": "live"}


@pytest.mark.parametrize("policy", [GUARDED, LITERAL])
def test_what_names_another_type_is_related_also_after_a_merge(policy):
    world = World(policy)
    world.take(note("a", "the lamp is red", at(1.0)))
    world.take(note("b", "the lamp is red\nit hangs on the pier", at(0.9), labels=CONSTRAINT))
    assert world.united["a"].memory_type == "constraint"
    vector = world.records["a"].merged_vector
    text = "the lamp is red\nit hangs on the pier\nit burns all night"
    last = world.take(note("c", text, vector, labels=Labels(memory_type="preference"))).decisions[0]
    assert (last.outcome, last.other, last.proposed) == ("related", "a", "")
    assert "one is a preference, the other a constraint" in last.evidence


@pytest.mark.parametrize("policy", [GUARDED, LITERAL])
def test_a_draft_supersedes_nothing_that_stands_higher_and_waits(policy):
    old = note("a", "we deploy on Tuesday at nine", at(1.0), title="Deploy day", labels=CONSTRAINT)
    new = note("b", "we deploy on Thursday at nine", at(0.8), title="Deploy day", labels=DRAFT)
    for acts in ([old, new], [replace(new, revision="1", moment=2), replace(old, revision="2", moment=1)]):
        world = World(replace(policy, gate=False))
        for one in acts:
            world.take(one)
        assert world.status() == {"a": "live", "b": "live"}
        decision = world.decisions["b"]
        assert (decision.outcome, decision.other, decision.proposed) == ("related", "a", "supersede")
        assert "it is draft, the other canonical: a person has to decide" in decision.evidence
    world = World(policy)
    world.take(replace(new, moment=1), replace(old, moment=2))
    assert world.status() == {"a": "live", "b": "superseded"}


def test_a_tier_that_use_gave_counts_too():
    world = World(GUARDED)
    world.take(note("a", "we deploy on Tuesday", at(1.0), title="Deploy day", promoted="important"))
    decision = world.take(note("b", "we deploy on Thursday", at(0.8), title="Deploy day")).decisions[0]
    assert decision.proposed == "supersede"


@pytest.mark.parametrize("policy", [GUARDED, LITERAL])
def test_a_part_that_is_said_again_changes_the_labels_though_no_line_does(policy):
    world = World(policy)
    world.take(note("a", "one\ntwo", at(1.0)))
    part = note("b", "one\ntwo", at(0.9), content_hash="b", revision="s1", labels=Labels(tags=("first",)))
    world.take(part)
    assert world.united["a"].tags == ("first",)
    world.take(replace(part, revision="s2", labels=Labels(tags=("second",))))
    assert world.records["b"].replaced_by == "a"
    assert world.united["a"].tags == ("second",)


@pytest.mark.parametrize("policy", [GUARDED, LITERAL])
def test_what_a_memory_absorbed_leaves_it_when_it_is_said_again_as_something_else(policy):
    world = World(policy)
    target = note("a", "the lamp is red", at(1.0), revision="r1")
    world.take(target)
    part = note("b", "the lamp is red\nit hangs", at(0.9), revision="r2", labels=CONSTRAINT)
    world.take(part)
    world.take(replace(target, revision="r3", labels=Labels(tags=("x",))))
    assert world.united["a"] == unite(Labels(tags=("x",)), [CONSTRAINT])
    world.take(replace(target, revision="r4", labels=Labels(memory_type="preference")))
    assert world.status() == {"a": "live", "b": "live"}
    assert world.united == {"a": Labels(memory_type="preference"), "b": CONSTRAINT}


@settings(max_examples=60)
@given(st.lists(labels, min_size=2, max_size=5), st.sampled_from([GUARDED, LITERAL]))
def test_no_label_of_a_live_memory_is_weaker_than_that_of_anything_it_absorbed(found, policy):
    world = World(policy)
    for number, one in enumerate(found):
        vault = bool(number % 2)
        world.take(
            note(f"m{number}", "the gate\n" * (number + 1), at(0.9), title="Gate", labels=one, vault=vault)
        )
    order = ("low", "medium", "high")
    for record in world.records.values():
        target = world.records.get(record.replaced_by or "")
        if record.status == "merged" and target is not None:
            got, own = world.united[target.memory_id], world.united[record.memory_id]
            trust = [confidence(got, vault=target.vault, sensitivity=""),
                     confidence(own, vault=record.vault, sensitivity="")]  # fmt: skip
            assert order.index(trust[0]) >= order.index(trust[1])
            assert TIERS.index(got.importance_tier) >= TIERS.index(own.importance_tier)
            assert {one.casefold().strip() for one in own.tags} <= {
                one.casefold().strip() for one in unite(got, []).tags
            } | {"ａ", "a"}


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (Labels(importance_tier="critical"), "critical"),
        (Labels(source_of_truth=True), "a source of truth"),
        (Labels(state="canonical"), "canonical"),
        (Labels(importance_tier="canonical"), "of an unknown tier"),  # as a file may say
        (Labels(importance_tier="important"), ""),
    ],
)
def test_whose_text_only_a_person_may_take_away(labels, why):
    assert labels.protection == why
    assert labels.protected == (why in ("critical", "a source of truth"))  # of merges (rule 2.5)
