"""`slowwave list` with a type or tag that no memory has, and with the state of all stored memories."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from slowwave.lifecycle.browse import label_hint


@pytest.fixture
def listed(memory, run):
    memory.save("We deploy on Thursdays at nine in the morning.", memory_type="decision")
    memory.save("Ishbel prefers black tea with milk in the afternoon.", memory_type="preference")
    memory.save("The northern pier sinks by a centimetre a year.", memory_type="fact", sensitivity="secret")
    return lambda *words: run("list", *words, "-n", "ada")


def test_an_unknown_type_is_corrected_and_the_types_are_named(listed, memory):
    assert "No memory has the type 'decision'" not in listed("--type", "decision").output
    done = listed("--type", "decsion")
    assert done.exit_code == 0
    message = (
        "No memory has the type 'decsion'. Did you mean 'decision'? Types here: decision (1), preference (1)."
    )
    assert " ".join(done.output.split()) == message
    assert json.loads(listed("--type", "decsion", "--json").stdout)["memories"] == []
    assert label_hint(memory.home, "ada", "zzz", ()) == (
        "No memory has the type 'zzz'. Types here: decision (1), preference (1)."
    )
    assert label_hint(memory.home, "bob", "decision", ()) == "No memory has the type 'decision'."


def test_an_unknown_tag_is_corrected_and_case_does_not_count(memory, run):
    memory.save("Soup: leeks, potatoes, cream and a bay leaf.", tags=["Recipe"], memory_type="decision")
    memory.save("Bread: flour, water, salt and a day of patience.", tags=["Recipe", "baking"])
    memory.save("Jam of our own quinces: two jars are left.", tags=["cellar"], sensitivity="secret")
    assert json.loads(run("list", "-n", "ada", "--tag", " recipe", "--json").stdout)["total"] == 2
    assert json.loads(run("list", "-n", "ada", "--type", "Decision", "--json").stdout)["total"] == 1
    done = run("list", "-n", "ada", "--tag", "Recipes", "--tag", "cellar")
    assert " ".join(done.output.split()) == (
        "No memory has the tag 'Recipes'. Did you mean 'Recipe'? Tags here: Recipe (2), baking (1). "
        "No memory has the tag 'cellar'. Tags here: Recipe (2), baking (1)."
    )


def test_a_hint_names_the_most_frequent_tags(memory):
    memory.save("A note with many tags, which nobody else has.", tags=[f"tag{n:02}" for n in range(25)])
    assert label_hint(memory.home, "ada", "", ["other"]).endswith("tag19 (1) and 5 more.")


def test_a_known_type_of_another_state_has_no_hint(listed):
    assert "No memory matches." in listed("--type", "decision", "--state", "merged").output


def test_the_states_that_help_and_error_name(listed):
    assert json.loads(listed("--state", "stored", "--json").stdout)["total"] == 3
    done = listed("--state", "store")
    assert "current, merged, outdated, forgotten, quarantined, stored or all" in " ".join(done.output.split())
    assert "stored (all" in listed("--help").output


def test_an_outdated_memory_is_marked_with_the_newer_one(memory, run):
    march, april = (datetime(2026, month, 2, tzinfo=UTC) for month in (3, 4))
    old = memory.save("The rate limit is 100 requests a minute.", title="Limit", created_at=march).memory_id
    text = "The rate limit was raised to 200 requests a minute."
    new = memory.save(text, title="Raised", created_at=april).memory_id
    rows = {
        row["memory_id"]: (row["outdated_by"], row["newer_title"], row["valid_until"])
        for row in json.loads(run("list", "-n", "ada", "--json").stdout)["memories"]
    }
    assert rows == {old: (new, "Raised", "2026-04-02T00:00:00+00:00"), new: ("", "", None)}
    listed = " ".join(run("list", "-n", "ada").stdout.split())
    mark = re.search(r"(\w+): outdated, until 2 April 2026: see Raised \((\w+)\)", listed)
    assert old.startswith(mark[1])
    assert new.startswith(mark[2])
    shown = " ".join(run("get", old, "-n", "ada").stdout.split())
    assert f"outdated, until 2 April 2026: see Raised ({new})" in shown
    for name, mark in rows.items():
        record = json.loads(run("get", name, "-n", "ada", "--json").stdout)
        assert (record["outdated_by"], record["newer_title"], record["valid_until"]) == mark
    assert '> outdated, until 2 April 2026: see "Raised"' in run("get", old, "-n", "ada", "--plain").stdout
