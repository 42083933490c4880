"""What one may see never gets into what another may see, nor the other way round (rule 2.5)."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from past_chunks import chunks_as_of
from reconsolidation_helpers import BATTERY, CHANGED, THURSDAY, TUESDAY, assert_chunks_follow, status

from slowwave.errors import NotFoundError
from slowwave.home.visibility import Viewer
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import admit_batch
from slowwave.lifecycle.quarantine import lost_originals
from slowwave.store import staging

PASSWORD = "The password of the box is hunter2."


@pytest.mark.parametrize("first", ["internal", "secret", "public"])
@pytest.mark.parametrize("second", ["internal", "secret", "public"])
def test_a_merge_publishes_no_secret_and_hides_nothing_public(guarded, first, second):
    plain = guarded.save(BATTERY, title="Battery", sensitivity=first)
    more = guarded.save(f"{BATTERY}\n{PASSWORD}", title="Battery", sensitivity=second)
    twin = guarded.save(BATTERY, title="Battery", sensitivity=second)
    if first == second:
        assert (more.outcome, twin.duplicate_of) == ("merge", plain.memory_id)
        return
    own = more.memory_id
    assert (more.status, more.outcome, more.other) == ("live", "", None)
    assert PASSWORD not in guarded.get(plain.memory_id).content
    # What is of its own sensitivity says the same already; the other one is not even named.
    assert (twin.status in ("quarantined", "merged"), twin.other) == (True, own)
    assert twin.duplicate_of in (None, own)
    assert plain.memory_id not in str(guarded.quarantine()) + str(guarded.decisions(outcome="any")[:2])
    assert guarded.store.count("edges") == 0


@pytest.mark.slow
@pytest.mark.parametrize("together", [True, False])
def test_who_saves_under_the_key_of_a_secret_opens_nothing(guarded, together):
    notes = [
        {"content": PASSWORD, "key": "box", "sensitivity": "secret"},
        {"content": BATTERY, "key": "box"},
        {"content": TUESDAY, "key": "other"},
    ]
    saved = guarded.save_many(notes) if together else [guarded.save(**note) for note in notes]
    assert guarded.get(saved[1].memory_id).sensitivity == "secret"
    assert guarded.get(saved[2].memory_id).sensitivity == "internal"
    opened = guarded.save(THURSDAY, key="box", sensitivity="internal")
    assert opened.status == "live", opened
    assert guarded.get(saved[1].memory_id).sensitivity == "internal"


@pytest.mark.slow
def test_what_was_forgotten_and_what_became_secret_stay_closed(guarded):
    name = guarded.save(BATTERY, key="box", sensitivity="secret").memory_id
    guarded.forget(name)
    guarded.save(THURSDAY, key="box")
    assert guarded.get(name).sensitivity == "secret"
    shown = guarded.save(CHANGED + " " + BATTERY, key="open").memory_id
    found = guarded.search("how long does the battery last?")
    assert [one.memory_id for one in found] == [shown]
    assert guarded.observe(found.search_id, BATTERY, viewer=Viewer.ASSISTANT).verdicts
    guarded.save(CHANGED + " " + BATTERY, key="open", sensitivity="secret")
    assert not guarded.observe(found.search_id, BATTERY, viewer=Viewer.ASSISTANT).verdicts
    assert guarded.observe(found.search_id, BATTERY).verdicts


def test_what_an_assistant_may_not_see_was_not_shown_to_it(guarded):
    secret = guarded.save(BATTERY, key="secret", sensitivity="secret").memory_id
    shown = guarded.save(TUESDAY, key="open").memory_id
    found = guarded.search("how long does the battery last, and when do we deploy?",
                           sensitivity=["secret", "internal"])  # fmt: skip
    ranks = {one.memory_id: one.rank for one in found}
    assert ranks.keys() == {secret, shown}
    for named in (secret, ranks[secret], 99):
        with pytest.raises(NotFoundError) as told:
            guarded.feedback(found.search_id, named, "helpful", viewer=Viewer.ASSISTANT)
        with pytest.raises(NotFoundError):
            guarded.observe(found.search_id, BATTERY, cited=[named], viewer=Viewer.ASSISTANT)
        assert named == secret or secret not in str(told.value)
    assert guarded.feedback(found.search_id, shown, "helpful", viewer=Viewer.ASSISTANT).new
    seen = guarded.observe(found.search_id, f"{BATTERY} {TUESDAY}", viewer=Viewer.ASSISTANT)
    assert [one.memory_id for one in seen.verdicts] == [shown]
    # The owner's own look at the same answer finds the rest.
    whole = guarded.observe(found.search_id, f"{BATTERY} {TUESDAY}")
    assert {one.memory_id for one in whole.verdicts} == {secret, shown}


def test_a_fact_is_not_superseded_by_one_that_not_everybody_may_see(guarded):
    old = guarded.save(TUESDAY, title="Deploy day")
    new = guarded.save(THURSDAY, title="Deploy day", sensitivity="secret")
    assert status(guarded, old, new) == ["live", "live"]


@pytest.mark.slow
@pytest.mark.parametrize("who", [0, 1])
@pytest.mark.parametrize("make", ["merge", "supersede"])
def test_saved_again_with_another_sensitivity_the_two_part(guarded, make, who):
    texts = [BATTERY, f"{BATTERY}\n{CHANGED}"] if make == "merge" else [TUESDAY, THURSDAY]
    saved = [guarded.save(text, title="Title") for text in texts]
    assert saved[1].outcome == make
    guarded.save(texts[who], title="Title", key=saved[who].source, sensitivity="secret")
    assert status(guarded, *saved) == ["live", "live"]
    assert [guarded.get(one.memory_id).content for one in saved] == texts
    assert_chunks_follow(guarded)


@pytest.mark.slow
def test_with_many_acts_at_once_the_border_holds_as_well(guarded):
    told = [
        guarded.save(f"{BATTERY} It is number {number}.", title=f"Battery {number}") for number in range(3)
    ]
    again = [
        {"content": f"{BATTERY} It is number {number % 3}.", "title": f"Battery {number % 3}",
         "sensitivity": "secret" if number < 3 else "public"}
        for number in range(9)
    ]  # fmt: skip
    done = guarded.save_many(again)
    assert not {one.memory_id for one in told} & {one.other for one in done}
    assert [one.status for one in done] == ["live"] * 6 + ["quarantined"] * 3


# -- homes of before -------------------------------------------------------------------------------


@pytest.fixture
def before(guarded, monkeypatch):
    """A memory in which the border was not looked at, and what it did to a secret and a public note."""
    with monkeypatch.context() as patched:
        loader, applying = (
            sys.modules[f"slowwave.lifecycle.admission.{name}"] for name in ("context_loader", "apply")
        )
        for module, name in ((loader, "memory_record"), (applying, "note_record")):
            made = getattr(module, name)
            blind = lambda *args, made=made, **named: replace(made(*args, **named), sensitivity="")  # noqa: E731
            patched.setattr(module, name, blind)
        for module in (loader, applying):
            patched.setattr(module, "sensitivities", lambda rows: ["internal"] * rows.height)
        patched.setattr("slowwave.store.staging.stage_save", lambda _: None)  # all by frames, as then
        target = guarded.save(BATTERY, title="Battery")
        part = guarded.save(f"{BATTERY}\n{PASSWORD}", title="Battery", sensitivity="secret")
        old = guarded.save(TUESDAY, title="Deploy day")
        new = guarded.save(THURSDAY, title="Deploy day", sensitivity="secret")
        twin = guarded.save(BATTERY, title="Battery", sensitivity="secret")
    assert status(guarded, target, part, old, new) == ["live", "merged", "superseded", "live"]
    assert twin.duplicate_of == target.memory_id
    return guarded, target, part, old, new


def test_the_memory_of_a_past_day_does_not_show_it_either(before):
    memory = before[0]
    rows = chunks_as_of(memory._space, "ada", datetime.now(UTC).date())
    assert BATTERY in rows["text"].to_list()
    assert PASSWORD not in str(rows.filter(sensitivity="internal")["text"].to_list())


def test_what_was_refused_as_a_duplicate_across_the_border_is_asked_again(before):
    memory = before[0]
    entries = memory.journal.read(kinds=["save"])
    rows = staging.stage(entries)
    memory.store.replace_partition("staged_notes", rows, rows["day"].unique().to_list())
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    lost = lost_originals(memory.store, until=tomorrow.isoformat())
    assert lost.height == 1

    def chunks_of(notes: pl.DataFrame) -> pl.DataFrame:
        chunks = ingest_pipeline.cut(notes, memory.home.chunker, memory.embedder.name)
        return ingest_pipeline.embed(memory.store, memory.embedder, chunks)

    admit_batch(
        memory._space, rows.join(lost, on=["memory_id", "revision"], how="semi"), chunks_of, again=True
    )
    held = memory.quarantine()  # what is of its own sensitivity says it, too
    assert {row["duplicate_of"] for row in held} <= {before[2].memory_id}
