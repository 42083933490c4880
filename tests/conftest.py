"""Homes, memories and acts that the tests share. The store, the journal and the models are real."""

from __future__ import annotations

import gc
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import compiled_once
import numpy as np
import prepared
import pytest
from hypothesis import HealthCheck, settings

from slowwave.common import ids
from slowwave.embedding import load_embedder
from slowwave.home.workspace import Workspace
from slowwave.journal import Entry, Journal
from slowwave.journal.entry_builders import forget_entry, save_entry
from slowwave.maintenance import reembed  # noqa: F401 - it takes its model's loader before any test puts another in its place
from slowwave.memory import Memory
from slowwave.notes.reading import plain_note
from slowwave.settings import EmbeddingSettings, load
from slowwave.store import Store

FAST_MODEL = "wordllama-256"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

# Bytecode is kept, also where the machine says not to: to compile each test and module anew takes ten seconds
# in each process of pytest, and a quarter of a second in each that a test starts.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

_QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
# Each run on a machine of one's own tries other examples: few a run find what many in one run do.
settings.register_profile("local", max_examples=40, deadline=None, suppress_health_check=_QUIET)
settings.register_profile(
    "ci", max_examples=40, deadline=None, derandomize=True, suppress_health_check=_QUIET
)
settings.load_profile("ci" if os.environ.get("CI") else "local")


_NO_CONFIGURATION = Path(tempfile.gettempdir()) / f"slowwave-tests-{os.getpid()}" / "configuration"
os.environ["XDG_CONFIG_HOME"] = str(_NO_CONFIGURATION)  # also for processes that get no SLOWWAVE_ variable
for _name in list(os.environ):
    if (_name.startswith("SLOWWAVE_") and not _name.startswith("SLOWWAVE_TEST_")) or _name == "DAGSTER_HOME":
        del os.environ[_name]  # settings of this machine
# What is written for other tests is short and plain; the gate's own tests set what they are about.
# And what is asked of a home of three notes is seldom about any of them.
os.environ |= {
    "SLOWWAVE_GATE__MODE": "enforce",
    "SLOWWAVE_GATE__MIN_QUALITY": "0",
    "SLOWWAVE_RANKING__ABSTENTION_FLOOR": "0",
    "SLOWWAVE_RANKING__CUT_SHARE": "0",
    "SLOWWAVE_RANKING__FIT_FLOOR": "0",
}
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # ranx is asked once: to compile it takes half a minute
MEMORY_FOLDER = Path("/dev/shm")
OBJECTS_BETWEEN_LOOKS = 20_000
ENOUGH_MEMORY = 4 * 2**30  # bytes; a whole run keeps about 0.3 GiB


def pytest_configure(config: pytest.Config) -> None:
    """Homes are made in memory where there is room for them.

    Dagster and SQLite wait for the disk several hundred times a night. No test is about a loss of power, and
    a process that is killed loses nothing that it has handed to the kernel, on a disk or not.
    """
    asked = config.option.basetemp or os.environ.get("PYTEST_DEBUG_TEMPROOT")
    if not asked and MEMORY_FOLDER.is_dir() and shutil.disk_usage(MEMORY_FOLDER).free > ENOUGH_MEMORY:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY_FOLDER)


LONGEST = ("e2e", "faults", "bench", "orchestration")  # folders, in the order of their longest tests


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with long tests come first, so that none of them is what everybody waits for in the end.

    A file stays together, and what its tests share is made once.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (item.path not in slow, places.get(item.path.parent.name, len(places))))


LONGEST_TEST = timedelta(minutes=2)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """No test sees the end of a day (UTC): one that would begin right before it waits."""
    left = timedelta(days=1) - (datetime.now(UTC) - datetime.min.replace(tzinfo=UTC)) % timedelta(days=1)
    if left < LONGEST_TEST:
        time.sleep(left.total_seconds())


def pytest_collection_finish() -> None:
    """Loaded objects stay: the collector of garbage does not go through them again and again.

    It also looks seldom: 700 objects more are one frame, and its looks were a thirtieth of all time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_LOOKS, 20, 50)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """What was made in memory is given back, unless there is something to look at."""
    if hasattr(session.config, "workerinput") or exitstatus != pytest.ExitCode.OK:
        return
    made = session.config._tmp_path_factory._basetemp
    if made is not None and made.is_relative_to(MEMORY_FOLDER):
        shutil.rmtree(made, ignore_errors=True)


class HashEmbedder:
    """A unit vector made from each text's hash: for tests that need many vectors, or to count calls."""

    def __init__(self, dimension: int = 8, name: str = "") -> None:
        self.dimension = dimension
        self.name = name or f"hash-{dimension}"
        self.embedded: list[str] = []

    def embed_documents(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> np.ndarray:
        self.embedded.extend(texts)
        if progress is not None:
            progress(len(texts))
        rows = [self._vector(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.dimension)

    def embed_query(self, text: str) -> np.ndarray:
        return self._vector(text)

    def _vector(self, text: str) -> np.ndarray:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        vector = np.random.default_rng(seed).normal(size=self.dimension)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.fixture(autouse=True)
def _own_environment() -> Iterator[None]:
    """No test leaves variables behind.

    Only what it changed is changed back: Ray's threads stay when it is left, and read the environment. On
    Linux a process may die if it is rewritten meanwhile.
    """
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    for name, value in before.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder that is not there yet."""
    return tmp_path / "home"


@pytest.fixture(scope="session")
def fast_embedder() -> Any:
    """The bundled fast model, loaded once."""
    return load_embedder(EmbeddingSettings(model=FAST_MODEL))


@pytest.fixture(autouse=True)
def _no_default_home() -> Iterator[None]:
    """No test has the default home of the person who runs it, or that of another test."""
    yield
    shutil.rmtree(_NO_CONFIGURATION, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _homes(tmp_path_factory: pytest.TempPathFactory) -> None:
    prepared.places.append(tmp_path_factory.mktemp("homes"))


@pytest.fixture(scope="session", autouse=True)
def _kept_connections() -> None:
    """Whatever is run in Dagster by whichever test keeps its connections; most runs of a file have none."""
    if "dagster" in sys.modules:
        import quick_dagster

        quick_dagster.keep_connections()


@pytest.fixture(scope="session", autouse=True)
def _kept_statements() -> None:
    compiled_once.keep_compiled()


@pytest.fixture
def learning_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Homes of this test may learn; as they ship they do not."""
    monkeypatch.setenv("SLOWWAVE_LEARNING__ENABLED", "true")


def _left_as_they_are() -> AbstractContextManager[Any]:
    """Homes that nobody opens again are closed without the commit of what waits, a third of a test's CPU."""
    return patch.object(Workspace, "_commit_waiting", lambda _: None)


@pytest.fixture
def open_memory(home: Path, fast_embedder: Any) -> Iterator[Callable[..., Memory]]:
    """Opens a namespace of `home` (or of another folder) with the fast model; closed after the test."""
    opened: list[Memory] = []

    def open_(namespace: str = "ada", *, path: Path | None = None, **groups: Any) -> Memory:
        folder = path or home
        prepared.take_over(folder)
        memory = Memory(load(folder, **{"embedding": {"model": FAST_MODEL}, **groups}), namespace=namespace)
        memory._space.__dict__["embedder"] = fast_embedder
        opened.append(memory)
        return memory

    yield open_
    with _left_as_they_are():
        for memory in opened:
            memory.close()


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """Namespace ``ada`` of an empty home."""
    return open_memory()


@pytest.fixture
def journal(home: Path) -> Iterator[Journal]:
    """The journal of `home`."""
    with Journal.open_path(home / "journal.db") as opened:
        yield opened


@pytest.fixture(scope="session")
def hash_embedder() -> type[HashEmbedder]:
    """The class of the fake model."""
    return HashEmbedder


@pytest.fixture
def make_store(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Store]:
    """Makes an empty store for vectors of 8 numbers (model ``hash-8``)."""

    def make() -> Store:
        folder = tmp_path_factory.mktemp("store") / "lance"
        prepared.lay(prepared.empty("hash-8") / "lance", folder)
        return Store(str(folder), model="hash-8", dimension=8)

    return make


@pytest.fixture
def store(make_store: Callable[[], Store]) -> Store:
    """An empty store for vectors of 8 numbers (model ``hash-8``)."""
    return make_store()


@pytest.fixture
def make_space(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., Workspace]]:
    """Opens a new home (or the one at `path`) whose model is `HashEmbedder`; takes groups of settings."""
    opened: list[Workspace] = []

    def open_(path: Path | None = None, **groups: Any) -> Workspace:
        folder = path or tmp_path_factory.mktemp("space") / "home"
        prepared.take_over(folder, "hash-8")
        space = Workspace(load(folder, **groups))
        space.__dict__["embedder"] = HashEmbedder()
        opened.append(space)
        return space

    yield open_
    with _left_as_they_are():
        for space in opened:
            space.close()


@pytest.fixture(scope="session")
def act() -> Callable[..., Entry]:
    """Makes the act of saving `content` as `source`, or of forgetting it when there is no content."""

    def make(
        source: str,
        content: str | None = None,
        *,
        title: str = "",
        namespace: str = "ada",
        at: datetime = NOON,
        origin: str = "",
        event_id: str = "",
        created_at: datetime | None = None,
    ) -> Entry:
        common: dict[str, Any] = {
            "namespace": namespace,
            "source": source,
            "origin": origin,
            "occurred_at": at,
            "principal": "test",
            "event_id": event_id or ids.digest(namespace, source, str(content), at.isoformat()),
        }
        if content is None:
            return forget_entry(**common)
        note = plain_note(content, source=source)
        fields = {name: getattr(note, name) for name in note.__dataclass_fields__}
        fields |= {"title": title or note.title or source, "created_at": created_at}
        return save_entry(type(note)(**fields), **common)

    return make
