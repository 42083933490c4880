"""Small edits that change what is said, and such that do not: the bench on its own sentences."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench._contrast import Contrast, contrasts, real_sentences, templated
from bench._contrast_edits import CHANGES, HARMLESS
from bench._contrast_templates import CHANGED, KEPT, SENTENCES
from slowwave.quality.divergence.comparing import divergence
from slowwave.quality.divergence.difference import contradicts, says_more
from slowwave.quality.divergence.guard import DivergenceGuard
from slowwave.quality.divergence.note import ComparedNote
from slowwave.quality.reconsolidation import Thresholds, decide

LOST, RECOGNISED = 0.01, 0.70
DATA = Path("../shared/data")


def taken(pair: Contrast) -> bool:
    """Whether the new one is refused or merged at a cosine of 1."""
    found, alike = DivergenceGuard().compare(ComparedNote("", "", pair.new), ComparedNote("", "", pair.old))
    outcome = decide(1.0, found, same_subject=alike, thresholds=Thresholds(), policy="guarded")
    return outcome in {"duplicate", "merge"}


def test_what_changes_the_meaning_is_kept_and_what_does_not_is_recognised() -> None:
    changed = [*contrasts(SENTENCES, CHANGES, 40, changed=True), *templated(CHANGED, changed=True)]
    kept = [*contrasts(SENTENCES, HARMLESS, 40, changed=False), *templated(KEPT, changed=False)]
    assert len({pair.kind for pair in changed}) >= 25
    assert min(len(changed), len(kept)) > 250
    lost = [pair for pair in changed if taken(pair)]
    assert len(lost) <= LOST * len(changed), lost
    unseen = [pair for pair in kept if not taken(pair)]
    assert len(unseen) <= (1 - RECOGNISED) * len(kept), Counter(pair.kind for pair in unseen)


@pytest.mark.data
@pytest.mark.slow
def test_the_bounds_hold_on_real_sentences() -> None:
    if not DATA.exists():
        pytest.skip("../shared/data not present")
    sentences = real_sentences(DATA)[:20_000]
    changed = contrasts(sentences, CHANGES, 15, changed=True)
    kept = contrasts(sentences, HARMLESS, 15, changed=False)
    assert sum(map(taken, changed)) <= LOST * len(changed)
    assert sum(map(taken, kept)) >= RECOGNISED * len(kept)


@pytest.mark.parametrize(
    ("kind", "left", "right"),
    [
        ("qualifier", "Only Ada may open the vault", "Ada may open the vault"),
        ("qualifier", "Send the invoice to Ada and Bo", "Send the invoice to Ada or Bo"),
        ("qualifier", "Close it at six if it is Friday", "Close it at six unless it is Friday"),
        ("qualifier", "We stay at home if it rains", "We stay at home"),
        ("qualifier", "All tests pass", "Most tests pass"),
        ("qualifier", "Wait at least 5 minutes", "Wait 5 minutes"),
        ("qualifier", "Copy the key a -> b at night", "Copy the key a <- b at night"),
        ("unit", "The line to the island has 10 Mb/s", "The line to the island has 10 MB/s"),
        ("qualifier", "Ada has to leave", "Ada can leave"),
        ("qualifier", "We plan to sell the boat", "We sold the boat"),
        ("qualifier", "Ada used to work at Acme", "Ada works at Acme"),
        ("qualifier", "Ada says the vault is open", "The vault is open"),
        ("qualifier", "Is the vault open?", "The vault is open."),
        ("qualifier", "The fee is 30 euros", "The fee is 30 euros per month"),
        ("qualifier", "Ada is the co-owner", "Ada is the owner"),
        ("qualifier", "It takes 3-5 days", "It takes 5 days"),
        ("qualifier", "Two women pose", "A woman poses"),
        ("qualifier", "Run it if a && b", "Run it if a || b"),
        ("qualifier", "Nur Ada darf den Raum betreten", "Ada darf den Raum betreten"),
        ("qualifier", "只有安娜可以开门", "安娜可以开门"),
        ("tense", "We sell the boat", "We sold the boat"),
        ("tense", "Ada fired Bo", "Ada was fired"),
        ("tense", "Plan A is better", "Plan A is the best"),
        ("word", "Ada is the lead", "Ada was the lead"),
        ("word", "Put the key in the box", "Put the key on the box"),
        ("word", "Ada left because Bo stayed", "Ada left although Bo stayed"),
        ("order", "Mix it 1:3", "Mix it 3:1"),
        ("order", "Team A reports to team B", "Team B reports to team A"),
        ("order", "Ada lent Bo the car", "Bo lent Ada the car"),
        ("order", "First open the valve, then start the pump", "First start the pump, then open the valve"),
        ("order", "1. Open the valve\n2. Start the pump", "1. Start the pump\n2. Open the valve"),
        ("order", "แมวไล่หมา", "หมาไล่แมว"),
        ("word", "Call getUser first", "Call getuser first"),
        ("path", "Edit /Etc/hosts", "Edit /etc/hosts"),
        ("identifier", "Copy with cp -r", "Copy with cp -R"),
        ("identifier", "Open README.md", "Open readme.md"),
    ],
)  # fmt: skip
def test_a_small_word_is_named_and_denies(kind: str, left: str, right: str) -> None:
    found = divergence(left, right)
    assert kind in {one.kind for one in found}
    assert contradicts(found)
    assert says_more(found) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Ada likes tea, milk and coffee", "Ada likes coffee, tea and milk"),
        ("- tea\n- milk", "- milk\n- tea"),
        ("Ada and Bo own a boat", "Ada as well as Bo own a boat"),
        ("Ada stayed because it rained", "Ada stayed since it rained"),
        ("If it rains, we stay at home", "We stay at home if it rains"),
        ("Because of the rain we stayed", "Due to the rain we stayed"),
        ("You must restart it", "You have to restart it"),
        ("You can't park here", "You cannot park here"),
        ("Ada wrote the report", "The report was written by Ada"),
        ("We organise a party", "We organize a party"),
        ("The parameter is set", "The parmaeter is set"),
        ("Call `getUser` first", "Call getUser first"),
    ],
)
def test_what_only_sounds_otherwise_is_the_same(left: str, right: str) -> None:
    assert divergence(left, right) == ()


def test_a_whole_statement_more_is_more_and_no_contradiction() -> None:
    old, more = "Ada lives in Oslo.", "Ada lives in Oslo. The museum opens at nine."
    assert says_more(divergence(more, old)) == "left"
    assert says_more(divergence("Ada lives in Oslo. You can visit her.", old)) == "left"
    # What follows takes it back.
    assert says_more(divergence("Ada lives in Oslo. Only in summer.", old)) is None


_PAIRS = [*templated(CHANGED, changed=True), *templated(KEPT, changed=False)]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(_PAIRS), st.sampled_from(_PAIRS))
def test_differing_is_symmetric_and_a_text_equals_itself(one: Contrast, other: Contrast) -> None:
    for left, right in ((one.old, one.new), (one.old, other.old)):
        assert [(found.kind, found.left) for found in divergence(left, right)] == [
            (found.kind, found.right) for found in divergence(right, left)
        ]
        assert divergence(left, left + "\n") == ()


@settings(max_examples=40, deadline=None)
@given(st.permutations(["tea", "milk", "red wine", "two eggs", "bread"]))
def test_the_order_of_a_list_is_free(items: list[str]) -> None:
    text = "Ada buys {}, {}, {}, {} and {} on Monday."
    assert divergence(text.format(*items), text.format("tea", "milk", "red wine", "two eggs", "bread")) == ()
