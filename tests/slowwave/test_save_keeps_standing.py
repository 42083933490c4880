"""A memory that is saved again under its key stands as it stood, unless something else is said."""

from __future__ import annotations

import polars as pl
import pytest

from slowwave.home.visibility import Viewer
from slowwave.lifecycle.forgetting import ProtectedError
from slowwave.mcp.tools import save
from slowwave.store import one_of
from slowwave.upkeep.rebuild import rebuild

THURSDAY = "We deploy on Thursday since the second of March, and Friday is for repairs only."
TUESDAY = "We deploy on Tuesday since the fourth of May, and Friday is for repairs only."
MONDAY = "We deploy on Monday since the first of June, and Friday is for repairs only."
STANDING = ("importance_tier", "retrieval_priority", "state", "source_of_truth")
HIGH = {
    "importance_tier": "critical",
    "retrieval_priority": "high",
    "state": "canonical",
    "source_of_truth": True,
}
PLAIN = {
    "importance_tier": "normal",
    "retrieval_priority": "normal",
    "state": "accepted",
    "source_of_truth": False,
}


def standing(memory, key="deploy"):
    rows = memory.store.read("memories", "status = 'live'", columns=["source", "content", *STANDING])
    row = rows.row(by_predicate=pl.col("source") == key, named=True)
    return {name: row[name] for name in STANDING}


def test_what_is_not_named_stays(memory):
    memory.save(THURSDAY, key="deploy", **HIGH)
    memory.save(TUESDAY, key="deploy")
    assert standing(memory) == HIGH
    memory.save(MONDAY, key="deploy", importance_tier="", retrieval_priority=None)
    assert standing(memory) == HIGH


@pytest.mark.parametrize("name", STANDING)
def test_what_is_named_changes_and_stays_changed(memory, name):
    memory.save(THURSDAY, key="deploy", **HIGH)
    memory.save(TUESDAY, key="deploy", **{name: PLAIN[name]})
    assert standing(memory) == HIGH | {name: PLAIN[name]}
    memory.save(MONDAY, key="deploy")
    assert standing(memory) == HIGH | {name: PLAIN[name]}


def test_what_describes_the_text_goes_with_it(memory):
    memory.save(THURSDAY, key="deploy", memory_type="decision", tags=["operations"], source_kind="manual")
    saved = memory.save(TUESDAY, key="deploy")
    record = memory.get(saved.memory_id)
    assert (record.memory_type, list(record.tags)) == ("note", [])


def test_other_keys_and_no_key_begin_anew(memory, open_memory):
    memory.save(THURSDAY, key="deploy", **HIGH)
    open_memory("bob").save(TUESDAY, key="deploy")
    memory.save("The otter came back to the mill pond on the ninth of April.", key="otter")
    keyless = memory.save("The heron stands by the weir at dawn, all through the month of March.")
    assert standing(memory, "otter") == standing(memory, keyless.source) == PLAIN
    rows = memory.store.read("memories", "namespace = 'bob'", columns=list(STANDING))
    assert rows.to_dicts() == [PLAIN]


def test_a_call_its_halves_and_single_saves_come_to_the_same(open_memory, tmp_path):
    notes = [
        {"content": THURSDAY, "key": "deploy", **HIGH},
        {"content": TUESDAY, "key": "deploy", "state": "draft"},
        {"content": MONDAY, "key": "deploy"},
    ]
    found = []
    for name, parts in (("one", [3]), ("halves", [1, 2]), ("single", [1, 1, 1])):
        memory, at = open_memory(path=tmp_path / name), 0
        for size in parts:
            memory.save_many(notes[at : at + size])
            at += size
        found.append(standing(memory))
    assert found == [HIGH | {"state": "draft"}] * 3


def test_a_forgotten_memory_stands_as_it_stood_when_its_key_is_saved_again(memory):
    saved = memory.save(THURSDAY, key="deploy", **HIGH)
    memory.forget(saved.memory_id)
    memory.save(TUESDAY, key="deploy")
    assert standing(memory) == HIGH


def test_a_label_that_nobody_knows_is_not_kept(memory):
    assert memory.save(THURSDAY, key="deploy", importance_tier="vital").status == "quarantined"
    assert memory.save(TUESDAY, key="deploy").status == "live"
    assert standing(memory) == PLAIN


def test_the_journal_says_it_so_a_rebuild_gives_the_same(memory):
    memory.save(THURSDAY, key="deploy", **HIGH)
    memory.save(TUESDAY, key="deploy")
    before = memory.store.read("memories").sort("memory_id")
    rebuild(memory.home, ())
    assert memory.store.read("memories").sort("memory_id").equals(before)
    last = memory.journal.about("ada", "deploy")[-1]
    assert {name: last.payload[name] for name in STANDING} == HIGH


def test_the_owner_keeps_it_over_http_too_and_an_assistant_is_lent_nothing(memory):
    memory.save(THURSDAY, key="deploy", importance_tier="important")
    save(memory, {"content": TUESDAY, "key": "deploy"}, viewer=None)
    assert standing(memory)["importance_tier"] == "important"
    save(memory, {"content": MONDAY, "key": "deploy"}, viewer=Viewer.ASSISTANT)
    assert standing(memory)["importance_tier"] == "normal"
    memory.save(THURSDAY, key="deploy", importance_tier="critical")
    with pytest.raises(ProtectedError):
        save(memory, {"content": MONDAY, "key": "deploy"}, viewer=Viewer.ASSISTANT)


def test_what_a_command_saves_again_stays_critical(memory):
    from command_runner import run_command

    saved = memory.save(THURSDAY, key="deploy", importance_tier="critical")
    environment = {"SLOWWAVE_HOME": str(memory.settings.home), "SLOWWAVE_EMBEDDING__MODEL": "wordllama-256"}
    done = run_command("save", TUESDAY, "--key", "deploy", "-n", "ada", environment=environment)
    assert done.returncode == 0, done.stderr
    rows = memory.store.read(
        "memories", one_of("memory_id", [saved.memory_id]), columns=["content", "importance_tier"]
    )
    assert rows.rows() == [(TUESDAY, "critical")]
