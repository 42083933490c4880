"""Without any one condition of the learning gate nothing asks, all are refused, nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from evaluation_nights import make_home
from gated_home import GatedHome, a_copy
from learning_life import refusal
from learning_rows import DAY, NEWS, put_effect, put_open, put_proposals
from warehouse_rows import put

from slowwave.assets.learning import learned_triggers
from slowwave.home.workspace import Workspace
from slowwave.learning.events import WITHDRAW
from slowwave.learning.log import UNTAUGHT
from slowwave.orchestration.run_nightly import learn_due
from slowwave.quality.learning_gate import (
    APPROVAL,
    CONDITIONS,
    CYCLES,
    DAYS,
    ENABLED,
    ISOLATION,
    NOISE,
    QUALITY,
    REGRESSION,
    SEARCHES,
    SHADOW_WEEK,
)
from slowwave.settings import Settings, load
from slowwave.settings.file import editing
from slowwave.store.text import full_text_config

pytestmark = pytest.mark.slow

NOW = datetime(2026, 4, 15, 12, tzinfo=UTC)
YESTERDAY = f"{NOW - DAY:%F}"
HELD = ("learned_triggers", "learning_log", "learned_proposals", "learning_gate", "meta")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, fast_embedder: Any) -> Path:
    """A home whose gate is open at the end of yesterday, of which something is to be learned."""
    home = tmp_path_factory.mktemp("open") / "home"
    space = Workspace(make_home(home), clock=lambda: NOW)
    space.__dict__["embedder"] = fast_embedder
    put_open(space, NOW)
    space.close()
    return home


class Home(GatedHome):
    """A copy of that home."""

    @property
    def settings(self) -> Settings:
        """As they are written down."""
        return load(self.folder)

    def set(self, **learning: object) -> None:
        """Change settings of learning."""
        with editing(self.folder) as document:
            document["learning"].update(learning)

    def job(self, first: int = 1, last: int = 1) -> dg.ExecuteInProcessResult:
        """The job, for the days from so many ago to so many ago."""
        return self.run_days(f"{NOW - first * DAY:%F}", f"{NOW - last * DAY:%F}")

    def alone(self, day: str = YESTERDAY) -> dg.ExecuteInProcessResult:
        """The asset by itself."""
        return self.run_asset(day, learned_triggers)

    def held(self) -> dict[str, tuple[int, pl.DataFrame]]:
        """The tables that learning could write."""
        return self.tables(HELD)

    def learned(self) -> set[tuple[str, str]]:
        """Namespaces and terms that were learned."""
        rows = self.store.read("learned_triggers", "day < '~'", columns=["namespace", "term"])
        return set(rows.iter_rows())


@pytest.fixture
def home(opened: Path, tmp_path: Path, fast_embedder: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    with a_copy(Home, opened, tmp_path / "home", fast_embedder, NOW, monkeypatch) as made:
        yield made


def test_with_every_condition_it_is_asked_for_and_learned(home: Home) -> None:
    assert [one.partition_key for one in home.sensor().run_requests] == [YESTERDAY]
    assert home.alone().success
    assert home.learned() == {("ada", term) for term in NEWS}
    assert home.job().success
    assert not home.sensor().run_requests
    assert not learn_due(home.settings)


def test_with_every_condition_the_command_learns_it(home: Home) -> None:
    (report,) = learn_due(home.settings)
    assert (report["success"], report["from"], report["to"]) == (True, YESTERDAY, YESTERDAY)
    assert home.learned() == {("ada", term) for term in NEWS}


@dataclass(frozen=True)
class Case:
    """Something that is taken from the open home, and the conditions that do not hold then."""

    take: Callable[[Home], object]
    missing: tuple[str, ...]


def less_shadow(home: Home) -> None:
    """The first proposal came but four days ago."""
    home.store.delete("learned_proposals", f"day < '{YESTERDAY}'")
    put_proposals(home.store, NOW, days=4)


def withdrawn(home: Home) -> None:
    home.decide(WITHDRAW, NOW - DAY + timedelta(hours=2))


def late_approval(home: Home) -> None:
    """A person approved, after the end of yesterday."""
    withdrawn(home)
    home.decide("approve", NOW - timedelta(hours=2))


def regressed(home: Home) -> None:
    """Found before the selections of yesterday's evening, which stand."""
    home.decide("regression", NOW - DAY + timedelta(minutes=1), "MRR@5 is worse")


def imported(home: Home) -> None:
    """All that was searched is of another system."""
    rows = home.store.read("searches").with_columns(imported_from=pl.lit("ubi"))
    home.store.upsert("searches", rows)


def imported_labels(home: Home) -> None:
    """What was asked is known to be answered by a list from elsewhere alone."""
    rows = home.store.read("judgments").with_columns(imported=pl.lit(value=True))
    home.store.upsert("judgments", rows)


def unasked(home: Home) -> None:
    """Of the second cycle, so few queries are left that it is still open."""
    for at in range(20):
        home.store.delete("searches", f"search_id = 'ada#2-{at}'")


def half_imported(home: Home) -> None:
    """Of the second cycle, twenty queries are of another system: too few of its own are left."""
    rows = home.store.read("searches", "starts_with(search_id, 'ada#2')").sort("search_id").head(20)
    home.store.upsert("searches", rows.with_columns(imported_from=pl.lit("ubi")))


def imported_again(home: Home) -> None:
    """A cycle is asked only by history that was imported for its days later."""
    home.store.delete("searches", "starts_with(search_id, 'ada#1')")
    rows = home.store.read("searches", "starts_with(search_id, 'ada#2')")
    put(home.store, "searches", [
        {"namespace": "ada", "search_id": f"old-{at}", "day": f"{NOW - 28 * DAY:%F}", "shown": [],
         "query": f"question {at} of cycle 1", "imported_from": "ubi"}
        for at in range(rows.height)
    ])  # fmt: skip


def leak(home: Home) -> None:
    home.store.table("learned_triggers").create_index("term", config=full_text_config())


EVIDENCE = (CYCLES, SEARCHES, DAYS)
CASES = {
    "off": Case(lambda home: home.set(enabled=False), (ENABLED,)),
    "cycles": Case(lambda home: home.set(min_closed_cycles=3), (CYCLES,)),
    "searches": Case(lambda home: home.set(cycle_queries=221), (SEARCHES,)),
    "days": Case(lambda home: home.set(cycle_days=29), (DAYS,)),
    "a cycle that is still open": Case(unasked, EVIDENCE),
    "labels that were imported": Case(imported_labels, EVIDENCE),
    "imported history": Case(imported, EVIDENCE),
    "half of a cycle imported": Case(half_imported, EVIDENCE),
    "history imported into a cycle": Case(imported_again, EVIDENCE),
    "shadow week": Case(less_shadow, (SHADOW_WEEK,)),
    "a longer shadow": Case(lambda home: home.set(shadow_days=9.6), (SHADOW_WEEK,)),
    "noise": Case(lambda home: put_effect(home.store, NOW, relevant=False), (NOISE,)),
    "no verdict": Case(lambda home: home.store.delete("learned_matches", "true"), (NOISE,)),
    "worse": Case(lambda home: put_effect(home.store, NOW, after=0.48), (QUALITY,)),
    "not measured": Case(lambda home: home.store.delete("learned_effect", "true"), (QUALITY,)),
    "a full-text index": Case(leak, (ISOLATION,)),
    "regression": Case(regressed, (SHADOW_WEEK, NOISE, QUALITY, REGRESSION)),
    "withdrawn": Case(withdrawn, (APPROVAL,)),
    "approved a day later": Case(late_approval, (APPROVAL,)),
}


def test_every_condition_is_taken_away_once_alone() -> None:
    alone = {case.missing[0] for case in CASES.values() if len(case.missing) == 1}
    assert alone == {*CONDITIONS}.difference({REGRESSION})  # which takes back what the others rest on


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_without_it_nothing_asks_all_are_refused_and_nothing_is_written(home: Home, case: Case) -> None:
    case.take(home)
    before = home.held()
    tick = home.sensor()
    assert not tick.run_requests
    assert all(f"{name} " in tick.skip_message for name in case.missing)
    for done in (home.alone(), home.job(10, 1)):  # a job of one day is refused below
        why = refusal(done)
        assert home.tags(done)["slowwave/refused"] == "the learning gate is closed"
        assert why.description.startswith(f"The learning gate is closed at the end of {YESTERDAY}")
        assert lacking(why.description.splitlines()) == {*case.missing}
        shown = table_rows(why.metadata["evidence"].value)
        assert [name for _, name, *_ in shown] == [*CONDITIONS]
        assert {name for _, name, state, *_ in shown if state != "open"} == {*case.missing}
    assert learn_due(home.settings) == []
    after = home.held()
    for name, (version, rows) in before.items():
        assert after[name][0] == version, f"{name} was written"
        assert after[name][1].equals(rows)


def lacking(lines: Iterable[str]) -> set[str]:
    return {line[2:].partition(":")[0] for line in lines if line.startswith("- ")}


def table_rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def test_the_days_before_the_gate_opened_stay_closed(home: Home) -> None:
    for first, last in ((10, 10), (9, 9), (10, 1), (2, 1)):
        why = refusal(home.job(first, last))
        assert why.metadata["open days"].value == (YESTERDAY if last == 1 else "none")
    assert not home.learned()


def test_a_day_that_is_not_over_is_looked_at_as_it_is_now(home: Home) -> None:
    # At the end of today the shadow week is over; now it is not.
    home.store.delete("learned_proposals", "true")
    put_proposals(home.store, NOW + timedelta(hours=4), days=7)
    assert lacking(refusal(home.alone(f"{NOW:%F}")).description.splitlines()) == {SHADOW_WEEK}


def test_of_two_namespaces_only_the_open_one_learns(home: Home) -> None:
    put_open(home.space, NOW, "bob", approved=False)
    assert [one.partition_key for one in home.sensor().run_requests] == [YESTERDAY]
    assert home.alone().success
    assert home.learned() == {("ada", term) for term in NEWS}
    assert not home.sensor().run_requests
    assert learn_due(home.settings) == []
    assert home.store.read("learning_log", "namespace = 'bob'").is_empty()


def test_days_worked_on_again_teach_less_and_the_log_says_so(home: Home) -> None:
    put_open(home.space, NOW, "bob")
    assert home.job().success
    assert home.learned() == {(name, term) for name in ("ada", "bob") for term in NEWS}
    put_effect(home.store, NOW, "bob", relevant=False)  # late news of yesterday: it is all noise
    assert home.job().success
    assert home.learned() == {("ada", term) for term in NEWS}
    log = home.store.read("learning_log", "action = 'rollback'")
    assert set(log["namespace"]) == {"bob"}
    assert set(log["term"]) == {*NEWS}
    assert set(log["reason"]) == {UNTAUGHT}


def test_what_has_expired_is_logged_when_its_day_is_worked_on_again(home: Home) -> None:
    assert home.job().success
    rows = home.store.read("learned_triggers", "day < '~'").with_columns(expires_at=pl.lit(NOW - DAY))
    old = rows.with_columns(trigger_id="old:" + pl.col("trigger_id"))
    home.store.upsert("learned_triggers", old)
    assert home.job().success
    assert home.store.count("learned_triggers", "starts_with(trigger_id, 'old:')") == 0
    log = home.store.read("learning_log", "action IN ('expire', 'rollback')")
    assert set(log["action"]) == {"expire"}
    assert set(log["detail"]) == set(old["trigger_id"])
