"""A simulated life in which learning has something to learn: people call places by names that no note has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from functools import cache
from typing import Any

import dagster as dg
import feedback_days as march
import numpy as np
from dagster_parts import sensor
from evaluation_nights import NO_JUDGE, Life, make_home

from bench._user import asked_on
from slowwave.assets.resources import SlowwaveResource
from slowwave.common import ids
from slowwave.orchestration.definitions import definitions
from slowwave.settings import Settings

PLACES = (
    "Aberlour", "Brodick", "Cromarty", "Dunvegan", "Elie", "Fortrose", "Gairloch", "Helmsdale", "Inverie",
    "Kyleakin", "Lochinver", "Mallaig", "Nairn", "Oban", "Portree", "Rosehearty", "Scourie", "Tarbert",
    "Ullapool", "Wick",
)  # fmt: skip
COLOURS, PEOPLE = ("red", "white", "green", "black", "yellow"), ("Ishbel", "Ruaridh", "Morag", "Hamish")
FACTS = {
    "light": "The lighthouse of {0} was painted {1} and its lamp turns once in {2} seconds.",
    "keys": "{3} keeps the keys of the harbour office of {0} and answers on telephone line {2}.",
    "ferry": "From {0} the ferry leaves at {2} minutes past the hour; there is none on Sundays or in storms.",
}
QUESTIONS = {
    "light": (
        "what colour is the lighthouse at {0}", "who painted the lighthouse at {0}", "lighthouse lamp {0}",
        "how many seconds has the lighthouse lamp at {0}", "lighthouse paint for {0}",
        "does the lamp at {0} turn",
    ),
    "keys": (
        "who keeps the keys at {0}", "telephone of the harbour office {0}", "harbour office keys {0}",
        "which telephone line answers at {0}", "keys for {0}, which telephone",
        "office keys of {0} are with whom",
    ),
    "ferry": (
        "when does the ferry from {0} leave", "is there a ferry from {0} on Sundays", "ferry minutes {0}",
        "ferry from {0} in storms", "minutes past the hour for the ferry at {0}", "sunday ferry {0}",
    ),
}  # fmt: skip
HELD = {
    "light": "lighthouse of {0}", "keys": "harbour keys {0}", "ferry": "ferry leaving {0}",
}  # fmt: skip
"""Asked by nobody while there is anything to learn."""
SYLLABLES = ("ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "zu", "da", "fe", "go", "hi", "ju", "pa")
FIRST_SAVED = -5
NAMESPACE = "default"


@cache
def nicknames() -> dict[str, str]:
    """What people call each place."""
    draw, found = np.random.default_rng(3), dict[str, str]()
    for place in PLACES:
        name = ""
        while not name or name in found.values():
            name = "".join(draw.choice(SYLLABLES, 3)) + "x"
        found[place] = name
    return found


def notes() -> dict[str, str]:
    """Sixty notes by their keys."""
    return {
        f"{kind} {place}": text.format(place, COLOURS[at % 5], 7 + 3 * at, PEOPLE[at % 4])
        for at, place in enumerate(PLACES)
        for kind, text in FACTS.items()
    }


def questions(*, held: bool = False) -> dict[str, str]:
    """Questions with the key of the one note that answers each; with `held` those that are kept back."""
    nicks = nicknames()
    return {
        form.format(nicks[place]): f"{kind} {place}"
        for place in PLACES
        for kind in FACTS
        for form in ([HELD[kind]] if held else QUESTIONS[kind])
    }


def life_home(home: Any, more: str = "") -> Settings:
    """An empty home for the life; no other rankings are tried in it. `more` is of its configuration."""
    return make_home(home, f"{NO_JUDGE}[evaluation]\nablations = false\n{more}")


def right(question: str) -> str:
    """The memory that answers a question."""
    return ids.memory_id(NAMESPACE, (questions() | questions(held=True))[question])


def search_days(
    settings: Settings, embedder: Any, numbers: Iterable[int], *, per_day: int = 15, limit: int = 30,
    wanted: Callable[[str, Sequence[str]], list[str]] | None = None, seed: int = 0,
) -> None:  # fmt: skip
    """People search on these days of March and use what answers their question, if it was shown.

    Args:
        settings: of the home.
        embedder: of the home.
        numbers: days of March.
        per_day: searches a day.
        limit: results that are looked at.
        wanted: which of the results (ids, best first) are used for a question; None is the right one.
        seed: which questions are asked when.
    """
    everything = [date(2026, 3, 1) + timedelta(days=number) for number in range(120)]
    plan = asked_on(sorted(questions()), everything, per_day, seed=seed)
    answers = {question: ids.memory_id(NAMESPACE, key) for question, key in questions().items()}
    with Life(settings, embedder, namespace=NAMESPACE) as life:
        for number in numbers:
            for moment, question in plan[everything[number - 1]]:
                life.clock.moment = moment
                found = life.memory.search(question, limit=limit)
                names = [one.memory_id for one in found]
                used = (
                    wanted(question, names) if wanted else [one for one in names if one == answers[question]]
                )
                life.memory.observe(found.search_id, "Here is the answer.", cited=used)


def save_notes(settings: Settings, embedder: Any) -> None:
    """The notes come in before anything is asked."""
    with Life(settings, embedder, namespace=NAMESPACE) as life:
        life.learn(notes(), march.at(FIRST_SAVED))


class Nights:
    """Runs of a home on a Dagster instance of its own, at moments of the life."""

    def __init__(self, settings: Settings, folder: Any) -> None:
        self.settings, self.instance = settings, dg.DagsterInstance.ephemeral(str(folder))

    def run(self, job: str, first: int, last: int, *, hour: float = 2.5) -> dg.ExecuteInProcessResult:
        """One run of a job for a range of days of March, in the night after the last of them."""
        defs = definitions(self.resource(last + 1, hour))
        return defs.resolve_job_def(job).execute_in_process(
            instance=self.instance, raise_on_error=False, tags=self.tags(first, last),
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )  # fmt: skip

    def night(self, first: int, last: int) -> None:
        """The feedback and the evaluation of some days; nothing is learned by it."""
        for job in ("feedback", "evaluation"):
            done = self.run(job, first, last)
            assert done.success, [
                one.step_failure_data.error for one in done.all_events if one.is_step_failure
            ]

    def resource(self, day: int, hour: float = 2.5) -> SlowwaveResource:
        """The home at a moment."""
        return SlowwaveResource(home=str(self.settings.home), now=march.at(day, hour).isoformat())

    def sensor(self, day: int, hour: float = 4) -> dg.SensorExecutionData:
        """What the sensor of the gate says at a moment."""
        home = self.resource(day, hour)
        with dg.build_sensor_context(
            instance=self.instance, resources={"slowwave": home}, definitions=definitions(home)
        ) as context:
            return sensor("learning_gate_opens").evaluate_tick(context)

    @staticmethod
    def tags(first: int, last: int) -> dict[str, str]:
        """Of a run for a range of days."""
        return {
            "dagster/asset_partition_range_start": march.name(first),
            "dagster/asset_partition_range_end": march.name(last),
        }


def refusal(done: dg.ExecuteInProcessResult) -> dg.AssetObservation:
    """Why a run was refused: it made nothing, failed nothing (so nobody is alerted), and says why.

    Of words, where it was to apply both.

    A check that was not run counts as skipped in a run that did not fail, and is red in one that did.
    """
    assert done.success
    assert not done.get_asset_materialization_events()
    assert not done.get_asset_check_evaluations()
    assert not [one for one in done.all_events if one.is_step_failure or one.is_step_up_for_retry]
    said = [one for one in done.all_events if one.event_type_value == "ASSET_OBSERVATION"]
    observed = [one.asset_observation_data.asset_observation for one in said]
    assert observed
    words = [one for one in observed if one.asset_key.path[-1] == "learned_triggers"]
    return words[0] if words else observed[0]
