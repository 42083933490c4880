"""A home behind its HTTP API, and clients with tokens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from starlette.testclient import TestClient

from slowwave.memory import Memory

DEPLOY = "The deploy day is Thursday since the second of March, decided by the whole team."
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
SECRET = "The code of the harbour gate is quuxzyx, and it is changed in the first week of May."
FOREIGN = "The canary of bob is called zyxwabb, and it sings at seven in the morning."
UNKNOWN = "0" * 26


@dataclass
class Api:
    """The API in this process."""

    client: TestClient
    tokens: dict[str, str]
    memory: Memory
    ids: dict[str, str]

    def ask(self, method: str, path: str, body: Any = None, *, by: str = "assistant", **headers: str) -> Any:
        """What it answers to one of ada's tokens, or to "bob", or to nobody ("")."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if by:
            given["Authorization"] = f"Bearer {self.tokens[by]}"
        if body is not None:
            given["Content-Type"] = "application/json"
        content = None if body is None else json.dumps(body).encode()
        return self.client.request(method, path, content=content, headers=given)

    def of(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """The data of an answer that has to be good."""
        answer = self.ask(method, path, body, **more)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    @property
    def schema(self) -> dict[str, Any]:
        """The description of the API."""
        found: dict[str, Any] = self.client.get("/openapi.json").json()
        return found


def problem(answer: Any, status: int) -> str:
    """The words of an answer that has to be a problem."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert set(told) == {"type", "title", "status", "detail", "errors"}
    assert told["status"] == status
    assert told["detail"]
    return str(told["detail"])
