"""`slowwave --help` and `slowwave help`: commands by what people want, and short texts."""

from __future__ import annotations

import json
import os
import re

import pytest
from command_lines import PLUGINS
from command_runner import run_command

from slowwave.cli import app
from slowwave.cli.panels import PANELS
from slowwave.views.topics import TOPICS, named


def run(*words, home):
    """The command as a person in a terminal of 80 columns runs it."""
    given = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "SLOWWAVE_HOME": str(home)}
    return run_command(*words, environment=given)


NAMED = [name for names in PANELS.values() for name in names.split()]


def sections(told: str) -> dict[str, list[str]]:
    """The names under each heading of a help text."""
    found: dict[str, list[str]] = {}
    for line in told.splitlines():
        if heading := re.match(r"╭─ (.+?) ─", line):
            found[heading[1]] = []
        elif name := re.match(r"│ ([a-z]+)  ", line):
            found[list(found)[-1]].append(name[1])
    return found


def test_commands_stand_under_what_people_want(tmp_path):
    found = sections(run("--help", home=tmp_path).stdout)
    found.pop("Options")
    assert list(found) == list(PANELS)
    assert [name for names in found.values() for name in names] == [
        name for name in NAMED if name in {one for names in found.values() for one in names}
    ]
    assert {"night", "ui"} <= set(found["Operation"])
    assert found["Every day"][:3] == ["init", "ingest", "save"]


def test_every_command_has_its_heading():
    commands = [info for info in app.registered_commands if not info.hidden]
    known = {info.name or info.callback.__name__ for info in commands if info.callback}
    known |= {group.name for group in app.registered_groups} | {words[0] for words in PLUGINS}
    known = {name.replace("_", "-").split(".")[0] for name in known}
    assert known <= set(NAMED)
    assert len(NAMED) == len(set(NAMED))


def test_help_lists_its_topics_and_tells_each(tmp_path):
    listed = run("help", home=tmp_path).stdout
    for name, topic in TOPICS.items():
        assert f"  {name} " in listed
        told = run("help", name, home=tmp_path).stdout
        assert told == f"{topic.title}\n\n{topic.text}\n"
        assert all(len(line) <= 80 for line in told.splitlines()), name
    data = json.loads(run("help", "json", "--json", home=tmp_path).stdout)
    assert data == {"topic": "json", "title": TOPICS["json"].title, "text": TOPICS["json"].text}
    assert [one["topic"] for one in json.loads(run("help", "--json", home=tmp_path).stdout)] == list(TOPICS)


@pytest.mark.parametrize(
    ("words", "topic"),
    [(["first", "steps"], "first-steps"), (["Exit", "codes"], "exit-codes"), (["namespaces"], "homes")],
)
def test_a_topic_may_be_said_otherwise(words, topic, tmp_path):
    assert named(" ".join(words)) == topic
    assert run("help", *words, home=tmp_path).stdout.startswith(TOPICS[topic].title)


def test_a_topic_that_is_not_known_is_an_error_with_the_nearest_name(tmp_path):
    done = run("help", "lerning", home=tmp_path)
    assert done.returncode == 1
    assert "Unknown topic or command 'lerning'. Did you mean 'learning'?" in done.stderr


@pytest.mark.parametrize("words", [["save"], ["night"], ["quarantine", "release"]])
def test_help_of_a_command_is_what_its_own_option_says(words, tmp_path):
    told = run("help", *words, home=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "Options" in told.stdout
    assert f"slowwave {' '.join(words)}" in " ".join(told.stdout.split())


def test_every_command_that_a_topic_names_exists():
    whole = {name for name, _ in _names()} | {"night", "ui"}
    for topic, one in TOPICS.items():
        for word in re.findall(r"slowwave ([a-z]+)", one.text):
            assert word in whole, (topic, word)


def _names():
    return [
        (info.name or info.callback.__name__, info) for info in app.registered_commands if info.callback
    ] + [(group.name, group) for group in app.registered_groups]
