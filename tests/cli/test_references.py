"""Ids as people type them: `last`, and beginnings that only one has."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result

from slowwave.common.ids import memory_id
from slowwave.errors import ArgumentError, NotFoundError
from slowwave.home.id_resolution import resolve_either, resolve_id, short_ids, shorten
from slowwave.home.tenant import Tenant
from slowwave.journal import Entry, Journal
from slowwave.memory import Memory

BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
DEPLOY = "We deploy on Thursday since the second of March, and Friday is for repairs only."
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """The namespace that commands mean when none is given."""
    return open_memory("default")


@pytest.fixture
def journal(tmp_path) -> Any:
    with Journal(f"sqlite:///{tmp_path / 'journal.db'}") as journal:
        yield journal


def tenant(journal: Journal, principal: str = "ann", namespace: str = "default") -> Tenant:
    return Tenant(SimpleNamespace(journal=journal), namespace, principal)  # type: ignore[arg-type]


def asked(journal: Journal, event_id: str, principal: str = "ann", namespace: str = "default") -> None:
    payload = {"query": "q", "shown": []}
    journal.append([Entry(event_id, "search", namespace, "q", NOON, principal, payload=payload)])


def test_last_is_the_last_search_of_whoever_asks_in_this_namespace(journal):
    with pytest.raises(NotFoundError, match="no last search: the journal has none by ann"):
        resolve_id(tenant(journal), "search", "last")
    asked(journal, "aaaa1111")
    asked(journal, "bbbb1111")
    asked(journal, "cccc1111", principal="bob")
    asked(journal, "dddd1111", namespace="other")
    assert resolve_id(tenant(journal), "search", "last") == "bbbb1111"
    assert resolve_id(tenant(journal, "bob"), "search", "last") == "cccc1111"
    assert resolve_id(tenant(journal, namespace="other"), "search", "last") == "dddd1111"


def test_a_beginning_that_only_one_has_is_taken_and_no_other(journal):
    for one in ("aaaa1111", "aaaa2222", "aaaa22223", "a%aa1111"):
        asked(journal, one)
    mine = tenant(journal)
    assert resolve_id(mine, "search", "aaaa1") == "aaaa1111"
    assert resolve_id(mine, "search", "aaaa2222") == "aaaa2222"  # whole, although another one begins so
    for short in ("aaa", "aaaa3", "a%aa2", "nothing"):
        assert resolve_id(mine, "search", short) == short  # whoever looks for it says that it is not there
    with pytest.raises(ArgumentError, match="'aaaa' begins the ids of several searches: aaaa1111, aaaa2222"):
        resolve_id(mine, "search", "aaaa")
    with pytest.raises(ArgumentError, match="aaaa2222, aaaa22223"):
        resolve_id(mine, "search", "aaaa222")
    assert resolve_id(tenant(journal, namespace="other"), "search", "aaaa1") == "aaaa1"


def test_a_shown_search_id_is_as_long_as_it_has_to_be(journal):
    for one in ("abcdefgh1111", "abcdefgh1222", "01234567890"):
        asked(journal, one)
    found = short_ids(tenant(journal), "search", ["abcdefgh1111", "01234567890"])
    assert found == {"abcdefgh1111": "abcdefgh11", "01234567890": "01234567"}
    assert shorten(["abcdefghij"], ["abcdefghik", "b"]) == {"abcdefghij": "abcdefghij"}
    assert shorten(["abcdefghij"], []) == {"abcdefghij": "abcdefgh"}


@pytest.mark.slow
def test_commands_take_last_and_beginnings(run: Callable[..., Result], memory: Memory):
    def data(*words: str) -> Any:
        done = run(*words, "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    lost = run("feedback", "last", "1", "helpful")
    assert (lost.exit_code, "There is no last search" in lost.stderr) == (1, True)
    saved = [memory.save(text, title=title).memory_id for title, text in (("Deploy", DEPLOY), ("B", BATTERY))]
    found = data("search", "when do we deploy?")
    best = found["results"][0]["memory_id"]
    assert best == saved[0]
    assert data("feedback", "last", "1", "helpful")["search_id"] == found["search_id"]
    assert data("feedback", found["search_id"][:6], best[:5], "neutral")["memory_id"] == best
    assert data("observe", "last", "On Thursday.", "--cited", best[:8])["search_id"] == found["search_id"]
    shown = data("show", "last")
    assert (shown["search_id"], shown["query"]) == (found["search_id"], "when do we deploy?")
    assert [one["memory_id"] for one in shown["results"]] == [one["memory_id"] for one in found["results"]]
    assert shown["results"][0]["title"] == "Deploy"
    for part in ("when do we deploy?", "Deploy", best, found["search_id"]):
        assert part in run("show").stdout
    assert data("show", best[:6])["memory_id"] == best
    for words in (["get"], ["stats"]):
        assert data(*words, best[:4])["memory_id"] == best
    assert data("forget", best[:6]) == {"memory_id": best, "new": True}
    assert data("unforget", best[:6]) == {"memory_id": best, "new": True}
    assert "saved" in run("history", best[:7]).stdout
    nothing = run("show", "nothing")
    assert (nothing.exit_code, "no search and no memory 'nothing'" in nothing.stderr) == (1, True)


@pytest.mark.slow
def test_of_memories_that_begin_alike_none_is_guessed(run: Callable[..., Result], memory: Memory):
    begins: dict[str, str] = {}
    for number in range(100_000):  # among so many keys two begin alike
        mine = memory_id("default", f"key {number}")
        if mine[:4] in begins:
            break
        begins[mine[:4]] = f"key {number}"
    pair = [begins[mine[:4]], f"key {number}"]
    ids = [memory.save(f"{DEPLOY} {at}", key=key).memory_id for at, key in enumerate(pair)]
    done = run("forget", ids[0][:4])
    assert done.exit_code == 1
    assert "begins the ids of several memories" in done.stderr
    assert all(one in done.stderr for one in ids)
    assert [memory.get(one).status for one in ids] == ["live", "live"]
    assert resolve_either(memory.tenant, ("search", "memory"), ids[1]) == ("memory", ids[1])
