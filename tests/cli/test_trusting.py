"""Commands that trust a source at the save gate, and end that."""

from __future__ import annotations

import json

import pytest

from slowwave.memory import Memory


@pytest.fixture
def memory(open_memory) -> Memory:
    """The namespace that commands use."""
    return open_memory("default")


def test_a_source_is_trusted_listed_and_judged_again(run, memory):
    assert "No source is trusted" in run("gate", "trust").stdout
    memory.save("The lamp on the pier is red since the storm.", title="Lamp")
    done = run("gate", "trust", "user:application", "--who", "Ida", "--why", "short remarks")
    assert "Let in from now on: user:application" in done.stdout
    assert "Trusted already" in run("gate", "trust", "user:application").stdout
    (rule,) = json.loads(run("gate", "trust", "--json").stdout)
    assert (rule["source"], rule["by"], rule["why"]) == ("user:application", "Ida", "short remarks")
    assert "No source is trusted" in run("gate", "trust", "-n", "other").stdout
    assert memory.save("ok then", title="A remark").status == "live"
    assert "Judged again" in run("gate", "untrust", "user:application").stdout
    assert "No such rule" in run("gate", "untrust", "user:application").stdout
    assert memory.save("well then", title="Another").status == "quarantined"
    assert run("gate", "trust", "claude").exit_code != 0


def test_a_source_that_no_note_has_is_named_with_near_ones_and_needs_a_yes(run, memory):
    memory.save("The lamp on the pier is red since the storm.", title="Lamp")
    assert memory.save("ok", title="Remark").status == "quarantined"
    done = run("gate", "trust", "user:aplication")
    assert done.exit_code != 0
    assert "Known: user:application." in done.output
    assert "No source is trusted" in run("gate", "trust").stdout
    assert "Let in from now on" in run("gate", "trust", "user:aplication", "--yes").stdout
    assert "Judged again" in run("gate", "untrust", "user:aplication").stdout
