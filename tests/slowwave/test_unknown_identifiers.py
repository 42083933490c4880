"""A search says which identifiers of its question no visible memory mentions, over a real store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from slowwave.index import mmap_snapshot
from slowwave.index.incremental_snapshot import leave_files
from slowwave.search import identifier_lookup

HASH = "9f2c1ab4e07d5533aa10bc93ee0417f6d2c8a9b1004f7e6d5c3b2a1908f7e6d5"
NOTES = [
    {
        "content": "The outage INC-4821 was caused by an expired certificate of the mail.",
        "key": "outage",
    },
    {"content": "Commit 9f2c1ab repairs the race in the uploader of tide readings.", "key": "commit"},
    {"content": "Invoice 4471 of the harbour office was paid in May, after a reminder.", "key": "invoice"},
    {"content": "Release 2.3.1 repairs the importer for gauges with two sensors.", "key": "release"},
    {"content": f"The image of the gauge has the digest {HASH} since the winter.", "key": "digest"},
    {"content": "The northern gauge hangs under the second pier.", "key": "gauge", "aliases": ["GAUGE-770"]},
    {"content": "Ishbel orders new batteries in the autumn.", "key": "TASK-615", "tags": ["PO-8812"]},
    {
        "content": "A phrase leads to the note on ropes of ZED-12.",
        "key": "ropes",
        "trigger_phrases": ["RMA 77-2291"],
    },
]


@pytest.fixture(params=["snapshot", "table", "file"])
def noted(request, open_memory, monkeypatch):
    """A memory whose searches read a snapshot, the table itself, or a mapped file."""
    memory = open_memory(store={"snapshot_mb": 0 if request.param == "table" else 64}, gate={"mode": "off"})
    memory.save_many(NOTES)
    if request.param == "file":
        left = leave_files(memory.store, 2**26, fewest=1)
        assert left.rows == {"ada": len(NOTES)}
        assert mmap_snapshot.TABLE == "chunks"
    return memory


KNOWN = [
    ("what caused INC-4821?", "outage"),
    ("what caused inc 4821?", "outage"),
    ("inc4821", "outage"),
    ("who closed #4821?", "outage"),
    ("what does 9f2c1ab repair?", "commit"),
    ("what does 9f2c1 repair?", "commit"),
    ("was invoice no. 4471 paid?", "invoice"),
    ("what came with v2.3.1?", "release"),
    ("what came with version 2.3?", "release"),
    (f"what has the digest {HASH}?", "digest"),
    ("where does GAUGE 770 hang?", "gauge"),
    ("what is TASK 615?", "TASK-615"),
    ("what is TASK-615?", "TASK-615"),
    ("what was PO-8812?", "TASK-615"),
    ("po8812", "TASK-615"),
    ("rma-77-2291", "ropes"),
    ("what was ticket 4821?", "outage"),
    ("Rechnung 4471?", "invoice"),
]
UNKNOWN = [
    ("what caused INC-4822?", "INC-4822"),
    ("what happened in version 2.4.2?", "version 2.4.2"),
    ("what caused ORD-4821?", "ORD-4821"),
    ("what does 9f2c1ac repair?", "9f2c1ac"),
    ("was order 4471 paid?", "order 4471"),
    ("what came with v2.3.2?", "v2.3.2"),
    (f"what has the digest {HASH[:-1]}f?", f"{HASH[:-1]}f"),
    ("where does GAUGE-771 hang?", "GAUGE-771"),
    ("what is TASK-616?", "TASK-616"),
    ("who booked with code QWXZRT?", "QWXZRT"),
    ("who runs Python 3.11?", "Python 3.11"),
    ("who has seat 14C?", "seat 14C"),
    ("is inc 4822 closed?", "inc 4822"),
    ("is zed 775 there?", "zed 775"),
]


def test_what_is_mentioned_in_any_spelling_is_not_said_to_be_missing(noted):
    for query, key in KNOWN:
        found = noted.search(query, limit=3)
        assert (query, found.unknown, found.unknown_message) == (query, (), "")
        assert key is None or (query, found[0].source) == (query, key)
        assert not any("only_near" in result.flags for result in found)


def test_what_nothing_mentions_is_said_and_results_are_marked(noted):
    for query, identifier in UNKNOWN:
        found = noted.search(query, limit=3, include_weak=True)
        assert (query, found.unknown) == (query, (identifier,))
        assert found.unknown_message.startswith(f"Nothing here mentions {identifier}.")
        assert all("only_near" in result.flags for result in found)
        assert found.unknown_message.endswith("The results are only near it.") == bool(found)


def test_what_few_memories_mention_is_no_question_without_an_answer(open_memory):
    memory = open_memory(gate={"mode": "off"}, ranking={"abstention_floor": 0.95})
    memory.save_many(NOTES)
    assert memory.search("inc-4821's colour?")[0].source == "outage"
    assert memory.search("the outage's colour?").abstained


def test_the_beginning_of_a_number_is_another_number_but_leads_to_it(noted):
    found = noted.search("INC-482")
    assert (found.unknown, found[0].source, found[0].flags) == (("INC-482",), "outage", ("only_near",))


def test_of_two_the_missing_one_is_named_and_results_are_of_the_other(noted):
    found = noted.search("compare INC-4821 and INC-4822")
    assert found.unknown_message == "Nothing here mentions INC-4822."
    assert (found[0].source, found[0].flags) == ("outage", ())


@pytest.mark.parametrize("size", [64, 0])
def test_what_the_caller_may_not_see_is_not_there(open_memory, size):
    memory = open_memory(store={"snapshot_mb": size}, gate={"mode": "off"})
    memory.save("The visible note has the number INC-1000 alone.")
    memory.save("The merger has the number INC-2000.", sensitivity="secret", aliases=["INC-2001"])
    memory.save("It was billed as usual.", key="INC-2002", tags=["INC-2003"], sensitivity="secret")
    gone = memory.save("The old matter was INC-3000.", aliases=["INC-3001"], trigger_phrases=["INC-3002"])
    memory.forget(gone.memory_id)
    open_memory("bob", store={"snapshot_mb": size}).save("Bob's matter is INC-5000.", aliases=["INC-5001"])
    closed = ("INC-2000", "INC-2001", "INC-2002", "INC-2003")
    for identifier in (*closed, "INC-3000", "INC-3001", "INC-3002", "INC-5000", "INC-5001", "INC-200"):
        found = memory.search(f"what is {identifier}?", explain=True)
        assert found.unknown == (identifier,)
        assert {result.memory_id for result in (*found, *found.not_shown)}.isdisjoint({gone.memory_id})
        assert "merger" not in str(found.to_dict())
    for identifier in closed:
        assert memory.search(f"what is {identifier}?", sensitivity="secret").unknown == ()
    assert memory.search("what is INC-1000?", sensitivity="secret").unknown == ()
    memory.unforget(gone.memory_id)
    assert memory.search("what is INC-3001?").unknown == ()


def test_the_beginning_of_an_id_is_no_unknown_identifier_if_it_is_long(open_memory):
    memory = open_memory(gate={"mode": "off"})
    saved = memory.save("The boat lies at the pier in winter.", key="4e3b9c70d1")
    assert memory.search(f"what says {saved.memory_id}?").unknown == ()
    found = memory.search("what says 4e3b9c70?")
    assert (found.unknown, found[0].memory_id) == ((), saved.memory_id)
    assert memory.search("what says 4e3b9?").unknown == ("4e3b9",)


def test_a_filter_hides_no_mention(noted):
    """It leaves the memory out of the results, and the memory mentions the identifier all the same."""
    found = noted.search("what caused INC-4821?", memory_type="decision", tags="none")
    assert (found.unknown, len(found)) == ((), 0)


def test_a_new_mention_counts_at_once_and_an_erased_one_no_more(open_memory):
    memory = open_memory(gate={"mode": "off"})
    memory.save("The boat lies at the pier in winter.")
    assert memory.search("INC-4822").unknown == ("INC-4822",)
    saved = memory.save("The crane was broken: INC-4822.")
    assert memory.search("INC 4822").unknown == ()
    memory.execute_erasure(memory.plan_erasure(saved.memory_id))
    assert memory.search("INC-4822").unknown == ("INC-4822",)


def test_a_past_day_knows_what_was_mentioned_then(open_memory, monkeypatch):
    memory = open_memory(gate={"mode": "off"})
    memory.save("The crane was broken: INC-4822.", aliases=["CRANE-300"])
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    for identifier in ("INC-4822", "CRANE-300"):
        assert memory.search(identifier).unknown == ()
        assert memory.search(identifier, as_of=yesterday).unknown == (identifier,)


def test_where_too_many_texts_have_its_words_nothing_is_said(noted, monkeypatch):
    """It is not known then, and a false "nothing" would be worse than none."""
    monkeypatch.setattr(identifier_lookup, "MAX_CHUNKS", 1)
    assert noted.search("what caused ORD-4821?").unknown == ()


def test_a_superseded_memory_mentions_it(open_memory):
    """Every caller may ask for it."""
    options = {"policy": "literal", "conflict": 0.3, "merge": 0.98, "duplicate": 0.99}
    memory = open_memory(gate={"mode": "off"}, reconsolidation=options)
    first = "The deploy day is Thursday since INC-4823 in March, decided by the whole team."
    memory.save(first, key="old")
    assert memory.save(first.replace("Thursday", "Friday").replace("INC-4823 in", "")).outcome == "supersede"
    assert memory.search("INC-4823").unknown == ()
