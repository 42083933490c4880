"""Search keys in the search path: what they add, and everything that keeps them from doing so (rule 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from evaluation_days import with_clock
from feedback_days import DAY, HOUR, at
from key_life import TTL, keys, lead_to
from learned_rows import decide, lessons, teach
from logged_bytes import payload
from prepared import kept
from warehouse_rows import put

from slowwave.common import ids
from slowwave.learning import events
from slowwave.memory import Memory
from slowwave.scoring.feedback.learned import KEYS, WORDS
from slowwave.scoring.ranking import RankingPolicy
from slowwave.search.log import replay
from slowwave.settings.ranking_file import write_policy

pytestmark = pytest.mark.usefixtures("learning_on")

PLACES = ("harbour", "island", "pier", "office", "station", "yard")
THINGS = ("ferry", "gauge", "crane", "battery", "buoy")
WANTED = "The lamp above the door burns from dusk; Ruaridh has the second key."
QUERY = "what is the kestrel for?"
NEAR = "what was the kestrel for?"
FAR = "crane of the station in week four"
NOON = at(10)
LAMP = ids.memory_id("ada", "lamp")
GAUGE = ids.memory_id("ada", "gauge-pier")


def notes() -> list[dict[str, str]]:
    found = [
        {"content": f"The {thing} at the {place} was looked at in week {row}: the {thing} is in order.",
         "key": f"{thing}-{place}", "title": f"{place.capitalize()} {thing}"}
        for row, place in enumerate(PLACES) for thing in THINGS
    ]  # fmt: skip
    return [*found, {"content": WANTED, "key": "lamp", "title": "Lamp"}]


@pytest.fixture
def learning(open_memory: Callable[..., Memory], home: Path) -> Callable[..., Memory]:
    """A memory of 31 notes whose searches consider few of them; it is noon of the tenth of March."""

    def made(
        namespace: str = "ada",
        *,
        path: Path | None = None,
        interleave: float = 0.0,
        ranking: Any = None,
        **groups: Any,
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
            kept(f"31 notes of {namespace}", folder, make)
        groups.setdefault("learning", {"interleave": interleave})
        ranked = {"candidates": 1, **(ranking or {})}
        memory = open_memory(namespace, path=folder, ranking=ranked, **groups)
        with_clock(memory, 10)
        return memory

    return made


@pytest.fixture
def led(learning: Callable[..., Memory]) -> Memory:
    """A memory whose lamp a past question led to, and that is approved."""
    memory = learning()
    lead_to(memory._space, keys(LAMP, QUERY, taught=NOON - DAY))
    decide(memory, events.APPROVE, kind=KEYS)
    return memory


def added(memory: Memory, query: str = QUERY, source: str = "key", **more: Any) -> dict[str, float]:
    """What keys (or words) add to the memories that a search shows."""
    found = memory.search(query, limit=40, explain=True, **more)
    rows = [(one.memory_id, row) for one in found for row in one.explanation.contributions]
    return {name: row.value for name, row in rows if row.source == source}


def lift(memory: Memory, query: str = QUERY, **more: Any) -> float:
    """What keys add to the lamp; 0 where they do not even find it."""
    return added(memory, query, **more).get(LAMP, 0.0)


def words(memory: Memory, query: str = QUERY) -> float:
    """What learned words add to the lamp."""
    return added(memory, query, "learned").get(LAMP, 0.0)


def shown(memory: Memory, query: str = QUERY, **more: Any) -> dict[str, Any]:
    """All that a search says, but for what names it and how long it took."""
    told = memory.search(query, limit=8, explain=True, **more).to_dict()
    del told["search_id"], told["timings"]
    return told


# -- what keys add ---------------------------------------------------------------------------------


def test_a_memory_that_only_a_key_found_comes_in_with_its_own_cosine_and_the_lift(learning):
    memory = learning()
    far = ids.memory_id("ada", "battery-yard")
    lead_to(memory._space, keys(far, QUERY, taught=NOON - DAY))
    decide(memory, events.APPROVE, kind=KEYS)
    (one,) = memory.search(QUERY, limit=1, explain=True)
    assert one.memory_id == far
    assert one.explanation.channels == ("keys",)
    own = memory.store.read("chunks", f"memory_id = '{far}'")["vector"][0].to_numpy()
    cosine = float(own @ memory.embedder.embed_query(QUERY))
    assert one.explanation.scores == {"cosine": pytest.approx(cosine, abs=1e-5)}
    (row,) = [row for row in one.explanation.contributions if row.source == "key"]
    left = 1 - 0.5 / 180  # at the beginning of the day the key is half a day old
    assert row.value == pytest.approx(
        memory.policy.key_weight * left / (left + memory._space.key_policy.impression_pseudocount)
    )
    assert sum(row.value for row in one.explanation.contributions) == pytest.approx(one.score)


def test_the_explanation_says_which_questions_led_there(led):
    rows = keys(LAMP, QUERY, "why is there a kestrel?", taught=NOON - 6 * DAY)
    lead_to(led._space, rows[:1])
    (row,) = [row for row in led.search(NEAR, limit=1, explain=True)[0].explanation.contributions
              if row.source == "key"]  # fmt: skip
    vectors = [led.embedder.embed_query(query) for query in (NEAR, QUERY)]
    nearest = f"nearest {vectors[0] @ vectors[1]:.2f}"
    assert (row.field, row.term) == ("search_keys", f"1 similar search, {nearest} (“{QUERY}”, 4 March)")
    lead_to(led._space, [*rows, *keys(LAMP, NEAR, taught=NOON - DAY, search_id="x")])
    (row,) = [row for row in led.search(QUERY, limit=1, explain=True)[0].explanation.contributions
              if row.source == "key"]  # fmt: skip
    assert row.term.startswith("3 similar searches, nearest 1.00")
    assert QUERY in row.term


def test_a_question_that_is_like_none_is_led_nowhere(led):
    assert lift(led) > 0
    assert lift(led, NEAR) > 0
    assert added(led, FAR) == {}


def test_a_memory_that_the_text_finds_too_keeps_its_channels_and_is_lifted(learning):
    memory = learning()
    asked = "gauge of the pier"
    plain = {one.memory_id: one.score for one in memory.search(asked, limit=3)}[GAUGE]
    lead_to(memory._space, keys(GAUGE, asked, taught=NOON - DAY))
    decide(memory, events.APPROVE, kind=KEYS)
    gauge = memory.search(asked, limit=3, explain=True)[0]
    assert gauge.memory_id == GAUGE
    assert set(gauge.explanation.channels) == {"bm25", "keys", "vector"}
    assert gauge.score > plain
    assert sum(row.value for row in gauge.explanation.contributions) == pytest.approx(gauge.score)


def test_what_was_shown_and_not_taken_lifts_less_and_nothing_alone(learning):
    memory = learning()
    lead_to(memory._space, keys(LAMP, QUERY, taught=NOON - DAY))
    decide(memory, events.APPROVE, kind=KEYS)
    full = lift(memory)
    looked = keys(LAMP, NEAR, taught=NOON - DAY, taken=0.0, search_id="in vain", principal="bob")
    others = keys(GAUGE, NEAR, taught=NOON - DAY, search_id="in vain", principal="bob")
    lead_to(memory._space, [*keys(LAMP, QUERY, taught=NOON - DAY), *looked, *others])
    assert 0 < lift(memory) < full
    lead_to(memory._space, looked)
    assert added(memory) == {}


def test_the_journal_gives_back_what_was_shown(led):
    response = led.search(QUERY, limit=5)
    ranking = replay(led.journal.get(response.search_id).payload)
    assert [(one.memory_id, one.score) for one in ranking.results] == [
        (one.memory_id, one.score) for one in response
    ]
    assert response[0].memory_id == LAMP


def test_nothing_adds_more_than_the_weight_however_many_questions_led_there(learning):
    memory = learning()
    asked = [f"what is the kestrel for{'?' * turn}" for turn in range(1, 9)]
    rows = [
        row
        for turn, query in enumerate(asked)
        for row in keys(LAMP, query, taught=NOON - DAY, search_id=f"s{turn}", examined=0.1)
    ]
    lead_to(memory._space, rows)
    decide(memory, events.APPROVE, kind=KEYS)
    assert 0.2 < lift(memory, asked[0]) <= memory.policy.key_weight + 1e-9


# -- what keeps them from having an effect ---------------------------------------------------------


def test_nothing_before_an_approval_and_nothing_after_a_withdrawal_by_another_process(learning):
    memory = learning()
    lead_to(memory._space, keys(LAMP, QUERY, taught=NOON - DAY))
    assert lift(memory) == 0
    decide(memory, events.APPROVE, kind=KEYS)
    assert lift(memory) > 0
    other = Memory(memory.settings, namespace="ada")  # has connections of its own, as another process does
    try:
        decide(other, events.WITHDRAW, at=NOON + HOUR, kind=KEYS)
    finally:
        other.close()
    assert lift(memory) == 0
    decide(memory, events.APPROVE, at=NOON + 2 * HOUR, kind=KEYS)
    assert lift(memory) > 0


def test_a_regression_takes_them_back(led):
    decide(led, events.REGRESSION, kind=KEYS)
    decide(led, events.APPROVE, at=NOON + HOUR, kind=KEYS)
    assert lift(led) == 0


@pytest.mark.slow
def test_keys_that_are_off_or_closed_or_were_never_learned_leave_the_same_bytes(
    learning, monkeypatch, tmp_path
):
    queries = (QUERY, NEAR, "ferry of the island", "who has the lamp")
    rows = keys(LAMP, *queries, taught=NOON - DAY)

    def said(memory: Memory) -> list[tuple[dict, bytes]]:
        return [(shown(memory, query), payload(memory, query, monkeypatch)) for query in queries]

    before = said(learning())
    write_policy(tmp_path / "own.json", RankingPolicy(key_weight=0.0), {})
    for name, groups in {
        "disabled": {"learning": {"enabled": False}},
        "off": {"learning": {"keys": False, "interleave": 0}},
    }.items():
        memory = learning(path=tmp_path / name, **groups)
        lead_to(memory._space, rows)
        decide(memory, events.APPROVE, kind=KEYS)
        assert said(memory) == before, name
    closed = learning(path=tmp_path / "closed")
    lead_to(closed._space, rows)
    assert said(closed) == before
    decide(closed, events.APPROVE, kind=KEYS)
    assert said(closed) != before
    weightless = learning(path=tmp_path / "none", ranking={"policy_file": tmp_path / "own.json"})
    lead_to(weightless._space, rows)
    decide(weightless, events.APPROVE, kind=KEYS)
    assert added(weightless) == {}


def test_a_key_lifts_from_the_day_after_without_a_night_or_a_write(learning):
    memory = learning()
    lead_to(memory._space, keys(LAMP, QUERY, taught=at(10, 1)))
    decide(memory, events.APPROVE, kind=KEYS)
    assert lift(memory) == 0
    memory._space.now.moment = at(10, 23.99)
    assert lift(memory) == 0
    memory._space.now.moment = at(11, 0.01)
    assert lift(memory) > 0


def test_a_key_fades_and_is_gone_without_a_night(led):
    full = lift(led)
    led._space.now.moment = NOON + TTL / 2
    assert 0 < lift(led) < full
    led._space.now.moment = NOON - DAY + TTL - timedelta(hours=13)  # its last whole day
    assert lift(led) > 0
    led._space.now.moment = NOON - DAY + TTL + DAY
    assert lift(led) == 0


def test_keys_of_another_namespace_lead_nowhere_here(learning):
    memory, other = learning(), learning("bob")
    theirs = ids.memory_id("bob", "lamp")
    rows = keys(theirs, QUERY, taught=NOON - DAY, namespace="bob")
    forged = keys(theirs, QUERY, taught=NOON - DAY, search_id="forged")
    lead_to(memory._space, [*rows, *forged])
    for one in (memory, other):
        decide(one, events.APPROVE, kind=KEYS)
    assert added(memory) == {}
    assert theirs not in {one.memory_id for one in memory.search(QUERY, limit=40)}
    assert added(other)[theirs] > 0


def test_an_approval_of_another_namespace_is_none(learning):
    memory, other = learning(), learning("bob")
    lead_to(memory._space, keys(LAMP, QUERY, taught=NOON - DAY))
    decide(other, events.APPROVE, kind=KEYS)
    assert added(memory) == {}


def test_what_is_secret_or_gone_is_not_brought_back_by_a_key(learning):
    memory = learning()
    (secret,) = memory.save_many(
        [{"content": WANTED + " It is a secret.", "key": "s", "sensitivity": "secret"}]
    )
    lead_to(
        memory._space,
        [
            *keys(secret.memory_id, QUERY, taught=NOON - DAY),
            *keys(LAMP, QUERY, taught=NOON - DAY),
            *keys(GAUGE, QUERY, taught=NOON - DAY),
        ],
    )
    decide(memory, events.APPROVE, kind=KEYS)
    memory._space.now.moment = NOON + HOUR
    memory.forget(LAMP)
    assert set(added(memory)) == {GAUGE}
    assert secret.memory_id in added(memory, sensitivity="secret")


def test_a_question_that_a_secret_memory_was_shown_for_is_not_told(learning):
    memory = learning()
    (secret,) = memory.save_many([{"content": "The code of the safe is 4711.", "key": "s",
                                   "sensitivity": "secret"}])  # fmt: skip
    lead_to(memory._space, keys(GAUGE, QUERY, taught=NOON - DAY))
    decide(memory, events.APPROVE, kind=KEYS)

    def told() -> str:
        found = {one.memory_id: one for one in memory.search(QUERY, limit=5, explain=True)}[GAUGE]
        return next(row.term for row in found.explanation.contributions if row.source == "key")

    assert QUERY in told()
    put(memory.store, "searches", [
        {"namespace": "ada", "search_id": "search-0", "day": "2026-03-09", "query": QUERY.upper(),
         "shown": [{"memory_id": secret.memory_id, "rank": 1, "score": 0.5, "channels": [], "chunks": [],
                    "best": f"{secret.memory_id}:00000"}]}
    ])  # fmt: skip
    assert told() == "1 similar search, nearest 1.00"
    assert "kestrel" not in str(memory.learning.keys().to_dicts())


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
def test_filters_hold_for_what_only_a_key_finds(led, filters):
    assert lift(led) > 0
    assert LAMP not in {one.memory_id for one in led.search(QUERY, limit=40, **filters)}


def test_a_save_in_between_does_not_lose_them(led):
    full = lift(led)
    led.save("The paint of the mast holds for about six winters at sea, people say.", key="new")
    assert lift(led) == full
    led.save(WANTED, key="lamp", title="Lamp", tags=["house"])  # says the same
    assert lift(led) == full
    led.save("The lamp is gone; where it was there is a bell, and Morag rings it.", key="lamp", title="Lamp")
    assert lift(led) == 0
    led._space.now.moment = NOON + HOUR
    led.save(WANTED, key="lamp", title="Lamp")
    assert lift(led) == full


def test_a_journal_that_cannot_be_read_costs_what_was_learned_and_not_the_search(led, monkeypatch):
    from slowwave.journal import JournalError

    def broken(*_: object) -> int:
        raise JournalError("the disk is gone")

    assert lift(led) > 0
    monkeypatch.setattr(type(led.journal), "count", broken)
    response = led.search(QUERY, limit=1)
    assert response[0].memory_id != LAMP
    assert "the disk is gone" in response.warnings[0]


def test_a_past_day_is_answered_with_what_was_approved_and_learned_then(led):
    led._space.now.moment = NOON + 5 * DAY
    decide(led, events.WITHDRAW, kind=KEYS)
    first = {
        day: [one.memory_id for one in led.search(QUERY, limit=1, as_of=at(day).date())]
        for day in (10, 14, 15)
    }
    assert {day: names == [LAMP] for day, names in first.items()} == {10: True, 14: True, 15: False}


# -- taking back -----------------------------------------------------------------------------------

SCOPES = {
    "everything": ("", {"kept": 0}),
    "memory": (LAMP, {"kept": 1}),
    "search": ("search-0", {"kept": 1}),
    "principal": ("bob", {"kept": 1}),
    "since": ((NOON - 2 * DAY).isoformat(), {"kept": 1}),
}


@pytest.fixture
def both_led(learning: Callable[..., Memory]) -> Memory:
    """The lamp and, by another person's search of long ago, the gauge."""
    memory = learning()
    rows = keys(LAMP, QUERY, taught=NOON - DAY, principal="bob")
    rows += keys(GAUGE, QUERY, taught=NOON - 9 * DAY, search_id="old", principal="ann")
    lead_to(memory._space, rows)
    decide(memory, events.APPROVE, kind=KEYS)
    assert set(added(memory)) == {LAMP, GAUGE}
    return memory


@pytest.mark.parametrize("scope", SCOPES)
def test_what_is_taken_back_in_the_journal_has_no_effect_while_its_rows_are_still_there(both_led, scope):
    """Between the act and the deletion the process may be killed."""
    value, _ = SCOPES[scope]
    decide(both_led, events.ROLLBACK, scope=scope, value=value, kind=KEYS)
    assert both_led.store.count("search_keys") == 2
    assert set(added(both_led)) == (set() if scope == "everything" else {GAUGE})


@pytest.mark.parametrize("scope", SCOPES)
def test_a_rollback_is_exact_and_in_the_log(both_led, scope):
    value, wanted = SCOPES[scope]
    before = both_led.store.read("search_keys").sort("key_id")
    done = both_led.learning.roll_back(scope, value, who="ida", why="a test", kind=KEYS)
    left = both_led.store.read("search_keys").sort("key_id")
    assert left.height == wanted["kept"]
    assert left.equals(before.filter(before["key_id"].is_in(left["key_id"].implode())))
    assert (done.live, done.applied.height, done.kind) == (2 - left.height, 2 - left.height, KEYS)
    log = both_led.store.read("learning_log", "action = 'rollback' AND memory_id IS NOT NULL")
    assert sorted(log["memory_id"]) == sorted(before.join(left, on="key_id", how="anti")["memory_id"])
    assert set(log["kind"]) == {KEYS}
    assert set(added(both_led)) == (set() if scope == "everything" else {GAUGE})


def test_after_a_rollback_the_search_is_what_it_was_before_anything_was_learned(learning, tmp_path):
    before = shown(learning())
    memory = learning(path=tmp_path / "other")
    lead_to(memory._space, keys(LAMP, QUERY, taught=NOON - DAY))
    decide(memory, events.APPROVE, kind=KEYS)
    assert shown(memory) != before
    memory.learning.roll_back("everything", who="ida", kind=KEYS)
    assert shown(memory) == before


def test_what_is_taught_after_a_rollback_stands(led):
    decide(led, events.ROLLBACK, scope="everything", value="", kind=KEYS)
    later = keys(LAMP, QUERY, taught=NOON + HOUR, search_id="later")
    lead_to(led._space, [*keys(LAMP, QUERY, taught=NOON - DAY), *later])
    led._space.now.moment = NOON + DAY
    assert lift(led) > 0


# -- words and keys apart --------------------------------------------------------------------------


@pytest.fixture
def two(learning: Callable[..., Memory]) -> Memory:
    """The lamp is learned by a word and by a question; nothing is approved."""
    memory = learning()
    teach(memory.store, lessons(LAMP, "kestrel", taught=NOON - DAY))
    lead_to(memory._space, keys(LAMP, QUERY, taught=NOON - DAY))
    return memory


def effects(memory: Memory) -> tuple[bool, bool]:
    """Whether words, and whether keys, add anything to the lamp."""
    return words(memory) > 0, lift(memory) > 0


def test_each_is_approved_and_withdrawn_by_itself(two):
    assert effects(two) == (False, False)
    decide(two, events.APPROVE, kind=KEYS)
    assert effects(two) == (False, True)
    decide(two, events.APPROVE, at=NOON + HOUR, kind=WORDS)
    assert effects(two) == (True, True)
    decide(two, events.WITHDRAW, at=NOON + 2 * HOUR, kind=KEYS)
    assert effects(two) == (True, False)
    decide(two, events.APPROVE, at=NOON + 3 * HOUR, kind=KEYS)
    decide(two, events.WITHDRAW, at=NOON + 4 * HOUR, kind=WORDS)
    assert effects(two) == (False, True)


@pytest.mark.parametrize(("kind", "left"), [(KEYS, (True, False)), (WORDS, (False, True))])
def test_each_is_taken_back_by_itself(two, kind, left):
    for one in (KEYS, WORDS):
        decide(two, events.APPROVE, kind=one)
    other = {KEYS: "learned_triggers", WORDS: "search_keys"}[kind]
    before = two.store.read(other, "day < '~'")
    two.learning.roll_back("everything", who="ida", kind=kind)
    assert effects(two) == left
    assert two.store.read(other, "day < '~'").equals(before)


@pytest.mark.parametrize(("kind", "left"), [(KEYS, (True, False)), (WORDS, (False, True))])
def test_a_regression_of_one_leaves_the_other(two, kind, left):
    for one in (KEYS, WORDS):
        decide(two, events.APPROVE, kind=one)
    decide(two, events.REGRESSION, at=NOON + HOUR, kind=kind)
    assert effects(two) == left


def test_what_earlier_code_wrote_approves_words_alone_and_takes_back_both(two):
    """It knew of no kinds: an approval was one of words, a withdrawal was one of all there was."""
    decide(two, events.APPROVE)
    assert effects(two) == (True, False)
    decide(two, events.APPROVE, at=NOON + HOUR, kind=KEYS)
    assert effects(two) == (True, True)
    decide(two, events.WITHDRAW, at=NOON + 2 * HOUR)
    assert effects(two) == (False, False)


@pytest.mark.parametrize(
    ("settings", "left"), [({"words": False}, (False, True)), ({"keys": False}, (True, False))]
)
def test_each_is_switched_off_by_itself(learning, settings, left):
    memory = learning(learning={"interleave": 0.0, **settings})
    teach(memory.store, lessons(LAMP, "kestrel", taught=NOON - DAY))
    lead_to(memory._space, keys(LAMP, QUERY, taught=NOON - DAY))
    for kind in (KEYS, WORDS):
        decide(memory, events.APPROVE, kind=kind)
    assert effects(memory) == left


# -- showing both rankings in turn -----------------------------------------------------------------


def drawn(memory: Memory, times: int) -> Iterator[dict | None]:
    for _ in range(times):
        entry = memory.journal.get(memory.search(QUERY, limit=5).search_id)
        yield entry.payload.get("interleaving")


@pytest.mark.slow
def test_a_search_that_both_change_is_shown_without_one_of_them(learning):
    memory = learning(interleave=1.0)
    without_words = replace(memory.policy, learned_cap=0.0).version
    without_keys = replace(memory.policy, key_weight=0.0).version
    lead_to(memory._space, keys(LAMP, QUERY, taught=NOON - DAY))
    decide(memory, events.APPROVE, kind=KEYS)
    assert {one["policy_version"] for one in drawn(memory, 4)} == {without_keys}
    teach(memory.store, lessons(LAMP, "kestrel", taught=NOON - DAY))
    decide(memory, events.APPROVE, kind=WORDS)
    versions = [one["policy_version"] for one in drawn(memory, 40)]
    assert set(versions) == {without_words, without_keys}  # else one in a billion
    decide(memory, events.WITHDRAW, at=NOON + HOUR, kind=KEYS)
    assert {one["policy_version"] for one in drawn(memory, 4)} == {without_words}
    response = memory.search("ferry of the island")  # nothing learned is near to it
    assert "interleaving" not in memory.journal.get(response.search_id).payload


def test_what_was_shown_in_turn_can_be_drawn_again(learning):
    memory = learning(interleave=1.0)
    lead_to(memory._space, keys(LAMP, QUERY, taught=NOON - DAY))
    decide(memory, events.APPROVE, kind=KEYS)
    for _ in range(4):
        response = memory.search(QUERY, limit=5)
        ranking = replay(memory.journal.get(response.search_id).payload)
        assert [(one.memory_id, one.score) for one in ranking.results] == [
            (one.memory_id, one.score) for one in response
        ]
        assert asdict(response)["results"]
