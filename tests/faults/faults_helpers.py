"""Homes, vaults and child processes for the tests of faults."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import dagster as dg
import lancedb
import polars as pl
import warm
from polars.testing import assert_frame_equal

from slowwave.home.workspace import Workspace
from slowwave.orchestration.instance import dagster_home
from slowwave.settings import load
from slowwave.vaults import vault

ROOT = Path(__file__).parents[2]
MODEL = "wordllama-256"
RECENT = (datetime.now(UTC) - timedelta(days=30)).date().isoformat()  # few partitions are soon counted
PAST = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOUNS = (
    "harbour",
    "gauge",
    "battery",
    "tide",
    "radar",
    "ferry",
    "ledger",
    "antenna",
    "relay",
    "survey",
    "mast",
)
VERBS = (
    "measures",
    "delays",
    "replaces",
    "reports",
    "cancels",
    "repairs",
    "inspects",
    "weighs",
    "signs",
    "moves",
)


def environment(**more: str) -> dict[str, str]:
    """This environment, with the fast model and this source tree."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("SLOWWAVE_", "DAGSTER_"))
    }
    path = os.pathsep.join(filter(None, [str(ROOT), clean.get("PYTHONPATH")]))
    same = {  # as for every test
        "SLOWWAVE_GATE__MODE": "enforce",
        "SLOWWAVE_GATE__MIN_QUALITY": "0",
        "SLOWWAVE_RANKING__ABSTENTION_FLOOR": "0",
        "SLOWWAVE_RANKING__CUT_SHARE": "0",
        "SLOWWAVE_RANKING__FIT_FLOOR": "0",
    }
    return {**clean, **same, "PYTHONPATH": path, "SLOWWAVE_EMBEDDING__MODEL": MODEL, **more}


def command(*arguments: object) -> list[str]:
    """A Slowwave command."""
    return warm.python("-m", "slowwave", *arguments)


def slowwave(home: Path, *arguments: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Run a Slowwave command on a home to its end."""
    return subprocess.run(
        command(*arguments), env=environment(SLOWWAVE_HOME=str(home)), cwd=home.parent,
        capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip


class Driver:
    """The process of ``night_driver.py``, started when there is a first job."""

    AT_ONCE = 2

    def __init__(self) -> None:
        self._starting = threading.Lock()

    @cached_property
    def _process(self) -> subprocess.Popen[str]:
        script = Path(__file__).with_name("night_driver.py")
        process = subprocess.Popen(
            [sys.executable, str(script), self._address], env=environment(SLOWWAVE_NIGHT__FIRST_DAY=RECENT),
            cwd=ROOT, text=True, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert process.stdout.readline() == "ready\n"
        return process

    @cached_property
    def _address(self) -> str:
        return str(Path(tempfile.mkdtemp(prefix="driver-")) / "socket")  # short, as a socket's has to be

    def run(self, do: str, home: Path, *, kill: tuple[int, str] | None = None, **more: Any) -> dict[str, Any]:
        """Do a job; see ``night_driver.py``."""
        with self._starting:
            assert self._process.poll() is None, "the driver has ended"
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self._address)
            connection.sendall(
                json.dumps({"do": do, "home": str(home), "kill": kill, **more}).encode() + b"\n"
            )
            with connection.makefile() as answer:
                return json.loads(answer.readline())

    def each(self, work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """The work's results, two items at a time."""
        with ThreadPoolExecutor(self.AT_ONCE) as pool:
            return list(pool.map(work, items))

    def close(self) -> None:
        """End the process and what it started."""
        if "_process" in self.__dict__:
            end_group(self._process)
            shutil.rmtree(Path(self._address).parent)


def end_group(process: subprocess.Popen[Any]) -> None:
    """Kill a process that leads its own session, with all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def all_at_once(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Wait until all are ready, let them go, see that each ends well; gives what each said after that."""
    try:
        for process in processes:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        said = []
        for process in processes:
            told, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors
            said.append(told)
        return said
    finally:
        for process in processes:
            end_group(process)


def make_home(home: Path, **groups: Mapping[str, object]) -> Path:
    """A home with a settings file: the fast model, a gate that enforces, and these groups."""
    settings: dict[str, Mapping[str, object]] = {
        "embedding": {"model": MODEL},
        "gate": {"mode": "enforce", "min_quality": 0.0},
        **groups,
    }
    lines = [
        line
        for group, values in settings.items()
        for line in [f"[{group}]", *(f"{name} = {json.dumps(value)}" for name, value in values.items())]
    ]
    home.mkdir(parents=True)
    (home / "slowwave.toml").write_text("\n".join(lines) + "\n")
    return home


def with_dagster(home: Path) -> Path:
    """A home that has had a night's Dagster instance already: making its tables takes as long as a night."""
    with dg.DagsterInstance.from_config(str(dagster_home(load(home)))):
        return home


def copy_home(home: Path, to: Path) -> Path:
    """A home of the same content."""
    return Path(shutil.copytree(home, to))


# -- a vault ---------------------------------------------------------------------------------------


def sentence(*parts: object) -> str:
    """A sentence that follows from the parts and from nothing else."""
    number = sum(ord(letter) * (place + 7) for place, letter in enumerate(repr(parts)))
    noun, other = NOUNS[number % len(NOUNS)], NOUNS[number // 7 % len(NOUNS)]
    verb = VERBS[number // 3 % len(VERBS)]
    return f"The {noun} {verb} the {other} of station {number % 89} in week {number % 53}."


def text(name: str, sentences: int = 5) -> str:
    """A note's text; 14 sentences and more make several chunks."""
    return " ".join(sentence(name, number) for number in range(sentences))


def write_vault(folder: Path, notes: Mapping[str, str | bytes]) -> None:
    """Write files, all of which were last modified in the past."""
    for name, content in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        os.utime(path, (PAST.timestamp(), PAST.timestamp()))


def first_vault() -> dict[str, str | bytes]:
    """50 notes in files (long and short, two duplicates, one too short), a .jsonl, one unreadable file."""
    notes: dict[str, str | bytes] = {
        f"area {number % 4}/note {number:02}.md": "\n\n".join(
            [f"# Note {number}", text(f"note {number}", 3 + number % 5 * 9)]
        )
        for number in range(48)
    }
    notes["copies/of note 5.md"] = notes["area 1/note 05.md"]
    notes["copies/of note 11.md"] = notes["area 3/note 11.md"]
    notes["too short.md"] = "ok"
    notes["broken.md"] = b"\x81\x8d\x8f\x90\x9d not a text \x81\x8d\x8f\x90\x9d\x81"
    notes["facts.jsonl"] = "".join(
        json.dumps({"id": f"fact-{number}", "title": f"Fact {number}", "content": text(f"fact {number}")})
        + "\n"
        for number in range(8)
    )
    return notes


def scan(home: Path, folder: Path, days_ago: int) -> vault.ScanResult:
    """Put what changed in the vault into the journal, as of noon (UTC) so many days ago."""
    space = Workspace(load(home, embedding={"model": MODEL}))
    as_of = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=days_ago)
    source = vault.watch(space.journal, "default", folder, name="vault", as_of=as_of, principal="test")
    found = vault.scan(space.journal, source, space.settings.notes, as_of=as_of, allow_mass_retire=True)
    space.close()
    return found


# -- looking at a home -----------------------------------------------------------------------------


def tables(home: Path) -> dict[str, pl.DataFrame]:
    """Every table, whole, in the order of its key."""
    db = lancedb.connect(str(home / "lance"))
    found = {}
    for name in sorted(db.list_tables().tables):
        rows = pl.from_arrow(db.open_table(name).to_arrow())
        found[name] = rows.sort(rows.columns[0])
    return found


def assert_same_tables(
    left: Mapping[str, pl.DataFrame], right: Mapping[str, pl.DataFrame], what: object
) -> None:
    """Same tables, columns, rows, values and vectors."""
    assert left.keys() == right.keys(), what
    for name in left:
        try:
            assert_frame_equal(left[name], right[name], check_exact=True)
        except AssertionError as error:
            raise AssertionError(f"{what}: table {name} differs: {error}") from None


def chunk_faults(home: Path) -> list[str]:
    """What is wrong between memories and chunks, in words; nothing should be."""
    found = tables(home)
    memories, chunks = found["memories"], found["chunks"]
    faults = []
    for rows in (memories, chunks):
        key = rows.columns[0]
        doubled = rows.filter(rows[key].is_duplicated())[key].unique().to_list()
        faults += [f"doubled {key} {one}" for one in doubled]
    head = ["memory_id", "revision", "status"]
    stale = chunks.join(memories, on=head, how="anti")
    faults += [f"stale chunk {one}" for one in stale["chunk_id"]]
    counts = chunks.join(memories, on=head, how="semi").group_by("memory_id").agg(have=pl.len())
    lacking = memories.join(counts, on="memory_id", how="left").filter(
        pl.col("have").fill_null(0) != pl.col("chunk_count")
    )
    faults += [
        f"{row[0]} has {row[1]} of {row[2]} chunks"
        for row in lacking.select("source", "have", "chunk_count").rows()
    ]
    return faults


def spread(items: Sequence[Any], count: int) -> list[Any]:
    """At most `count` of the items, evenly, the first and the last among them; one is that in the middle."""
    if len(items) <= count:
        return list(items)
    if count == 1:
        return [items[len(items) // 2]]
    return [items[round(place * (len(items) - 1) / (count - 1))] for place in range(count)]
