"""The asset ``search_keys``: refused behind a closed gate, all that was proposed behind an open one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from evaluation_nights import make_home
from gated_home import GatedHome, a_copy
from key_rows import FIRST, LAST, put_key_effect, put_keys_open, put_seen, views_of
from learning_life import refusal
from learning_rows import DAY, NEWS, put_open
from polars.testing import assert_frame_equal

from slowwave.assets import daily
from slowwave.assets.learning import learned_triggers, search_keys
from slowwave.home.workspace import Workspace
from slowwave.learning.events import APPROVE, REGRESSION, ROLLBACK, WITHDRAW
from slowwave.learning.log import UNTAUGHT
from slowwave.orchestration.run_nightly import learn_due
from slowwave.quality.learning_gate import APPROVAL, ISOLATION, NOISE, QUALITY
from slowwave.scoring.feedback.learned import KEYS, WORDS
from slowwave.settings.file import editing
from slowwave.store.text import full_text_config

pytestmark = pytest.mark.slow

NOW = datetime(2026, 4, 15, 12, tzinfo=UTC)
YESTERDAY = f"{NOW - DAY:%F}"
HELD = ("search_keys", "learned_triggers", "learning_log", "search_views", "question_vectors")
SPAN = (f"{NOW - FIRST * DAY:%F}", f"{NOW - LAST * DAY:%F}")


def ago(days: int) -> str:
    return f"{NOW - days * DAY:%F}"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, fast_embedder: Any) -> Path:
    """A home whose gate of keys is open since yesterday; questions of eight days led somewhere before."""
    home = tmp_path_factory.mktemp("open") / "home"
    space = Workspace(make_home(home), clock=lambda: NOW)
    space.__dict__["embedder"] = fast_embedder
    put_keys_open(space, NOW)
    space.close()
    return home


class Home(GatedHome):
    """A copy of that home."""

    def decide(self, action: str, when: datetime = NOW - timedelta(hours=1), **detail: str) -> None:  # type: ignore[override]
        """Somebody decides, an hour ago where nothing else is said."""
        super().decide(action, when, **detail)

    def asked_for(self) -> list[tuple[str, str]]:
        """First and last day of the runs that the sensor asks for."""
        return [span_of(one) for one in self.sensor().run_requests]

    def job(self, first: str, last: str) -> dg.ExecuteInProcessResult:
        """The job for a range of days."""
        return self.run_days(first, last)

    def alone(self, day: str, asset: Any = search_keys) -> dg.ExecuteInProcessResult:
        """The asset by itself."""
        return self.run_asset(day, asset)

    def held(self) -> dict[str, tuple[int, pl.DataFrame]]:
        """The tables that learning could write."""
        return self.tables(HELD)

    def keys(self, where: str = "day < '~'") -> pl.DataFrame:
        """What was learned of questions."""
        return self.store.read("search_keys", where).sort("key_id")


def span_of(request: dg.RunRequest) -> tuple[str, str]:
    """First and last day of a run that is asked for."""
    tags = request.tags
    if "dagster/asset_partition_range_start" in tags:
        return tags["dagster/asset_partition_range_start"], tags["dagster/asset_partition_range_end"]
    assert request.partition_key is not None
    return request.partition_key, request.partition_key


@pytest.fixture
def home(opened: Path, tmp_path: Path, fast_embedder: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    with a_copy(Home, opened, tmp_path / "home", fast_embedder, NOW, monkeypatch) as made:
        yield made


def made_by(done: dg.ExecuteInProcessResult) -> set[str]:
    """Assets that a run has made."""
    return {one.asset_key.to_user_string() for one in done.get_asset_materialization_events()}


# -- open ------------------------------------------------------------------------------------------


def test_all_that_was_proposed_before_comes_in_as_one_range_asked_for_by_the_sensor(home: Home) -> None:
    (asked,) = home.sensor().run_requests
    assert span_of(asked) == SPAN
    done = home.job(*span_of(asked))
    assert done.success
    assert "search_keys" in made_by(done)
    rows, seen = home.keys(), home.store.read("search_views").sort("view_id")
    assert rows["key_id"].to_list() == seen["view_id"].to_list()
    assert rows.height == 32
    same = ["day", "namespace", "memory_id", "search_id", "query_id", "principal", "at", "taken", "examined"]
    assert_frame_equal(rows.select(same), seen.select(same))
    assert set(rows["expires_at"] - rows["at"]) == {home.space.key_teaching.ttl}
    assert home.asked_for() == []
    assert learn_due(home.space.settings) == []
    log = home.store.read("learning_log", "action = 'add'")
    assert (log.height, set(log["kind"])) == (16, {KEYS})
    assert home.store.count("learned_triggers", "day < '~'") == 0


def test_the_command_learns_the_same(home: Home) -> None:
    (report,) = learn_due(home.space.settings)
    assert (report["success"], report["from"], report["to"]) == (True, *SPAN)
    assert home.keys().height == 32


def test_days_one_by_one_in_any_order_come_to_the_same_as_the_range(home: Home, tmp_path: Path) -> None:
    assert home.job(*SPAN).success
    whole, log = home.keys(), home.store.read("learning_log").height
    for days in (7, 3, 10, 4, 8, 9, 6, 5):
        assert home.alone(ago(days)).success
    assert_frame_equal(home.keys(), whole)
    assert home.store.read("learning_log").height == log
    home.store.delete("search_keys", "day < '~'")
    assert home.asked_for() == [SPAN]
    for days in (7, 3, 10, 4, 8, 9, 6, 5):
        assert home.alone(ago(days)).success
    assert_frame_equal(home.keys(), whole)


def test_a_past_day_by_itself_comes_in_and_the_rest_stays_due(home: Home) -> None:
    assert home.alone(ago(7)).success
    assert set(home.keys()["day"]) == {ago(7)}
    assert home.asked_for() != []
    assert home.job(*SPAN).success
    assert home.keys().height == 32
    assert home.asked_for() == []


def test_a_late_selection_makes_its_day_due_again(home: Home) -> None:
    assert home.job(*SPAN).success
    put_seen(home.space, views_of("ada", 5, 0, "eve", NOW - 2 * DAY, search="late"))
    assert home.asked_for() == [(ago(2), ago(2))]
    assert home.job(ago(2), ago(2)).success
    assert home.keys().height == 34


def test_words_and_keys_are_learned_by_themselves(home: Home) -> None:
    put_open(home.space, NOW, approved=False)
    home.decide(APPROVE, NOW - DAY, kind=WORDS)
    assert sorted(home.asked_for()) == [SPAN, (YESTERDAY, YESTERDAY)]
    done = home.job(*SPAN)  # words of these days are refused, keys are not
    assert done.success
    assert home.keys().height == 32
    assert home.store.count("learned_triggers", "day < '~'") == 0
    assert home.asked_for() == [(YESTERDAY, YESTERDAY)]
    assert home.job(YESTERDAY, YESTERDAY).success
    assert set(home.store.read("learned_triggers", "day < '~'")["term"]) == set(NEWS)
    assert home.keys().height == 32
    assert home.asked_for() == []


def test_what_was_learned_leads_searches_from_then_on(home: Home, fast_embedder: Any) -> None:
    from slowwave.learning.active_boosts import search_keys as in_force

    question = home.store.read("search_views", columns=["query"])["query"][0]
    vector = fast_embedder.embed_query(question.casefold())
    assert in_force(home.space).led("ada", vector, NOW) == {}
    assert home.job(*SPAN).success
    home.space.reopen()
    assert in_force(home.space).led("ada", vector, NOW) != {}


# -- closed ----------------------------------------------------------------------------------------


def take(home: Home, name: str) -> tuple[str, ...]:
    """Take something from the open home; returns the conditions that do not hold then."""
    later = NOW - DAY + timedelta(hours=2)
    if name == "withdrawn":
        home.decide(WITHDRAW, later, kind=KEYS)
    elif name == "words alone":
        home.decide(WITHDRAW, later, kind=KEYS)
        home.decide(APPROVE, later + timedelta(hours=1), kind=WORDS)
    elif name == "an approval of earlier code":
        home.decide(WITHDRAW, later, kind=KEYS)
        home.decide(APPROVE, later + timedelta(hours=1))
    elif name == "noise":
        put_key_effect(home.space, NOW, relevant=False)
        return (NOISE,)
    elif name == "worse":
        put_key_effect(home.space, NOW, after=0.48)
        return (QUALITY,)
    elif name == "a full-text index":
        home.store.table("question_vectors").create_index("query", config=full_text_config())
        return (ISOLATION,)
    elif name == "a full-text index of keys":
        home.store.table("search_keys").create_index("query_id", config=full_text_config())
        return (ISOLATION,)
    return (APPROVAL,)


CLOSED = ("withdrawn", "words alone", "an approval of earlier code", "noise", "worse", "a full-text index",
          "a full-text index of keys")  # fmt: skip


@pytest.mark.parametrize("name", CLOSED)
def test_while_the_gate_is_closed_nothing_asks_all_is_refused_and_nothing_is_written(
    home: Home, name: str
) -> None:
    missing = take(home, name)
    before = home.held()
    tick = home.sensor()
    assert not tick.run_requests
    for day in (ago(7), YESTERDAY):
        why = refusal(done := home.alone(day))
        assert home.tags(done)["slowwave/refused"] == "the learning gate is closed"
        assert why.asset_key.to_user_string() == "search_keys"
        lines = why.description.splitlines()
        assert lines[0].startswith("The learning gate is closed at the end of ")
        lacking = {line[2:].partition(":")[0] for line in lines if line.startswith("- ")}
        if day == YESTERDAY:  # of a day before there is less evidence, too
            assert lacking == {*missing}
    done = home.job(*SPAN)
    assert done.success
    assert not made_by(done)
    assert learn_due(home.space.settings) == []
    for table, (version, rows) in home.held().items():
        assert before[table][0] == version, f"{table} was written"
        assert before[table][1].equals(rows)


def test_switched_off_nothing_is_asked_for_or_applied(home: Home) -> None:
    with editing(home.folder) as document:
        document["learning"]["keys"] = False
    assert not home.sensor().run_requests
    assert not made_by(home.job(*SPAN))
    assert home.keys().is_empty()


def test_after_a_withdrawal_a_day_that_is_worked_on_again_keeps_what_was_applied(home: Home) -> None:
    assert home.job(*SPAN).success
    before = home.keys()
    home.decide(WITHDRAW, kind=KEYS)
    refusal(home.alone(ago(7)))
    assert_frame_equal(home.keys(), before)


def test_of_two_namespaces_only_the_open_one_learns(home: Home) -> None:
    put_keys_open(home.space, NOW, "bob", approved=False)
    assert home.asked_for() == [SPAN]
    assert home.job(*SPAN).success
    assert set(home.keys()["namespace"]) == {"ada"}
    assert home.asked_for() == []


# -- taken back ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("action", "left"), [(ROLLBACK, 28), (REGRESSION, 0)])
def test_what_was_taken_back_does_not_come_in(home: Home, action: str, left: int) -> None:
    detail = {"scope": "memory", "value": "memory-3"} if action == ROLLBACK else {}
    home.decide(action, NOW - 2 * timedelta(hours=1), kind=KEYS, **detail)
    if action == ROLLBACK:
        assert home.job(*SPAN).success
    else:
        refusal(home.alone(ago(7)))
    assert home.keys().height == left
    assert home.keys("memory_id = 'memory-3'").is_empty()
    assert home.asked_for() == []


def test_a_day_worked_on_again_teaches_less_and_the_log_says_so(home: Home) -> None:
    assert home.job(*SPAN).success
    gone = home.store.read("search_views", f"day = '{ago(7)}' AND principal = 'ann'")
    home.store.delete("search_views", f"day = '{ago(7)}' AND principal = 'ann'")
    assert home.job(*SPAN).success
    assert home.keys().height == 32 - gone.height
    log = home.store.read("learning_log", "action = 'rollback'")
    assert set(log["detail"]) == set(gone.filter("selected")["view_id"])
    assert (set(log["reason"]), set(log["kind"])) == ({UNTAUGHT}, {KEYS})


def test_what_has_expired_is_logged_when_its_day_is_worked_on_again(home: Home) -> None:
    assert home.job(*SPAN).success
    old = home.keys().with_columns(expires_at=pl.lit(NOW - DAY), key_id="old:" + pl.col("key_id"))
    home.store.upsert("search_keys", old)
    assert home.job(*SPAN).success
    assert home.store.count("search_keys", "starts_with(key_id, 'old:')") == 0
    log = home.store.read("learning_log", "action IN ('expire', 'rollback')")
    assert (set(log["action"]), set(log["kind"])) == ({"expire"}, {KEYS})
    assert set(log["detail"]) == set(
        old.filter(pl.col("taken") > 0)["key_id"]
    )  # what was logged when it came


# -- failed ----------------------------------------------------------------------------------------


class Ended(BaseException):
    """What ends a process in the middle."""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_run_that_fails_at_the_write_comes_to_the_same_when_it_is_run_again(
    home: Home, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Between the write of the table and the materialisation Dagster knows nothing of it."""
    write = daily.fill_or_replace

    def broken(store: Any, name: str, *given: Any) -> Any:
        if name != "search_keys":
            return write(store, name, *given)
        if moment == "after":
            write(store, name, *given)
        raise Ended

    with monkeypatch.context() as patched:
        patched.setattr(daily, "fill_or_replace", broken)
        assert not home.job(*SPAN).success
    assert home.keys().height == (32 if moment == "after" else 0)
    assert home.job(*SPAN).success
    rows, log = home.keys(), home.store.read("learning_log").sort("log_id")
    assert rows.height == 32
    assert log.height == 16
    assert home.job(*SPAN).success
    assert_frame_equal(home.keys(), rows)
    assert_frame_equal(home.store.read("learning_log").sort("log_id"), log)
    assert home.asked_for() == []


def test_a_click_on_words_learns_no_keys(home: Home) -> None:
    refusal(home.alone(ago(7), learned_triggers))
    assert home.keys().is_empty()
