"""Memories that were searched for some days, what people said of it, and what evaluating them left behind."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import feedback_days as days
import polars as pl
from polars.testing import assert_frame_equal
from prepared import take_over

from bench._user import Clock
from slowwave.assets import evaluation, learning
from slowwave.assets.resources import OneNight, SlowwaveResource
from slowwave.common import ids
from slowwave.embedding import load_embedder
from slowwave.evaluation.judging.entries import NewJudgment, write_judgments
from slowwave.home.workspace import Workspace
from slowwave.journal import Entry, Journal
from slowwave.memory import Memory
from slowwave.orchestration.definitions import definitions
from slowwave.orchestration.run_nightly import metadata_of
from slowwave.settings import EmbeddingSettings, Settings, load

TABLES = (
    "judgments", "evaluation_scores", "shadow_scores", "channel_attribution", "interleavings",
    "evaluation_cycles", "cycle_scores", "cycle_judgments", "learned_proposals", "learned_matches",
    "learned_effect", "learning_gate", "learning_log", "search_views",
)  # fmt: skip
NOW = "2026-05-01T12:00:00+00:00"
BASE = """\
[embedding]
model = "wordllama-256"
[learning]
enabled = true
[night]
first_day = "2026-02-01"
"""
NO_JUDGE = '[judge]\nkind = "off"\n'


def make_home(home: Path, more: str = NO_JUDGE) -> Settings:
    """An empty home with these settings."""
    home.mkdir(parents=True, exist_ok=True)
    take_over(home)
    (home / "slowwave.toml").write_text(BASE + more)
    return load(home)


def journal(settings: Settings, acts: Sequence[Entry]) -> None:
    """These acts are in the journal."""
    with Journal.open_path(settings.journal_file) as opened:
        opened.append(acts)


def label(
    settings: Settings, said: Iterable[tuple[str, str, float | None, datetime]], *, namespace: str = "ada"
) -> None:
    """Labels by hand: query, memory, grade and moment."""
    rows = [
        NewJudgment(query, memory, grade, "graded" if grade is not None else "unrateable", "", "ann", when)
        for query, memory, grade, when in said
    ]
    with Journal.open_path(settings.journal_file) as opened:
        write_judgments(opened, namespace, rows)


def asked(
    number: int, day: int, *, namespace: str = "ada", hour: float = 9, shown: Sequence[str] = ()
) -> Entry:
    """The search for question `number`, which comes from where nobody noted what it considered."""
    return days.search(
        f"{namespace}-{number}-{day}", days.at(day, hour), shown or [ids.memory_id(namespace, "deploy")],
        query=f"question {number}", namespace=namespace,
    )  # fmt: skip


def fold(settings: Settings, first: int, last: int, embedder: Any) -> None:
    """What a night makes of the searches and the feedback of some days."""
    space = Workspace(settings)
    space.__dict__["embedder"] = embedder
    days.fold_days(space, [days.name(day) for day in range(first, last + 1)])
    space.close()


@dataclass(frozen=True)
class Run:
    """What an asset sees of the run that makes it."""

    asset_key: dg.AssetKey
    partition_keys: Sequence[str]
    run: Any
    log: logging.Logger
    numbers: dict[str, Any] = field(default_factory=dict)
    whole: dict[str, Any] = field(default_factory=dict)

    def add_asset_metadata(self, told: Mapping[str, Any], *, partition_key: str) -> None:
        """Numbers of a day; their sum is kept."""
        assert partition_key in self.partition_keys
        for name, number in told.items():
            if isinstance(number, int | float):
                self.numbers[name] = self.numbers.get(name, 0) + number
            else:
                self.whole[name] = number

    def log_event(self, event: dg.AssetObservation) -> None:
        """What is of all days."""
        self.whole.update(event.metadata)


def evaluate(settings: Settings, first: int, last: int, *, now: str = NOW) -> dict[str, dict[str, Any]]:
    """Do what the job does for a range of days, asset by asset, without Dagster; metadata of its assets.

    For tests of what comes of it. `evaluate_in_dagster` is the run itself, with the checks between the
    assets: it takes twice as long, and the same tables and metadata come of it.
    """
    resource, names = SlowwaveResource(home=str(settings.home), now=now), _names(first, last)
    resource.space.__dict__["embedder"] = _embedder()
    run, told = SimpleNamespace(run_id=str(uuid.uuid4()), tags={}), {}
    with resource.space.one_night(nullcontext()):
        for asset in (*evaluation.ASSETS, *learning.PROPOSED_ASSETS):
            context = Run(asset.key, names, run, logging.getLogger("tests.evaluation"))
            done = asset.op.compute_fn.decorated_fn(context, resource, OneNight(slowwave=resource))
            told[asset.key.path[-1]] = {
                key: value.value if isinstance(value, dg.MetadataValue) else value
                for key, value in {**context.numbers, **context.whole, **(done.metadata or {})}.items()
            }
    resource.space.close()
    return told


def _names(first: int, last: int) -> list[str]:
    return [days.name(day) for day in range(first, last + 1)]


@cache
def _embedder() -> Any:
    return load_embedder(EmbeddingSettings(model="wordllama-256"))


def evaluate_in_dagster(
    settings: Settings, first: int, last: int, *, now: str = NOW
) -> dict[str, dict[str, Any]]:
    """Run the job for a range of days, as one run, without the warehouse; metadata of its assets."""
    defs = definitions(SlowwaveResource(home=str(settings.home), now=now))
    tags = {
        "dagster/asset_partition_range_start": days.name(first),
        "dagster/asset_partition_range_end": days.name(last),
    }
    with dg.DagsterInstance.ephemeral() as instance:
        done = defs.resolve_job_def("evaluation").execute_in_process(
            instance=instance,
            tags=tags,
            asset_selection=[one.key for one in (*evaluation.ASSETS, *learning.PROPOSED_ASSETS)],
        )
    assert done.success
    return metadata(done)


def metadata(done: dg.ExecuteInProcessResult) -> dict[str, dict[str, Any]]:
    """What each asset of a run told, by its name."""
    return metadata_of(done.all_events)


def tables(settings: Settings, embedder: Any) -> dict[str, pl.DataFrame]:
    """The tables of the evaluation, by key."""
    space = Workspace(settings)
    space.__dict__["embedder"] = embedder
    found = {name: space.store.read(name).sort(space.store.specs[name].key) for name in TABLES}
    space.close()
    return found


def assert_same(left: dict[str, pl.DataFrame], right: dict[str, pl.DataFrame], what: object = "") -> None:
    """The same rows in every table, to the last bit."""
    for name in TABLES:
        try:
            assert_frame_equal(left[name], right[name], check_exact=True)
        except AssertionError as error:
            raise AssertionError(f"{what}: table {name} differs: {error}") from None


class Life:
    """A memory that is searched and used at any moment."""

    def __init__(self, settings: Settings, embedder: Any, *, namespace: str = "ada") -> None:
        self.clock = Clock(days.at(0))
        self.space = Workspace(settings, clock=self.clock)
        self.space.__dict__["embedder"] = embedder
        self.memory = Memory(settings, namespace=namespace, principal="ann", space=self.space)

    def __enter__(self) -> Life:
        return self

    def __exit__(self, *_: object) -> None:
        self.memory.close()

    def learn(self, notes: dict[str, str], when: datetime) -> None:
        """Save notes by their keys."""
        self.clock.moment = when
        self.memory.save_many([{"content": text, "key": key, "title": key} for key, text in notes.items()])

    def ask(
        self,
        query: str,
        when: datetime,
        takes: Callable[[str], bool] | None = None,
        *,
        told: datetime | None = None,
    ) -> list[str]:
        """Search, and say which of the results were of use, then or at another moment; what is shown."""
        self.clock.moment = when
        found = self.memory.search(query)
        shown = [one.memory_id for one in found]
        if takes is not None:
            self.clock.moment = told or self.clock.moment
            self.memory.observe(found.search_id, "Here is the answer.", cited=list(filter(takes, shown)))
        return shown
