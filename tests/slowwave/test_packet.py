"""The packet for the start of a session, over a real store."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from slowwave.common import ids
from slowwave.common.quoting import NOTICE
from slowwave.errors import SlowwaveError
from slowwave.scoring.ranking.wakeup import SECTIONS, tokens
from slowwave.search.wakeup import EXCERPT_WORDS, MIN_BUDGET, excerpt, wakeup

DEPLOY = "The deploy day is Thursday since the second of March, decided by the whole team."
FERRY = "The ferry to the island leaves at seven in the morning and comes back before the dark."
# Texts that have nothing to do with one another: nothing is a duplicate of anything.
APART = {
    "constraint": "Never send a text message to a harbour master after ten at night.",
    "decision": DEPLOY,
    "project": "The northern gauges get new batteries before the winter storms arrive.",
    "preference": "Ishbel wants her tables sorted by station, with the newest reading on top.",
    "procedure": "To restart a logger hold the red button until its lamp blinks twice.",
    "fact": FERRY,
    "incident": "Lightning struck the mast and burnt three modems in one afternoon.",
    "person": "Ruaridh plays the fiddle and looks after the archive of old charts.",
    "meeting": "The board meets on the first Monday and begins with tea and accounts.",
    "reference": "The handbook of tidal constants stands in the third edition on the shelf.",
    "note": "Somebody left a green umbrella beside the coffee machine again.",
    "chat": "Could you write a friendlier letter to the owner of the slipway?",
}


def sources(packet) -> set[str]:
    return {item.source for section in packet.sections for item in section.items}


def order(packet, name: str) -> list[str]:
    return [item.source for section in packet.sections if section.name == name for item in section.items]


def teach(memory, key: str, effectiveness: float, *, day: str = "2026-03-01", namespace: str = "ada") -> None:
    """Write what use has taught of a memory of ``ada`` by hand, in this namespace."""
    name = ids.memory_id("ada", key)
    row = {"state_id": name, "day": day, "namespace": namespace,
           "memory_id": name, "effectiveness": effectiveness, "feedback_count": 5, "not_useful_at": None,
           "strength": None}  # fmt: skip
    overrides = {
        "feedback_count": pl.Int32,
        "strength": pl.Float64,
        "not_useful_at": pl.List(pl.Datetime("us", "UTC")),
    }
    memory.store.upsert("memory_state", pl.DataFrame([row], schema_overrides=overrides))


@pytest.fixture
def house(memory):
    """One memory of every type."""
    saved = memory.save_many(
        [{"content": text, "key": name, "title": f"A {name}", "memory_type": name}
         for name, text in APART.items()]
    )  # fmt: skip
    assert {one.status for one in saved} == {"live"}
    return memory


# -- sections --------------------------------------------------------------------------------------


def test_every_type_has_its_section_in_the_order_of_the_rule(house):
    packet = house.wakeup()
    assert [section.name for section in packet.sections] == list(SECTIONS)
    assert [section.left_out for section in packet.sections] == [0] * len(SECTIONS)
    assert sources(packet) == set(APART)
    assert (packet.namespace, packet.budget) == ("ada", 2_000)
    assert datetime.now(UTC) - packet.as_of < timedelta(minutes=1)
    (constraint,) = packet.sections[0].items
    assert constraint.memory_id == ids.memory_id("ada", "constraint")
    assert constraint.line == f"> [medium] A constraint: {APART['constraint']}"
    assert packet.text.startswith(f"{NOTICE}\n## Constraint\n> [medium] A constraint: Never")
    assert packet.text.count("## ") == len(SECTIONS)


def test_a_folder_names_the_kind_and_the_name_of_a_vault_does_not(memory):
    memory.save(DEPLOY, key="team/decisions/deploy")
    memory.save(FERRY, key="projects/ferry")
    ferry = ids.memory_id("ada", "projects/ferry")
    packet = memory.wakeup()
    assert [section.name for section in packet.sections] == ["decision", "project"]
    rows = memory.store.read("memories", f"memory_id = '{ferry}'")
    memory.store.upsert("memories", rows.with_columns(origin=pl.lit("projects")))
    assert [section.name for section in memory.wakeup().sections] == ["decision", "note"]


def test_a_type_without_a_section_of_its_own_stands_under_note(memory):
    memory.save(FERRY, key="odd", memory_type="document")
    memory.save(DEPLOY, key="none")
    packet = memory.wakeup()
    assert [section.name for section in packet.sections] == ["note"]
    assert set(order(packet, "note")) == {"odd", "none"}


def test_an_empty_namespace_has_an_empty_packet(memory):
    packet = memory.wakeup()
    assert (packet.sections, packet.text, packet.tokens) == ((), "", 0)


def test_plain_data_has_the_text_too(house):
    packet = house.wakeup()
    told = json.loads(json.dumps(packet.to_dict(), default=str))
    assert told["text"] == packet.text
    assert [section["name"] for section in told["sections"]] == list(SECTIONS)
    assert told["sections"][0]["items"][0]["title"] == "A constraint"


# -- the budget ------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [MIN_BUDGET, 80, 150, 400, 1_000, 5_000])
def test_the_text_fits_and_everything_is_counted(house, budget):
    packet = house.wakeup(budget=budget)
    assert packet.tokens == tokens(packet.text) <= budget
    counted = sum(len(section.items) + section.left_out for section in packet.sections)
    assert counted == len(APART)
    if budget < 400:
        assert any(section.left_out for section in packet.sections)


@pytest.mark.parametrize("budget", [MIN_BUDGET, 75, 100, 200, 300])
@pytest.mark.parametrize(
    "script", ["Never deploy from a laptop that is on a train. ", "列車の中から配置しないこと。"]
)
def test_a_critical_constraint_is_there_at_every_budget(memory, budget, script):
    text = script * 40
    saved = memory.save(
        text, key="rule", title="Deploys", memory_type="constraint", importance_tier="critical"
    )
    packet = memory.wakeup(budget=budget)
    (section,) = packet.sections
    (item,) = section.items
    assert packet.tokens <= budget
    assert item.line in packet.text
    assert text.startswith(item.text.removesuffix(" …"))
    if item.cut:
        assert item.cut == len(text) - len(item.text)
        assert f"cut, {item.cut:,} more" in packet.text
    if budget >= 200:
        assert budget - 80 < packet.tokens or not item.cut
        assert not item.cut or f"`slowwave get {saved.memory_id}`" in packet.text


def test_no_constraint_is_left_out_for_a_remark(open_memory):
    memory = open_memory(gate={"mode": "off"}, reconsolidation={"policy": "off"})
    words = " ".join(f"word{at}" for at in range(30))
    memory.save_many(
        [
            {
                "content": f"{kind} {at}: {words}",
                "key": f"{kind}{at}",
                "title": f"{kind} {at}",
                "memory_type": kind,
            }
            for kind in ("constraint", "note")
            for at in range(60)
        ]
    )
    for budget in (1_000, 4_000, 6_000):
        packet = memory.wakeup(budget=budget)
        constraints, notes = packet.sections
        if constraints.left_out:
            assert not notes.items
        if notes.left_out:
            assert packet.tokens > 0.95 * budget
    assert (constraints.left_out, len(constraints.items)) == (0, 60)
    assert notes.items


@pytest.mark.parametrize("budget", [MIN_BUDGET - 1, 0, -5])
def test_a_budget_too_small_is_an_error(memory, budget):
    with pytest.raises(
        SlowwaveError, match=f"^budget = {budget} is too small: a packet needs {MIN_BUDGET} tokens"
    ):
        memory.wakeup(budget=budget)


def test_very_short_items_fill_the_budget(open_memory):
    """More are read than items of an average length would need."""
    memory = open_memory(gate={"mode": "off"})
    saved = memory.save_many(
        [{"content": f"kvx{at}q", "title": f"kvx{at}q", "key": f"k{at}"} for at in range(300)]
    )
    live = {one.source for one in saved if one.status == "live"}
    assert len(live) > 250
    roomy = memory.wakeup(budget=4_000)
    assert sources(roomy) == live
    assert roomy.sections[0].left_out == 0
    tight = memory.wakeup(budget=1_000)
    (section,) = tight.sections
    assert section.left_out == len(live) - len(section.items) > 0
    room = 1_000 - tokens(NOTICE) - 1
    assert room - 10 < sum(item.tokens for item in section.items) + tokens(section.heading) + 1 <= room
    assert tight.tokens <= 1_000
    assert order(tight, "note") == order(roomy, "note")[: len(section.items)]


def test_the_packet_is_the_same_each_time(house):
    moment = datetime.now(UTC)
    packets = [wakeup(house.tenant, budget=300, as_of=moment) for _ in range(3)]
    assert packets[0] == packets[1] == packets[2]


# -- what is never in it ---------------------------------------------------------------------------


def test_secret_memories_only_when_asked_for(house):
    house.save("The code of the door is quuxzyx, and it changes in June.", key="code", sensitivity="secret",
               memory_type="constraint", importance_tier="critical")  # fmt: skip
    plain = house.wakeup()
    assert "code" not in sources(plain)
    assert "quuxzyx" not in json.dumps(plain.to_dict(), default=str)
    assert plain.sections[0].left_out == 0
    asked = house.wakeup(secret=True)
    assert order(asked, "constraint") == ["code", "constraint"]
    assert sources(asked) == set(APART) | {"code"}


def test_other_namespaces_never(house, open_memory):
    other = open_memory("ada/b")
    canary = "The canary of the other house is quuxzyx, and it sings at the window."
    other.save(canary, key="canary", memory_type="decision", importance_tier="critical")
    assert "quuxzyx" not in json.dumps(house.wakeup(secret=True).to_dict(), default=str)
    assert sources(house.wakeup()) == set(APART)
    assert sources(other.wakeup()) == {"canary"}


def test_of_two_namespaces_with_the_same_key_each_has_its_own(open_memory):
    first, second = open_memory("ada"), open_memory("bob")
    first.save(DEPLOY, key="same")
    second.save(FERRY, key="same")
    assert DEPLOY in first.wakeup().text
    assert FERRY not in first.wakeup().text


def test_what_was_forgotten_or_superseded_never(open_memory):
    memory = open_memory(
        reconsolidation={"policy": "literal", "conflict": 0.3, "merge": 0.98, "duplicate": 0.99}
    )
    memory.save(DEPLOY, key="old", memory_type="decision")
    new = memory.save(DEPLOY.replace("Thursday", "Friday").replace("second", "ninth"), key="new",
                      memory_type="decision")  # fmt: skip
    assert new.outcome == "supersede"
    packet = memory.wakeup()
    assert sources(packet) == {"new"}
    assert [section.left_out for section in packet.sections] == [0]
    memory.forget(new.memory_id)
    assert "Friday" not in memory.wakeup().text


def test_what_was_refused_never(memory):
    assert memory.save("too short", key="x").status == "quarantined"
    assert memory.wakeup().sections == ()


# -- the order -------------------------------------------------------------------------------------


def test_tier_and_priority_decide(memory):
    texts = list(APART.values())
    labels = {
        "first": {"importance_tier": "critical", "retrieval_priority": "high"},
        "second": {"importance_tier": "critical"},
        "third": {"importance_tier": "important"},
        "fourth": {},
        "fifth": {"importance_tier": "temporary", "retrieval_priority": "low"},
    }
    memory.save_many(
        [{"content": text, "key": key, **labels[key]}
         for text, key in zip(texts, reversed(list(labels)), strict=False)]
    )  # fmt: skip
    assert order(memory.wakeup(), "note") == list(labels)


def test_confidence_is_shown_and_decides_nothing(memory):
    labels = {"a": {"state": "draft"}, "b": {"state": "canonical"}, "c": {"source_of_truth": True}, "d": {}}
    memory.save_many(
        [{"content": text, "key": key, **labels[key]}
         for text, key in zip(APART.values(), labels, strict=False)]
    )  # fmt: skip
    (section,) = memory.wakeup().sections
    told = {item.source: item.confidence for item in section.items}
    assert told == {"a": "low", "b": "high", "c": "high", "d": "medium"}
    assert max(item.score for item in section.items) - min(item.score for item in section.items) < 1e-6


def test_effectiveness_changes_the_order_at_once(memory, open_memory):
    memory.save_many(
        [{"content": text, "key": key} for text, key in zip(APART.values(), "abc", strict=False)]
    )
    reader = open_memory()
    before = {item.source: item.score for section in reader.wakeup().sections for item in section.items}
    teach(memory, "a", 0.0)
    teach(memory, "c", 1.0)
    packet = reader.wakeup()
    assert order(packet, "note") == ["c", "b", "a"]
    after = {item.source: item.score for section in packet.sections for item in section.items}
    assert after["c"] == pytest.approx(before["c"] + 0.1, abs=1e-4)
    assert after["a"] == pytest.approx(before["a"] - 0.1, abs=1e-4)
    teach(memory, "c", 0.0, day="2026-03-02")
    teach(memory, "a", 1.0, day="2026-03-02")
    assert order(reader.wakeup(), "note") == ["a", "b", "c"]


def test_what_was_taught_in_another_namespace_does_not_count(memory):
    memory.save(DEPLOY, key="a")
    (before,) = memory.wakeup().sections
    teach(memory, "a", 1.0, namespace="bob")
    (after,) = memory.wakeup().sections
    assert after.items[0].score == pytest.approx(before.items[0].score, abs=1e-6)


def test_what_is_newer_comes_first(memory):
    memory.save(DEPLOY, key="deploy")
    memory.save(FERRY, key="ferry")
    later = datetime.now(UTC) + timedelta(days=90)
    memory.store.table("memories").update(
        where=f"memory_id = '{ids.memory_id('ada', 'deploy')}'",
        values={"updated_at": later - timedelta(days=1)},
    )
    packet = wakeup(memory.tenant, budget=2_000, as_of=later)
    assert order(packet, "note") == ["deploy", "ferry"]
    scores = [item.score for item in packet.sections[0].items]
    assert scores == pytest.approx([0.4 + 0.1 * 2 ** (-1 / 90), 0.45], abs=1e-4)


# -- what an item says -----------------------------------------------------------------------------


def test_of_a_long_note_its_beginning_is_shown(memory):
    parts = [
        f"## Part {at}\n\n" + f"Gauge {at} hangs under pier {at} of the bridge. " * 30 for at in range(4)
    ]
    saved = memory.save("\n\n".join(parts), key="long", title="Gauges")
    assert memory.get(saved.memory_id).chunk_count > 1
    (section,) = memory.wakeup().sections
    (item,) = section.items
    assert item.text.startswith("Gauge 0 hangs under pier 0")
    assert item.text.endswith(" …")
    assert len(item.text.split()) == EXCERPT_WORDS + 1


def test_a_title_made_from_the_first_words_is_not_said_twice(memory):
    text = (
        "The northern gauge under the railway bridge at Kinlochewe reports a level every six minutes, "
        "and a battery voltage every hour."
    )
    memory.save(text, key="gauge")
    (section,) = memory.wakeup().sections
    assert section.items[0].title.endswith(" …")
    assert section.items[0].line.count("northern gauge") == 1
    assert section.items[0].line.endswith("and a battery voltage every hour.")


def test_an_item_is_one_line_whatever_was_saved(memory):
    memory.save(
        f"# Deploy\n\n{DEPLOY}\n\n- one\n- two\n\n## Decision\n\n> said", key="a", title="De\nploy\tday"
    )
    packet = memory.wakeup()
    assert len(packet.text.splitlines()) == 3
    assert "De ploy day: The deploy day is" in packet.text


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("The ferry leaves at seven.", "Ferry", "The ferry leaves at seven."),
        ("# Ferry\n\nIt leaves\nat   seven.", "Ferry", "It leaves at seven."),
        ("Ferry: it leaves at seven.", "Ferry", "it leaves at seven."),
        ("FERRY — it leaves at seven.", "ferry", "it leaves at seven."),
        ("Ferry", "Ferry", ""),
        ("The ferry to the island leaves at seven.", "The ferry to the …", "island leaves at seven."),
        ("## One\ntext\n### Two\nmore", "", "text more"),
        ("#no heading", "x", "#no heading"),
        ("", "Ferry", ""),
        ("", "", ""),
        (" ".join("abcd"), "…", "a b c d"),
        (" ".join(["word"] * EXCERPT_WORDS), "", " ".join(["word"] * EXCERPT_WORDS)),
        (" ".join(["word"] * (EXCERPT_WORDS + 1)), "", " ".join(["word"] * EXCERPT_WORDS) + " …"),
    ],
)
def test_excerpts(text, title, expected):
    assert excerpt(text, title) == expected


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("Rotation of the crew is monthly.", "Rota", "Rotation of the crew is monthly."),
        ("Deployment is on Thursday.", "Deploy", "Deployment is on Thursday."),
        ("フェリーは七時に出る。", "フェリー", "フェリーは七時に出る。"),
        ("Deploy? On Thursday.", "Deploy", "? On Thursday."),
        ("Abracadabra is a long word.", "Abraca …", "dabra is a long word."),  # a title of the first words
    ],
)
def test_a_title_is_only_taken_away_as_whole_words(text, title, expected):
    assert excerpt(text, title) == expected


def test_what_the_gate_would_refuse_is_not_in_the_packet_until_a_person_releases_it(open_memory):
    warned = open_memory(gate={"mode": "warn", "min_quality": 0.4})
    warned.save("We deploy on Thursday since March; Friday is for repairs only.", memory_type="decision")
    junk = warned.save("lorem ipsum dolor sit amet " * 40, title="Draft", memory_type="decision")
    assert junk.reasons
    assert junk.status == "live"
    assert "lorem" not in warned.wakeup().text
    assert "Thursday" in warned.wakeup().text
    enforced = open_memory(gate={"mode": "enforce", "min_quality": 0.4})
    refused = enforced.save("dolor sit amet lorem ipsum " * 40, title="Other draft", key="other")
    enforced.release(refused.memory_id)
    assert "dolor" in enforced.wakeup().text
    assert "Draft" in open_memory(gate={"mode": "off"}).wakeup().text


def test_the_packet_has_the_newest_value_alone(memory):
    for month, text in enumerate((
        "The rate limit is 100 requests a minute.",
        "The rate limit was raised to 200 requests a minute.",
        "Invoices are sent on the first of the month.",
    )):  # fmt: skip
        memory.save(text, memory_type="constraint", created_at=datetime(2026, 3 + month, 2, tzinfo=UTC))
    packet = memory.wakeup()
    (section,) = packet.sections
    assert section.left_out == 1
    assert "200 requests" in packet.text
    assert "Invoices" in packet.text
    assert "100 requests" not in packet.text


def test_a_note_with_something_else_stays_and_says_that_it_is_outdated_in_part(memory):
    saved = ("The rate limit is 100 requests a minute. Carla answers questions about it.",
             "The rate limit was raised to 200 requests a minute.")  # fmt: skip
    for month, text in enumerate(saved, start=3):
        memory.save(text, created_at=datetime(2026, month, 2, tzinfo=UTC))
    lines = [line for line in memory.wakeup().text.splitlines() if line.startswith("> ")]
    assert f"> [medium, outdated in part] {saved[0]}" in lines
    assert len(lines) == 2


@pytest.mark.parametrize(
    ("text", "is_dated"),
    [
        ("Bruno upgraded the web server last night.", True),  # a time by its own day
        ("The roofer comes on 12 December.", True),  # without a year
        ("The support desk is now open until seven.", True),  # a change
        ("The support desk answers calls until seven on each working day.", False),
        ("The contract of the roofer ends on 31 March 2027.", False),
        ("The support desk answers no calls on Friday afternoons.", False),  # each week
    ],
)
def test_a_text_that_needs_the_day_of_its_note_has_it(memory, text, is_dated):
    memory.save(text, key="one", created_at=datetime(2026, 10, 30, tzinfo=UTC))
    (line,) = [line for line in memory.wakeup().text.splitlines() if line.startswith("> ")]
    assert line == f"> [{'medium, 2026-10-30' if is_dated else 'medium'}] {text}"


@pytest.mark.parametrize(
    ("again", "times"),
    [
        ("The spare key of the boathouse is with Ruth in the office.", 1),
        ("The spare key of the boathouse is with  Ruth, in the office", 1),
        ("The spare key of the boathouse is with Ruth in the chandlery.", 2),
    ],
)
def test_the_packet_says_nothing_twice(open_memory, again, times):
    memory = open_memory(gate={"mode": "warn"})
    memory.save("The spare key of the boathouse is with Ruth in the office.", title="Key", key="first")
    memory.save(again, title="Key", key="second")
    packet = memory.wakeup()
    assert packet.text.count("with Ruth") == times
    assert sum(len(section.items) + section.left_out for section in packet.sections) == 2
