"""The commands about judgments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from slowwave.memory import Memory

QUERY = "how long does the battery last"
NOTES = {
    "Battery": "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer.",
    "Deploy [day]": "We deploy on Thursday since 2 March; Friday is for repairs only, [bold]says Ishbel.",
    "Rota": "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night.",
}


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """The namespace that commands mean when none is given, searched once."""
    opened = open_memory("default")
    for title, text in NOTES.items():
        opened.save(text, title=title)
    assert len(opened.search(QUERY)) == 3
    return opened


@pytest.fixture
def data(run: Callable[..., Result]) -> Callable[..., Any]:
    """What a command gives programs."""

    def ask(*words: str) -> Any:
        done = run(*words, "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return ask


@pytest.mark.slow
def test_pairs_are_shown_and_what_is_said_is_taken(run, data):
    done = run("judge", input="3\nwhat?\nu\nl\n")
    assert done.exit_code == 0, done.output
    # Which pair comes first is drawn anew each day.
    for part in (QUERY, "Deploy [day]", "[bold]says Ishbel", "Battery", "1 of 3", "3 of 3", "rank 1"):
        assert part in done.stdout
    assert "3 saved; 0 pairs are unlabelled." in done.stdout
    rows = data("judge", "list")
    assert {(row["grade"], row["state"], row["principal"]) for row in rows} == {
        (3, "graded", "command line"), (None, "unrateable", "command line"), (None, "later", "command line"),
    }  # fmt: skip


@pytest.mark.slow
def test_quitting_skipping_and_the_end_of_the_input_take_nothing(run, data):
    for said in ("q\n", "", "s\ns\nq\n", "s\n"):
        done = run("judge", input=said)
        assert (done.exit_code, "Nothing was saved." in done.stdout) == (0, True)
    assert data("judge", "list") == []
    assert "No judgments." in run("judge", "list").stdout


@pytest.mark.slow
def test_a_session_goes_on_with_what_is_left(run):
    assert "2 saved; 1 pair is unlabelled." in run("judge", "--limit", "2", input="3\n0\n").stdout
    assert "1 saved; 0 pairs are unlabelled." in run("judge", input="l\n").stdout
    assert "1 saved" in run("judge", input="0\n").stdout
    assert "No pair to label" in run("judge").stdout
    assert "3 saved" in run("judge", "--by", "eva", input="3\n0\n0\n").stdout


@pytest.mark.slow
def test_a_pair_is_set(run, data, memory):
    name = memory.search(QUERY)[0].memory_id
    done = data("judge", "set", QUERY, name, "2", "--explanation", "weeks", "--by", "eva")
    assert (done["grade"], done["new"]) == (2, True)
    assert (
        "Already saved: 2"
        in run("judge", "set", QUERY, name, "2", "--explanation", "weeks", "--by", "eva").stdout
    )
    assert "Saved: later" in run("judge", "set", QUERY, name, "later").stdout
    shown = run("judge", "list").stdout
    for part in ("2 judgments", "eva", "weeks", "later", name):
        assert part in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grade", "words"), [("4", "from 0 to 3"), ("good", "is no grade"), ("²", "is no grade")]
)
def test_what_is_no_label_is_one_line(run, memory, grade, words):
    name = memory.search(QUERY)[0].memory_id
    done = run("judge", "set", QUERY, name, grade)
    assert (done.exit_code, done.stdout) == (1, "")
    assert words in done.stderr
    assert "has no memory 'nothing'" in run("judge", "set", QUERY, "nothing", "2").stderr


@pytest.mark.slow
def test_the_judge_is_asked_and_compared_with_people(run, data):
    assert "No judge has graded" in run("judge", "agreement").stdout
    done = [data("judge", "run", "--pairs", "2") for _ in range(3)]
    assert [(one["judge"], one["graded"], one["skipped"]) for one in done] == [
        ("default", 2, 0), ("default", 1, 0), ("default", 0, 0),
    ]  # fmt: skip
    assert "graded" in run("judge", "run").stdout
    assert "not met" in run("judge", "agreement").stdout
    for row in data("judge", "list", "--judge", "default"):
        run("judge", "set", QUERY, row["memory_id"], f"{row['grade']:.0f}")
    found = data("judge", "agreement")
    assert (found["bar"], found["judges"][0]["pairs"], found["judges"][0]["exact"]) == (0.8, 3, 1)
    shown = run("judge", "agreement").stdout
    assert "met" in shown
    assert "not met" not in shown


def test_a_judge_that_is_not_set_up_is_one_line(run, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_JUDGE__KIND", "openai")
    done = run("judge", "run")
    assert done.exit_code == 1
    assert "judge.model is empty" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_labels_go_out_and_come_back(run, data, tmp_path):
    run("judge", input="3\n0\n1\n")
    qrels, queries, lines = (str(tmp_path / name) for name in ("qrels", "queries", "lines"))
    done = run("judge", "export", qrels, "--format", "qrels", "--queries", queries)
    assert (done.exit_code, "3 judgments." in done.stderr) == (0, True)
    assert run("judge", "export", lines).exit_code == 0
    assert len(run("judge", "export").stdout.splitlines()) == 3
    taken = data("judge", "import", qrels, "--format", "qrels", "--queries", queries, "--by", "eva")
    assert taken["written"] == 3
    with Path(lines).open("a") as file:
        file.write('{"query": "x", "source": "no [such]", "grade": 1}\nnot [json]\n')
    done = run("judge", "import", lines)
    assert "5 lines: 0 judgments written, 3 already known, 1 of unknown memories, 1 rejected." in done.stdout
    assert "Unknown memory: no [such]" in done.stderr
    assert f"Rejected: {lines}, line 5" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"home", "qrels", "queries", "lines"}


@pytest.mark.slow
def test_what_cannot_be_exchanged_is_one_line(run, tmp_path):
    path = tmp_path / "qrels"
    path.write_text("q1 0 x 1")
    assert "give their texts with --queries" in run("judge", "import", str(path), "--format", "qrels").stderr
    assert "Unknown format 'csv'" in run("judge", "export", "--format", "csv").stderr
    assert run("judge", "import", str(tmp_path / "none")).exit_code == 1
