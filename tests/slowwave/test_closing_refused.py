"""A refused new version that says that it is secret makes the text before it secret."""

from __future__ import annotations

import pytest

from slowwave.common import ids
from slowwave.home.visibility import HIDDEN, Viewer
from slowwave.lifecycle.closing import EARLIER_CLOSED
from slowwave.lifecycle.write_path import apply
from slowwave.memory import Memory
from slowwave.vaults import vault

TEXT = "Henrike keeps the spare key of the pump house under the third flower pot."
OTHER = "The sluice at the northern gauge opens every April after the spring tide."


def found(memory: Memory) -> list[str]:
    return [one.memory_id for one in memory.search("where is the spare key of the pump house?")]


def test_the_earlier_text_is_closed_and_the_refused_one_stays_in_quarantine(memory):
    name = memory.save(TEXT, key="key", tags=["keys"]).memory_id
    assert found(memory) == [name]
    refused = memory.save("ok", key="key", sensitivity="secret")
    assert (refused.status, refused.warnings[-1]) == ("quarantined", EARLIER_CLOSED)
    now = memory.get(name)
    assert (now.content, now.sensitivity, now.tags) == (TEXT, "secret", ("keys",))
    assert found(memory) == []
    events = memory.history(name, viewer=Viewer.ASSISTANT)
    assert {event["text"] for event in events if event["text"]} == {HIDDEN}
    (row,) = memory.quarantine()
    assert memory.release(row["quarantine_id"]).status == "live"
    assert memory.get(name).content == "ok"


def test_a_closing_tag_of_the_refused_text_counts_too(memory):
    name = memory.save(TEXT, key="key").memory_id
    assert memory.save("ok", key="key", tags=["sensitivity/secret"]).status == "quarantined"
    assert memory.get(name).sensitivity == "secret"


def test_a_duplicate_that_says_that_it_is_secret_closes_too(memory):
    memory.save(OTHER, key="other", sensitivity="secret")
    name = memory.save(TEXT, key="key").memory_id
    assert memory.save(OTHER, key="key", sensitivity="secret").status == "quarantined"
    assert (memory.get(name).content, memory.get(name).sensitivity) == (TEXT, "secret")


@pytest.mark.parametrize("labels", [{}, {"sensitivity": "internal"}])
def test_an_open_refused_version_closes_nothing(memory, labels):
    name = memory.save(TEXT, key="key").memory_id
    refused = memory.save("ok", key="key", **labels)
    assert (refused.status, refused.warnings) == ("quarantined", ())
    assert memory.get(name).sensitivity == "internal"
    assert found(memory) == [name]


def test_a_forgotten_or_closed_memory_gets_no_event(memory):
    memory.save(TEXT, key="key")
    closed = memory.save(OTHER, key="other", sensitivity="secret").memory_id
    memory.forget(memory.save("A third note about the lamp on the pier.", key="gone").memory_id)
    before = memory.journal.count("ada", "save")
    for key in ("other", "gone", "new"):
        memory.save("ok", key=key, sensitivity="secret")
    assert memory.journal.count("ada", "save") == before + 3
    assert memory.get(closed).content == OTHER


def test_a_closed_text_is_opened_by_a_person_again(memory):
    name = memory.save(TEXT, key="key").memory_id
    memory.save("ok", key="key", sensitivity="secret")
    assert memory.save(TEXT, key="key", sensitivity="internal").memory_id == name
    assert found(memory) == [name]
    assert memory.quarantine() == []


def test_a_forgotten_memory_comes_back_as_secret_if_a_refused_version_says_so(memory):
    name = memory.save(TEXT, key="key").memory_id
    memory.forget(name)
    assert memory.save("ok", key="key", sensitivity="secret").status == "quarantined"
    assert memory.unforget(name)
    assert (memory.get(name).content, memory.get(name).sensitivity) == (TEXT, "secret")
    assert found(memory) == []


def test_a_forgotten_memory_comes_back_as_it_was_after_a_refused_open_version(memory):
    name = memory.save(TEXT, key="key").memory_id
    memory.forget(name)
    assert memory.save("ok", key="key").status == "quarantined"
    assert memory.unforget(name)
    assert found(memory) == [name]


def test_a_file_that_cannot_be_read_and_says_secret_closes_the_stored_text(memory, tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()

    def scan(text: str) -> None:
        (folder / "key.md").write_text(text)
        space = memory._space
        source = vault.watch(memory.journal, "ada", folder, name="v", as_of=space.now(), principal="ida")
        seen = memory.journal.read(kinds=["save"])["seq"].max() or 0
        vault.scan(memory.journal, source, memory.settings.notes, as_of=space.now(), principal="ida")
        new = memory.journal.read(kinds=["save"], after_seq=seen)["event_id"].to_list()
        apply(space, memory.journal.entries(new).values())

    scan(TEXT)
    scan("ok")
    scan("---\nsensitivity: secret\n---\n")
    stored = memory.get(ids.memory_id("ada", "v/key.md"))
    assert (stored.content.strip(), stored.sensitivity) == (TEXT, "secret")
    assert [row["reasons"] for row in memory.quarantine()] == [["no_statement"]]
