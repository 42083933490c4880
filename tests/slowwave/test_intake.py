"""Turns at the memories: who has one takes in all that waits, and each gets what became of its own act."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import pytest
from polars.testing import assert_frame_equal

from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.home.tenant import Saved
from slowwave.lifecycle import write_path
from slowwave.memory import Memory

PLACES = ("harbour", "garden", "library", "station", "bakery", "theatre", "quarry", "market")


def text(number: int) -> str:
    """A note unlike the others."""
    place = PLACES[number % len(PLACES)]
    return f"At the {place} number {number} somebody counted {number * 7} lamps and wrote that into a book."


class Crowd:
    """Threads that act on a home while somebody else has the turn."""

    def __init__(self, open_memory: Callable[..., Memory], **groups: Any) -> None:
        self._open = lambda namespace="ada": open_memory(namespace, **groups)
        self.holder = self._open()
        self.holder.count()
        self.results: dict[int, Any] = {}

    @property
    def waiting(self) -> int:
        """Acts in the queue."""
        rules = ids.digest("rules", self.holder.settings.model_dump_json(include=write_path._RULES))
        return len(self.holder.journal.queue.waiting(rules, 1_000))

    @contextmanager
    def held(self) -> Iterator[None]:
        """While somebody else writes."""
        with self.holder.journal.exclusive("memories"):
            yield

    def send(self, *jobs: Callable[[Memory], Any], namespace: str = "ada") -> list[threading.Thread]:
        """Start the jobs, one after the other has joined the queue, each with a memory of its own."""
        threads = []
        for job in jobs:
            place, before = len(self.results), self.waiting
            self.results[place] = None
            memory = self._open(namespace)
            memory.journal.queue  # noqa: B018 - made here, or its making would be part of the wait
            thread = threading.Thread(target=self._run, args=(place, job, memory))
            thread.start()
            threads.append(thread)
            while self.waiting == before:
                assert thread.is_alive(), self.results[place]
                time.sleep(0.005)
        return threads

    def _run(self, place: int, job: Callable[[Memory], Any], memory: Memory) -> None:
        try:
            self.results[place] = job(memory)
        except BaseException as error:
            self.results[place] = error

    def all(self, *jobs: Callable[[Memory], Any]) -> list[Any]:
        """What came of jobs that all waited for one turn to end."""
        first = len(self.results)
        with self.held():
            threads = self.send(*jobs)
        for thread in threads:
            thread.join()
        return [self.results[place] for place in range(first, first + len(jobs))]

    def versions(self) -> tuple[int, ...]:
        """Commits of the tables that a save writes."""
        return tuple(int(self.holder.store.table(name).version) for name in ("memories", "chunks"))


def saving(content: str, **labels: Any) -> Callable[[Memory], Saved]:
    return lambda memory: memory.save(content, **labels)


def test_all_that_waits_is_taken_in_by_one_turn(open_memory):
    crowd = Crowd(open_memory)
    before = crowd.versions()
    saved = crowd.all(*(saving(text(number), title=f"Note {number}") for number in range(8)))
    assert [(one.status, one.reasons) for one in saved] == [("live", ())] * 8
    assert crowd.versions() == tuple(version + 1 for version in before)  # it was a commit each
    for number, one in enumerate(saved):
        assert crowd.holder.get(one.memory_id).content == text(number)
        assert one.memory_id in {found.memory_id for found in crowd.holder.search(text(number)).results}
    assert crowd.waiting == 0


def test_what_waits_is_served_by_whoever_is_next_however_often_that_one_comes(open_memory):
    """Nobody waits for longer than the turn that there is and the next one."""
    crowd = Crowd(open_memory)
    with crowd.held():
        threads = crowd.send(saving(text(1), key="waits"))
    crowd.holder.save(text(2))  # may be faster than who waits, and then does its work
    assert crowd.holder.get(ids.memory_id("ada", "waits")).content == text(1)
    for thread in threads:
        thread.join()
    assert crowd.results[0].status == "live"


# Who leaves open how a memory stands that another one is just saving waits for that one, not in the queue.
PLAIN = {
    "importance_tier": "normal",
    "retrieval_priority": "normal",
    "state": "accepted",
    "source_of_truth": False,
    "sensitivity": "internal",
}
ACTS: list[Callable[[Memory], Any]] = [
    saving(text(1), key="a"),
    saving("too short"),
    saving(text(2), key="b"),
    saving(text(2), key="copy of b"),
    saving(text(3), key="a", **PLAIN),
    lambda memory: memory.save_many([{"content": text(4), "key": "d"}, {"content": text(5), "key": "e"}]),
    lambda memory: memory.forget(ids.memory_id("ada", "known")),
    saving(text(6), key="known"),
]


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["off", "guarded"])
def test_together_they_come_to_what_they_come_to_alone(open_memory, tmp_path, policy):
    groups = {"reconsolidation": {"policy": policy}, "gate": {"mode": "enforce", "min_characters": 20}}
    together, alone = Crowd(open_memory, **groups), open_memory(path=tmp_path / "alone", **groups)
    for memory in (together.holder, alone):
        memory.save(text(9), key="known")
    told = together.all(*ACTS)
    said = [act(alone) for act in ACTS]
    for one, other in zip(flat(told), flat(said), strict=True):
        assert outcome(one) == outcome(other)
    columns = ["source", "content", "status", "replaced_by", "frequency", "chunk_count"]
    keyed = "source NOT LIKE 'saved/%'"
    left, right = (
        memory.store.read("memories", keyed, columns=columns).sort("source")
        for memory in (together.holder, alone)
    )
    assert_frame_equal(left, right)
    assert together.holder.store.count("chunks") == alone.store.count("chunks")


def flat(results: list[Any]) -> list[Any]:
    return [one for result in results for one in (result if isinstance(result, list) else [result])]


def outcome(said: Any) -> Any:
    """What a call gave, without ids that are made anew each time."""
    random = ("decision_id", "memory_id", "source")
    if isinstance(said, Saved):
        return {key: value for key, value in asdict(said).items() if key not in random}
    return said


def test_namespaces_wait_for_the_same_turn_and_stay_apart(open_memory):
    crowd = Crowd(open_memory)
    with crowd.held():
        threads = crowd.send(saving(text(1), key="same"))
        threads += crowd.send(saving(text(1), key="same"), namespace="bob")
    for thread in threads:
        thread.join()
    assert [crowd.results[place].status for place in (0, 1)] == ["live", "live"]
    assert crowd.results[0].memory_id != crowd.results[1].memory_id
    assert crowd.versions() == (open_memory("bob").store.table("memories").version, crowd.versions()[1])


def test_an_act_that_cannot_be_taken_in_fails_for_its_own_caller_alone(open_memory, monkeypatch):
    crowd, save = Crowd(open_memory), write_path._save

    def picky(space, entries):
        if any("poison" in entry.payload["content"] for entry in entries):
            raise SlowwaveError("This cannot be taken in.")
        return save(space, entries)

    monkeypatch.setattr(write_path, "_save", picky)
    good, bad, other = crowd.all(saving(text(1)), saving(f"poison {text(2)}"), saving(text(3)))
    assert (good.status, other.status) == ("live", "live")
    assert isinstance(bad, SlowwaveError)
    assert crowd.holder.count() == 2
    assert crowd.waiting == 0


def test_who_has_other_rules_takes_in_its_own_acts_alone(open_memory):
    crowd = Crowd(open_memory, gate={"mode": "enforce", "min_characters": 20})
    lenient = open_memory(gate={"mode": "off"})
    with crowd.held():
        threads = crowd.send(saving("too short"))
    assert lenient.save("short, too").status == "live"
    for thread in threads:
        thread.join()
    assert crowd.results[0].status == "quarantined"


def abandoned(memory: Memory, *notes: dict[str, Any]) -> list[str]:
    """Acts of a process that was killed while it waited: in the journal and in the queue."""
    kept: list[str] = []

    def killed(entries):
        kept.extend(entry.event_id for entry in entries)
        rules = ids.digest("rules", memory.settings.model_dump_json(include=write_path._RULES))
        memory.journal.queue.join(kept, rules)
        return []

    memory._apply = killed  # type: ignore[method-assign]
    memory.save_many(notes)
    return kept


def test_what_a_killed_process_had_waiting_is_taken_in_by_the_next_turn(open_memory):
    dead, alive = open_memory(), open_memory()
    abandoned(dead, {"content": text(1), "key": "left"})
    assert alive.count() == 0
    alive.save(text(2))
    assert alive.count() == 2
    assert alive.get(ids.memory_id("ada", "left")).content == text(1)


@pytest.mark.parametrize("content", [text(1), text(2), "too short"], ids=["sound", "copy", "refused"])
def test_what_a_killed_turn_had_done_is_done_and_told_as_it_was(open_memory, content):
    """The turn ended between writing the tables and telling the others."""
    memory = open_memory(gate={"mode": "enforce", "min_characters": 20})
    memory.save(text(2))
    first = memory.save(content, key="k")
    before = memory.store.table("memories").version, memory.store.count("quarantine")
    again = memory._apply(memory.journal.about("ada", "k"))
    assert again == [first]
    assert (memory.store.table("memories").version, memory.store.count("quarantine")) == before


def test_answers_of_the_dead_do_not_stay(open_memory, monkeypatch):
    monkeypatch.setattr("slowwave.journal.group_commit_queue.EXPIRES_AFTER_SECONDS", -1)
    dead, alive = open_memory(), open_memory()
    (left,) = abandoned(dead, {"content": text(1), "key": "left"})
    alive.save(text(2))
    assert list(alive.journal.queue.answers([left])) == [left]
    (other,) = abandoned(dead, {"content": text(3), "key": "also left"})
    alive.save(text(4))
    assert list(alive.journal.queue.answers([left, other])) == [other]


def test_a_large_call_makes_its_vectors_before_its_turn(open_memory, monkeypatch):
    monkeypatch.setattr(write_path, "MAX_ENTRIES_PER_CALL", 2)
    memory = open_memory()
    memory.count()
    held: list[bool] = []
    embed = memory.embedder.embed_documents

    def watched(*arguments, **named):
        held.append(getattr(memory._space._turn, "held", False))
        return embed(*arguments, **named)

    monkeypatch.setattr(memory.embedder, "embed_documents", watched)
    memory.save_many([{"content": text(number)} for number in range(3)])
    memory.save(text(4))
    assert held == [False, True]
    assert memory.count() == 4


def test_who_saves_in_a_process_of_its_own_each_time_leaves_few_files(open_memory, monkeypatch):
    """Each of them commits when it ends, and puts the tables in order as one process does that saves all."""
    monkeypatch.setattr("slowwave.store.maintenance.COMMITS", 8)
    for number in range(20):
        with open_memory() as memory:
            assert memory.save(text(number)).status == "live"
    store = open_memory().store
    assert {name: len(store.dataset(name).get_fragments()) < 12 for name in ("memories", "chunks")} == {
        "memories": True,
        "chunks": True,
    }


def test_many_notes_of_one_call_do_not_wait_in_the_log(open_memory):
    memory = open_memory()
    memory.save_many([{"content": text(number)} for number in range(3)])
    assert memory.store.logged()
    memory.save_many(
        [{"content": text(number)} for number in range(3, 3 + write_path.MAX_ENTRIES_PER_CALL + 1)]
    )
    assert not memory.store.logged()
