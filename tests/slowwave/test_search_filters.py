"""Filters of a search, and what it says where they leave nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from search_helpers import DEPLOY, FERRY, ROTA, found, payload, sources

from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.vaults.vault import scan_all, watch

LABELLED = {
    "plain": {},
    "decision": {"memory_type": "decision", "tags": ["ops", "It's"], "importance_tier": "important"},
    "project": {"memory_type": "project", "tags": ["ops"], "importance_tier": "critical"},
    "hidden": {"memory_type": "decision", "tags": ["ops"], "sensitivity": "secret"},
    "public": {"sensitivity": "public", "tags": ["日本語"]},
}


@pytest.fixture
def labelled(memory):
    saved = memory.save_many(
        [
            {"content": f"{FERRY} Notice number {at}.", "key": name, **labels,
             "created_at": datetime(2026, 1, 1 + at, tzinfo=UTC)}
            for at, (name, labels) in enumerate(LABELLED.items())
        ]
    )  # fmt: skip
    assert {one.status for one in saved} == {"live"}
    return memory


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, {"plain", "decision", "project", "public"}),
        ({"memory_type": "decision"}, {"decision"}),
        ({"memory_type": " DECISION "}, {"decision"}),
        ({"memory_type": ["decision", "project"]}, {"decision", "project"}),
        ({"memory_type": "incident"}, set()),
        ({"tier": "important"}, {"decision"}),
        ({"tier": ("important", "critical")}, {"decision", "project"}),
        ({"tags": "ops"}, {"decision", "project"}),
        ({"tags": {"ops", "日本語"}}, {"decision", "project", "public"}),
        ({"tags": "It's"}, {"decision"}),
        ({"tags": ["OPS"]}, {"decision", "project"}),
        ({"tags": "it'S"}, {"decision"}),
        ({"tags": "op"}, set()),
        ({"tags": "' OR 1=1 --"}, set()),
        ({"sensitivity": "secret"}, {"hidden"}),
        ({"sensitivity": ["secret", "public"]}, {"hidden", "public"}),
        ({"sensitivity": "public"}, {"public"}),
        ({"tags": "ops", "sensitivity": "secret"}, {"hidden"}),
        ({"memory_type": "decision", "tags": "ops", "tier": "important"}, {"decision"}),
        ({"memory_type": "decision", "tier": "critical"}, set()),
        ({"source": "p"}, {"plain", "project", "public"}),
        ({"source": "p", "tags": "ops"}, {"project"}),
        ({"since": datetime(2026, 1, 2, tzinfo=UTC)}, {"decision", "project", "public"}),
        ({"until": datetime(2026, 1, 2, tzinfo=UTC)}, {"plain"}),
        (
            {"since": datetime(2026, 1, 2, tzinfo=UTC), "until": datetime(2026, 1, 3, tzinfo=UTC)},
            {"decision"},
        ),
        ({"since": datetime(2026, 1, 2, 0, 0, 0, 1, tzinfo=UTC)}, {"project", "public"}),
        ({"until": datetime(2026, 1, 2, 0, 0, 0, 1, tzinfo=UTC)}, {"plain", "decision"}),
    ],
)  # fmt: skip
def test_filters(labelled, filters, expected):
    for query in ("ferry to the island", "notice"):
        response = labelled.search(query, limit=50, explain=True, **filters)
        assert sources(response) == expected
        assert {one.memory_id for one in response.not_shown} == set()
    logged = payload(labelled, response)["candidates"]
    allowed = {ids.memory_id("ada", name) for name in expected}
    assert {ids.memory_of(chunk) for chunk in logged.get("chunk_id", [])} <= allowed


@pytest.mark.parametrize(
    ("filters", "meant", "there"),
    [
        ({"memory_type": "decison"}, "'decision'", "constraint, decision, document"),
        ({"memory_type": ["fact", "zzz"]}, "", "constraint, decision"),
        ({"tier": "criticl"}, "'critical'", "critical, important, normal, temporary"),
        ({"sensitivity": "Secrets"}, "'secret'", "internal, public, secret"),
        ({"sensitivity": " "}, "", "internal, public, secret"),
    ],
)  # fmt: skip
def test_a_label_that_nobody_knows_is_an_error(labelled, filters, meant, there):
    with pytest.raises(SlowwaveError, match=r"^\w+ = '[^']*' is unknown\.") as refused:
        labelled.search("ferry", **filters)
    assert ("Did you mean" in str(refused.value)) == bool(meant)
    assert meant in str(refused.value)
    assert there in str(refused.value)
    assert labelled.journal.read(kinds=["search"]).height == 0


def test_a_label_of_ones_own_is_known_where_it_is(open_memory):
    mine, other = open_memory("ada", gate={"mode": "off"}), open_memory("bob")
    mine.save(FERRY, key="a", memory_type="voyage")
    mine.save(ROTA, key="b", memory_type="kvxsecret", sensitivity="secret")
    assert sources(mine.search("ferry", memory_type="voyage")) == {"a"}
    with pytest.raises(SlowwaveError, match=r"There are .*, voyage\.") as refused:
        mine.search("ferry", memory_type="voyages")
    assert "kvxsecret" not in str(refused.value)
    with pytest.raises(SlowwaveError, match="is unknown") as refused:
        other.search("ferry", memory_type="voyage")
    assert ", voyage" not in str(refused.value)
    assert sources(mine.search("ferry", memory_type="voyage", as_of=datetime.now(UTC).date())) == {"a"}


def test_a_time_in_which_nothing_can_be_is_an_error(labelled):
    day = datetime(2026, 1, 2, tzinfo=UTC)
    with pytest.raises(SlowwaveError, match="is not before until"):
        labelled.search("ferry", since=day, until=day)


def why(memory, query="ferry", **given) -> str:
    response = memory.search(query, **given)
    told = response.nothing
    assert (told is None) == bool(response.results)
    assert response.to_dict()["nothing"] == (told and {"kind": told.kind, "message": told.message})
    return told.kind if told else ""


def test_a_search_without_results_says_why(open_memory):
    memory, other = open_memory("ada"), open_memory("bob")
    assert why(memory) == "empty"
    assert "slowwave ingest" in memory.search("ferry").nothing.message
    other.save(FERRY, key="ferry", title="Ferry", memory_type="fact")
    assert why(memory) == "unknown"
    assert "'bob'" in memory.search("ferry").nothing.message
    assert why(other) == ""
    assert why(other, limit=0) == "limit"
    told = other.search("ferry", memory_type="decision", tags="x").nothing
    assert (told.kind, told.message) == (
        "filtered", "No memory of namespace 'bob' passes memory_type decision and tag x (1 checked).",
    )  # fmt: skip
    assert why(other, source="zzz") == "filtered"
    assert why(other, as_of=datetime.now(UTC).date() - timedelta(days=3)) == "past"
    assert why(open_memory("bob", ranking={"abstention_floor": 0.999}), "the moon") == "abstained"
    memory.save(ROTA, key="rota", sensitivity="secret")
    assert why(memory) == "hidden"
    assert why(memory, sensitivity="secret") == ""
    refused = open_memory("eve", gate={"mode": "enforce"})
    assert refused.save("== ^^ ==", key="x").status == "quarantined"
    assert why(refused) == "refused"


def test_what_no_night_has_taken_in_is_said_to_be_waiting(open_memory, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "ferry.md").write_text(f"# Ferry\n\n{FERRY}\n")
    memory = open_memory("ada")
    open_memory("bob").save(ROTA, key="rota")
    now = datetime.now(UTC)
    watch(memory.journal, "ada", tmp_path / "notes", name="", as_of=now, principal="ada")
    scan_all(memory.journal, memory.settings.notes, as_of=now)
    assert why(memory) == "waiting"
    assert "slowwave night" in memory.search("ferry").nothing.message


def test_a_source_prefix_is_plain_text(memory):
    names = ["o'clock/a", "100 %/a", "100 x/a", "a_b/a", "axb/a", "ünïcode 🌊/a", "a\\b/a", 'say "hi"/a']
    memory.save_many([{"content": f"{FERRY} {at}", "key": name} for at, name in enumerate(names)])
    for name in names:
        assert sources(memory.search("ferry", source=name[:-2])) == {name}
    assert sources(memory.search("ferry", source="%")) == set()
    assert sources(memory.search("ferry", source="a")) == {"a_b/a", "axb/a", "a\\b/a"}
    assert sources(memory.search("ferry", source="clock")) == set()


def test_a_moment_in_another_time_zone_is_the_same_moment(labelled):
    from datetime import timezone

    east = timezone(timedelta(hours=9))
    assert sources(labelled.search("ferry", until=datetime(2026, 1, 2, 9, tzinfo=east))) == {"plain"}
    assert "decision" in sources(labelled.search("ferry", since=datetime(2026, 1, 2, 9, tzinfo=east)))


@pytest.mark.parametrize(
    "filters",
    [
        {"memory_type": 3}, {"memory_type": [1]}, {"memory_type": None}, {"tier": b"x"}, {"tags": {"a": 1}},
        {"tags": ["a\0"]}, {"tags": [None]}, {"sensitivity": 1.0}, {"source": None}, {"source": ["a"]},
        {"source": "a\0b"}, {"since": "2026-01-01"}, {"since": datetime(2026, 1, 1)}, {"until": 3},  # noqa: DTZ001
        {"until": datetime(2026, 1, 1).date()},  # noqa: DTZ001
    ],
)  # fmt: skip
def test_a_filter_of_the_wrong_type_is_named(memory, filters):
    (name,) = filters
    with pytest.raises(SlowwaveError, match=f"^{name} = "):
        memory.search("ferry", **filters)
    assert memory.journal.read(kinds=["search"]).height == 0


def test_what_was_superseded_is_shown_on_request_and_flagged(open_memory):
    memory = open_memory(
        reconsolidation={"policy": "literal", "conflict": 0.3, "merge": 0.98, "duplicate": 0.99}
    )
    old = memory.save(DEPLOY, key="old")
    new = memory.save(DEPLOY.replace("Thursday", "Friday").replace("second", "ninth"), key="new")
    assert new.outcome == "supersede"
    assert found(memory.search("deploy day")) == [new.memory_id]
    both = {one.memory_id: one.flags for one in memory.search("deploy day", superseded=True)}
    assert both.keys() == {old.memory_id, new.memory_id}
    assert "superseded" in both[old.memory_id]
    assert "superseded" not in both[new.memory_id]
    memory.forget(new.memory_id)
    assert new.memory_id not in found(memory.search("deploy day", superseded=True))
