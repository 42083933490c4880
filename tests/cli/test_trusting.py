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
