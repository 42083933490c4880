"""README, tutorials and the pages beside them are one story of one home.

Every sample of them runs, in order, under a gate that refuses.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from import_samples import gpt, pack

import slowwave

ROOT = Path(__file__).parents[2]
FIRST_HOUR = ["README.md", "docs/tutorials/first-15-minutes.md", "docs/tutorials/first-night.md"]
WITH_COMMANDS = [
    *FIRST_HOUR,
    "docs/how-to/import-memories.md",
    "docs/how-to/connect-an-assistant.md",
    "docs/how-to/mcp-server.md",
]
WITH_PYTHON = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))
LASTING = (["ui"], ["up"], ["page"], ["mcp", "--http"])
"""They go on until they are ended, and have tests of their own."""
CONVERSATION = [
    ("user", "We moved the office to Lisbon in May 2026, and the lease runs for three years."),
    ("assistant", "Noted!"),
    ("user", "ok thanks"),
]

ONE_AFTER_THE_OTHER = """
import contextlib, io, json, os, re, sys
from slowwave.cli import main

known = {}
for step in json.load(sys.stdin):
    code, said = 0, io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            if "python" in step:
                exec(compile(step["python"], step["page"], "exec"), {"__name__": "docs"})
            elif step["words"][0] == "export":
                os.environ.update([step["words"][1].split("=", 1)])
            else:
                sys.argv = [known.get(word, word) for word in step["words"]]
                sys.stdin = io.StringIO("yes\\n")
                main()
        except SystemExit as end:
            code = end.code or 0
    known.update(("ID", one) for one in re.findall("^Saved (\\\\w+)", said.getvalue(), re.MULTILINE))
    print(json.dumps(step | {"code": code, "said": said.getvalue()}), flush=True)
"""  # in one process, as each begins with seconds of loading


def samples(page: str, *, commands: bool) -> Iterator[dict[str, Any]]:
    """Commands and Python of a page, in their order."""
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S):
        if language == "python":
            yield {"page": page, "python": block}
        elif language == "console" and commands:
            for line in block.splitlines():
                words = shlex.split(line.removeprefix("$ "), comments=True)
                assert line.startswith("$ "), (page, line)
                assert words[0] in ("slowwave", "export"), (page, line)
                yield {"page": page, "words": words}


def story() -> list[dict[str, Any]]:
    """All samples: the pages with commands, then the Python of every other page."""
    told = [step for page in WITH_COMMANDS for step in samples(page, commands=True)]
    rest = [page for page in WITH_PYTHON if page not in WITH_COMMANDS]
    return told + [step for page in rest for step in samples(page, commands=False)]


def lasts(step: dict[str, Any]) -> bool:
    return any(step.get("words", [])[1:][: len(one)] == one for one in LASTING)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """What became of every sample, and the home directory of who tried them."""
    person = tmp_path_factory.mktemp("ada")
    shutil.copytree(ROOT / "examples" / "vault" / "decisions", person / "notes")
    pack(person / "export.zip", {"conversations.json": [gpt("c1", CONVERSATION, title="Moving to Lisbon")]})
    (person / ".claude").mkdir()
    ours = ("SLOWWAVE_", "DAGSTER_", "PYTHONPATH", "VIRTUAL_ENV", "CLAUDE_", "CODEX_", "XDG_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    mine = {
        "HOME": str(person), "COLUMNS": "80", "PYTHONPATH": str(ROOT),
        "SLOWWAVE_EMBEDDING__MODEL": "wordllama-256", "SLOWWAVE_GATE__MODE": "enforce",
    }  # fmt: skip
    steps = [step for step in story() if not lasts(step)]
    for step in steps:
        if "words" in step:
            step["words"] = [re.sub(r"(^|=)~/", rf"\g<1>{person}/", word) for word in step["words"]]
            step["words"] += ["--yes"] * ("erase" in step["words"])  # no terminal to ask on
    done = subprocess.run(
        [sys.executable, "-c", ONE_AFTER_THE_OTHER], input=json.dumps(steps), cwd=person, env=kept | mine,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(steps), (lines[-1:], done.stderr)
    return person, lines


def test_the_story_has_what_a_first_hour_needs() -> None:
    steps = {page: list(samples(page, commands=True)) for page in FIRST_HOUR}
    words = {tuple(step["words"][1:2]) for page in steps.values() for step in page if "words" in step}
    wanted = (
        "init ingest import night search explain feedback eval report learning forget erase connect up ui"
    )
    assert {(one,) for one in wanted.split()} <= words
    calls = ["save", "search", "feedback", "explain"]
    for page, more in zip(FIRST_HOUR, ([], ["wakeup", "forget", "unforget", "history"]), strict=False):
        (python,) = [step["python"] for step in steps[page] if "python" in step]
        assert [call for call in calls + more if f"memory.{call}(" not in python] == []


@pytest.mark.slow
def test_every_sample_works_and_says_something(told: tuple[Path, list[dict[str, Any]]]) -> None:
    for step in told[1]:
        assert step["code"] == 0, step
        silent = step["words"][0] == "export" if "words" in step else "print(" not in step["python"]
        assert bool(step["said"].strip()) != silent, step


@pytest.mark.slow
def test_the_gate_that_refuses_let_every_sample_in(told: tuple[Path, list[dict[str, Any]]]) -> None:
    person, steps = told
    saves = [step for step in steps if step.get("words", [])[1:2] == ["save"]]
    assert len(saves) >= 2
    for step in saves:
        assert step["said"].startswith("Saved "), step
    with slowwave.open(person / "assistant", namespace="default") as memory:
        held = [(one["title"], one["reasons"]) for one in memory.quarantine()]
    assert not held, held


@pytest.mark.slow
def test_the_story_is_about_one_home(told: tuple[Path, list[dict[str, Any]]]) -> None:
    person, _ = told
    homes = [file.parent for file in person.rglob("journal.db")]
    assert homes == [person / "assistant"]
    connected = json.loads((person / ".claude.json").read_text())["mcpServers"]["memory"]["args"]
    assert connected[:4] == ["--home", str(person / "assistant"), "mcp", "--namespace"]
    assert connected[4] == "default"
    with slowwave.open(person / "assistant", namespace="default") as memory:
        assert memory.store.read("memories", columns=["namespace"])["namespace"].unique().to_list() == [
            "default"
        ]


def test_no_page_has_another_home_or_namespace() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", *(ROOT / "slowwave" / "memory").glob("*.py")]
    for page in pages:
        opened = re.findall(r"open\(\"([^\"]+)\", namespace=\"(\w+)\"", page.read_text())
        assert set(opened) <= {("~/assistant", "default")}, page
