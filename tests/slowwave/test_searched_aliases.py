"""Searches find a note by its aliases as by its title."""

from __future__ import annotations

import datetime as dt

import pytest

CLUSTER = "The container cluster is upgraded in the first week of each quarter."
WIKI = "The backup of the wiki runs at four in the morning."


@pytest.fixture
def named(open_memory):
    memory = open_memory()
    memory.save(CLUSTER, key="cluster", title="Container cluster", aliases=["k8s", "EKS-prod"])
    memory.save(WIKI, key="wiki", title="Backups", aliases=["handbook copy"])
    return memory


def best(memory, query, **options):
    found = memory.search(query, limit=1, explain=True, **options)
    return found[0] if found else None


@pytest.mark.parametrize("query", ["k8s", "what happens to eks-prod this month?", "K8S?"])
def test_a_note_is_found_by_its_alias_alone(named, query):
    result = best(named, query)
    assert result.source == "cluster"
    rows = {row.source: row for row in result.explanation.contributions}
    assert rows["title"].field == rows["trigger"].field == "alias"
    assert rows["title"].value == pytest.approx(0.7 * named.policy.title_weight)
    assert sum(row.value for row in result.explanation.contributions) == pytest.approx(result.score)


def test_part_of_an_alias_counts_as_part_of_a_title(named):
    result = best(named, "when is the handbook saved?")
    (row,) = [row for row in result.explanation.contributions if row.source == "title"]
    assert (result.source, row.field, row.term) == ("wiki", "alias", "handbook copy")
    assert row.value == pytest.approx(0.7 * named.policy.title_weight / 2)


def test_a_new_alias_counts_at_once_and_a_removed_one_no_more(named):
    named.save(WIKI, key="wiki", title="Backups", aliases=["tape library"])
    assert best(named, "tape library").source == "wiki"
    result = best(named, "handbook copy")
    assert result is None or not [row for row in result.explanation.contributions if row.field == "alias"]


def test_aliases_of_hidden_memories_and_other_namespaces_are_not_matched(named, open_memory):
    secret = named.save("The key of the safe is under the mat.", aliases=["zyxsafe"], sensitivity="secret")
    gone = named.save("The old gate code was 4711.", aliases=["zyxgate"])
    named.forget(gone.memory_id)
    other = open_memory("bob")
    other.save("Bob keeps his notes in a blue folder.", aliases=["zyxfolder"])
    for query in ("zyxsafe", "zyxgate", "zyxfolder"):
        found = named.search(query, explain=True)
        assert {secret.memory_id, gone.memory_id}.isdisjoint(one.memory_id for one in found)
        assert not [row for one in found for row in one.explanation.contributions if row.field == "alias"]


def test_a_search_of_a_past_day_has_the_aliases_of_that_day(named):
    today = dt.datetime.now(dt.UTC).date()
    assert best(named, "k8s", as_of=today - dt.timedelta(days=1)) is None
    assert best(named, "k8s", as_of=today).source == "cluster"
