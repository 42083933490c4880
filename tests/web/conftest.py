"""A small home behind the page, and people who are signed in to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from page_home import Visitor, tokens_of
from starlette.testclient import TestClient

from slowwave.memory import Memory
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool
from slowwave.settings import load
from slowwave.web.app import application
from slowwave.web.sessions import OneTimeLinks


@dataclass
class Site:
    """The page of a home, served in this process."""

    app: Any
    entrances: OneTimeLinks
    tokens: dict[str, str]

    def visitor(self, **headers: str) -> Visitor:
        """A browser that nobody has signed in with."""
        client = TestClient(
            self.app, base_url="http://127.0.0.1", follow_redirects=False, raise_server_exceptions=False,
            headers=headers,
        )  # fmt: skip
        return Visitor(client)

    def person(self) -> Visitor:
        """The person at the machine."""
        found = self.visitor()
        assert found.get(f"/enter?key={self.entrances.make()}").status_code == 303
        return found

    def with_token(self, name: str) -> Visitor:
        """Who has the token of this name."""
        found = self.visitor()
        answer = found.client.post("/sign-in", data={"token": self.tokens[name]})
        assert answer.status_code == 303, answer.text
        return found


@pytest.fixture
def make_site(home, memory, fast_embedder) -> Iterator[Callable[..., Site]]:
    """Serves the page of `home`, whose namespace is ``ada``, with these settings."""
    opened: list[MemoryPool] = []

    def make(**groups: Any) -> Site:
        tokens = tokens_of(home, fast_embedder.name)
        settings = load(home, **groups)
        memories = MemoryPool(settings, lambda: Caller("ada", "page"))
        memories._space.__dict__["embedder"] = fast_embedder
        opened.append(memories)
        entrances = OneTimeLinks()
        return Site(application(memories, settings, entrances), entrances, tokens)

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def site(make_site) -> Site:
    """The page of a home with nothing in it."""
    return make_site()


@pytest.fixture
def person(site) -> Visitor:
    """The person at the machine."""
    return site.person()


@pytest.fixture
def assistant(site) -> Visitor:
    """Who has a token with the rights of an assistant."""
    return site.with_token("claude")


@pytest.fixture
def saved(memory: Memory) -> Callable[..., str]:
    """Saves a note in namespace ``ada``; its id."""

    def save(content: str, **labels: Any) -> str:
        return memory.save(content, **labels).memory_id

    return save
