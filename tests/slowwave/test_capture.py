"""What a session's hook hands to the save gate, and the trace that it leaves for the doctor."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.connect.capture import MAX_NOTES, CapturedSession, capture, notes_of, safe_name, session_of
from slowwave.connect.transcript import Message
from slowwave.errors import SlowwaveError
from slowwave.home import heartbeat
from slowwave.home.heartbeat import Beat, ago, beats, note_capture, note_recall
from slowwave.maintenance.doctor import examine

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SAID = "We decided to use PostgreSQL 16 for the billing service."
TABS = "I prefer tabs over spaces in Go code."


@pytest.fixture
def session(tmp_path):
    def make(*texts: str, name: str = "s1") -> CapturedSession:
        file = tmp_path / f"{name}.jsonl"
        lines = [
            {"type": "user", "uuid": f"u{number}", "timestamp": f"2026-02-0{number}T10:00:00Z",
             "message": {"role": "user", "content": text}}
            for number, text in enumerate(texts, start=1)
        ]  # fmt: skip
        file.write_text("\n".join(map(json.dumps, lines)))
        return CapturedSession(name, file, "shop")

    return make


def test_what_a_person_said_is_saved_with_its_session_and_its_day(memory, session):
    done = capture(memory, session(f"{SAID} Please fix the test.", TABS))
    assert (done.messages, done.known, [one.status for one in done.saved]) == (2, 0, ["live", "live"])
    first = memory.get(done.saved[0].memory_id)
    assert (first.content, first.sources, first.memory_type) == (SAID, ("session:s1/u1/1",), "decision")
    row = memory.store.read("memories").filter(memory_id=done.saved[0].memory_id).row(0, named=True)
    assert (row["source_kind"], row["created_at"].date().isoformat()) == ("imported", "2026-02-01")
    assert row["tags"] == ["captured"]
    assert json.loads(row["metadata"]) == {"project": "shop", "session": "s1"}


@pytest.mark.parametrize("name", ["../../etc", "a\nb", "a/../b", "x" * 5_000, "a\x07"])
def test_an_odd_id_of_a_session_becomes_a_safe_place_and_is_captured_once(memory, session, name):
    odd = replace(session(SAID), id=name)
    assert [one.status for one in capture(memory, odd).saved] == ["live"]
    assert capture(memory, odd).saved == ()
    assert re.fullmatch(r"id-[0-9a-f]{32}", odd.place)


@given(st.text(), st.text())
def test_places_differ_as_their_ids_do_and_common_ids_stay(one, other):
    assert (safe_name(one) == safe_name(other)) is (one == other)
    assert safe_name("0e1d-4f/a.b:c") == "0e1d-4f/a.b:c"


def test_a_session_that_goes_on_brings_only_what_is_new(memory, session):
    capture(memory, session(SAID))
    again = capture(memory, session(SAID, TABS))
    assert (again.known, len(again.saved)) == (1, 1)
    assert memory.journal.count("ada", "save") == 2
    assert capture(memory, session(SAID, TABS)).saved == ()


def test_what_was_forgotten_or_erased_does_not_come_back(memory, session):
    first, second = capture(memory, session(SAID, TABS)).saved
    memory.forget(first.memory_id)
    memory.erase(second.memory_id)
    assert capture(memory, session(SAID, TABS)).saved == ()
    assert memory.count() == 0


def test_what_the_gate_refuses_is_in_quarantine(open_memory, session):
    memory = open_memory(gate={"mode": "enforce", "min_characters": 50})
    done = capture(memory, session(SAID, TABS))
    assert [one.status for one in done.saved] == ["live", "quarantined"]
    assert [row["memory_id"] for row in memory.quarantine()] == [done.saved[1].memory_id]
    assert memory.count() == 1


def test_a_session_gives_a_few_notes_at_most():
    written = [
        Message(f"u{number}", f"We use tool number {number} for the job.", None) for number in range(99)
    ]
    assert len(notes_of(CapturedSession("s", None, ""), written)) == MAX_NOTES


def test_a_session_of_nothing_but_requests_saves_nothing(memory, session):
    done = capture(memory, session("Fix the login test.", "Why does it fail?"))
    assert (done.messages, done.saved) == (2, ())


@pytest.mark.parametrize("given", ["", "no json", "[]", "{}", '{"session_id": 5, "transcript_path": "x"}'])
def test_what_is_no_hooks_json_is_an_error(given):
    with pytest.raises(SlowwaveError):
        session_of(given)


def test_a_transcript_that_is_not_there_is_an_error(memory, tmp_path):
    with pytest.raises(SlowwaveError, match="no transcript at"):
        capture(memory, CapturedSession("s", tmp_path / "none.jsonl", ""))


# -- the trace -----------------------------------------------------------------------------------


def day(number: float) -> datetime:
    return NOON + timedelta(days=number)


@pytest.mark.parametrize(
    ("acts", "silent"),
    [
        ("", False),
        ("r0", False),
        ("r0 c0 r5", False),  # away for days, and back
        ("r0 r2", False),
        ("r0 r4", True),  # a session that began four days ago and never arrived
        ("r0 c0 r1 r2 r5", True),
        ("r0 c0 r1 r2 r5 c5", False),
        ("r0 r4 c4 r6", False),
    ],
)
def test_capture_is_silent_when_sessions_begin_for_days_and_none_arrives(home, acts, silent):
    home.mkdir()
    for act in acts.split():
        when = day(int(act[1:]))
        if act[0] == "r":
            note_recall(home, "ada", "claude-code", when)
        else:
            note_capture(home, "ada", "claude-code", when, saved=1)
    assert any(beat.silent for beat in beats(home)) is silent


def test_each_client_has_its_own_trace(home):
    home.mkdir()
    assert beats(home) == []
    note_recall(home, "ada", "claude-code", day(0))
    note_recall(home, "ben", "claude-code", day(0))
    note_capture(home, "ada", "claude-code", day(1), saved=2)
    note_capture(home, "ada", "claude-code", day(2), saved=1)
    assert beats(home) == [
        Beat("ada", "claude-code", recalled=day(0), captured=day(2), saved=3),
        Beat("ben", "claude-code", recalled=day(0), since=day(0)),
    ]


def test_a_damaged_trace_is_written_anew(home):
    home.mkdir()
    (home / heartbeat.FILE).write_text("{")
    assert beats(home) == []
    note_recall(home, "ada", "claude-code", NOON)
    assert len(beats(home)) == 1


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (5, "just now"),
        (60, "1 minute ago"),
        (7_300, "2 hours ago"),
        (86_400 * 3, "3 days ago"),
        (-9, "just now"),
    ],
)
def test_how_long_ago(seconds, said):
    assert ago(NOON - timedelta(seconds=seconds), NOON) == said


def findings(memory) -> list:
    return [one for one in examine(memory.settings) if one.subject == "capture"]


@pytest.mark.slow
def test_the_doctor_says_nothing_where_no_hook_ran_and_tells_when_capture_went_silent(memory):
    now = datetime.now(UTC)
    home = memory.settings.home
    assert findings(memory) == []
    note_recall(home, "ada", "claude-code", now - timedelta(days=9))
    note_capture(home, "ada", "claude-code", now - timedelta(hours=2, minutes=5), saved=1)
    (fine,) = findings(memory)
    assert (fine.ok, fine.advice) == (True, "")
    assert fine.message == "claude-code in namespace ada: last capture 2 hours ago"
    note_recall(home, "ben", "claude-code", now - timedelta(days=5))
    note_recall(home, "ben", "claude-code", now - timedelta(hours=1, minutes=5))
    _, silent = findings(memory)
    assert not silent.ok
    assert "capture has gone silent" in silent.message
    assert "no capture yet, last session 1 hour ago" in silent.message
    assert "capture.log" in silent.advice
