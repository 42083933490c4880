"""Sources whose notes the save gate lets in because a person says so."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from slowwave.errors import ArgumentError
from slowwave.home.gate_schedule_events import begin, postpone
from slowwave.lifecycle.trusted_sources import trust, trusted_sources, untrust
from slowwave.memory import Memory
from slowwave.quality.gate_policy import GatePolicy, Moved, Trusted, source_name

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
LAMP = "The lamp on the pier is red since the storm."


def test_a_rule_counts_from_its_moment_to_its_end_in_its_namespace_alone():
    rule = Trusted("ada", "user:claude", NOON, NOON + HOUR)
    policy = GatePolicy(trusted=(rule,))
    cases = {
        ("ada", "", "claude", NOON): False,
        ("ada", "", "claude", NOON - HOUR / 60): True,
        ("ada", "", "claude", NOON + HOUR): True,
        ("bob", "", "claude", NOON): True,
        ("ada", "", "eve", NOON): True,
        ("ada", "notes", "claude", NOON): True,
    }
    for arguments, refused in cases.items():
        assert policy.refuses(*arguments) is refused, arguments
    warning = replace(policy, mode="warn", moved=(Moved(NOON - HOUR, NOON + 9 * HOUR),))
    assert not warning.refuses("ada", "", "eve", NOON)
    assert (source_name("notes", "claude"), source_name("", "claude")) == ("vault:notes", "user:claude")


def test_the_rule_is_in_the_journal_and_other_namespaces_are_judged(memory):
    tenant = replace(memory.tenant, principal="ida")
    assert trust(tenant, "user:application", why="short remarks")
    assert not trust(tenant, "user:application")
    (rule,) = trusted_sources(tenant)
    assert (rule.source, rule.by, rule.why, rule.until) == ("user:application", "ida", "short remarks", None)
    let_in = memory.save("ok then", title="A remark")
    assert let_in.status == "live"
    assert let_in.reasons  # kept beside it
    other = Memory(memory.settings, namespace="bob", space=memory.home)
    assert other.save("ok then", title="A remark").status == "quarantined"
    with Memory(memory.settings, namespace="ada") as fresh:
        assert [one.source for one in trusted_sources(fresh.tenant)] == ["user:application"]
    assert untrust(tenant, "user:application")
    assert not untrust(tenant, "user:application")
    assert memory.save("well then", title="Another").status == "quarantined"


def test_exact_duplicates_of_a_trusted_source_are_let_in_too(memory):
    memory.save(LAMP, title="Lamp", key="lamp")
    assert memory.save(LAMP, title="Lamp", key="other").status == "quarantined"
    trust(memory.tenant, "user:application")
    again = memory.save(LAMP, title="Lamp", key="third")
    assert (again.status, again.reasons) == ("live", ("exact_duplicate",))


def test_a_change_of_the_gates_start_and_a_rule_do_not_disturb_each_other(open_memory):
    memory = open_memory(gate={"mode": "warn"})
    trust(memory.tenant, "vault:notes")
    postpone(memory.home, 3, who="ida")
    begin(memory.home, who="ida")
    policy = memory.gate_policy
    assert len(policy.moved) == 2
    assert [rule.source for rule in policy.trusted] == ["vault:notes"]
    assert memory.save("ok then", title="A remark").status == "quarantined"


@pytest.mark.parametrize("source", ["", "claude", "user:", "vault:", "user:a\nb"])
def test_a_source_of_another_form_is_refused(memory, source):
    with pytest.raises(ArgumentError, match="vault:NAME or user:NAME"):
        trust(memory.tenant, source)


def test_an_unknown_sensitivity_is_refused_all_the_same():
    import polars as pl

    from slowwave.journal.entry_builders import entries_frame, save_entry
    from slowwave.notes.arguments import note_of
    from slowwave.quality.gate import judge
    from slowwave.store import staging

    policy = GatePolicy(trusted=(Trusted("ada", "user:claude", NOON),))
    note = note_of({"content": LAMP, "title": "Lamp"}, fallback_key="lamp")
    about = {"namespace": "ada", "source": "lamp", "origin": "", "occurred_at": NOON, "principal": "claude"}
    verdicts = {}
    for label in ("internal", "secrte"):
        entry = save_entry(replace(note, sensitivity=label, memory_type="poem"), **about)
        staged = staging.stage(entries_frame([replace(entry, seq=1, ordered_at=NOON)]))
        verdicts[label] = judge(staged, policy).select("verdict", pl.col("reasons")).row(0)
    assert verdicts["internal"] == ("pass", ["unknown_memory_type"])
    assert verdicts["secrte"][0] == "refuse"
