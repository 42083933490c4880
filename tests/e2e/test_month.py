"""A month of a user who reads from the top and sometimes takes the wrong result: two cycles, their pages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import feedback_days as march
import pytest
from evaluation_nights import NO_JUDGE, Life, make_home
from quick_dagster import _quick_nights as _quick_nights
from quick_dagster import quick_nights
from typer.testing import CliRunner

from bench._user import User, asked_on
from slowwave.cli import app
from slowwave.common import ids
from slowwave.orchestration.run_nightly import evaluate_due, run_night
from slowwave.scoring.ranking import RankingPolicy
from slowwave.settings import Settings, load
from slowwave.settings.ranking_file import write_policy

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.soak]

DAYS, PER_DAY = 28, 15
IN_TURN = range(15, 22)  # days on which the bad policy's results are shown beside those of the one in force
PLACES = (
    "Aberlour", "Brodick", "Cromarty", "Dunvegan", "Elie", "Fortrose", "Gairloch", "Helmsdale", "Inverie",
    "Kyleakin", "Lochinver", "Mallaig", "Nairn", "Oban", "Portree", "Rosehearty", "Scourie", "Tarbert",
    "Ullapool", "Wick",
)  # fmt: skip
FACTS = {
    "light": (
        "The lighthouse of {0} was painted {1} and its lamp turns once in {2} seconds.",
        ("what colour is the tower in {0}", "how fast does the light of {0} rotate", "{0} lamp seconds"),
    ),
    "keys": (
        "{3} keeps the keys of the harbour office of {0} and answers on telephone line {2}.",
        (
            "whom do I ask to open the office in {0}",
            "number of the person with the keys {0}",
            "{0} key holder",
        ),
    ),
    "ferry": (
        "From {0} the ferry leaves at {2} minutes past the hour; there is none on Sundays or in storms.",
        ("when does the boat from {0} go", "does a boat sail from {0} on a Sunday", "{0} ferry times"),
    ),
}
COLOURS = ("red", "white", "green", "black", "yellow")
PEOPLE = ("Ishbel", "Ruaridh", "Morag", "Hamish")


def facts() -> tuple[dict[str, str], dict[str, str]]:
    """Sixty notes by their keys, and 180 questions with the key of the one note that answers each."""
    notes, questions = {}, {}
    for at, place in enumerate(PLACES):
        said = place, COLOURS[at % 5], 7 + 3 * at, PEOPLE[at % 4]
        for name, (text, asked) in FACTS.items():
            notes[f"{name} {place}"] = text.format(*said)
            questions |= {question.format(*said): f"{name} {place}" for question in asked}
    return notes, questions


@dataclass(frozen=True)
class Month:
    """A home after the month, and what the run said."""

    settings: Settings
    told: dict[str, Any]

    def command(self, *arguments: str) -> Any:
        """What a command says, as data."""
        environment = {"SLOWWAVE_HOME": str(self.settings.home)}
        done = CliRunner().invoke(app, [*arguments, "--json"], env=environment, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    @cached_property
    def reports(self) -> dict[int, dict[str, Any]]:
        """The reports of both cycles, their variants by their names."""
        found = {number: self.command("eval", "report", str(number)) for number in (1, 2)}
        return {
            number: report | {"variants": {one["name"]: one for one in report["variants"]}}
            for number, report in found.items()
        }


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory, fast_embedder: Any) -> Month:
    """The whole month, folded and evaluated in one run each."""
    place = tmp_path_factory.mktemp("month")
    bad = place / "bad.json"  # no cosine is that high: what is left is how sure each memory is
    write_policy(bad, RankingPolicy("bad", vector_weight=1.0, cosine_floor=0.999, title_weight=0.0), {})
    settings = make_home(place / "home", f'{NO_JUDGE}[evaluation.shadow_policies]\nbad = "{bad}"\n')
    settings = load(settings.home, evaluation={"shadow": {"bad": bad}})
    turns = load(settings.home, evaluation={"interleave": bad})
    notes, questions = facts()
    days = [date(2026, 3, 1) + timedelta(days=number) for number in range(DAYS)]
    plan, user = asked_on(sorted(questions), days, PER_DAY), User(seed=1)
    with Life(settings, fast_embedder, namespace="default") as life:
        life.learn(notes, march.at(0))
        assert life.space.store.count("memories", "status = 'live'") == len(notes)
    for part in (days[:14], [one for one in days[14:] if one.day in IN_TURN], days[IN_TURN.stop - 1 :]):
        with Life(turns if part[0].day in IN_TURN else settings, fast_embedder, namespace="default") as life:
            for moment, question in [one for day in part for one in plan[day]]:
                life.clock.moment = moment
                found = life.memory.search(question)
                right = {ids.memory_id("default", questions[question])}
                taken = user.select([one.memory_id for one in found], right)
                life.memory.observe(found.search_id, "Here is the answer.", cited=taken)
    with quick_nights(tmp_path_factory):
        for job in ("feedback", "evaluation"):
            done = run_night(settings, march.name(1), march.name(DAYS), job=job)
            assert done["success"], done["errors"]
    return Month(settings, {step["asset"]: step["metadata"] for step in done["steps"]})


def test_the_month_closes_two_cycles_with_verdicts(month: Month) -> None:
    told = month.told["evaluation_cycles"]
    assert told["closed"] == "default#1, default#2"
    for number, (opened, closed) in enumerate([(1, 14), (15, 28)], start=1):
        report = month.reports[number]
        assert (report["opened_on"], report["closed_on"]) == (march.name(opened), march.name(closed))
        assert report["queries"] >= 100
        ablations = [one for one in report["variants"].values() if one["role"] in ("channel", "stage")]
        assert len(ablations) >= 6
        verdicts = {comparison["verdict"] for one in ablations for comparison in one["against"].values()}
        assert verdicts <= {"better", "worse", "equivalent", "insufficient evidence"}
        assert len(verdicts) > 1
        page = Path(told[f"report of default#{number}"]).read_text()
        assert f"Evaluation of default, cycle {number}" in page
        for one in ablations:
            assert one["name"] in page
    of_first = {name: one["against"].get("ndcg_10") for name, one in month.reports[1]["variants"].items()}
    assert of_first["without vector"]["verdict"] == "worse"
    assert of_first["no sparse recall"]["verdict"] == "equivalent"
    assert month.reports[2]["changed"]["shared"] > 50


def test_a_bad_ranking_is_found_out_without_being_shown_and_where_it_is(month: Month) -> None:
    first, second = month.reports[1], month.reports[2]
    for report in (first, second):
        for measure, found in report["variants"]["bad"]["against"].items():
            assert found["verdict"] == "worse", measure
            assert found["high"] < -0.1, measure
    in_force = first["variants"]["in force"]["against"]["ndcg_10"]
    assert in_force["verdict"] == "equivalent"
    shown = second["variants"]["in force"]["against"]["ndcg_10"]
    assert shown["difference"] > 0.01  # half of what a week's searches showed was the bad ranking's
    assert first["interleaving"] == {}
    ((policy, found),) = second["interleaving"].items()
    assert policy == second["variants"]["bad"]["policy_version"]
    assert found["searches"] > 50
    assert (found["verdict"], found["high"] < 0) == ("worse", True)


def test_the_commands_say_the_same(month: Month) -> None:
    status = month.command("eval", "status")
    assert [one["status"] for one in status] == ["closed", "closed"]
    for row in status:
        report = month.reports[row["number"]]
        same = ("cycle_id", "opened_on", "closed_on", "days", "searches", "queries", "judgment_version")
        assert {name: row[name] for name in same} == {name: report[name] for name in same}
        assert {*row["variants"], "logged"} == set(report["variants"])
        for name in ("shadow", "interleaving", "judges", "found_by"):
            assert row["summary"][name] == report[name]
    assert evaluate_due(month.settings) == []
