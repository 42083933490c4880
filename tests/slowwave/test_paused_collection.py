"""The garbage collector rests while a batch is handled."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from slowwave.common.garbage import BATCH, paused_collection


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if was_on else gc.disable)()


def test_only_a_batch_pauses_the_collector() -> None:
    with paused_collection(BATCH - 1):
        assert gc.isenabled()
    with paused_collection(BATCH):
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_is_on_again_after_an_error() -> None:
    with pytest.raises(ValueError, match="bad note"), paused_collection(BATCH):
        raise ValueError("bad note")
    assert gc.isenabled()


def test_only_the_last_of_several_blocks_turns_the_collector_on() -> None:
    with paused_collection(BATCH):
        with paused_collection(BATCH):
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    with paused_collection(BATCH):
        pass
    assert not gc.isenabled()


def test_threads_that_pause_at_once_leave_it_on() -> None:
    start = Barrier(4)

    def pause() -> None:
        start.wait()
        for _ in range(200):
            with paused_collection(BATCH):
                assert not gc.isenabled()

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(pause) for _ in range(4)]:
            done.result()
    assert gc.isenabled()
