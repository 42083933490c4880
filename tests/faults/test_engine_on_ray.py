"""Real Ray clusters of one and two workers here: the same tables, a killed worker, a killed head."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest

from slowwave.embedding.distributed import DistributedEmbedder
from slowwave.engine import EngineError, open_engine
from slowwave.home.workspace import Workspace
from slowwave.maintenance.rebuild import rebuild
from slowwave.memory import Memory
from slowwave.settings import load
from slowwave.settings.groups import EngineSettings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra distributed is not installed"),
]
HERE = os.pathsep.join(str(Path(__file__).parents[up]) for up in (0, 2))  # where workers find modules
FAST = {"embedding": {"model": "wordllama-256"}}


class ClusterOfProcesses:
    """A head that computes nothing, and nodes of one worker each, as `ray start` makes them."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.folder = folder
        self.nodes: list[subprocess.Popen[bytes]] = []
        port = self.address.partition(":")[2]
        self._start("--head", f"--port={port}", "--num-cpus=0", "--include-dashboard=false",
                    f"--temp-dir={folder}")  # fmt: skip
        self._until(lambda: socket.create_connection(("127.0.0.1", int(port)), 1).close() or True)
        self.join()

    def _start(self, *arguments: str) -> None:
        command = [Path(sys.executable).with_name("ray"), "start", "--block", "--disable-usage-stats",
                   "--object-store-memory=80000000", *arguments]  # fmt: skip
        with (self.folder.parent / "ray.log").open("ab") as log:
            started = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": HERE},
            )
        self.nodes.append(started)

    def _until(self, there) -> None:
        for _ in range(600):
            with suppress(OSError):
                if there():
                    return
            time.sleep(0.2)
        pytest.fail((self.folder.parent / "ray.log").read_text()[-2_000:])

    def join(self) -> None:
        """One more worker."""
        self._start(f"--address={self.address}", "--num-cpus=1")

    def workers(self, count: int) -> None:
        """Wait for so many."""
        import ray

        self._until(lambda: ray.cluster_resources().get("CPU", 0) == count)

    def kill(self, node: int) -> None:
        """Kill -9 a node, with all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.nodes[node].pid, signal.SIGKILL)
        self.nodes[node].wait()


@pytest.fixture(scope="module")
def cluster() -> Iterator[ClusterOfProcesses]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        folder = Path(f"/tmp/sw-ray-{os.getpid()}")  # Ray's sockets need a short path
        folder.mkdir()
        made = ClusterOfProcesses(folder / "r")
        yield made
        import ray  # not before: it reads the environment when it is loaded

        ray.shutdown()
        for at in reversed(range(len(made.nodes))):
            made.kill(at)
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    """A home with notes of many lengths."""
    folder = tmp_path_factory.mktemp("saved") / "home"
    with Memory(load(folder, **FAST), namespace="ada") as memory:
        memory.save_many([
            {"content": f"Note {at}. " + " ".join(f"gauge {at * k % 97} tells" for k in range(at % 9 * 5)),
             "key": f"k{at}"}
            for at in range(80)
        ])  # fmt: skip
    return folder


def on_ray(cluster: ClusterOfProcesses, **more) -> dict[str, object]:
    return {"kind": "ray", "address": cluster.address, "min_texts": 1, "texts": 1, **more}


def tables(space: Workspace) -> list[pl.DataFrame]:
    keys = {"memories": "memory_id", "chunks": "chunk_id"}
    return [space.store.read(name).sort(key) for name, key in keys.items()]


def rebuilt(home: Path, engine: dict[str, object]) -> list[pl.DataFrame]:
    space = Workspace(load(home, **FAST, engine=engine))
    rebuild(space, ["memories", "chunks"])
    found = tables(space)
    space.close()
    return found


def tripled(number: int) -> tuple[int, int]:
    time.sleep(0.15)
    return os.getpid(), 3 * number


def refused(number: int) -> int:
    raise KeyError(number)


def test_one_worker_then_two_make_the_tables_that_this_process_makes(cluster, saved, tmp_path, monkeypatch):
    monkeypatch.setattr("slowwave.embedding.distributed.MODELS", {})  # or all is one piece
    monkeypatch.setattr("slowwave.embedding.static._BATCH", 16)
    here = rebuilt(Path(shutil.copytree(saved, tmp_path / "here")), {"kind": "local"})
    assert here[1].height >= 60
    assert here[1]["vector"].null_count() == 0
    for workers in (1, 2):
        if workers == 2:
            cluster.join()
        engine = on_ray(cluster, texts=16)
        space = Workspace(load(saved, **FAST, engine=engine))
        assert isinstance(space.embedder, DistributedEmbedder)
        list(space.engine.map(tripled, [1]))  # connected
        cluster.workers(workers)
        there = rebuilt(Path(shutil.copytree(saved, tmp_path / f"there{workers}")), engine)
        for mine, theirs in zip(here, there, strict=True):
            assert mine.equals(theirs)


def test_a_killed_worker_costs_nothing_but_time(cluster):
    engine = open_engine(EngineSettings(**on_ray(cluster)))
    found = engine.map(tripled, range(40))
    first = next(found)
    os.kill(first[0], signal.SIGKILL)
    rest = list(found)
    assert [made for _, made in (first, *rest)] == [3 * number for number in range(40)]
    assert len({pid for pid, _ in (first, *rest)}) > 1


def test_what_the_work_raises_there_is_raised_here(cluster):
    engine = open_engine(EngineSettings(**on_ray(cluster)))
    with pytest.raises(KeyError) as raised:
        list(engine.map(refused, [7]))
    assert raised.value.args == (7,)
    assert list(engine.map(tripled, [])) == []


def test_a_cluster_is_left_when_there_is_no_work_and_joined_again(cluster, monkeypatch):
    import ray

    engine = open_engine(EngineSettings(**on_ray(cluster)))
    under_way = engine.map(tripled, range(8))
    next(under_way)
    monkeypatch.setattr("slowwave.engine.cluster.IDLE", 0.2)
    assert len(list(engine.map(tripled, [1, 2]))) == 2
    time.sleep(0.5)
    assert ray.is_initialized()  # another one works
    assert len(list(under_way)) == 7
    for _ in range(100):
        if not ray.is_initialized():
            break
        time.sleep(0.1)
    assert not ray.is_initialized()  # a head that is replaced now ends nobody
    assert [made for _, made in engine.map(tripled, [5])] == [15]


def test_a_worker_of_another_version_is_refused(cluster, monkeypatch):
    monkeypatch.setattr("slowwave.engine.ray.VERSION", "0.0.9")
    with pytest.raises(EngineError, match=r"A worker has Slowwave 0\.1.* and this process 0\.0\.9"):
        list(open_engine(EngineSettings(**on_ray(cluster))).map(tripled, [1]))


def test_a_killed_head_is_told_and_the_same_command_goes_on_elsewhere(cluster, saved, tmp_path):
    """The last test: the head is gone after it."""
    settings = EngineSettings(**on_ray(cluster))
    found = open_engine(settings).map(tripled, range(20_000))
    assert next(found)[1] == 0
    backup = open_engine(settings.model_copy(update={"fallback": True})).map(tripled, range(30))
    assert next(backup)[1] == 0
    cluster.kill(0)
    with pytest.raises(EngineError, match=r"is lost \(.*\)\. Run the same command again"):
        list(found)
    rest = list(backup)  # the setting says that this process may
    assert [made for _, made in rest] == [3 * number for number in range(1, 30)]
    assert os.getpid() in {pid for pid, _ in rest}
    home = Path(shutil.copytree(saved, tmp_path / "home"))
    space = Workspace(load(home, **FAST))
    before = tables(space)
    space.close()
    with pytest.raises(EngineError, match="No Ray cluster answers at"):
        rebuilt(home, on_ray(cluster))
    again = rebuilt(home, {"kind": "local"})
    assert all(mine.equals(theirs) for mine, theirs in zip(before, again, strict=True))


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EngineError, match=r"pip install '\.\[distributed\]'"):
        next(open_engine(EngineSettings(kind="ray")).map(partial(abs), [1]))
