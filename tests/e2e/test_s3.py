"""A whole memory on S3: tables in a bucket of a local server, journal in the home."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlparse

import pytest
import servers
import warm

import slowwave
from slowwave.lifecycle.admission.context_loader import live_memories
from slowwave.maintenance.rebuild import rebuild
from slowwave.store.checkpoints import create_checkpoint, delete_checkpoint, restore_checkpoint
from slowwave.store.maintenance import maintain

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

REQUEST = re.compile(rb"(?:GET|HEAD|PUT|POST|DELETE) [^ \r\n]+ HTTP/1\.1\r\n")
ROOT = Path(__file__).parents[2]
RADAR = "The radar gauge at Lyness reads the level every six minutes and sends it by satellite at night."
FERRY = "The ferry company pays for three tide boards and wants their colours changed before next spring."


@dataclass(frozen=True)
class Bucket(servers.Bucket):
    """A bucket on a server of this machine."""

    def environment(self, home: Path, prefix: str) -> dict[str, str]:
        """Settings of a home whose tables are under this prefix, as environment variables."""
        return {
            **servers.clean_environment(),
            "SLOWWAVE_GATE__MODE": "enforce",  # as for every test
            "SLOWWAVE_GATE__MIN_QUALITY": "0",
            "PYTHONPATH": str(ROOT),
            "SLOWWAVE_HOME": str(home),
            "SLOWWAVE_EMBEDDING__MODEL": "wordllama-256",
            **self.variables(prefix),
        }

    def open(self, home: Path, prefix: str) -> slowwave.Memory:
        return slowwave.open(
            home, namespace="default", embedding={"model": "wordllama-256"},
            store={"uri": f"s3://{self.name}/{prefix}", "storage_options": self.options()},
        )  # fmt: skip

    def objects(self, prefix: str) -> list[str]:
        found = self._client().get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=prefix)
        return [one["Key"] for page in found for one in page.get("Contents", [])]

    def _client(self):
        import boto3

        return boto3.client("s3", endpoint_url=self.endpoint, region_name="us-east-1", **servers.KEYS)


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    with servers.s3() as made:
        yield Bucket(made.endpoint, made.name)


@dataclass
class Counting:
    """A way to a server that counts what is asked there."""

    endpoint: str
    asked: int = 0

    def to(self, address: tuple[str, int]) -> None:
        """Every request from now on goes to this address."""
        door = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{door.getsockname()[1]}"
        threading.Thread(target=self._serve, args=(door, address), daemon=True).start()

    def _serve(self, door: socket.socket, address: tuple[str, int]) -> None:
        while True:
            near, far = door.accept()[0], socket.create_connection(address)
            for source, target, counted in ((near, far, True), (far, near, False)):
                threading.Thread(target=self._pass_on, args=(source, target, counted), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, counted: bool) -> None:
        with suppress(OSError):
            while part := source.recv(1 << 16):
                self.asked += len(REQUEST.findall(part)) if counted else 0
                target.sendall(part)
            target.shutdown(socket.SHUT_WR)


def run(bucket: Bucket, home: Path, prefix: str, *arguments: str) -> str:
    done = subprocess.run(
        warm.python("-m", "slowwave", *arguments),
        env=bucket.environment(home, prefix), cwd=home.parent,
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return done.stdout


def test_the_commands_work_on_s3(bucket: Bucket, tmp_path: Path) -> None:
    home, prefix, vault = tmp_path / "home", "by-command", tmp_path / "vault"
    vault.mkdir()
    vault.joinpath("ferry.md").write_text(FERRY)
    vault.joinpath("short.md").write_text("ok")

    def slowwave_json(*arguments: str) -> dict:
        return json.loads(run(bucket, home, prefix, *arguments, "--json"))

    run(bucket, home, prefix, "init", str(home))
    assert slowwave_json("save", RADAR, "--key", "radar")["status"] == "live"
    assert slowwave_json("ingest", str(vault))["new"] == 2
    night = slowwave_json("night")
    assert night["success"]
    assert night["live"] == 2
    found = slowwave_json("search", "who pays for the tide boards?")
    assert found["results"][0]["source"] == "vault/ferry.md"
    run(bucket, home, prefix, "doctor")
    shown = run(bucket, home, prefix, "settings", "--json")
    assert "test-secret" not in shown
    assert not (home / "lance").exists()
    assert any(key.startswith(f"{prefix}/memories.lance/") for key in bucket.objects(prefix))


@pytest.mark.soak
def test_checkpoints_and_maintenance_on_s3(bucket: Bucket, tmp_path: Path) -> None:
    with bucket.open(tmp_path / "home", "checkpoints") as memory:
        memory.save(RADAR, key="radar")
        create_checkpoint(memory.store, "before", datetime.now(UTC))
        for number in range(3):
            memory.save(f"{FERRY} Season {number} of the contract.", key="ferry")
        assert [one.source for one in memory.search("tide boards of the ferry company", limit=1)] == ["ferry"]

        maintain(memory.store, keep_versions=timedelta(0))
        restore_checkpoint(memory.store, "before")
        assert memory.count() == 1
        assert [one.source for one in memory.search("tide boards of the ferry company")] == ["radar"]

        delete_checkpoint(memory.store, "before")
        before = len(bucket.objects("checkpoints/"))
        removed = sum(one.versions_removed for one in maintain(memory.store, keep_versions=timedelta(0)))
        assert removed > 0
        assert len(bucket.objects("checkpoints/")) < before
        assert [one.source for one in memory.search("what does the radar read?")] == ["radar"]


SAVE = """
import sys
import slowwave
with slowwave.open(namespace="default") as memory:
    memory.search("anything")
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(8):
        said = f"{sys.argv[1]} says of item {number} that it is stored in the blue box of the harbour."
        memory.save(said, key=f"k{number}")
"""


@pytest.mark.soak
def test_two_processes_that_save_the_same_new_keys_do_not_double_them(bucket: Bucket, tmp_path: Path) -> None:
    home, prefix = tmp_path / "home", "two-processes"
    with bucket.open(home, prefix) as memory:
        assert memory.count() == 0
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", SAVE, name],
            env=bucket.environment(home, prefix),
            cwd=tmp_path,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in ("Ada", "Bob")
    ]
    try:
        for writer in writers:
            assert writer.stdout.readline() == "ready\n", writer.stderr.read()
        for writer in writers:
            writer.stdin.write("go\n")
            writer.stdin.flush()
        for writer in writers:
            _, errors = writer.communicate(timeout=240)
            assert writer.returncode == 0, errors
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    with bucket.open(home, prefix) as memory:
        memories = memory.store.read("memories", columns=["memory_id", "revision"])
        chunks = memory.store.read("chunks", columns=["chunk_id", "memory_id", "revision"])
        assert sorted(memory.store.read("memories", columns=["source"])["source"]) == [
            f"k{n}" for n in range(8)
        ]
    assert chunks.height == 8
    assert chunks.join(memories, on=["memory_id", "revision"], how="semi").height == 8


def test_a_search_sees_at_once_what_others_did(bucket: Bucket, tmp_path: Path) -> None:
    """Versions of tables are followed in memory; whoever wrote them, and also when all are made again."""
    with bucket.open(tmp_path / "one", "seen") as one, bucket.open(tmp_path / "one", "seen") as other:

        def found() -> set[str]:
            return {result.memory_id for result in other.search("the tide radar of the harbour")}

        first = one.save(RADAR, key="radar").memory_id
        assert found() == {first}
        second = one.save(FERRY, key="ferry").memory_id
        assert second in found()
        one.forget(first)
        assert first not in found()
        one.unforget(first)
        assert first in found()
        before = found()
        rebuild(one.home, ["memories", "chunks"])
        assert found() == before
        assert other._space is not one._space


def test_a_save_and_a_search_ask_the_store_a_few_dozen_times_and_a_few(
    bucket: Bucket, tmp_path: Path
) -> None:
    """In milliseconds this is what they cost a team, whose store is some of them away."""
    place, counting = urlparse(bucket.endpoint), Counting("")
    counting.to((str(place.hostname), int(place.port or 80)))
    notes = [f"Gauge {at} of the north pier reads {at + 3} decimetres at noon, and rises." for at in range(8)]
    with Bucket(counting.endpoint, bucket.name).open(tmp_path / "home", "counted") as memory:
        asked = []
        for note in notes:
            before = counting.asked
            assert memory.save(note).status == "live"
            asked.append(counting.asked - before)
        assert live_memories(memory.home, "default") is not None
        assert 10 < max(asked[3:]) <= 42
        memory.search("gauge of the pier")
        before = counting.asked
        assert memory.search("gauge 3 at noon").results
        assert 0 < counting.asked - before <= 6


def test_what_one_server_saved_another_one_does_not_save_again(bucket: Bucket, tmp_path: Path) -> None:
    with (
        bucket.open(tmp_path / "home", "standing") as one,
        bucket.open(tmp_path / "home", "standing") as other,
    ):
        assert other.save(FERRY).status == "live"  # it knows the namespace from now on
        radar = one.save(RADAR, key="radar")
        assert radar.status == "live"
        assert other.save(RADAR, key="radar again").status == "quarantined"
        one.forget(radar.memory_id)
        assert other.save(RADAR, key="radar again").status == "live"
        assert one.save(RADAR, key="once more").status == "quarantined"
