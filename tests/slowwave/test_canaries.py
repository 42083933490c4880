"""No face tells what its viewer may not see: every command, tool, page and file, walked with canaries."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer
from canary_home import FOREIGN, OPEN, QUESTION, SAFE, SECRET, CanaryHome, make
from canary_walk import ELSEWHERE, walk
from mcp_helpers import connected, words

from slowwave.cli import app
from slowwave.mcp.server import build
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool
from slowwave.settings import load
from slowwave.views.terminal import err, out

pytestmark = pytest.mark.slow

FOLLOWING = "The keeper of the lighthouse comes down on Sundays to buy bread and to read the paper."


@pytest.fixture(scope="module")
def logged() -> Iterator[StringIO]:
    """Everything that any part of the program logs."""
    lines = StringIO()
    handler = logging.StreamHandler(lines)
    logging.getLogger().addHandler(handler)
    yield lines
    logging.getLogger().removeHandler(handler)


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, fast_embedder: Any, logged: StringIO
) -> Iterator[CanaryHome]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "GATE__MODE": "enforce",
            "GATE__MIN_QUALITY": "0",
            "RANKING__ABSTENTION_FLOOR": "0",
            "RANKING__CUT_SHARE": "0",
            "RANKING__FIT_FLOOR": "0",
        }.items():
            patch.setenv(f"SLOWWAVE_{name}", value)
        patch.setattr("slowwave.embedding.load_embedder", lambda *_: fast_embedder)
        for console in (out, err):
            patch.setattr(console, "_width", 300)
        yield make(tmp_path_factory.mktemp("canaries"), fast_embedder)


@pytest.fixture(autouse=True)
def _home(made: CanaryHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(made.home))
    monkeypatch.setenv("SLOWWAVE_JUDGE__KIND", "off")


def commands(group: Any, *path: str) -> Iterator[tuple[str, Any]]:
    """Every command of the command line, those of plugins with them, by its words."""
    if hasattr(group, "commands"):
        if group.invoke_without_command and path:
            yield " ".join(path), group
        for name, command in group.commands.items():
            yield from commands(command, *path, name)
    else:
        yield " ".join(path), group


def every_command() -> dict[str, Any]:
    found = dict(commands(typer.main.get_command(app)))
    return found | {"night": None, "ui": None, "eval run": None}  # plugins, which `main` loads


def leaks(text: str, but: tuple[str, ...] = ()) -> set[str]:
    """Canaries in a text that may not be in it."""
    return {one for one in {*SECRET.findall(text), *FOREIGN.findall(text)} if not one.startswith(but or "-")}


# -- the walk --------------------------------------------------------------------------------------


def test_the_home_has_what_could_leak(made):
    """Or the walk would prove nothing."""
    text = (
        made.run("get", made.secret, "--json")
        + made.run("history", made.secret)
        + made.run("stats", made.secret)
    )
    assert {"sectitlezyx", "sectextzyx", "sectagzyx", "secsourcezyx"} <= set(SECRET.findall(text))
    terms = made.run("learning", "terms", "--memory", made.secret)
    assert {"secnewszyx", "sectermzyx"} <= set(SECRET.findall(terms))
    assert made.decisions
    assert "bobtitlezyx" in made.run("get", made.foreign, "-n", "bob")
    assert len(made.said) == 2
    assert all('"success": true' in one for one in made.said), made.said


def test_every_command_is_walked(made, tmp_path):
    known = every_command()
    walked = {
        name
        for name in known
        for line, _ in walk(made, tmp_path)
        if line[: len(name.split())] == name.split()
    }
    assert walked | set(ELSEWHERE) == set(known)


def test_nights_print_ids_and_counts(made):
    assert not [
        leaks(one) | set(OPEN.findall(one)) for one in made.said if leaks(one) | set(OPEN.findall(one))
    ]


def test_no_file_beside_the_tables_and_the_journal_has_what_is_hidden(made):
    """As the nights left them: Dagster's storage, pages, the warehouse, settings, locks."""
    found = {}
    for path in sorted(made.home.rglob("*")):
        inside = path.relative_to(made.home)
        if not path.is_file() or inside.parts[0] == "lance" or inside.name.startswith("journal.db"):
            continue
        text = path.read_bytes().decode("utf-8", "replace") + str(inside)
        told = leaks(text, ("bob",) if inside.name == "warehouse.duckdb" else ())
        if inside.parts[0] == "dagster":  # kept for ever: nothing of any note
            told |= set(OPEN.findall(text))
        if told:
            found[str(inside)] = told
    assert found == {}
    assert (made.home / "reports" / "cycle-ada-3.html").exists()
    assert _events(made.home) > 100


def _events(home: Path) -> int:
    """Events in Dagster's storage."""
    count = 0
    for file in (home / "dagster").rglob("*.db"):
        with sqlite3.connect(file) as base:
            names = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if "event_logs" in names:
                count += base.execute("SELECT count(*) FROM event_logs").fetchone()[0]
    return count


def test_no_command_tells_what_it_may_not(made, tmp_path):
    known, found = every_command(), {}
    for line, but in walk(made, tmp_path):
        name = max((one for one in known if line[: len(one.split())] == one.split()), key=len)
        takes = {option for one in known[name].params for option in one.opts}
        for more in ([], ["--json"] if "--json" in takes else None):
            if more is None:
                continue
            told = made.run(*line, *more, input="q\n")
            if leaked := leaks(told, but):
                found[" ".join([*line, *more])] = leaked
    for page in (*tmp_path.rglob("*.html"), *tmp_path.rglob("*.json*"), *made.home.glob("reports/*")):
        if leaked := leaks(page.read_text(errors="replace")):
            found[str(page)] = leaked
    assert found == {}


def test_no_tool_and_no_resource_tells_an_assistant(made, fast_embedder, tmp_path):
    ids = (made.secret, made.foreign, made.public, made.refused)
    hostile: dict[str, list[dict[str, Any]]] = {
        "memory_wakeup": [{}, {"budget": 20_000}],  # before it saves what it was never told
        "memory_search": [
            {"query": QUESTION, "debug": True},
            {"query": "open secphrasezyx", "tags": ["sectagzyx"]},
            {"query": "bobtextzyx", "limit": 50},
        ],
        "memory_save": [
            {"content": SAFE, "title": "A copy"},
            {"content": SAFE.replace("ninth", "fourth")},
            {"content": FOLLOWING, "follows": "secsourcezyx/key"},
        ],
        "memory_history": [{"memory_id": one} for one in ids],
        "memory_forget": [{"memory_id": one} for one in (made.secret, made.foreign, made.refused)],
        "memory_undo": [{"decision_id": one} for one in [*made.decisions, "nothing"]],
        "memory_observe": [
            {"search_id": one, "response": SAFE, "cited": []} for one in (made.search, made.open_search)
        ],
        "knowledge_feedback": [
            {"search_id": made.search, "result": one, "rating": "neutral"} for one in (1, 2, made.secret)
        ],
        "memory_outcome": [{"project": "winter", "outcome": "success"}],
    }
    asked = {"secquestionzyx", "secphrasezyx", "sectagzyx", "bobtextzyx"}  # its own words
    home = shutil.copytree(made.home, tmp_path / "home")
    memories = MemoryPool(load(home), lambda: Caller("ada", "assistant"))
    memories._space.__dict__["embedder"] = fast_embedder
    with connected(build(memories)) as assistant:
        assert [tool.name for tool in assistant.tools()] == sorted(hostile)
        for tool, calls in hostile.items():
            for arguments in calls:
                answer = assistant.ask(tool, **arguments)
                told = words(answer) + str(answer.structured_content)
                assert not leaks(told) - asked, (tool, arguments, told)
                if tool == "memory_save":
                    assert made.secret not in told
                if tool == "memory_observe":
                    assert made.secret not in told
        opened = assistant.ask("memory_search", query="The word has been changed and is told to everybody")
        assert not opened.is_error, words(opened)
        history = assistant.ask(
            "memory_history", memory_id=opened.structured_content["results"][0]["memory_id"]
        )
        assert "saved" in words(history)
        assert not leaks(words(history) + str(history.structured_content))
        listed = assistant.portal.call(assistant.client.list_resources).resources
        templates = assistant.portal.call(assistant.client.list_resource_templates).resource_templates
        assert {str(one.uri) for one in listed} == {"slowwave://gates", "slowwave://answers"}
        assert {one.uri_template for one in templates} == {"memory://{memory_id}"}
        assert not leaks(assistant.read("slowwave://gates"))
        unknown = assistant.missing("memory://" + "a" * 26).replace("a" * 26, "X")
        for memory in (made.secret, made.foreign, made.refused):
            assert assistant.missing(f"memory://{memory}").replace(memory, "X") == unknown


def test_nothing_is_logged(made, logged):
    told = logged.getvalue()
    assert not leaks(told) | set(OPEN.findall(told))
