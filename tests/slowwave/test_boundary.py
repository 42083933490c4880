"""What a call that failed says of the journal is about that call alone."""

from __future__ import annotations

import errno

import anyio
import httpx
import lance
import polars as pl
import pytest
import sqlalchemy as sa

from slowwave.adapters.tools import ToolFailedError, memory_tools
from slowwave.api.app import application
from slowwave.common.error_translation import boundary, journalled
from slowwave.errors import StoreError, TakenInLaterError
from slowwave.index.incremental_snapshot import Snapshots
from slowwave.journal import Journal
from slowwave.serving.tokens import add_token
from slowwave.settings import load
from slowwave.store.integrity import DamageError

KILN = "The kiln in the yard of the boat shed is fired every second Friday of the month."
LAMP = "The lamp at the end of the pier is green since the storm of last November."


def broken(*_, **__):
    raise sa.exc.OperationalError("INSERT", {}, OSError(errno.ECONNREFUSED, "Connection refused"))


def fails_after_one_act(error):
    with boundary(own=True):
        journalled(1)
        raise error


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        ("status: 404, body: <Code>NoSuchBucket</Code>", "the bucket does not exist"),
        ("status: 403, body: <Code>InvalidAccessKeyId</Code>", "the credentials are rejected"),
        ("error sending request: Connection refused", "it cannot be reached"),
        ("builder error for url", "AWS_ALLOW_HTTP=true"),
    ],
)
def test_what_an_object_store_says_at_its_very_end_is_told(body, advice):
    said = (
        'lance: Invalid input, Failed to connect to namespace: IO { source: Generic { store: "S3", source: '
        f"RetryError({'x' * 400} uri: Some(http://127.0.0.1:8333/memories?list-type=2), {body}"
    )
    with pytest.raises(StoreError) as told, boundary():
        raise ValueError(said)
    assert advice in str(told.value)
    assert "http://127.0.0.1:8333/memories" in str(told.value)
    assert "store.uri" in str(told.value)
    assert body in str(told.value)


@pytest.mark.parametrize("body", ["status: 503, body: <Code>SlowDown</Code>", "status: 412, Precondition"])
def test_what_nobody_knows_of_an_object_store_is_quoted_and_has_no_password(body):
    said = (
        'lance: Failed to connect to namespace: Generic { store: "S3", source: RetryError(uri: '
        f"Some(https://key:sEcret@host.example/memories), {body}"
    )
    with pytest.raises(StoreError) as told, boundary():
        raise ValueError(said)
    assert body in str(told.value)
    assert "cannot be reached" not in str(told.value)
    assert "sEcret" not in str(told.value)


def test_a_call_of_its_own_does_not_count_what_was_before():
    full = OSError(errno.ENOSPC, "No space left on device")
    with boundary():
        journalled(33)
        with pytest.raises(StoreError, match="Nothing was written"), boundary(own=True):
            raise full
        with pytest.raises(TakenInLaterError, match="The event is in the journal"):
            fails_after_one_act(full)
        with pytest.raises(TakenInLaterError, match="33 events are in the journal"), boundary():
            raise full


def test_a_tool_never_says_that_a_note_is_kept_which_is_nowhere(memory, monkeypatch):
    (save,) = memory_tools(memory, only=["memory_save"])
    with boundary():  # as a command that serves for days is inside one
        assert "Saved as memory" in save.call({"content": KILN})
        monkeypatch.setattr(Journal, "_append", broken)
        with pytest.raises(ToolFailedError) as told:
            save.call({"content": LAMP})
    assert "is kept" not in str(told.value)
    assert "in the journal:" not in str(told.value)


def test_a_request_never_says_so_either(memory, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_EMBEDDING__MODEL", memory.settings.embedding.model)
    token = add_token(load(memory.settings.home), "ada", "app", rights="assistant")
    app = application(load(memory.settings.home), "127.0.0.1", memory.home)

    async def asked() -> list[httpx.Response]:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://127.0.0.1",
            headers={"Authorization": f"Bearer {token}"},
        ) as client:
            first = await client.post("/v1/memories", json={"content": KILN})
            monkeypatch.setattr(Journal, "_append", broken)
            return [first, await client.post("/v1/memories", json={"content": LAMP})]

    with boundary():
        good, bad = anyio.run(asked)
    assert good.status_code == 201, good.text
    assert bad.status_code == 503, bad.text
    assert "in the journal:" not in bad.json()["detail"]


def panics(*_, **__):
    raise pl.exceptions.PanicException("index out of bounds: the len is 3 but the index is 812342")


def test_a_library_that_gives_up_is_an_error_like_others_at_every_door(memory, monkeypatch):
    memory.save(KILN)
    monkeypatch.setattr(Snapshots, "of", panics)
    with pytest.raises(StoreError, match=r"index out of bounds.*slowwave doctor"):
        memory.search("When is the kiln fired?")
    (search,) = memory_tools(memory, only=["memory_search"])
    with pytest.raises(ToolFailedError, match="index out of bounds"):
        search.call({"query": "When is the kiln fired?"})
    with pytest.raises(KeyboardInterrupt), boundary():
        raise KeyboardInterrupt


def test_a_table_whose_reading_panics_is_damaged(memory, monkeypatch):
    memory.save(KILN)
    monkeypatch.setattr(lance.LanceDataset, "to_batches", panics)
    told = pytest.raises(DamageError, match=r"memories cannot be read.*slowwave rebuild memories")
    with told, memory.store.explaining("memories"):
        panics()
