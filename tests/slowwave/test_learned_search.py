"""What was learned, in the search path: what it adds, and everything that must keep it from doing so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from evaluation_days import with_clock
from feedback_days import DAY, HOUR, at
from hypothesis import given
from hypothesis import strategies as st
from learned_rows import TTL, decide, lessons, teach
from logged_bytes import payload
from prepared import kept

import slowwave
from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.evaluation.variants import IN_FORCE, variants
from slowwave.journal.kinds.search import candidates_of
from slowwave.learning import events
from slowwave.learning.active_boosts import LearnedTriggers, live_terms
from slowwave.learning.isolation import prove
from slowwave.memory import Memory
from slowwave.scoring.evaluation.batch import Batch
from slowwave.scoring.evaluation.replay import replay as batch_replay
from slowwave.scoring.feedback.learned import live
from slowwave.scoring.feedback.policy import LearningPolicy
from slowwave.scoring.ranking import RankingPolicy
from slowwave.scoring.ranking.learned import LearnedTerms
from slowwave.search.log import replay
from slowwave.settings.ranking_file import write_policy
from slowwave.store.tables import CANARY_NAMESPACE

pytestmark = pytest.mark.usefixtures("learning_on")

PLACES = ("harbour", "island", "pier", "office", "station", "yard")
THINGS = ("ferry", "gauge", "crane", "battery", "buoy", "rail", "pump", "siren", "winch", "hatch")
WANTED = "The lamp above the door burns from dusk; Ruaridh has the second key."
QUERY = "gauge of the pier with kestrel"
NOON = at(10)


def notes() -> list[dict[str, str]]:
    found = [
        {"content": f"The {thing} at the {place} was looked at in week {row}: the {thing} is in order.",
         "key": f"{thing}-{place}", "title": f"{place.capitalize()} {thing}"}
        for row, place in enumerate(PLACES) for thing in THINGS
    ]  # fmt: skip
    return [*found, {"content": WANTED, "key": "lamp", "title": "Lamp"}]


LAMP = ids.memory_id("ada", "lamp")
GAUGE = ids.memory_id("ada", "gauge-pier")


@pytest.fixture
def learning(open_memory, home) -> Callable[..., Memory]:
    """A memory of 61 notes whose searches consider few of them; it is noon of the tenth of March."""

    def made(
        namespace: str = "ada", *, path: Path | None = None, interleave: float = 0.0, ranking=None, **groups
    ) -> Memory:
        folder = path or home

        def make() -> None:
            memory = open_memory(namespace, path=folder)
            with_clock(memory, 10)
            assert all(one.status == "live" for one in memory.save_many(notes()))
            memory.close()

        if folder.exists():
            make()
        else:
            kept(f"61 notes of {namespace}", folder, make)
        groups.setdefault("learning", {"interleave": interleave})
        ranked = {"candidates": 1, **(ranking or {})}
        memory = open_memory(namespace, path=folder, ranking=ranked, **groups)
        with_clock(memory, 10)
        return memory

    return made


@pytest.fixture
def taught(learning) -> Memory:
    """A memory whose lamp was learned to be meant by kestrels, and that is approved."""
    memory = learning()
    teach(memory.store, lessons(LAMP, "kestrel", taught=NOON - DAY))
    decide(memory, events.APPROVE)
    return memory


def found(memory: Memory, query: str = QUERY, **more) -> dict[str, float]:
    """What the search found and what learned terms add to it, shown or not."""
    response = memory.search(query, limit=1, **more)
    kept = memory.journal.get(response.search_id).payload["candidates"]
    states = kept.get("states", {})
    return {
        ids.memory_of(chunk): states.get(ids.memory_of(chunk), {}).get("learned", 0.0)
        for chunk in kept.get("chunk_id", [])
    }


def effect(memory: Memory, query: str = QUERY) -> float:
    """What learned terms add to the lamp; 0 where they do not even find it."""
    return found(memory, query).get(LAMP, 0.0)


def test_a_memory_that_only_a_learned_term_finds_comes_in_with_its_own_cosine_and_the_boost(taught):
    (lamp,) = taught.search("a kestrel", limit=1, explain=True)
    assert lamp.memory_id == LAMP
    assert lamp.explanation.channels == ("learned",)
    own = taught.store.read("chunks", f"memory_id = '{LAMP}'")["vector"][0].to_numpy()
    cosine = float(own @ taught.embedder.embed_query("a kestrel"))
    assert lamp.explanation.scores == {"cosine": pytest.approx(cosine, abs=1e-5)}
    (row,) = [row for row in lamp.explanation.contributions if row.source == "learned"]
    # The one learnable word; its last lesson is 23 hours old.
    assert row.value == pytest.approx(0.7 * (1 - 23 / 24 / 30) * 0.15)
    assert (row.field, row.term) == ("learned_triggers", "kestrel")
    assert "(learned)" in lamp.explanation.formula
    assert sum(row.value for row in lamp.explanation.contributions) == pytest.approx(lamp.score)


def test_two_terms_of_a_memory_are_named_with_their_parts(taught):
    teach(
        taught.store,
        [*lessons(LAMP, "kestrel", taught=NOON - DAY), *lessons(LAMP, "otter", taught=NOON - 16 * DAY)],
    )
    (lamp,) = taught.search("an otter, a falcon or a kestrel", limit=1, explain=True)
    rows = {row.term: row.value for row in lamp.explanation.contributions if row.source == "learned"}
    parts = {"kestrel": 1 - 23 / 24 / 30, "otter": 1 - (15 + 23 / 24) / 30}
    assert rows == {term: pytest.approx(0.7 * part / 3 * 0.15) for term, part in parts.items()}


def test_a_memory_that_the_text_finds_too_keeps_its_channels_and_gets_the_boost(learning):
    memory = learning()
    plain = {one.memory_id: one.score for one in memory.search("gauge of the pier", limit=3)}[GAUGE]
    teach(memory.store, lessons(GAUGE, "pier", taught=NOON - DAY))
    decide(memory, events.APPROVE)
    gauge = memory.search("gauge of the pier", limit=3, explain=True)[0]
    assert gauge.memory_id == GAUGE
    assert set(gauge.explanation.channels) == {"bm25", "learned", "vector"}
    added = {row.source: row.value for row in gauge.explanation.contributions}
    assert added["learned"] == pytest.approx(0.7 * 0.5 * (1 - 23 / 24 / 30) * 0.15)
    assert gauge.score > plain


def again(memory: Memory, response) -> list[tuple]:
    """What the journal says that a search showed."""
    ranking = replay(memory.journal.get(response.search_id).payload)
    return [(one.memory_id, one.score) for one in ranking.results]


def test_the_journal_gives_back_what_was_shown(taught):
    response = taught.search("kestrel", limit=5)
    assert again(taught, response) == [(one.memory_id, one.score) for one in response]
    assert response[0].memory_id == LAMP


# -- what keeps it from having an effect ----------------------------------------------------------


@pytest.mark.slow
def test_learning_that_is_off_or_closed_or_was_never_used_leaves_the_same_bytes(
    learning, monkeypatch, tmp_path
):
    never = learning()
    queries = (QUERY, "ferry of the island", "who has the lamp", "kestrel")
    before = [payload(never, query, monkeypatch) for query in queries]
    rows = lessons(LAMP, "kestrel", "pier", "ferri", "lamp", taught=NOON - DAY)
    off = learning(path=tmp_path / "off", learning={"enabled": False})
    teach(off.store, rows)
    decide(off, events.APPROVE)
    closed = learning(path=tmp_path / "closed")
    teach(closed.store, rows)
    for memory in (off, closed):
        assert [payload(memory, query, monkeypatch) for query in queries] == before
    decide(closed, events.APPROVE)
    assert not prove(closed.store)  # which writes a canary, whose record has an id of its own
    assert [payload(closed, query, monkeypatch) for query in queries] != before


@pytest.mark.parametrize("word", [events.WITHDRAW, events.REGRESSION])
def test_a_withdrawal_by_another_process_counts_from_the_next_search_on(taught, home, word):
    assert effect(taught) > 0
    other = Memory(taught.settings, namespace="ada")  # has connections of its own, as another process does
    try:
        decide(other, word, at=NOON + HOUR)
    finally:
        other.close()
    assert effect(taught) == 0
    decide(taught, events.APPROVE, at=NOON + 2 * HOUR)
    assert (effect(taught) > 0) == (word == events.WITHDRAW)  # a regression takes back what it found


def test_an_approval_of_another_namespace_is_none(learning):
    memory = learning()
    other = learning("bob")
    teach(memory.store, lessons(LAMP, "kestrel", taught=NOON - DAY))
    decide(other, events.APPROVE)
    assert effect(memory) == 0


def test_terms_of_another_namespace_find_nothing_here_and_show_nothing_of_there(learning):
    memory, other = learning(), learning("bob")
    theirs = ids.memory_id("bob", "lamp")
    rows = lessons(theirs, "kestrel", taught=NOON - DAY, namespace="bob")
    rows += lessons(theirs, "kestrel", taught=NOON - DAY, namespace="ada", proposal_id="forged")
    teach(memory.store, rows)
    for one in (memory, other):
        decide(one, events.APPROVE)
    assert theirs not in found(memory)
    assert LAMP not in found(memory)
    assert found(other)[theirs] > 0


@pytest.mark.parametrize(
    "rows",
    [
        lessons(LAMP, "kestrel", taught=NOON - DAY, questions=["once"]),
        lessons(LAMP, "kestrel", taught=NOON - DAY, questions=["same", "same"], proposal_id="x")[:1],
        lessons(LAMP, "kestrel", taught=NOON - TTL - HOUR),  # both have expired
        lessons(LAMP, "kestrel", taught=NOON - TTL),  # one is left
        lessons(LAMP, "kestrel", taught=NOON + HOUR),  # of tomorrow
        lessons(LAMP, "with", "of", "the", "session", taught=NOON - DAY),  # denied words
    ],
)
def test_what_is_no_live_term_has_no_effect(learning, rows):
    memory = learning()
    teach(memory.store, rows)
    decide(memory, events.APPROVE)
    assert effect(memory, f"{QUERY} session") == 0


def test_a_term_fades_and_is_gone_without_a_night_and_without_a_new_version(taught):
    full = effect(taught)
    taught._space.now.moment = NOON - DAY + TTL / 2
    assert 0.4 < effect(taught) / full < 0.6
    taught._space.now.moment = NOON - DAY + TTL - timedelta(seconds=1)
    assert 0 < effect(taught) < 0.01 * full
    taught._space.now.moment = NOON - DAY + TTL  # the first lesson expires: one question is left
    assert effect(taught) == 0


def test_two_people_must_have_taught_where_the_settings_say_so(learning):
    memory = learning(learning={"min_users": 2, "interleave": 0})
    rows = lessons(LAMP, "kestrel", taught=NOON - DAY)
    teach(memory.store, rows)
    decide(memory, events.APPROVE)
    assert effect(memory) == 0
    teach(memory.store, [rows[0], {**rows[1], "principal": "bea"}])
    assert effect(memory) > 0


@pytest.mark.parametrize(
    ("scope", "value"),
    [("everything", ""), ("memory", LAMP), ("search", "search-first"), ("principal", "ann"),
     ("since", (NOON - DAY).isoformat())],
)  # fmt: skip
def test_what_is_taken_back_in_the_journal_has_no_effect_while_its_rows_are_still_there(taught, scope, value):
    """Between the act and the deletion the process may be killed."""
    version = taught.store.version("learned_triggers")
    assert effect(taught) > 0
    assert effect(taught) > 0  # the first search commits the rows, so this one is remembered
    assert taught.store.version("learned_triggers") > version
    decide(taught, events.ROLLBACK, scope=scope, value=value)
    assert effect(taught) == 0


def test_a_rollback_of_something_else_leaves_it(taught):
    decide(taught, events.ROLLBACK, scope="memory", value=GAUGE)
    assert effect(taught) > 0


@pytest.mark.parametrize(
    "filters",
    [
        {"memory_type": "decision"},
        {"tags": "tide"},
        {"source": "vault/"},
        {"until": NOON - DAY},
        {"tier": "critical"},
    ],
)
def test_filters_hold_for_what_only_a_learned_term_finds(taught, filters):
    assert LAMP in found(taught)
    assert LAMP not in found(taught, **filters)


def test_what_is_secret_or_gone_is_not_brought_back_by_a_learned_term(learning):
    memory = learning()
    (secret,) = memory.save_many(
        [{"content": WANTED + " It is a secret.", "key": "s", "sensitivity": "secret"}]
    )
    teach(
        memory.store,
        lessons(secret.memory_id, "kestrel", taught=NOON - DAY) + lessons(LAMP, "kestrel", taught=NOON - DAY),
    )
    decide(memory, events.APPROVE)
    memory._space.now.moment = NOON + HOUR
    memory.forget(LAMP)
    shown = found(memory)
    assert not {LAMP, secret.memory_id} & set(shown)
    assert secret.memory_id in found(memory, sensitivity="secret")


def test_nothing_adds_more_than_the_cap_however_much_was_learned(learning):
    memory = learning()
    words = ["kestrel", "otter", "falcon", "walrus", "badger", "heron", "gannet", "plover"]
    teach(
        memory.store, lessons(LAMP, *words, taught=NOON - DAY, questions=[str(number) for number in range(9)])
    )
    decide(memory, events.APPROVE)
    added = found(memory, " ".join(words))[LAMP]
    assert added <= 0.7 * 0.15


def test_a_policy_without_learned_scores_does_not_find_by_them_either(learning, tmp_path):
    write_policy(tmp_path / "own.json", RankingPolicy(learned_cap=0.0), {})
    memory = learning(ranking={"policy_file": tmp_path / "own.json"})
    teach(memory.store, lessons(LAMP, "kestrel", taught=NOON - DAY))
    decide(memory, events.APPROVE)
    assert LAMP not in found(memory)


def test_a_past_day_is_answered_with_what_was_approved_and_learned_then(taught):
    clock = taught._space.now
    clock.moment = NOON + 5 * DAY
    decide(taught, events.WITHDRAW)
    first = {
        day: [one.memory_id for one in taught.search("kestrel", limit=1, as_of=at(day).date())]
        for day in (10, 14, 15)
    }
    assert {day: names == [LAMP] for day, names in first.items()} == {10: True, 14: True, 15: False}


def test_the_canary_is_in_no_search_and_no_namespace(taught):
    assert effect(taught) > 0  # the proof was asked, so it is there
    rows = taught.store.read("learned_triggers", f"namespace = '{CANARY_NAMESPACE}'")
    assert rows.height == 1
    with pytest.raises(SlowwaveError, match="Namespace"):
        slowwave.open(taught.settings.home, namespace=CANARY_NAMESPACE)
    assert CANARY_NAMESPACE not in {one.memory_id for one in taught.search(rows["term"][0], limit=50)}


# -- showing both rankings in turn ----------------------------------------------------------------


def drawn(memory: Memory, times: int = 40, **more) -> list[dict | None]:
    kept = []
    for _ in range(times):
        response = memory.search(QUERY, limit=5, **more)
        entry = memory.journal.get(response.search_id)
        kept.append(entry and entry.payload.get("interleaving"))
    return kept


@pytest.mark.slow
def test_a_share_of_the_searches_that_learning_changes_shows_both_rankings(learning):
    memory = learning(interleave=0.5)
    assert drawn(memory, 8) == [None] * 8
    teach(memory.store, lessons(LAMP, "kestrel", taught=NOON - DAY))
    assert drawn(memory, 8) == [None] * 8
    decide(memory, events.APPROVE)
    kept = drawn(memory)
    assert 5 <= sum(one is not None for one in kept) <= 35  # else one in 10 million
    (other,) = {one["policy_version"] for one in kept if one}
    assert other == replace(memory.policy, learned_cap=0.0).version


@pytest.mark.parametrize(("share", "times"), [(0.0, 0), (1.0, 6)])
def test_the_share_is_a_setting(learning, share, times):
    memory = learning(interleave=share)
    teach(memory.store, lessons(LAMP, "kestrel", taught=NOON - DAY))
    decide(memory, events.APPROVE)
    assert sum(one is not None for one in drawn(memory, 6)) == times
    assert memory.search("ferry of the island").search_id  # nothing learned has a word of it
    response = memory.search("ferry of the island")
    assert "interleaving" not in memory.journal.get(response.search_id).payload


def test_what_was_shown_in_turn_can_be_drawn_again(learning):
    memory = learning(interleave=1.0)
    teach(memory.store, lessons(LAMP, "kestrel", taught=NOON - DAY))
    decide(memory, events.APPROVE)
    for _ in range(5):
        response = memory.search("kestrel", limit=5)
        assert again(memory, response) == [(one.memory_id, one.score) for one in response]


def test_a_policy_that_is_being_tried_comes_first(learning, tmp_path):
    other = RankingPolicy(name="other", vector_weight=0.0)
    write_policy(tmp_path / "other.json", other, {})
    memory = learning(interleave=1.0, evaluation={"interleave": tmp_path / "other.json"})
    teach(memory.store, lessons(LAMP, "kestrel", taught=NOON - DAY))
    decide(memory, events.APPROVE)
    assert {one["policy_version"] for one in drawn(memory, 5) if one} == {other.version}


# -- what it would be without ---------------------------------------------------------------------


def test_without_the_learned_channel_a_search_is_what_it_was_before_anything_was_learned(learning):
    memory = learning()
    tried = {one.variant.name: one for one in variants(memory.policy, memory.settings.evaluation)}
    assert tried["without learned"].role == "channel"

    def ranked(name: str, query: str) -> list[tuple]:
        kept = memory.journal.get(memory.search(query, limit=1).search_id).payload
        batch = Batch.of([(candidates_of(kept), NOON, 5)])
        return batch_replay(batch, [tried[name].variant]).select("memory_id", "score").rows()

    names = ("without learned", "BM25 alone", "vectors alone", "RRF", IN_FORCE)
    queries = ("kestrel", QUERY)
    before = {name: [ranked(name, query) for query in queries] for name in names}
    teach(
        memory.store,
        lessons(LAMP, "kestrel", taught=NOON - DAY) + lessons(GAUGE, "kestrel", taught=NOON - DAY),
    )
    decide(memory, events.APPROVE)
    after = {name: [ranked(name, query) for query in queries] for name in names}
    assert after.pop(IN_FORCE) != before.pop(IN_FORCE)
    assert after == before


# -- terms kept between searches are those of each moment -----------------------------------------

_HOURS = st.integers(0, 60)
_LESSON = st.tuples(
    st.sampled_from("ab"),
    st.sampled_from(["kestrel", "otter"]),
    st.sampled_from("qrs"),
    st.sampled_from("xyz"),
    _HOURS,
)


@given(st.lists(_LESSON, max_size=14), _HOURS, _HOURS, st.integers(1, 3), st.integers(1, 2))
def test_terms_put_together_once_are_right_at_every_later_moment(given_lessons, first, later, least, people):
    policy = LearningPolicy(ttl_days=1.0, min_queries=least, min_users=people)
    rows = pl.DataFrame(
        [
            ("ada", memory, term, question, who, str(turn), at(1, hour), at(1, hour) + policy.ttl)
            for turn, (memory, term, question, who, hour) in enumerate(given_lessons)
        ],
        schema={
            "namespace": pl.String, "memory_id": pl.String, "term": pl.String, "question": pl.String,
            "principal": pl.String, "search_id": pl.String, "taught_at": pl.Datetime("us", "UTC"),
            "expires_at": pl.Datetime("us", "UTC"),
        }, orient="row",
    )  # fmt: skip
    start, now = at(1, first), at(1, first + later)
    known = rows.filter(pl.col("taught_at") < start)
    kept = LearnedTerms(live_terms(known, start, policy), policy.ttl)
    fresh = LearnedTerms(live(known, now, policy), policy.ttl)
    assert kept.match("kestrel or otter", now) == fresh.match("kestrel or otter", now)


def test_what_begins_to_count_later_is_put_together_again(taught):
    reader = LearnedTriggers(taught.home)
    teach(taught.store, lessons(GAUGE, "kestrel", taught=NOON + HOUR))
    assert GAUGE not in reader.match("ada", QUERY, NOON)
    assert GAUGE in reader.match("ada", QUERY, NOON + 3 * HOUR)
    assert GAUGE not in reader.match("ada", QUERY, NOON)


def test_a_journal_that_cannot_be_read_costs_what_was_learned_and_not_the_search(taught, monkeypatch):
    from slowwave.journal import JournalError

    def broken(*_) -> int:
        raise JournalError("the disk is gone")

    assert effect(taught) > 0
    monkeypatch.setattr(type(taught.journal), "count", broken)
    (shown,) = response = taught.search("kestrel", limit=1)
    assert shown.memory_id != LAMP
    assert "the disk is gone" in response.warnings[0]
