"""The memory's own page, served by its command over a home where something is on every page of it."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import prepared
from learning_rows import put_ready
from page_home import BATTERY, CHANGED, THURSDAY, TUESDAY, tokens_of
from web_page import environment, free_port, slowwave

from slowwave.memory import Memory
from slowwave.settings import load

MODEL = "wordllama-256"
NOTES = {
    "Lamp": "The lamp on the pier is red since the storm of January; before that it was white.",
    "Ferry": "The ferry to Skerry leaves at ten past six, and on Sundays at half past eight.",
    "Kiln": "The kiln is fired on Fridays only, because the mains cannot bear it on working days.",
    "Rota": "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night.",
    "Visitors": "Visitors to the station sign the book in the porch and leave their shoes there.",
    "Radar": "The radar mast was painted in May with two coats of grey and needs it again in 2028.",
    "Orchard": "We graft the apple trees in the orchard in the second week of March, after the frost.",
}
ASKED = (
    "what colour is the lamp?",
    "when does the ferry leave?",
    "when is the kiln fired?",
    "who is on call?",
)
SETTINGS = '[learning]\nenabled = true\n[reconsolidation]\npolicy = "guarded"\n[judge]\nkind = "off"\n'


@dataclass
class Served:
    """A page that is served.

    Attributes:
        link: lets a person in, once.
        tokens: by name.
        ids: of memories and notes by title, and of decisions.
    """

    home: Path
    url: str = ""
    link: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)


def make_home(home: Path, embedder: Any) -> Served:
    """Notes by several, a merge, a decision that waits, a refusal, searches, and evidence to learn from."""
    prepared.take_over(home)
    tokens = tokens_of(home, MODEL)
    with (home / "slowwave.toml").open("a") as file:
        file.write(SETTINGS)
    made = Served(home, tokens=tokens)
    memory = Memory(load(home), namespace="ada", principal="command line")
    memory.home.__dict__["embedder"] = embedder
    with memory:
        put_ready(memory.store, datetime.now(UTC))
        memory.store.delete("memories", "true")  # they are there in name alone
        for title, text in NOTES.items():
            made.ids[title] = memory.save(text, title=title, source_kind="manual").memory_id
        memory.principal = "claude"
        _as("claude", memory, made)
        for query in ASKED:
            memory.search(query, limit=5)
    return made


def _as(principal: str, memory: Memory, made: Served) -> None:
    """What an assistant stored, and what became of it."""
    other = Memory(memory.settings, namespace="ada", principal=principal, space=memory.home)
    made.ids["Battery"] = other.save(BATTERY, title="Battery").memory_id
    merge = other.save(f"{BATTERY}\n{CHANGED}", title="Battery")
    made.ids["merge"] = merge.decision_id or ""
    other.save(TUESDAY, title="Deploy day", source_of_truth=True)
    made.ids["waits"] = other.save(THURSDAY, title="Deploy day").decision_id or ""
    made.ids["refused"] = other.save("ok then", title="A remark").memory_id
    other.save(
        "The printer in the hall takes A4 only.", title="Printer", tags=["captured"], source_kind="imported"
    )


@contextmanager
def serving(made: Served, log: Path) -> Iterator[Served]:
    """Serve it by the command, until the block ends."""
    port = free_port()
    with log.open("w") as errors:
        process = subprocess.Popen(
            slowwave("page", "--port", port, "--json"),
            env=environment(made.home) | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE, stderr=errors, text=True, cwd=made.home.parent,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            told = ""
            while not told.rstrip().endswith("}"):
                line = process.stdout.readline()
                assert line, log.read_text()
                told += line
            made.link = json.loads(told)["link"]
            made.url = made.link.partition("/enter")[0]
            _wait(made.url, process, log)
            yield made
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(url: str, process: subprocess.Popen[str], log: Path) -> None:
    import time
    import urllib.error
    import urllib.request

    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
                assert answer.read() == b"ok\n"
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"{url} does not answer: {log.read_text()}")
