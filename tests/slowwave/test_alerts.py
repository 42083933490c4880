"""Alerts: a line in the log, and a message to a webhook that may fail in any way."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from webhook_server import Webhook, serving

from slowwave.home.alerts import ATTEMPTS, alert
from slowwave.settings import Settings, load

FACTS = {"namespace": "ada", "at": datetime(2026, 3, 1, tzinfo=UTC), "home": Path("/there"), 3: None}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slowwave.home.alerts.PAUSE", 0)


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with serving() as made:
        yield made


@pytest.fixture
def settings(home: Path) -> Any:
    """Settings with a webhook."""
    return lambda url: load(home, alerts={"webhook": url})


def send(settings: Settings, **given: Any) -> bool:
    return alert(settings, "Worse", "Look at it.", FACTS, **given)


def test_without_a_webhook_it_is_a_line_in_the_log(settings, caplog):
    with caplog.at_level(logging.WARNING):
        assert not send(settings(""))
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("slowwave.alerts", "WARNING")
    assert record.getMessage().startswith("Worse. Look at it. (namespace: ada, at: 2026-03-01")


def test_a_webhook_gets_it_once_as_json_with_the_text_that_chats_show(settings, hook, caplog):
    assert send(settings(hook.url))
    (message,) = hook.got
    assert message == {
        "source": "slowwave", "title": "Worse", "text": "Worse\nLook at it.",
        "facts": {"namespace": "ada", "at": "2026-03-01T00:00:00+00:00", "home": "/there", "3": None},
    }  # fmt: skip
    assert hook.headers["Content-Type"] == "application/json"
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_a_webhook_that_refuses_is_logged_without_its_secret_and_raises_nothing(
    settings, hook, caplog, status
):
    hook.status = status
    assert not send(settings(hook.url))
    assert len(hook.got) == ATTEMPTS
    assert [record.levelname for record in caplog.records] == ["WARNING", "ERROR"]
    assert f"127.0.0.1: HTTP Error {status}" in caplog.records[-1].getMessage()
    assert "secret" not in caplog.text


def test_a_second_attempt_may_succeed(settings, hook, monkeypatch):
    hook.status = 503

    def recover(_: float) -> None:
        hook.status = 200

    monkeypatch.setattr("slowwave.home.alerts.time.sleep", recover)
    assert send(settings(hook.url))
    assert len(hook.got) == 2


def test_a_redirect_is_not_followed(settings, hook):
    with serving() as elsewhere:
        hook.status, hook.location = 302, elsewhere.url
        assert not send(settings(hook.url))
        assert elsewhere.asked == []


def test_a_webhook_that_never_answers_is_given_up(settings, hook, caplog):
    hook.silent = threading.Event()
    assert not send(settings(hook.url), timeout=0.2)
    assert "did not reach the webhook" in caplog.text


def test_a_webhook_that_is_not_there(settings, caplog):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert not send(settings(f"http://127.0.0.1:{port}/x"))
    assert "did not reach the webhook at 127.0.0.1" in caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://127.0.0.1/x", "127.0.0.1/x", "http://", "http://[::1", "http://a b/",
        "http://127.0.0.1:port/", "http://127.0.0.1/\nX: y", "data:text/plain,hello", "http://ü.invalid\u0000/",
    ],
)  # fmt: skip
def test_what_is_no_address_of_the_web_raises_nothing(settings, caplog, url):
    assert not send(settings(url))
    assert [record.levelname for record in caplog.records] == ["WARNING", "ERROR"]


def test_facts_that_are_not_json_do_not_matter(settings, hook):
    assert alert(settings(hook.url), "t", "x", {"a": {1, 2}, "b": float("nan"), "c": object()})
    assert set(hook.got[0]["facts"]) == {"a", "b", "c"}
