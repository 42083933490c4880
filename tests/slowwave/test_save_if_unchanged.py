"""Nothing comes between what somebody looked at and what they write over it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from slowwave.errors import ArgumentError, JournalMovedError, SlowwaveError
from slowwave.home.visibility import Viewer
from slowwave.journal.entry_builders import forget_entry, save_entry
from slowwave.lifecycle.forgetting import ProtectedError, require_replaceable
from slowwave.lifecycle.write_path import MAX_ATTEMPTS
from slowwave.memory import Memory
from slowwave.notes.reading import plain_note
from slowwave.serving import saving
from slowwave.serving.caller import Caller
from slowwave.serving.request import MemoryRequest
from slowwave.settings import load


def save(memory, note, *, viewer):
    """Save as somebody who came over a server does."""
    rights = "person" if viewer is None else "assistant"
    return saving.save(MemoryRequest(Caller(memory.namespace, memory.principal, rights), memory), note)


OLD = "The deploy key of the harbour cluster is rotated every ninety days by the platform team."
NEW = "The deploy key of the harbour cluster is rotated every thirty days by the platform team."


def _open(home: Path, principal: str = "somebody") -> Memory:
    return Memory(load(home, embedding={"model": "wordllama-256"}), namespace="ada", principal=principal)


def _journalled(memory: Memory, **labels: Any) -> None:
    """What another process has written to the journal, and waits for its turn."""
    note = replace(plain_note(OLD, source="deploy"), title="Deploy key", **labels)
    memory.journal.append(
        [
            save_entry(
                note, namespace="ada", source="deploy", origin="", occurred_at=memory.home.now(),
                principal="a person",
            )
        ]
    )  # fmt: skip


def test_what_a_person_protects_at_that_moment_stays(memory: Memory) -> None:
    memory.save(OLD, key="deploy")
    looks = []

    def said() -> dict[str, Any]:
        require_replaceable(memory.tenant, "deploy")
        looks.append(1)
        if len(looks) == 1:
            _journalled(memory, importance_tier="critical")
        return {"content": NEW, "key": "deploy"}

    with pytest.raises(ProtectedError, match="critical"):
        memory.save_if_unchanged("deploy", said)

    found = memory.get(memory.search("deploy key of the harbour cluster").results[0].memory_id)
    assert (found.content, found.importance_tier) == (OLD, "critical")


def test_what_was_journalled_before_the_look_is_looked_at(memory: Memory) -> None:
    memory.save(OLD, key="deploy")
    _journalled(memory, importance_tier="critical")  # its process was killed then

    with pytest.raises(ProtectedError, match="critical"):
        save(memory, {"content": NEW, "key": "deploy"}, viewer=Viewer.ASSISTANT)


def test_an_assistant_does_not_forget_what_becomes_critical_at_that_moment(memory: Memory) -> None:
    name = memory.save(OLD, key="deploy").memory_id
    _journalled(memory, importance_tier="critical")

    with pytest.raises(ProtectedError, match="critical"):
        memory.forget(name, viewer=Viewer.ASSISTANT)
    assert memory.get(name).status == "live"


def test_what_is_forgotten_at_that_moment_does_not_come_back(memory: Memory) -> None:
    name = memory.save(OLD, key="deploy").memory_id
    looks = []

    def said() -> dict[str, Any]:
        if memory.get(name).status == "retired":
            raise SlowwaveError("forgotten")
        looks.append(1)
        memory.journal.append(
            [
                forget_entry(
                    namespace="ada", source="deploy", origin="", occurred_at=memory.home.now(),
                    principal="a person",
                )
            ]
        )  # fmt: skip
        return {"content": NEW, "key": "deploy"}

    with pytest.raises(SlowwaveError, match="forgotten"):
        memory.save_if_unchanged("deploy", said)
    assert len(looks) == 1
    assert memory.get(name).status == "retired"


def test_who_is_always_overtaken_is_told_so_and_writes_nothing(memory: Memory) -> None:
    memory.save(OLD, key="deploy")
    looks = []

    def said() -> dict[str, Any]:
        looks.append(1)
        _journalled(memory, tags=[f"turn {len(looks)}"])
        return {"content": NEW, "key": "deploy"}

    with pytest.raises(JournalMovedError, match="just now"):
        memory.save_if_unchanged("deploy", said)
    assert len(looks) == MAX_ATTEMPTS
    assert memory.get(memory.save(OLD, key="deploy").memory_id).content == OLD


def test_of_two_who_read_the_same_one_writes(home: Path) -> None:
    """Two at once who both expect what they read: one of them is refused, whichever comes first."""
    with _open(home) as first:
        name = first.save(OLD, key="deploy").memory_id
        start, done = Barrier(2), []

        def change(text: str) -> None:
            with _open(home) as memory:
                start.wait()

                def said() -> dict[str, Any]:
                    if memory.get(name).content != OLD:
                        raise SlowwaveError("changed")
                    return {"content": text, "key": "deploy"}

                try:
                    memory.save_if_unchanged("deploy", said)
                    done.append(text)
                except SlowwaveError:
                    done.append("")

        texts = [NEW, NEW.replace("thirty", "sixty")]
        threads = [Thread(target=change, args=(text,)) for text in texts]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

        (written,) = filter(None, done)
        assert len(done) == 2
        first.home.refresh_if_changed()
        assert first.get(name).content == written


def test_an_assistant_does_not_replace_what_it_may_not_read(memory: Memory) -> None:
    name = memory.save(OLD, key="deploy", sensitivity="secret").memory_id

    with pytest.raises(ProtectedError, match="not for assistants to read"):
        save(memory, {"content": NEW, "key": "deploy"}, viewer=Viewer.ASSISTANT)
    assert memory.get(name).content == OLD


@pytest.mark.parametrize("key", ["a\0b", "\ud800"])
def test_a_key_that_cannot_be_stored_is_refused_before_anything_is_looked_at(
    memory: Memory, key: str
) -> None:
    with pytest.raises(ArgumentError, match="key = "):
        save(memory, {"content": NEW, "key": key}, viewer=Viewer.ASSISTANT)
    assert memory.journal.read(kinds=["save"]).is_empty()


def test_a_call_sent_again_is_done_once(memory: Memory) -> None:
    memory.save(OLD, key="deploy")
    note = {"content": NEW, "key": "deploy", "idempotency_key": "once"}

    first = save(memory, note, viewer=Viewer.ASSISTANT)
    memory.save(OLD, key="deploy")  # somebody says otherwise meanwhile
    again = save(memory, note, viewer=Viewer.ASSISTANT)

    assert again.memory_id == first.memory_id
    assert memory.get(first.memory_id).content == OLD
