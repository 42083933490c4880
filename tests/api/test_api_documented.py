"""The page about the API is followed word by word, with a server in a process of its own and curl."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "http-api.md").read_text()
PATIENCE_S = 120


@pytest.mark.slow
def test_the_page_is_followed(tmp_path):
    first, second = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    *before, serve = first.strip().splitlines()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    program = tmp_path / "slowwave"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m slowwave "$@"\n')
    program.chmod(0o700)
    clean = {name: one for name, one in os.environ.items() if not name.startswith("SLOWWAVE_")}
    environment = clean | {
        "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "SLOWWAVE_EMBEDDING__MODEL": "wordllama-256",
    }  # fmt: skip
    beginning = "\n".join([*before, 'echo "$TOKEN"'])
    made = subprocess.run(
        ["bash", "-euc", beginning], env=environment, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert made.returncode == 0, made.stderr
    token = made.stdout.splitlines()[-1]
    running = environment | {"SLOWWAVE_HOME": str(tmp_path / "assistant")}
    log = (tmp_path / "log").open("w")
    server = subprocess.Popen(
        ["bash", "-euc", f"exec {serve} --port {port} --json"], env=running, stdout=log, stderr=log
    )
    try:
        limit = time.monotonic() + PATIENCE_S
        while subprocess.run(
            ["curl", "-sf", f"http://127.0.0.1:{port}/healthz"], capture_output=True
        ).returncode:
            assert server.poll() is None, (tmp_path / "log").read_text()
            assert time.monotonic() < limit
            time.sleep(0.2)
        words = second.replace("8780", port).replace("\ncurl", "\necho\ncurl")
        done = subprocess.run(
            ["bash", "-euc", f"TOKEN={token}\n{words}"], env=environment, capture_output=True, text=True,
            timeout=PATIENCE_S,
        )  # fmt: skip
    finally:
        server.terminate()
        assert server.wait(30) in (0, -15)
        log.close()
    saved, found, listed = map(json.loads, done.stdout.split("\n")[1:])
    assert saved["status"] == "live"
    assert found["results"][0]["memory_id"] == saved["memory_id"]
    assert listed["total"] == 1
    told = (tmp_path / "log").read_text()
    assert json.loads(told[: told.index("}") + 1]) == {"url": f"http://127.0.0.1:{port}"}
    assert "Traceback" not in told
    assert token not in told


def test_it_tells_of_every_way():
    from slowwave.api import memories, review_queue, searching

    table = PAGE[PAGE.index("## Endpoints") : PAGE.index("## Tokens")]
    for part in (searching, memories, review_queue):
        for route in [route for route in part.router.routes if not route.deprecated]:
            last = route.path.rpartition("/")[2].strip("{}").replace("memory_id", "id")
            assert last in table, route.path
