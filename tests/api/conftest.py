"""The API of a small home: a namespace with a secret, another tenant, a token of each of the rights."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from api_site import BATTERY, DEPLOY, FOREIGN, SECRET, Api
from starlette.testclient import TestClient

from slowwave.api.app import application
from slowwave.memory import Memory
from slowwave.serving.tokens import add_token
from slowwave.settings import load


@pytest.fixture
def api(open_memory: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setenv("SLOWWAVE_EMBEDDING__MODEL", "wordllama-256")
    memory = open_memory()
    deploy, battery, secret = memory.save_many(
        [
            {"content": DEPLOY, "title": "Deploy day", "memory_type": "decision", "tags": ["ops"]},
            {"content": BATTERY, "title": "Battery", "key": "battery"},
            {"content": SECRET, "sensitivity": "secret"},
        ]
    )
    foreign = open_memory("bob").save(FOREIGN)
    refused = memory.save("ok")
    home = memory.settings.home
    rights = ("reader", "assistant", "person")
    tokens = {one: add_token(load(home), "ada", f"{one}-1", rights=one) for one in rights}
    tokens["bob"] = add_token(load(home), "bob", "cursor")
    ids = {
        "deploy": deploy.memory_id, "battery": battery.memory_id, "secret": secret.memory_id,
        "foreign": foreign.memory_id, "refused": refused.memory_id,
    }  # fmt: skip
    app = application(load(home), "127.0.0.1", memory.home)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield Api(client, tokens, memory, ids)
