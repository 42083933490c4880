"""A result with few words of the question does not fit strongly."""

from __future__ import annotations


def test_a_memory_about_somebody_else_is_at_most_fair(memory):
    memory.save("Omar's birthday is on 3 March.", title="Birthday of Omar")
    (about_omar,) = memory.search("when is Omar's birthday?").results
    (about_nobody,) = memory.search("when is the birthday?", include_weak=True).results
    (near,) = memory.search("when is Lena's birthday?", include_weak=True).results
    assert (about_omar.fit, about_nobody.fit) == ("strong", "strong")
    assert near.fit == "fair"


def test_words_may_stand_in_a_tag_an_alias_or_a_trigger_phrase(memory):
    memory.save("Birthday: the third of spring.", title="Birthday", tags=["Omar Haddad"])
    (tagged,) = memory.search("birthday third of spring, Omar Haddad").results
    (untagged,) = memory.search("birthday third of spring, Lena Weber Senior").results
    assert (tagged.fit, untagged.fit) == ("strong", "fair")
    memory.save("Deployments go through the green pipeline.", aliases=["kube cluster"])
    assert memory.search("kube cluster pipeline").results[0].fit == "strong"
    memory.save("The doctor of the children has opening hours on Monday.", trigger_phrases=["Haddad hours"])
    asked = "when are the Haddad hours of the doctor of the children, in Leith, with Nurse Joy?"
    assert memory.search(asked).results[0].fit == "strong"
    assert memory.search(asked.replace("Haddad", "Miller")).results[0].fit == "fair"


def test_words_that_only_ask_and_those_of_the_time_do_not_count(memory):
    memory.save("Omar's birthday is on 3 March.", title="Birthday of Omar")
    assert memory.search("do you remember Omar's birthday?").results[0].fit == "strong"
    assert memory.search("can you tell me about Omar's birthday last month?").results[0].fit == "strong"
