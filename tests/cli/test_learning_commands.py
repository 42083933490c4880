"""The commands about learning: what they show, what they refuse, what they ask."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import Result
from learning_rows import night, put_effect, put_proposals, put_ready
from prepared import kept

from slowwave.learning.events import learning_events
from slowwave.learning.log import append
from slowwave.memory import Memory

pytestmark = pytest.mark.usefixtures("learning_on")


@pytest.fixture
def memory(request: pytest.FixtureRequest, open_memory: Callable[..., Memory], home: Path) -> Memory:
    """The namespace that commands mean when none is given; its home has what the test asks for."""

    def make_ready() -> Memory:
        memory = open_memory("default", path=home)
        put_ready(memory.store, memory._space.now(), "default")
        return memory

    def make_learned() -> Memory:
        memory = make_ready()
        memory.learning.approve(who="ann")
        night(memory._space, "default")
        return memory

    for name, make in (("learned", make_learned), ("ready", make_ready)):
        if name in request.fixturenames:
            kept(f"words that are {name}", home, lambda make=make: make().close())
            break
    return open_memory("default")


@pytest.fixture
def ready(memory: Memory) -> Memory:
    """Only a person's word is missing."""
    return memory


@pytest.fixture
def learned(memory: Memory) -> Memory:
    """Approved and applied."""
    return memory


@pytest.fixture
def learning(run: Callable[..., Result]) -> Callable[..., Result]:
    return lambda *words, **options: run("learning", *words, **options)


@pytest.fixture
def data(learning: Callable[..., Result]) -> Callable[..., Any]:
    """What a command that ends well gives programs."""

    def ask(*words: str) -> Any:
        done = learning(*words, "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return ask


def decided(memory: Memory) -> list[str]:
    return [act.action for act in learning_events(memory.journal, "default")]


def test_status_shows_every_condition_and_what_to_do_next(learning, run, ready):
    done = learning("status")
    assert done.exit_code == 0
    assert "Learning of words in default is closed until a person approves" in done.stdout
    assert "220/200 evaluated" in done.stdout
    assert "Terms: 24 proposed, 0 live, 0 expired, 0 taken back" in done.stdout
    assert "Selections: 16 gate_closed, 1 top_3_exclusion" in done.stdout
    assert "slowwave learning approve --who NAME" in done.stdout
    assert run("gate", "status").stdout == done.stdout
    assert run("gate", "status", "-n", "young").stdout != done.stdout


def test_status_for_programs(data, run, ready):
    told = data("status")
    assert (told["namespace"], told["state"], told["open"]) == ("default", "insufficient", False)
    (searches,) = [one for one in told["conditions"] if one["name"] == "searches"]
    assert (searches["state"], searches["number"], searches["bound"]) == ("open", 220.0, "200 evaluated")
    assert told["terms"] == {"proposed": 24, "live": 0, "expired": 0, "taken back": 0}
    again = json.loads(run("gate", "status", "--json").stdout)
    said = [[one[name] for name in ("name", "state", "value")] for one in again["conditions"]]
    assert said == [[one[name] for name in ("name", "state", "value")] for one in told["conditions"]]


@pytest.mark.slow
def test_an_open_gate_says_so(learning, learned):
    told = learning("status").stdout
    assert "Learning of words in default is open: each nightly job applies what selections teach." in told
    assert "24 live" in told
    put_effect(learned.store, learned._space.now(), "default", relevant=False)
    told = learning("status").stdout
    assert "is closed: nothing new is applied; what was applied before stays until it expires." in told
    assert "24 live" in told
    learned.learning.withdraw(who="bob")
    told = learning("status").stdout
    assert "is closed: nothing learned is applied." in told
    assert "0 live" in told


def test_approve_shows_the_evidence_before_it_asks(learning, ready):
    refused = learning("approve", "--who", "Ann", input="n\n")
    assert refused.exit_code == 1
    assert "Nothing was changed." in refused.stderr
    assert "Let learned terms apply in default from today on, approved by Ann?" in refused.stderr
    assert "MRR@5 +20.00%" in refused.stdout
    assert decided(ready) == []
    done = learning("approve", "--who", "Ann", "--why", "seen", input="y\n")
    assert (done.exit_code, decided(ready)) == (0, ["approve"])
    assert "Approved by Ann" in done.stdout
    again = learning("approve", "--who", "Bob", input="")
    assert again.exit_code == 0
    assert "already approved" in again.stdout
    assert decided(ready) == ["approve"]


def test_approve_without_an_answer_changes_nothing(learning, ready):
    assert learning("approve", "--who", "Ann", input="").exit_code == 1
    assert decided(ready) == []


def test_approve_for_programs_gives_the_evidence_that_was_recorded(data, ready):
    act = data("approve", "--who", "Ann", "--yes", "--kind", "words")
    assert (act["who"], act["action"], len(act["detail"]["evidence"])) == ("Ann", "approve", 10)
    assert decided(ready) == ["approve"]


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_approve_is_refused_with_what_is_missing_whatever_is_said(learning, memory, options):
    done = learning("approve", "--who", "Ann", "--yes", *options)
    assert done.exit_code == 1
    line = done.stderr.strip().splitlines()[-1]
    assert line.startswith(
        "Error: Learning of words in default cannot be approved yet. Missing: cycles 0/2 closed;"
    )
    assert ("condition" in done.stdout) == (not options)
    assert decided(memory) == []


@pytest.mark.parametrize("command", [("approve",), ("withdraw",), ("rollback", "--everything")])
def test_who_decides_is_required(learning, learned, command):
    assert learning(*command, "--yes" if command != ("withdraw",) else "--why=x").exit_code != 0
    assert decided(learned) == ["approve"]


def test_withdraw_stops_at_once_and_says_what_it_does_not_do(learning, learned):
    done = learning("withdraw", "--who", "Bob", "--why", "holiday")
    assert "ignore learned data" in done.stdout
    assert decided(learned) == ["approve", "withdraw"]
    again = learning("withdraw", "--who", "Bob")
    assert again.exit_code == 1
    assert "nothing to withdraw" in again.stderr


@pytest.mark.slow
def test_rollback_shows_what_it_would_take_back_and_asks(learning, learned):
    tried = learning("rollback", "--memory", "memory-3", "--dry-run")
    assert tried.exit_code == 0
    assert "6 lessons would be rolled back (memory memory-3): 6 applied, 0 only proposed; 3 terms lose" in (
        tried.stdout
    )
    assert "backup, cellar, ledger" in tried.stdout
    assert "Nothing was changed." in tried.stdout
    no = learning("rollback", "--memory", "memory-3", "--who", "Ann", input="n\n")
    assert (no.exit_code, decided(learned)) == (1, ["approve"])
    done = learning("rollback", "--memory", "memory-3", "--who", "Ann", input="y\n")
    assert (done.exit_code, decided(learned)) == (0, ["approve", "rollback", "rollback"])
    assert "Rolled back by Ann" in done.stdout
    none = learning("rollback", "--memory", "memory-3", "--dry-run")
    assert "Nothing was learned from memory memory-3 yet." in none.stdout


@pytest.mark.parametrize(
    ("options", "deleted"),
    [
        (("--everything",), 48), (("--search", "search-0-1"), 3), (("--principal", "bob"), 24),
        (("--since", "2020-01-01"), 48), (("--since", "2120-01-01T00:00+00:00"), 0),
    ],
)  # fmt: skip
def test_rollback_of_every_scope(data, learned, options, deleted):
    told = data("rollback", *options, "--kind", "words", "--dry-run")
    assert (len(told["deleted"]), len(told["lessons"]), told["act"]) == (deleted, deleted, None)
    told = data("rollback", *options, "--kind", "words", "--who", "Ann", "--yes")
    assert (len(told["deleted"]), told["act"]["who"], told["dry_run"]) == (deleted, "Ann", False)
    assert learned.store.count("learned_triggers", "namespace = 'default'") == 48 - deleted


@pytest.mark.parametrize(
    "options", [(), ("--everything", "--memory", "m"), ("--memory", "m", "--search", "s")]
)
def test_rollback_takes_exactly_one_scope(learning, learned, options):
    done = learning("rollback", *options, "--who", "Ann", "--yes")
    assert done.exit_code == 1
    assert "one of: --everything, --memory, --search, --principal, --since" in done.stderr
    assert decided(learned) == ["approve"]


@pytest.mark.slow
def test_terms_proposals_and_log_are_listed(learning, data, learned):
    terms = learning("terms", "-k", "2").stdout
    assert "Learned terms: 24" in terms
    assert "and 22 more (--limit)" in terms
    assert {row["state"] for row in data("terms")} == {"live"}
    assert {row["term"] for row in data("terms", "--memory", "memory-0")} == {"glacier", "pump", "valve"}
    assert learning("terms", "--state", "expired").stdout == "No such terms.\n"
    assert "Use one of proposed, live" in learning("terms", "--state", "dead").stderr
    shown = learning("proposals").stdout
    assert "Selections: 17" in shown
    assert "where is the ferry" in shown
    assert [row["reason"] for row in data("proposals", "--reason", "top_3_exclusion")] == ["top_3_exclusion"]
    assert "No selection with the reason nothing." in learning("proposals", "--reason", "nothing").stdout
    assert data("log")[0]["action"] == "approve"
    assert {row["action"] for row in data("log", "-k", "100")} == {"approve", "add", "refresh"}
    assert len(data("log", "--action", "add", "-k", "100")) == 24


def test_the_log_leads_with_what_was_decided_and_counts_what_was_refused(learning, data, memory):
    put_proposals(memory.store, memory._space.now(), "default")
    refused = {"namespace": "default", "at": memory._space.now(), "action": "refuse", "detail": None}
    append(memory.store, pl.DataFrame([
        refused | {"memory_id": f"memory-{at}", "search_id": f"s{at}", "principal": "mallory", "kind": kind,
                   "reason": reason}
        for at, (kind, reason) in enumerate([("words", "gate_closed"), ("words", "top_3_exclusion"),
                                             ("keys", "rate_limited")])
    ]))  # fmt: skip
    told = learning("log").stdout
    assert "Nothing was learned or decided yet." in told
    assert "3 selections taught nothing" in told
    memory.learning.roll_back("everything", who="ann")
    told = learning("log").stdout
    assert told.startswith("Log of learning: 1\n")
    assert "rollback" in told
    assert "mallory" not in told
    assert "3 selections taught nothing: slowwave learning log --action refuse" in told
    assert "mallory" in learning("log", "--action", "refuse").stdout
    assert [row["reason"] for row in data("log", "--kind", "keys")] == ["rate_limited"]
    assert len(data("log")) == 4
    assert learning("log", "--kind", "letters").exit_code == 1


def test_nothing_is_listed_of_a_namespace_that_learned_nothing(learning, learned):
    assert "No learned terms yet." in learning("terms", "-n", "young").stdout
    assert "No selections yet." in learning("proposals", "-n", "young").stdout
    assert "The log is empty." in learning("log", "-n", "young").stdout
    tried = learning("rollback", "--everything", "--dry-run", "-n", "young")
    assert "Nothing is proposed or learned yet." in tried.stdout


def test_words_that_look_like_markup_are_shown_as_they_are(learning, memory):
    put_proposals(memory.store, memory._space.now(), "default")
    memory.learning.roll_back("everything", who="[bold]eve[/]", why="[red]x")
    told = learning("log").stdout
    assert "[bold]eve[/]" in told
    assert "[red]x" in told


@pytest.mark.slow
def test_tables_fit_a_narrow_terminal(learning, learned, monkeypatch):
    monkeypatch.setattr("slowwave.views.terminal.out._width", 80)
    for command in ("status", "terms", "proposals", "log"):
        lines = learning(command).stdout.splitlines()
        assert max(map(len, lines)) <= 80
        assert "…" not in "".join(lines)


@pytest.mark.slow
def test_help_needs_neither_tables_nor_the_store(home):
    code = (
        "import sys; sys.argv = ['slowwave', 'learning', '--help']\n"
        "from slowwave.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'polars', 'lancedb', 'dagster', 'sqlalchemy'} & set(sys.modules)))"
    )
    environment = {**os.environ, "SLOWWAVE_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert "rollback" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
