"""Search keys that are learned, killed (SIGKILL) at any write and done again, come to the same."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
from evaluation_nights import Life
from faults_helpers import Driver, assert_same_tables, copy_home, make_home, tables, with_dagster
from feedback_week import at, day
from key_rows import FIRST, LAST, put_keys_open

from slowwave.learning.active_boosts import search_keys
from slowwave.settings import load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.soak]

NOW = at(0, 12)
LEARN: dict[str, Any] = {"do": "learning", "first": day(FIRST), "last": day(LAST), "now": NOW.isoformat()}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, fast_embedder: Any) -> Path:
    """A home whose gate of keys is open, and questions of eight days that led somewhere."""
    plain = {"ranking": {"abstention_floor": 0.0}, "learning": {"enabled": True, "interleave": 0.0}}
    home = with_dagster(make_home(tmp_path_factory.mktemp("open") / "home", **plain))
    with Life(load(home), fast_embedder) as life:
        life.clock.moment = NOW
        put_keys_open(life.space, NOW)
    return home


def led(home: Path, embedder: Any) -> set[str]:
    """Memories that past questions lead to when they are asked again."""
    with Life(load(home), embedder) as life:
        life.clock.moment = NOW
        asked = life.space.store.read("search_views", columns=["query"])["query"].unique()
        keys = search_keys(life.space)
        assert keys is not None
        return {one for query in asked for one in keys.led("ada", embedder.embed_query(query), NOW)}


def test_learning_of_keys_killed_at_a_write(driver: Driver, opened: Path, fast_embedder: Any) -> None:
    control = copy_home(opened, opened.with_name("learned"))
    ran = driver.run(home=control, **LEARN)
    assert ran["code"] == 0, ran["errors"]
    assert {"learning_log", "search_keys"} == {table for _, table, _ in ran["writes"]}, ran["writes"]
    after = tables(control)
    assert after["search_keys"].height == 32
    assert led(opened, fast_embedder) == set()
    assert led(control, fast_embedder) == {f"memory-{number}" for number in range(8)}

    def kill_and_do_again(point: tuple[int, str]) -> None:
        what = f"killed {point[1]} write {point[0]} ({ran['writes'][point[0]]})"
        home = copy_home(opened, opened.with_name(f"killed {point}"))
        killed = driver.run(home=home, kill=point, **LEARN)
        assert killed["code"] == -signal.SIGKILL, f"{what}: was not killed: {killed['errors']}"
        again = driver.run(home=home, **LEARN)
        assert again["code"] == 0, f"{what}: {again['errors']}"
        assert_same_tables(tables(home), after, what)

    points = [(0, "before"), *((number, "after") for number in range(len(ran["writes"])))]
    driver.each(kill_and_do_again, points)
