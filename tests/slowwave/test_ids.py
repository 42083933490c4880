from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from slowwave.common import ids
from slowwave.scoring.days import to_microseconds

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
words = st.text(max_size=20).filter(lambda text: text.isascii() or text.isprintable())
moments = st.integers(0, 10**16).map(
    lambda count: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=count)
)


def test_a_digest_is_blake2b_of_length_prefixed_parts():
    plain = b"\0" * 7 + b"\x01" + b"a" + b"\0" * 7 + b"\x02" + "é".encode()
    assert ids.digest("a", "é") == hashlib.blake2b(plain, digest_size=16).hexdigest()


@given(st.lists(words, max_size=4), st.lists(words, max_size=4))
def test_parts_of_a_digest_never_run_together(first, second):
    assert (ids.digest(*first) == ids.digest(*second)) == (first == second)


def test_a_memory_id_is_the_same_on_every_machine():
    raw = bytes.fromhex(ids.digest("memory", "ada", "notes/a.md"))
    found = ids.memory_id("ada", "notes/a.md")
    assert found == base64.b32encode(raw).decode().rstrip("=").lower()
    assert len(found) == 26
    assert found.isalnum()


def test_namespaces_never_share_a_memory_id():
    assert ids.memory_id("ada", "a.md") != ids.memory_id("bob", "a.md")
    assert ids.memory_id("ada", "b/a.md") != ids.memory_id("ada/b", "a.md")


@given(st.lists(st.integers(0, 99_999), min_size=2, max_size=10, unique=True))
def test_chunk_ids_sort_in_document_order(ordinals):
    memory = ids.memory_id("ada", "a.md")
    made = [ids.chunk_id(memory, ordinal) for ordinal in ordinals]
    assert sorted(made) == [ids.chunk_id(memory, ordinal) for ordinal in sorted(ordinals)]
    assert {ids.memory_of(chunk) for chunk in made} == {memory}


def test_an_embedding_hash_belongs_to_a_model_and_a_text():
    assert ids.embedding_hash("m", "text") == ids.embedding_hash("m", "text")
    assert len({ids.embedding_hash(m, t) for m in ("m", "n") for t in ("text", "Text")}) == 4


def test_event_ids_are_fresh():
    assert len({ids.new_event_id() for _ in range(100)}) == 100
    assert len(ids.new_event_id()) == 32


def test_microseconds_count_from_1970():
    assert to_microseconds(datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC)) == 1_000_005
    assert to_microseconds(datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)) == -1_000_000
    ahead = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert to_microseconds(ahead) == to_microseconds(NOON) == 1_772_366_400_000_000


@given(moments, moments, words, words)
def test_later_acts_have_greater_revisions(first, second, one, other):
    expected = (first, one) < (second, other)
    assert (ids.revision(first, one) < ids.revision(second, other)) == expected


@given(moments, words.filter(lambda text: "+" not in text), st.lists(words, max_size=4))
def test_a_state_revision_names_the_text_and_the_standing(moment, event, standing):
    own = ids.revision(moment, event)
    state = ids.state_revision(own, *standing)
    assert ids.note_revision(state) == own
    assert (state == own) == (not standing)
    assert state == ids.state_revision(own, *standing)
    assert state != ids.state_revision(own, *standing, "more")


@given(moments, moments, words.filter(lambda text: "+" not in text))
def test_a_later_text_is_newer_whatever_the_standing_of_the_earlier_one(first, second, event):
    early, late = sorted([first, second])
    if early != late:
        merged = ids.state_revision(ids.revision(early, event), "merged", "other")
        assert merged < ids.revision(late, event)


def test_a_decision_belongs_to_one_version_of_a_memory():
    named = {ids.decision_id(memory, version) for memory in ("a", "b") for version in ("1", "2")}
    assert len(named) == 4
    assert {len(name) for name in named} == {20}
    assert ids.decision_id("a", "1") == ids.decision_id("a", "1")
