"""The commands about learning, of search keys: what they show, what they refuse, what they take back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from key_rows import asked, night_of_keys, put_key_effect, put_keys_ready
from learning_rows import night, put_ready
from prepared import kept

from slowwave.learning.events import learning_events
from slowwave.memory import Memory

pytestmark = pytest.mark.usefixtures("learning_on")


@pytest.fixture
def memory(request: pytest.FixtureRequest, open_memory: Callable[..., Memory], home: Path) -> Memory:
    """The namespace that commands mean when none is given; its home has what the test asks for."""

    def make_ready() -> Memory:
        memory = open_memory("default", path=home)
        put_keys_ready(memory._space, memory._space.now(), "default")
        return memory

    def make_learned() -> Memory:
        memory = make_ready()
        put_ready(memory.store, memory._space.now(), "default")
        for kind in ("words", "keys"):
            memory.learning.approve(who="ann", kind=kind)
        night(memory._space, "default")
        night_of_keys(memory._space, "default")
        return memory

    for name, make in (("learned", make_learned), ("ready", make_ready)):
        if name in request.fixturenames:
            kept(f"keys that are {name}", home, lambda make=make: make().close())
            break
    return open_memory("default")


@pytest.fixture
def ready(memory: Memory) -> Memory:
    """Of search keys only a person's word is missing; of words nothing is known."""
    return memory


@pytest.fixture
def learned(memory: Memory) -> Memory:
    """Words and keys, each approved and applied."""
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


def decided(memory: Memory) -> list[tuple[str, str]]:
    return [(act.action, act.detail["kind"]) for act in learning_events(memory.journal, "default")]


def counts(memory: Memory) -> tuple[int, int]:
    """Rows of words and of keys that were applied."""
    return tuple(
        memory.store.count(table, "namespace = 'default'") for table in ("learned_triggers", "search_keys")
    )


# -- looking ---------------------------------------------------------------------------------------


def test_status_shows_both_gates_and_what_to_do_next(learning, data, ready):
    told = learning("status").stdout
    assert "Learning of search keys in default is closed until a person approves" in told
    assert "Keys: 16 proposed, 0 live, 0 expired, 0 taken back" in told
    assert "slowwave learning approve --who NAME --kind keys" in told
    assert "approve --kind words" not in told
    keys = data("status")["search_keys"]
    assert keys["keys"] == {"proposed": 16, "live": 0, "expired": 0, "taken back": 0}
    assert (keys["open"], sum(keys["selections"].values())) == (False, 16)
    assert [one["name"] for one in keys["conditions"] if one["state"] != "open"] == ["approval"]


def test_status_of_what_is_applied(learning, data, learned):
    told = learning("status").stdout
    assert "Learning of words in default is open" in told
    assert "Learning of search keys in default is open" in told
    assert data("status")["search_keys"]["keys"]["live"] == 16
    put_key_effect(learned._space, learned._space.now(), "default", relevant=False)
    keys = data("status")
    assert (keys["open"], keys["search_keys"]["open"]) == (True, False)


def test_keys_and_selections_are_listed_beside_the_words(learning, data, learned):
    rows = data("terms", "--kind", "keys", "-k", "100")
    assert {(row["state"], row["times"], row["principals"]) for row in rows} == {("live", 1, 1)}
    assert {row["query"] for row in rows} == {asked(at, which) for at in range(8) for which in (0, 1)}
    told = learning("terms", "--kind", "keys", "-k", "2").stdout
    assert "Search keys: 16" in told
    assert "and 14 more (--limit)" in told
    of_one = data("terms", "--kind", "keys", "--memory", "memory-3")
    assert {row["memory_id"] for row in of_one} == {"memory-3"}
    assert learning("terms", "--kind", "keys", "--state", "expired").stdout == "No such keys.\n"
    assert "Use one of proposed, live" in learning("terms", "--kind", "keys", "--state", "dead").stderr
    picked = data("proposals", "--kind", "keys", "-k", "100")
    assert (len(picked), {row["reason"] for row in picked}) == (16, {"applied"})
    assert picked[0]["taken"] == pytest.approx(0.9)
    assert "Selections: 16" in learning("proposals", "--kind", "keys").stdout
    assert len(data("terms", "-k", "100")) == 24  # without a kind: words
    assert "terms" in data("proposals")[0]


def test_nothing_is_listed_of_a_namespace_that_learned_nothing(learning, learned):
    assert "No search keys yet." in learning("terms", "--kind", "keys", "-n", "young").stdout
    assert "No selections yet." in learning("proposals", "--kind", "keys", "-n", "young").stdout
    tried = learning("rollback", "--everything", "--kind", "keys", "--dry-run", "-n", "young")
    assert "Nothing is proposed or learned yet." in tried.stdout


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        (("approve", "--who", "Ann", "--yes"), "words, keys or both"),
        (("withdraw", "--who", "Ann"), "words, keys or both"),
        (("rollback", "--everything", "--who", "Ann", "--yes"), "words, keys or both"),
        (("terms",), "words or keys"),
        (("proposals",), "words or keys"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_unknown_kind_is_refused_by_name(learning, learned, command, kinds, options):
    before = decided(learned), counts(learned)
    done = learning(*command, "--kind", "phrases", *options)
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"Unknown --kind phrases. Give {kinds}." in done.stderr
    assert (decided(learned), counts(learned)) == before


@pytest.mark.parametrize("command", ["terms", "proposals"])
def test_a_list_is_of_one_kind(learning, learned, command):
    done = learning(command, "--kind", "both")
    assert done.exit_code == 1
    assert "Unknown --kind both. Give words or keys." in done.stderr


# -- deciding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["keys", "both"])
def test_keys_are_approved_where_only_a_person_is_missing(learning, ready, kind):
    refused = learning("approve", "--who", "Ann", "--kind", kind, input="n\n")
    assert "Let search keys apply in default from today on, approved by Ann?" in refused.stderr
    assert decided(ready) == []
    done = learning("approve", "--who", "Ann", "--kind", kind, input="y\n")
    assert (done.exit_code, decided(ready)) == (0, [("approve", "keys")])
    again = learning("approve", "--who", "Bob", "--kind", kind, input="")
    assert "already approved" in again.stdout
    assert decided(ready) == [("approve", "keys")]


def test_an_approval_of_keys_keeps_their_evidence(data, ready):
    act = data("approve", "--who", "Ann", "--yes", "--kind", "keys")
    assert (act["who"], act["action"], act["detail"]["kind"]) == ("Ann", "approve", "keys")
    assert len(act["detail"]["evidence"]) == 10
    told = data("approve", "--who", "Bob", "--yes")
    assert {name: one["detail"]["kind"] for name, one in told.items()} == {"search_keys": "keys"}


@pytest.mark.parametrize("kind", ["words", "keys", "both"])
def test_approve_is_refused_with_what_is_missing(learning, memory, kind):
    done = learning("approve", "--who", "Ann", "--yes", "--kind", kind)
    assert done.exit_code == 1
    line = done.stderr.strip().splitlines()[-1]
    what = f"Learning of {'search keys' if kind == 'keys' else 'words'} in default"
    assert line.startswith(f"Error: {what} cannot be approved yet. Missing: cycles 0/2 closed;")
    assert decided(memory) == []


def test_words_are_refused_where_only_keys_are_ready(learning, ready):
    done = learning("approve", "--who", "Ann", "--yes", "--kind", "words")
    assert done.exit_code == 1
    assert "cannot be approved yet. Missing:" in done.stderr
    assert "cycles" not in done.stderr.splitlines()[-1]  # those of both are the same, and full
    assert decided(ready) == []


def test_withdraw_of_one_kind_leaves_the_other(learning, data, learned):
    before = decided(learned)
    act = data("withdraw", "--who", "Bob", "--kind", "keys")
    assert (act["action"], act["detail"]["kind"]) == ("withdraw", "keys")
    status = data("status")
    assert (status["terms"]["live"], status["search_keys"]["keys"]["live"]) == (24, 0)
    again = learning("withdraw", "--who", "Bob", "--kind", "keys")
    assert (again.exit_code, again.stdout) == (1, "")
    assert "nothing to withdraw" in again.stderr
    acts_of_both = data("withdraw", "--who", "Bob")  # what is left of both
    assert (acts_of_both["detail"]["kind"], "search_keys" in acts_of_both) == ("words", False)
    assert decided(learned) == [*before, ("withdraw", "keys"), ("withdraw", "words")]


@pytest.mark.parametrize(("kind", "left"), [("words", (0, 32)), ("keys", (48, 0)), ("both", (0, 0))])
def test_rollback_of_a_kind_leaves_the_other(learning, learned, kind, left):
    tried = learning("rollback", "--everything", "--kind", kind, "--dry-run")
    assert ("16 selections would be rolled back" in tried.stdout) == (kind != "words")
    assert ("48 lessons would be rolled back" in tried.stdout) == (kind != "keys")
    assert counts(learned) == (48, 32)
    done = learning("rollback", "--everything", "--kind", kind, "--who", "Ann", "--yes")
    assert done.exit_code == 0
    assert counts(learned) == left


@pytest.mark.parametrize(
    ("options", "deleted", "lessons"),
    [
        (("--everything",), 32, 16), (("--memory", "memory-3"), 4, 2),
        (("--search", "default-key-0-1"), 2, 1),
        (("--principal", "bob"), 16, 8), (("--since", "2120-01-01T00:00+00:00"), 0, 0),
    ],
)  # fmt: skip
def test_rollback_of_every_scope_for_programs(data, learned, options, deleted, lessons):
    told = data("rollback", *options, "--kind", "keys", "--dry-run")
    assert (told["kind"], len(told["deleted"]), len(told["lessons"]), told["live_terms"], told["act"]) == (
        "keys", deleted, lessons, lessons, None,
    )  # fmt: skip
    told = data("rollback", *options, "--kind", "keys", "--who", "Ann", "--yes")
    assert (len(told["deleted"]), told["act"]["who"], told["dry_run"]) == (deleted, "Ann", False)
    assert counts(learned) == (48, 32 - deleted)
    both = data("rollback", *options, "--dry-run")
    assert (both["kind"], both["search_keys"]["kind"]) == ("words", "keys")


@pytest.mark.slow
def test_tables_fit_a_narrow_terminal(learning, learned, monkeypatch):
    monkeypatch.setattr("slowwave.views.terminal.out._width", 80)
    for command in ("status", "terms", "proposals"):
        more = () if command == "status" else ("--kind", "keys")
        lines = learning(command, *more).stdout.splitlines()
        assert max(map(len, lines)) <= 80
        assert "…" not in "".join(lines)
