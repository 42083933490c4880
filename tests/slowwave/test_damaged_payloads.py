"""A journal entry whose payload cannot be read stops nothing else, and is named."""

from __future__ import annotations

import sqlite3

import pytest

from slowwave.journal.codec import encode, is_damaged, payload_of, readable

DAMAGED = [b"\x00{not json", b"\x00[]", b"\x00", b"", b"\xff{}", b"\x01zzzz"]


@pytest.mark.parametrize("stored", DAMAGED)
def test_a_damaged_payload_reads_as_one_without_fields(stored: bytes) -> None:
    assert is_damaged(stored)
    assert payload_of(readable(stored)) == {}
    sound = encode({"text": "sound"}, "one")
    assert not is_damaged(sound)
    assert payload_of(readable(sound)) == {"text": "sound"}


@pytest.mark.parametrize("kind", ["save", "search"])
@pytest.mark.parametrize("stored", DAMAGED)
def test_a_damaged_entry_stops_no_other(memory, kind: str, stored: bytes) -> None:
    memory.save("The pier lamp is red since the storm of January.")
    memory.save("The ferry to Oban leaves at nine on weekdays.")
    memory.search("when does the ferry leave?")
    with sqlite3.connect(memory.home.settings.journal_file) as journal:
        (event,) = journal.execute(
            "select event_id from journal_entries where kind = ? order by seq desc limit 1", (kind,)
        ).fetchone()
        journal.execute("update journal_entries set payload = ? where event_id = ?", (stored, event))
    (problem,) = memory.journal.check()
    assert f"{kind} {event}" in problem
    assert memory.search("when does the ferry leave?").results
    saved = memory.save("The harbour office closes at ten on Sundays.").memory_id
    assert saved in [one.memory_id for one in memory.search("when does the office close?")]
    entries = memory.journal.read(kinds=[kind])
    assert event in entries["event_id"].to_list()
