"""What people are told of the gate before it begins, and how it is put off."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.home.gate_schedule import gate_changes
from slowwave.home.gate_schedule_events import begin, postpone
from slowwave.journal.entry import OF_TENANTS
from slowwave.lifecycle.gate_notice import Count, Notice, notice
from slowwave.lifecycle.gate_report import gate_preview, gate_report
from slowwave.lifecycle.quarantine import hold
from slowwave.quality.gate import judge
from slowwave.quality.gate_policy import GatePolicy, Moved
from slowwave.store import staging
from slowwave.vaults import vault

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAY = timedelta(days=1)
FACTS = [
    "The deploy day is Thursday since the second of March, decided by the whole team.",
    "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer.",
    "Ada answers for the harbour gate, and Bo for the lock of the eastern canal since May.",
]
JUNK = "ok"


@pytest.fixture
def warned(open_memory):
    """A memory whose gate warns, and whose clock stands where a test puts it."""
    memory = open_memory(gate={"mode": "warn"})
    memory._space.now = lambda: NOW
    return memory


def at(memory, moment: datetime) -> None:
    memory._space.now = lambda: moment


# -- the policy ------------------------------------------------------------------------------------


def test_what_was_said_counts_from_when_it_was_said():
    policy = GatePolicy(mode="warn", activated_at=NOW, moved=(Moved(NOW + 15 * DAY, NOW + 30 * DAY),))
    refused = [day for day in range(40) if policy.enforces_at(NOW + day * DAY)]
    assert refused == [14, *range(30, 40)]  # the days before the act replay as they were
    assert policy.enforces_from == NOW + 30 * DAY


def test_an_act_does_nothing_in_another_mode():
    said = (Moved(NOW, NOW + 30 * DAY),)
    assert GatePolicy(mode="enforce", activated_at=NOW, moved=said).enforces_at(NOW + DAY)
    assert not GatePolicy(mode="off", activated_at=NOW, moved=said).enforces_at(NOW + 60 * DAY)
    assert GatePolicy(mode="off", activated_at=NOW, moved=said).enforces_from is None


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 90)), max_size=5), st.integers(0, 120))
def test_a_later_act_changes_no_day_before_it(acts, day):
    said = tuple(Moved(NOW + at * DAY, NOW + begins * DAY) for at, begins in sorted(acts))
    moment = NOW + day * DAY
    known = tuple(one for one in said if one.at <= moment)
    whole, then = (GatePolicy(mode="warn", activated_at=NOW, moved=one) for one in (said, known))
    assert whole.enforces_at(moment) == then.enforces_at(moment)


# -- the acts --------------------------------------------------------------------------------------


def test_the_beginning_is_put_off_and_brought_on_and_every_note_is_judged_as_of_its_moment(warned):
    space = warned._space
    assert warned.save(JUNK, key="first").status == "live"
    assert postpone(space, 7, who="ida", why="too many") == NOW + 21 * DAY
    at(warned, NOW + 20 * DAY)
    assert warned.save(JUNK, key="second").status == "live"
    assert begin(space, who="ida") == NOW + 20 * DAY
    at(warned, NOW + 20 * DAY + timedelta(hours=1))
    assert warned.save(JUNK, key="third").status == "quarantined"
    assert begin(space, who="ida") == NOW + 20 * DAY  # said already
    assert postpone(space, 2, who="ida") == NOW + 22 * DAY + timedelta(hours=1)
    at(warned, NOW + 21 * DAY)
    assert warned.save(JUNK, key="fourth").status == "live"
    acts = space.journal.read(kinds=["gate"])
    assert acts["subject"].to_list() == ["postpone", "enforce", "postpone"]
    assert acts["principal"].to_list() == ["ida"] * 3
    assert "gate" not in OF_TENANTS


def test_another_process_sees_at_once_that_it_was_put_off(warned, open_memory):
    warned.save(FACTS[0])
    other = open_memory(gate={"mode": "warn"})
    other._space.now = lambda: NOW + DAY
    postpone(other._space, 30, who="ida")
    at(warned, NOW + 20 * DAY)
    assert warned.save(JUNK).status == "live"
    assert len(gate_changes(warned.journal)[0]) == 1


@pytest.mark.parametrize("days", [0, -1, 1e9, float("nan")])
def test_a_period_that_is_none_is_an_error(warned, days):
    with pytest.raises(ArgumentError, match="days"):
        postpone(warned._space, days, who="ida")
    assert gate_changes(warned.journal)[0] == ()


@pytest.mark.parametrize("mode", ["off", "enforce"])
def test_a_mode_that_was_set_is_changed_in_the_settings(open_memory, mode):
    space = open_memory(gate={"mode": mode})._space
    for act in (lambda: postpone(space, 1, who="ida"), lambda: begin(space, who="ida")):
        with pytest.raises(SlowwaveError, match=r"gate\.mode"):
            act()


# -- what is told ----------------------------------------------------------------------------------


def test_notes_that_would_be_refused_are_counted_at_once_and_listed(warned):
    for fact in FACTS:
        warned.save(fact)
    junk = warned.save(JUNK, title="Hm")
    again = warned.save(FACTS[0], key="again")
    told = notice(warned._space, NOW)
    assert (told.since, told.lately) == (Count(5, 0, 2), Count(5, 0, 2))
    assert told.loud
    assert not told.near
    assert told.words.startswith("MANY NOTES WOULD BE REFUSED.")
    assert "2 of 5 notes (40.0%)" in told.words
    assert "begins to refuse on 2026-03-24" in told.words
    assert "slowwave gate preview" in told.words
    assert "slowwave gate postpone" in told.words
    rows = gate_preview(warned._space, "ada", as_of=NOW)
    assert set(rows["memory_id"]) == {junk.memory_id, again.memory_id}
    assert (rows["reasons"].list.len() > 0).all()
    only = gate_preview(warned._space, "ada", reason="exact_duplicate", as_of=NOW)
    assert only["memory_id"].to_list() == [again.memory_id]
    assert notice(warned._space, NOW, "bob").since.notes == 0


def test_a_secret_note_is_counted_and_not_told(warned):
    warned.save(JUNK, title="quuxzyx", sensitivity="secret", key="quuxzyx")
    rows = gate_preview(warned._space, "ada", as_of=NOW)
    assert rows.height == 1
    assert "quuxzyx" not in str(rows.to_dicts())


def test_assistants_are_told_in_the_week_before_and_after(warned):
    warned.save(JUNK)
    begins = NOW + 14 * DAY
    told = {
        days: notice(warned._space, NOW + days * DAY).for_assistants for days in (0, 6, 7, 13, 14, 20, 22)
    }
    assert [days for days, words in told.items() if words] == [7, 13, 14, 20]
    assert f"From {begins:%F} on this memory refuses" in told[13]
    assert f"Since {begins:%F} this memory refuses" in told[14]
    assert "slowwave gate postpone" in told[14]


def test_a_gate_that_enforces_counts_what_it_refused_lately(warned):
    warned.save(FACTS[0])
    at(warned, NOW + 15 * DAY)
    warned.save(JUNK)
    told = notice(warned._space, NOW + 15 * DAY)
    assert told.enforced
    assert told.lately == Count(1, 1, 0)
    assert not told.loud  # one is not many
    warned.save(JUNK, key="again")
    told = notice(warned._space, NOW + 15 * DAY)
    assert told.lately == Count(2, 2, 0)
    assert told.loud
    assert "quarantine list" in told.words


def test_a_gate_that_is_off_or_was_set_says_so(open_memory):
    off = notice(open_memory(gate={"mode": "off"})._space, NOW)
    assert off.words == "The save gate is off: every note that can be read enters."
    memory = open_memory(gate={"mode": "enforce"})
    memory.save(JUNK)
    told = notice(memory._space, datetime.now(UTC))
    assert not told.loud
    assert told.lately.refused == 1


@pytest.mark.parametrize("mode", ["off", "warn", "enforce"])
def test_an_empty_file_of_a_vault_is_held_counted_and_shown_in_every_mode(open_memory, tmp_path, mode):
    memory = open_memory(gate={"mode": mode})
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "empty.md").write_text("---\ntitle: Nothing\n---\n \n")
    (folder / "unseen.txt").write_text("\u200b\n\ufeff\n")
    (folder / "fact.md").write_text(f"# Deploy\n\n{FACTS[0]}\n")
    source = vault.watch(
        memory.journal, "ada", folder, name="vault", as_of=memory._space.now(), principal="ida"
    )
    scan = vault.scan(
        memory.journal, source, memory.settings.notes, as_of=memory._space.now(), principal="ida"
    )
    assert (scan.new, scan.unreadable) == (1, 2)
    rows = memory.journal.read(kinds=["unreadable"])
    staged = staging.stage(rows)
    verdicts = judge(staged, memory._space.gate_policy).with_columns(staged["revision"])
    hold(memory.store, staged, verdicts.filter(pl.col("verdict") == "refuse"))
    held = memory.quarantine()
    assert sorted(row["source"] for row in held) == ["vault/empty.md", "vault/unseen.txt"]
    assert [row["reasons"] for row in held] == [["empty"]] * 2


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_a_share_is_of_the_same_notes(passed, refused, would):
    share = Count(passed + refused + would, refused, would).share
    assert 0 <= share <= 1
    told = Notice(
        "warn", NOW + DAY, NOW, enforced=False, since=Count(passed + would, 0, would),
        lately=Count(0, 0, 0), reasons={},
    )  # fmt: skip
    assert told.loud == (would > 1 and would > 0.05 * (passed + would))


def test_shares_of_direct_saves_are_shares(open_memory):
    memory = open_memory(gate={"mode": "warn"})
    for number in range(3):
        memory.save(FACTS[0], key=f"k{number}")
        memory.save(JUNK, key=f"j{number}")
    memory.save(FACTS[1], key="k0")  # a later text of the day takes the place of the one before
    report = gate_report(memory._space, "ada", days=1, as_of=memory._space.now())
    assert report.notes == 6
    assert report.reasons["share"].is_between(0, 1).all()
    assert (report.reasons["notes"] == report.reasons["refused"] + report.reasons["would"]).all()
    assert report.reasons.filter(reason="exact_duplicate")["notes"].to_list() == [4]
