"""A memory that is saved again under its key stands as it stood, unless something else is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.home.visibility import Viewer
from slowwave.journal import Journal
from slowwave.lifecycle.forgetting import ProtectedError
from slowwave.maintenance.rebuild import rebuild
from slowwave.serving import saving
from slowwave.serving.caller import Caller
from slowwave.serving.request import MemoryRequest
from slowwave.store import one_of


def save(memory, note, *, viewer):
    """Save as somebody who came over a server does."""
    rights = "person" if viewer is None else "assistant"
    return saving.save(MemoryRequest(Caller(memory.namespace, memory.principal, rights), memory), note)


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
    assert memory.save(THURSDAY, key="deploy", retrieval_priority="vital").status == "quarantined"
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


# -- what was refused ------------------------------------------------------------------------------


@pytest.fixture
def strict(open_memory):
    """A memory whose gate refuses."""
    return open_memory(gate={"mode": "enforce"})


def refused(memory, content="todo", **labels: Any) -> None:
    assert memory.save(content, key="deploy", **labels).status == "quarantined"


def sensitivity(memory, key="deploy"):
    rows = memory.store.read("memories", columns=["source", "sensitivity"])
    return rows.row(by_predicate=pl.col("source") == key, named=True)["sensitivity"]


REFUSED: list[dict[str, Any]] = [
    {"importance_tier": "temporary", "source_of_truth": False, "state": "draft", "retrieval_priority": "low"},
    {"content": MONDAY, "state": "vital"},
]


@pytest.mark.parametrize("labels", REFUSED, ids=["lower", "unknown"])
def test_a_save_that_was_refused_takes_no_protection_away(strict, labels):
    strict.save(THURSDAY, key="deploy", **HIGH)
    refused(strict, **labels)
    assert strict.save(TUESDAY, key="deploy").status == "live"
    assert standing(strict) == HIGH


def test_a_save_that_was_refused_lends_none_either(strict):
    strict.save(THURSDAY, key="deploy")
    refused(strict, **HIGH)
    strict.save(TUESDAY, key="deploy")
    assert standing(strict) == PLAIN


def test_nor_where_nothing_was_ever_let_in(strict):
    refused(strict, **HIGH)
    strict.save(TUESDAY, key="deploy")
    assert standing(strict) == PLAIN


def test_what_an_assistant_had_refused_leaves_the_owners_memory_as_it_stood(strict):
    strict.save(THURSDAY, key="deploy", importance_tier="important", retrieval_priority="high")
    answer = save(strict, {"content": "todo", "key": "deploy"}, viewer=Viewer.ASSISTANT)
    assert answer.status == "quarantined"
    strict.save(TUESDAY, key="deploy")
    assert standing(strict) == PLAIN | {"importance_tier": "important", "retrieval_priority": "high"}


@pytest.mark.parametrize(
    ("first", "second", "comes_to"),
    [
        ("secret", "public", "secret"),
        ("secret", "internal", "secret"),
        ("internal", "public", "internal"),
        ("public", "secret", "secret"),
        ("internal", "secret", "secret"),
        ("internal", "confidential", "secret"),  # a word that nobody knows is closed, and would be refused
        ("", "public", "internal"),
        ("", "secret", "secret"),
    ],
)
def test_a_save_that_was_refused_opens_nothing_and_what_it_closes_stays_closed(
    strict, first, second, comes_to
):
    if first:
        strict.save(THURSDAY, key="deploy", sensitivity=first)
    refused(strict, sensitivity=second)
    assert strict.save(TUESDAY, key="deploy").status == "live"
    assert sensitivity(strict) == comes_to
    strict.save(MONDAY, key="deploy", sensitivity="public")  # who names it decides
    strict.save(THURSDAY, key="deploy")
    assert sensitivity(strict) == "public"


def test_an_assistant_opens_nothing_by_a_save_that_is_refused(strict):
    strict.save(THURSDAY, key="deploy")
    refused(strict, sensitivity="secret")  # it closes the text that was let in before it
    assert sensitivity(strict) == "secret"
    for content in (TUESDAY, "todo"):
        note = {"content": content, "key": "deploy", "sensitivity": "public"}
        with pytest.raises(ProtectedError, match="not for assistants"):
            save(strict, note, viewer=Viewer.ASSISTANT)
    assert sensitivity(strict) == "secret"


@pytest.mark.parametrize("parts", [[3], [1, 2], [2, 1], [1, 1, 1]])
def test_in_one_call_a_note_that_is_refused_decides_nothing_either(strict, parts):
    notes: list[dict[str, Any]] = [
        {"content": THURSDAY, "key": "deploy", "sensitivity": "secret", **HIGH},
        {"content": "todo", "key": "deploy", "sensitivity": "public", **PLAIN},
        {"content": TUESDAY, "key": "deploy"},
    ]
    saved, at = [], 0
    for size in parts:
        saved += strict.save_many(notes[at : at + size])
        at += size
    assert [one.status for one in saved] == [
        "replaced" if parts in ([3],) else "live", "quarantined", "live",
    ]  # fmt: skip
    assert (standing(strict), sensitivity(strict)) == (HIGH, "secret")


def test_what_a_person_lets_in_decides_from_then_on(strict):
    strict.save(THURSDAY, key="deploy", **HIGH)
    refused(strict, importance_tier="temporary")
    (row,) = strict.quarantine()
    assert strict.release(row["quarantine_id"]).status == "live"
    strict.save(TUESDAY, key="deploy")
    assert standing(strict) == HIGH | {"importance_tier": "temporary"}
    strict.save(MONDAY, key="deploy", importance_tier="critical")
    refused(strict, importance_tier="temporary")
    strict.save(TUESDAY, key="deploy")  # it settles what was held before
    (row,) = strict.quarantine(status="resolved", limit=1)
    with pytest.raises(SlowwaveError, match="not held"):
        strict.release(row["quarantine_id"])
    assert standing(strict)["importance_tier"] == "critical"


def test_what_was_refused_before_it_was_forgotten_decides_nothing(strict):
    saved = strict.save(THURSDAY, key="deploy", sensitivity="secret", **HIGH)
    refused(strict, importance_tier="temporary", sensitivity="public")
    strict.forget(saved.memory_id)
    refused(strict, importance_tier="temporary", sensitivity="public")
    strict.save(TUESDAY, key="deploy")
    assert (standing(strict), sensitivity(strict)) == (HIGH, "secret")


def test_a_merged_memory_stands_as_it_says_itself_not_as_what_it_absorbed(open_memory):
    memory = open_memory(gate={"mode": "off"}, reconsolidation={"policy": "literal"})
    text = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
    memory.save(text, key="deploy")
    part = memory.save(f"{text}\nIt is changed by Ruaridh.", key="part", retrieval_priority="high")
    assert part.outcome == "merge"
    assert standing(memory)["retrieval_priority"] == "high"
    memory.save("The heron stands by the weir at dawn, all through the month of March.", key="part")
    assert standing(memory, "part") == PLAIN | {"retrieval_priority": "high"}
    memory.save(f"{text}\nIt is changed by Ruaridh.", key="other", retrieval_priority="high")
    assert standing(memory)["retrieval_priority"] == "high"
    memory.save(MONDAY, key="deploy")
    assert memory.journal.about("ada", "deploy")[-1].payload["retrieval_priority"] == "normal"


def test_a_rebuild_gives_the_same_after_refusals(strict):
    strict.save(THURSDAY, key="deploy", sensitivity="secret", **HIGH)
    refused(strict, importance_tier="temporary", sensitivity="public")
    strict.save(TUESDAY, key="deploy")
    before = strict.store.read("memories").sort("memory_id")
    rebuild(strict.home, ())
    assert strict.store.read("memories").sort("memory_id").equals(before)
    strict.save(MONDAY, key="deploy")
    assert (standing(strict), sensitivity(strict)) == (HIGH, "secret")


# -- what others say at the same moment ------------------------------------------------------------


def unsettled(memory, *notes: dict[str, Any]) -> None:
    """What a process has written to the journal that was killed before it took it in."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(memory, "_apply", lambda _: [])
        memory.save_many(notes)


def test_what_the_tables_do_not_say_yet_counts(strict, open_memory):
    strict.save(THURSDAY, key="deploy")
    other = open_memory(gate={"mode": "enforce"})
    unsettled(other, {"content": TUESDAY, "key": "deploy", **HIGH})
    strict.save(MONDAY, key="deploy")
    assert standing(strict) == HIGH


def test_and_is_judged_first(strict, open_memory):
    strict.save(THURSDAY, key="deploy", importance_tier="critical")
    other = open_memory(gate={"mode": "enforce"})
    unsettled(other, {"content": "todo", "key": "deploy", **PLAIN})
    strict.save_many([{"content": MONDAY, "key": "deploy"}, {"content": "The otter came back in April."}])
    assert standing(strict)["importance_tier"] == "critical"
    assert len(strict.quarantine(status="")) == 1


def test_all_that_waits_is_looked_at_before_an_assistant_replaces_it(strict, open_memory):
    strict.save(THURSDAY, key="deploy")
    other = open_memory(gate={"mode": "enforce"})
    unsettled(other, {"content": TUESDAY, "key": "deploy", "importance_tier": "critical"})
    act = strict.journal.about("ada", "deploy")[-1]
    payload = {**act.payload, "content": "todo", "importance_tier": "normal"}
    strict.journal.append([replace(act, event_id=ids.new_event_id(), payload=payload)])
    with pytest.raises(ProtectedError, match="critical"):
        save(strict, {"content": MONDAY, "key": "deploy"}, viewer=Viewer.ASSISTANT)


HARBOUR = "The harbour office opens at seven in the morning, from Monday to Friday."


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("others", [[], [{"content": HARBOUR, "key": "harbour"}, {"content": HARBOUR}]])
def test_what_somebody_protects_between_look_and_save_stays_protected(
    strict, open_memory, known, others, monkeypatch
):
    if known:
        strict.save(THURSDAY, key="deploy")
    other, looks, latest = open_memory(gate={"mode": "enforce"}), [], Journal.latest

    def overtaken(self: Journal, namespace: str, subjects: Any) -> Any:
        found = latest(self, namespace, subjects)
        if self is strict.journal:
            looks.append(1)
            if len(looks) == 1:
                other.save(TUESDAY, key="deploy", **HIGH)
        return found

    monkeypatch.setattr(Journal, "latest", overtaken)
    assert strict.save_many([*others, {"content": MONDAY, "key": "deploy"}])[-1].status == "live"
    assert len(looks) == 2
    assert standing(strict) == HIGH
    assert strict.journal.count("ada", "save") == known + 2 + len(others)  # nothing twice
    assert strict.get(strict.search("when do we deploy?").results[0].memory_id).content == MONDAY


def test_a_save_that_is_sent_again_is_the_one_that_it_was(strict, open_memory):
    strict.save(THURSDAY, key="deploy", **HIGH)
    unsettled(
        open_memory(gate={"mode": "enforce"}), {"content": TUESDAY, "key": "deploy", "idempotency_key": "one"}
    )
    first = strict.save(TUESDAY, key="deploy", idempotency_key="one")
    strict.save(MONDAY, key="deploy", importance_tier="normal")
    assert strict.save(TUESDAY, key="deploy", idempotency_key="one").memory_id == first.memory_id
    assert strict.get(first.memory_id).content == MONDAY
    assert standing(strict) == HIGH | {"importance_tier": "normal"}
    assert strict.journal.count("ada", "save") == 3
