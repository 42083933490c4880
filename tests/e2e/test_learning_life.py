"""Closed, two cycles, a shadow week, an approval, learned, made worse, taken back, closed: a whole life."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import feedback_days as march
import polars as pl
import pytest
from evaluation_nights import Life, label
from learning_life import (
    NAMESPACE,
    Nights,
    life_home,
    questions,
    refusal,
    right,
    save_notes,
    search_days,
)
from quick_dagster import _quick_nights as _quick_nights
from quick_dagster import quick_nights

from slowwave.learning.review import ApprovalRefusedError
from slowwave.settings import Settings, load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

LEARNED = ("learned_proposals", "learned_matches", "learned_effect", "learning_gate", "learned_triggers")


@pytest.fixture(scope="module")
def shadow(tmp_path_factory: pytest.TempPathFactory, fast_embedder: Any) -> Settings:
    """Four weeks of searches, folded and evaluated; nobody has approved anything.

    Ratings do not count in the ranking: they would leave words nothing to learn.
    """
    settings = life_home(tmp_path_factory.mktemp("life") / "home", "[ranking]\neffectiveness_weight = 0.0\n")
    save_notes(settings, fast_embedder)
    search_days(settings, fast_embedder, range(1, 29))
    nights = Nights(settings, tmp_path_factory.mktemp("instance"))
    with quick_nights(tmp_path_factory):
        assert nights.run("night", -5, -5).success
        nights.night(1, 28)
    return settings


@pytest.fixture
def home(shadow: Settings, tmp_path: Path) -> Settings:
    """A copy of that home."""
    shutil.copytree(shadow.home, tmp_path / "home")
    return load(tmp_path / "home")


def opened(settings: Settings, embedder: Any, day: int, hour: float = 12, *, enabled: bool = True) -> Life:
    """The memory at a moment; what is asked of it leaves no trace, and shows one ranking alone."""
    quiet = {"learning": {"enabled": enabled, "interleave": 0.0}, "journal": {"log_searches": False}}
    life = Life(load(settings.home, **quiet), embedder, namespace=NAMESPACE)
    life.clock.moment = march.at(day, hour)
    return life


def rows(settings: Settings, embedder: Any, name: str = "learned_triggers") -> pl.DataFrame:
    """A table of the namespace, by key."""
    with opened(settings, embedder, 60) as life:
        found = life.space.store.read(name, f"namespace = '{NAMESPACE}'")
        return found.sort(life.space.store.specs[name].key)


def ranks(life: Life) -> dict[str, int]:
    """The rank of the right answer to each question that was never asked; 99 where it is not shown."""
    found = {}
    for question in questions(held=True):
        names = [one.memory_id for one in life.memory.search(question, limit=30)]
        found[question] = names.index(right(question)) + 1 if right(question) in names else 99
    return found


def never_learned(settings: Settings, embedder: Any, day: int) -> dict[str, int]:
    """The same where nothing that was learned may be used."""
    with opened(settings, embedder, day, enabled=False) as life:
        return ranks(life)


def mrr(found: dict[str, int]) -> float:
    return sum(1 / rank for rank in found.values() if rank <= 5) / len(found)


def states(life: Life) -> dict[str, str]:
    return {one.name: one.state for one in life.memory.learning.gate().conditions}


@pytest.mark.soak
def test_the_whole_life(home: Settings, tmp_path: Path, fast_embedder: Any) -> None:
    nights = Nights(home, tmp_path)
    # Nothing was ever open, and everything but a person's word is there now.
    timeline = rows(home, fast_embedder, "learning_gate").filter(pl.col("kind") == "words")
    by_day = timeline.group_by("day").agg(missing=pl.col("condition").filter(pl.col("state") != "open"))
    missing = {day: set(found) for day, found in by_day.iter_rows()}
    assert all("approval" in found for found in missing.values())
    assert missing[march.name(28)] == {"approval"}
    assert {"cycles", "searches", "days"} <= missing[march.name(27)]
    assert "shadow week" in missing[march.name(7)]
    assert "shadow week" not in missing[march.name(10)]
    # Asked by the sensor, by hand, as a backfill: refused, with the evidence, and nothing was written.
    tick = nights.sensor(29)
    assert not tick.run_requests
    assert "approval not given" in tick.skip_message
    for first, last in ((28, 28), (1, 28), (10, 10)):
        why = refusal(nights.run("learning", first, last))
        assert "The learning gate is closed" in why.description
        assert "approval" in why.metadata["evidence"].value
    assert rows(home, fast_embedder).is_empty()

    with opened(home, fast_embedder, 29, 6) as life:
        before = ranks(life)
        assert life.memory.learning.status().terms["live"] == 0
        act = life.memory.learning.approve(who="Ishbel", why="the shadow week looks good")
        assert {one["name"]: one["state"] for one in act.detail["evidence"]}["quality"] == "open"
        assert life.memory.learning.gate().open
    search_days(home, fast_embedder, [29])
    nights.night(29, 29)
    tick = nights.sensor(30)
    assert [one.partition_key for one in tick.run_requests] == [march.name(29)]
    assert nights.run("learning", 29, 29).success
    taught = rows(home, fast_embedder)
    assert taught["day"].unique().to_list() == [march.name(29)]
    assert not nights.sensor(30).run_requests  # asked for once
    # The days before are judged by the evidence of their own day: still refused, alone and in a range.
    for first, last in ((28, 28), (20, 29)):
        assert march.name(28) in refusal(nights.run("learning", first, last)).description
    assert rows(home, fast_embedder).equals(taught)

    search_days(home, fast_embedder, range(30, 37))
    nights.night(30, 36)
    for request in nights.sensor(37).run_requests:
        day = (date.fromisoformat(request.partition_key) - march.at(0).date()).days
        assert nights.run("learning", day, day).success
    with opened(home, fast_embedder, 38) as life:
        after = ranks(life)
        assert mrr(after) > mrr(before) + 0.1
        found = life.memory.search(next(iter(questions(held=True))), limit=30, explain=True)
        sources = {part.source for one in found for part in one.explanation.contributions}
        assert "learned" in sources
        live = life.memory.learning.status().terms["live"]
        assert live >= 10
        # Withdrawn: not one search uses it any more; approved again it is there again.
        life.clock.moment = march.at(38, 14)
        after = ranks(life)
        life.clock.moment = march.at(38, 12.5)
        life.memory.learning.withdraw(who="Morag", why="a look at it first")
        assert ranks(life) == never_learned(home, fast_embedder, 38)
        assert states(life)["approval"] == "closed"
        assert "approval" in refusal(nights.run("learning", 38, 38)).metadata["evidence"].value
        life.clock.moment = march.at(38, 13)
        life.memory.learning.approve(who="Morag")
        life.clock.moment = march.at(38, 14)
        assert ranks(life) == after

    # A bad turn: from now on people say that what was learned is not what they want.
    others = plain_first(home, fast_embedder)
    wrong = [
        (question, memory, 0.0 if memory == right(question) else 3.0, march.at(38, 20))
        for question in questions()
        for memory in (right(question), others[question])
    ]
    label(home, wrong, namespace=NAMESPACE)
    search_days(home, fast_embedder, range(39, 44), per_day=40)
    nights.night(37, 43)
    with opened(home, fast_embedder, 44) as life:
        assert rows(home, fast_embedder).is_empty()
        assert ranks(life) == never_learned(home, fast_embedder, 44)
        gate = {one.name: one for one in life.memory.learning.gate().conditions}
        assert "worse" in gate["regression"].value
        assert gate["shadow week"].state == "insufficient"  # it begins anew
        with pytest.raises(ApprovalRefusedError):
            life.memory.learning.approve(who="Ishbel")
        log = life.memory.learning.log(limit=None)
        counts = dict(log["action"].value_counts().iter_rows())
        assert {name: counts[name] for name in ("approve", "withdraw", "regression")} == {
            "approve": 2, "withdraw": 1, "regression": 1,
        }  # fmt: skip
        assert counts["add"] + counts["refresh"] == counts["rollback"] + counts.get("expire", 0)
        assert counts["refuse"] > 300
    assert "regression" in nights.sensor(44).skip_message
    assert "worse" in refusal(nights.run("learning", 44, 44)).metadata["evidence"].value


def plain_first(settings: Settings, embedder: Any) -> dict[str, str]:
    """What a search that knows nothing learned shows first for each question, but for the right answer."""
    with opened(settings, embedder, 38, 19, enabled=False) as life:
        shown = {one: [found.memory_id for found in life.memory.search(one)] for one in questions()}
    return {one: next(name for name in names if name != right(one)) for one, names in shown.items()}
