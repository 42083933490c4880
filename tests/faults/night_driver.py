"""Works on Slowwave homes in forked children, each of which may kill itself at a chosen write.

Listens on the Unix socket that it is given; says ``ready``. Each connection brings one job, as a line of
JSON, and is answered with one line; as many jobs are worked on at a time as connections are open. A job is
``{"do": ..., "home": ..., "kill": null | [n, "before" | "within" | "after"]}``, with the number of a write or
the name of an asset (its first write). What it does:

* ``night``: all that is due. With ``first`` (a day) one run from there to today. With ``stop``, it
  waits before the first write of that asset: the file ``met`` says that it does, the file ``go`` ends it. The
  file ``queued`` says that another night is waited for.
* ``save`` with ``notes``; ``undo`` and ``release`` with the ``id`` and the moment (``now``).
* ``evaluation``, ``learning``: of the days from ``first`` to ``last``, as of ``now``.
* ``learning_gate``: that asset alone for the day ``first``, as of ``now``.
* ``roll_back``: of what was learned in ``namespace``, of ``scope`` and ``value``, as of ``now``.
* ``use``: searches and gives feedback; see ``feedback_user.py``.

The answer has the child's exit code (negative: killed by that signal), and the writes that it came to:
``[asset, table, operation]`` each, in order. A kill within a write is one before its commit; only a write to
the journal can have it.

It imports everything once and draws no pictures, so that a night costs its own time only: what a night would
import late (the contract's library alone takes five seconds) is imported here. Nothing may open a table
before the fork: LanceDB makes its threads anew in a child, but what they were in the middle of would be lost.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socketserver
import sys
import tempfile
import time
import traceback
import warnings
from datetime import datetime
from functools import partial
from pathlib import Path

import dagster as dg
import great_expectations.expectations  # noqa: F401
import lance_namespace_urllib3_client  # noqa: F401
import lancedb.embeddings  # noqa: F401
import sqlalchemy as sa
import wordllama  # noqa: F401
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from feedback_user import use
from sqlalchemy.pool import SingletonThreadPool

import slowwave.orchestration.run_nightly as nights
from slowwave.assets import daily, evaluation, feedback, ingest, learning, versions
from slowwave.assets.resources import WAITING, SlowwaveResource
from slowwave.common import progress
from slowwave.evaluation import code as rules
from slowwave.journal import Journal
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import apply
from slowwave.memory import open_memory
from slowwave.settings import Settings, load
from slowwave.store import Store, append_only
from slowwave.views import plots

# A fork with LanceDB imported is what this is; nothing of it is under way then.
warnings.filterwarnings("ignore", "lancedb fork support is experimental", RuntimeWarning)

MODULES = (ingest, feedback, evaluation, learning)
ASSETS = {asset.key.path[-1] for module in MODULES for asset in module.ASSETS}

engines: dict[str, sa.Engine] = {}


def kept_engine(url: str, **options: object) -> sa.Engine:
    """The engine for a database, and one connection: Dagster makes both for every statement."""
    if url not in engines:
        engine = engines[url] = sa.create_engine(url, **options | {"poolclass": SingletonThreadPool})
        engine.dispose = lambda: None
    return engines[url]


sqlite_event_log.create_engine = sqlite_run_storage.create_engine = kept_engine
plots.picture = plots.nothing = lambda *_: b"<svg/>"  # a quarter of such a night

# Small commits, so that few notes and days make several of them.
ingest_pipeline.CHUNKS_PER_COMMIT = 40
apply.BATCH_SIZE = 20
daily.DAYS_AT_ONCE = daily.ROWS_AT_ONCE = 2


class Writes:
    """Counts the calls that write, notes them in a file, and kills or stops this process at one of them."""

    def __init__(self, log: Path, job: dict) -> None:
        self._log = log.open("a", buffering=1)
        self._job = job
        self._kill = job.get("kill")
        self._stop = job.get("stop")
        self._count = 0
        self._inside = False

    def watch(self, owner: object, operation: str, table: str = "") -> None:
        """Count the calls of this function; `table` when it is not the call's first argument."""
        original = getattr(owner, operation)

        def counted(*args: object, **kwargs: object) -> object:
            if self._inside:  # put_meta is an upsert: one write
                return original(*args, **kwargs)
            number, self._count = self._count, self._count + 1
            asset = _asset()
            self._log.write(json.dumps([asset, table or args[1], operation]) + "\n")
            if self._stop == asset:
                self._wait()
            end = self._kill[1] if self._kill and self._kill[0] in (number, asset) else ""
            if end == "before":
                _end()
            if end == "within":
                sa.event.listen(sa.Engine, "commit", _end)
            self._inside = True
            try:
                result = original(*args, **kwargs)
            finally:
                self._inside = False
            if end == "after":
                _end()
            return result

        setattr(owner, operation, counted)

    def _wait(self) -> None:
        self._stop = None
        Path(self._job["met"]).touch()
        while not Path(self._job["go"]).exists():
            time.sleep(0.01)


def _end(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _asset() -> str:
    """The asset that is being made, from the stack; of a result that is stored, the asset it is of."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_name
        if name in ASSETS:
            return name
        if name == "handle_output" and frame.f_locals.get("name") in ASSETS:
            return str(frame.f_locals["name"])
        frame = frame.f_back
    return ""


def work(job: dict, log: Path) -> None:
    """Do one job in this process."""
    writes = Writes(log, job)
    home = Path(job["home"])
    if job["do"] == "night":
        _count_store(writes)
        writes.watch(ingest, "maintain", "all")
        with progress.listening(Queued(job.get("queued"))):
            _night(load(home), job)
    elif job["do"] in ("evaluation", "learning"):
        _count_store(writes)
        daily.DAYS_AT_ONCE = 6
        nights.SlowwaveResource = partial(SlowwaveResource, now=job["now"])
        _succeeded(nights.run_night(load(home), job["first"], job["last"], job=job["do"]))
    elif job["do"] == "learning_gate":
        _count_store(writes)
        writes.watch(Journal, "append", "journal")
        _learning_gate(job)
    elif job["do"] == "roll_back":
        _count_store(writes)
        writes.watch(Journal, "append", "journal")
        memory = open_memory(home, namespace=job["namespace"])
        moment = datetime.fromisoformat(job["now"])
        memory._space.now = lambda: moment  # what is done twice is done at the same moment
        memory.learning.roll_back(job["scope"], job["value"], who="ida")
    elif job["do"] == "use":
        memory = open_memory(home, namespace="default", principal=job["principal"])
        writes.watch(type(memory.journal), "append", "journal")
        use(memory, job)
    else:
        # Its one search is not of the matter: a night would take it up.
        memory = open_memory(home, namespace="default", journal={"log_searches": False})
        memory.search("anything at all")  # opens every part, so that the writes counted are those of a save
        _count_store(writes)
        for operation in ("append", "append_next"):
            writes.watch(type(memory.journal), operation, "journal")
        if job["do"] == "save":
            memory.save_many(job["notes"])
        else:
            moment = datetime.fromisoformat(job["now"])
            memory._space.now = lambda: moment  # what is done twice is done at the same moment
            {"undo": memory.undo, "release": memory.release}[job["do"]](job["id"])


def _night(settings: Settings, job: dict) -> None:
    if "first" in job:
        reports = [nights.run_night(settings, *nights.choose_days(settings, since=job["first"]))]
    else:
        reports = nights.run_due(settings)
    _succeeded(reports[-1])


def _learning_gate(job: dict) -> None:
    defs = nights.definitions(SlowwaveResource(home=job["home"], now=job["now"]))
    with dg.DagsterInstance.ephemeral() as instance:
        defs.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=instance,
            partition_key=job["first"],
            asset_selection=[learning.learning_gate.key],
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )


def _succeeded(report: dict) -> None:
    if not report["success"]:
        raise RuntimeError("; ".join(report["errors"]))


class Queued:
    """Says in a file that one night waits for another."""

    def __init__(self, file: str | None) -> None:
        self._file = file

    def start(self, what: str, total: int | None) -> int:
        """Work begins."""
        if what == WAITING and self._file:
            Path(self._file).touch()
        return 0

    def advance(self, task: int, units: int) -> None:
        """Work goes on."""

    def end(self, task: int, *, done: bool) -> None:
        """Work is done."""


def _count_store(writes: Writes) -> None:
    for operation in ("upsert", "delete", "put_meta"):
        writes.watch(Store, operation)
    writes.watch(append_only, "append")


def run(job: dict) -> dict:
    """Do one job in a child of this process and wait for it."""
    with tempfile.TemporaryDirectory() as folder:
        log, errors = Path(folder, "writes"), Path(folder, "errors")
        log.touch()
        child = os.fork()
        if child == 0:
            code = 1
            with errors.open("w") as stream, contextlib.redirect_stderr(stream):
                try:
                    work(job, log)
                    code = 0
                except BaseException:
                    traceback.print_exc()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        lines = log.read_text().splitlines()
        return {"code": code, "writes": [json.loads(line) for line in lines], "errors": errors.read_text()}


class Answer(socketserver.StreamRequestHandler):
    """One job."""

    def handle(self) -> None:
        """Read the job, do it, say what came of it."""
        self.wfile.write(json.dumps(run(json.loads(self.rfile.readline()))).encode() + b"\n")


class Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    """Works until the process that started it is gone."""

    started_by = os.getppid()

    def service_actions(self) -> None:
        """Called twice a second and after every connection."""
        super().service_actions()
        if os.getppid() != self.started_by:
            os._exit(0)


def main() -> None:
    """Listen."""
    rules.code_version()  # what reads the code of all rules is done here, and not in each child
    for asset in versions.RULES:
        versions.code_version(asset)
    with tempfile.TemporaryDirectory() as folder, dg.DagsterInstance.local_temp(folder):
        pass  # which imports what keeps the runs
    with Server(sys.argv[1], Answer) as server:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main()
