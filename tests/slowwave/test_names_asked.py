"""A result that lacks a name of the question does not fit strongly."""

from __future__ import annotations


def test_a_memory_about_somebody_else_is_at_most_fair(memory):
    memory.save("Omar's birthday is on 3 March.", title="Birthday of Omar")
    (about_omar,) = memory.search("when is Omar's birthday?").results
    (about_nobody,) = memory.search("when is the birthday?", include_weak=True).results
    (near,) = memory.search("when is Lena's birthday?", include_weak=True).results
    assert (about_omar.fit, about_nobody.fit) == ("strong", "strong")
    assert near.fit == "fair"


def test_a_name_may_stand_in_a_tag_or_a_trigger_phrase(memory):
    memory.save("The birthday is on the third of spring.", title="Birthday", tags=["Omar"])
    asked = "is the birthday of Omar on the third of spring?"
    (tagged,) = memory.search(asked).results
    (untagged,) = memory.search(asked.replace("Omar", "Lena")).results
    assert (tagged.fit, untagged.fit) == ("strong", "fair")
    memory.save("The doctor of the children has opening hours on Monday.", trigger_phrases=["Haddad hours"])
    found = memory.search("when are the Haddad hours of the doctor of the children?").results
    assert found[0].text.startswith("The doctor")
    assert found[0].fit == "strong"
