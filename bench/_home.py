"""Home with a collection's documents for a simulated life, and the jobs of real nightly runs.

Documents are saved some days before the first day, so that they are old enough to learn; the clock is the
simulated one everywhere. Nobody judges but use.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import dagster as dg
from _needs import Question
from _user import Clock
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from slowwave.assets import evaluation, learning
from slowwave.assets.resources import SlowwaveResource
from slowwave.common import ids
from slowwave.common.progress import listening
from slowwave.home.workspace import Workspace
from slowwave.memory import Memory
from slowwave.orchestration.definitions import definitions
from slowwave.settings import Settings, load
from slowwave.tuning.collection import Collection, notes_of

FIRST = date(2026, 1, 1)
SAVED = timedelta(days=10)  # before the first day: old enough to learn
ANSWER = "Here is the answer."  # says nothing of any memory: only the citations count
MEASURING = [one.key for one in (*evaluation.ASSETS, *learning.PROPOSED_ASSETS)]
"""What the job `evaluation` makes, without the warehouse."""
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass(frozen=True)
class Home:
    """A home with the documents of a namespace.

    Attributes:
        namespace: of the memories.
        memory: id of the memory that each document is.
    """

    settings: Settings
    namespace: str
    memory: Mapping[str, str]

    def answers(self, question: Question) -> frozenset[str]:
        """The memories that answer it."""
        return frozenset(self.memory[one] for one in question.answers if one in self.memory)


def born(folder: Path, collection: Collection, namespace: str, model: str, what: str = "both") -> Home:
    """A home that holds the documents, saved some days before the first; `what`: see `configured`."""
    for noisy in ("dagster", "alembic", "great_expectations"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    folder.mkdir(parents=True)
    settings = configured(folder, model, what)
    clock = Clock(datetime.combine(FIRST - SAVED, datetime.min.time(), UTC) + timedelta(hours=12))
    notes = notes_of(collection.documents)[namespace]
    with Memory(settings, namespace=namespace, space=Workspace(settings, clock=clock)) as memory:
        memory.save_many(notes)
    home = Home(settings, namespace, {one["key"]: ids.memory_id(namespace, one["key"]) for one in notes})
    for job in ("night", "evaluation"):
        run(home, job, FIRST - SAVED, FIRST - SAVED, clock())
    return home


def configured(folder: Path, model: str, what: str = "both") -> Settings:
    """Settings of a home: nobody judges but use, which is what learning is proved with.

    Args:
        folder: of the home.
        model: embedding model.
        what: kinds of learning that are switched on: words, keys or both.
    """
    on = {kind: str(what in (kind, "both")).lower() for kind in ("words", "keys")}
    (folder / "slowwave.toml").write_text(
        f'[embedding]\nmodel = "{model}"\n[gate]\nmode = "off"\n[judge]\nkind = "off"\n'
        f"[learning]\nenabled = true\nwords = {on['words']}\nkeys = {on['keys']}\n"
        f'[night]\nfirst_day = "{FIRST - SAVED}"\n'
    )
    return load(folder)


def run(home: Home, job: str, first: date, last: date, now: datetime) -> None:
    """A job for some days, as if it were `now`.

    Raises:
        SystemExit: it failed.
    """
    os.environ["SLOWWAVE_HOME"] = str(home.settings.home)
    resource = SlowwaveResource(home=str(home.settings.home), now=now.isoformat())
    tags = {ASSET_PARTITION_RANGE_START_TAG: str(first), ASSET_PARTITION_RANGE_END_TAG: str(last)}
    defs = definitions(resource)
    with dg.DagsterInstance.ephemeral() as instance, listening(None):
        done = defs.resolve_job_def(job).execute_in_process(
            instance=instance, run_config=_QUIET, raise_on_error=False, tags=tags,
            asset_selection=MEASURING if job == "evaluation" else None,
        )  # fmt: skip
    if not done.success:
        failed = [event for event in done.all_events if event.is_step_failure]
        raise SystemExit("\n".join(str(one.step_failure_data.error) for one in failed))
