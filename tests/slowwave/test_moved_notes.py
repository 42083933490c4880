"""A moved file is the same note: its id, and what it earned, go along."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from feedback_days import fold_days, rating, search
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from slowwave.common import ids
from slowwave.journal import Journal
from slowwave.journal.entry_builders import MOVED
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import admit_batch
from slowwave.lifecycle.browse import BrowseOptions, browse
from slowwave.lifecycle.discarding import apply_discards
from slowwave.lifecycle.quarantine import held as quarantined
from slowwave.lifecycle.quarantine import held_files, hold, release_entry
from slowwave.memory import Memory
from slowwave.quality.gate import SERVED_SCHEMA, judge
from slowwave.quality.gate_policy import GatePolicy
from slowwave.search.signals import signals_in
from slowwave.settings import NotesSettings
from slowwave.store import staging
from slowwave.vaults import vault
from slowwave.vaults.known_notes import KnownNotes

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
LIMITS = NotesSettings()
KINDS = ["save", "forget", "unreadable"]
SLUICE = "The sluice of the upper pond is opened by Henrike on the first dry Monday of April, never before."
WHARF = "Barges moor at the northern wharf until the lock keeper blows the horn twice in the evening."
GRAIN = "The grain store is aired for three hours a week, and its eastern shutter stays closed in winter."


def put(folder: Path, name: str, text: str, *, at: datetime = NOON - DAY) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def look(journal, folder, *, at=NOON, before=None, name="") -> vault.ScanResult:
    source = vault.watch(journal, "ada", folder, name=name, as_of=at, principal="test")
    return vault.scan(journal, source, LIMITS, as_of=at, before=before, allow_mass_retire=True)


def found(journal, name="vault") -> dict[str, str]:
    """The subject of what lies at each place, as the last look has it."""
    known = KnownNotes(journal, "ada", name)
    return {known.places[one]: one for one, row in known.last.items() if row["kind"] == "save"}


def counts(scan: vault.ScanResult) -> dict[str, int]:
    return {name: value for name in ("new", "changed", "moved", "deleted") if (value := getattr(scan, name))}


@pytest.fixture
def folder(tmp_path) -> Path:
    made = tmp_path / "vault"
    put(made, "sluice.md", SLUICE)
    put(made, "wharf.md", WHARF)
    return made


# -- one move --------------------------------------------------------------------------------------


def test_a_renamed_and_edited_note_keeps_its_subject(journal, folder):
    look(journal, folder)
    (folder / "sluice.md").unlink()
    put(folder, "ponds/upper.md", SLUICE.replace("April", "March"))
    assert counts(look(journal, folder, at=NOON + DAY)) == {"moved": 1}
    assert found(journal) == {"vault/ponds/upper.md": "vault/sluice.md", "vault/wharf.md": "vault/wharf.md"}
    assert look(journal, folder, at=NOON + 2 * DAY).acts == 0
    put(folder, "ponds/upper.md", SLUICE.replace("April", "May"))
    assert counts(look(journal, folder, at=NOON + 3 * DAY)) == {"changed": 1}
    assert found(journal)["vault/ponds/upper.md"] == "vault/sluice.md"


def test_a_note_at_the_former_path_of_another_is_another(journal, folder):
    look(journal, folder)
    (folder / "sluice.md").rename(folder / "upper.md")
    put(folder, "sluice.md", GRAIN)
    assert counts(look(journal, folder, at=NOON + DAY)) == {"moved": 1, "new": 1}
    subjects = found(journal)
    assert subjects["vault/upper.md"] == "vault/sluice.md"
    assert subjects["vault/sluice.md"] == "vault/sluice.md#2"
    assert look(journal, folder, at=NOON + 2 * DAY).acts == 0
    (folder / "upper.md").unlink()
    assert counts(look(journal, folder, at=NOON + 3 * DAY)) == {"deleted": 1}
    assert found(journal)["vault/sluice.md"] == "vault/sluice.md#2"


def test_two_files_that_change_places_keep_their_subjects(journal, folder):
    look(journal, folder)
    put(folder, "sluice.md", WHARF)
    put(folder, "wharf.md", SLUICE)
    assert counts(look(journal, folder, at=NOON + DAY)) == {"moved": 2}
    assert found(journal) == {"vault/wharf.md": "vault/sluice.md", "vault/sluice.md": "vault/wharf.md"}


REPORT = (
    "Report of week {week}. The northern wharf had {barges} barges, the lock was opened {opened} times and "
    "the keeper was {keeper}. Nothing was broken, and the water stood where it stands in spring."
)
WEEKS = [REPORT.format(week=week, barges=week * 3, opened=week + 40, keeper=name)
         for week, name in enumerate(("Henrike", "Sander", "Tove", "Ilse"), 10)]  # fmt: skip


@given(order=st.permutations(range(4)), edits=st.sets(st.integers(0, 3)))
@settings(max_examples=20, deadline=None)
def test_notes_of_one_template_keep_their_subjects_when_they_change_places(order, edits):
    """Also with an edit on the way of those that stay where they are."""
    with tempfile.TemporaryDirectory() as name, closing(Journal.open_path(Path(name) / "j.db")) as journal:
        folder = Path(name) / "vault"
        for at, text in enumerate(WEEKS):
            put(folder, f"{at}.md", text)
        look(journal, folder)
        for place, at in enumerate(order):
            added = " Ilse signed it." if place == at and at in edits else ""
            put(folder, f"{place}.md", WEEKS[at] + added, at=NOON)
        look(journal, folder, at=NOON + DAY)
        assert found(journal) == {f"vault/{place}.md": f"vault/{at}.md" for place, at in enumerate(order)}


def test_a_report_in_the_place_of_another_that_moved_is_itself(journal, folder):
    put(folder, "first.md", WEEKS[0])
    put(folder, "second.md", WEEKS[1])
    look(journal, folder)
    (folder / "first.md").rename(folder / "archive.md")
    (folder / "second.md").rename(folder / "first.md")
    assert counts(look(journal, folder, at=NOON + DAY)) == {"moved": 2}
    subjects = found(journal)
    assert subjects["vault/archive.md"] == "vault/first.md"
    assert subjects["vault/first.md"] == "vault/second.md"


def test_an_edit_of_a_note_that_was_copied_stays_in_its_place(journal, folder):
    look(journal, folder)
    shutil.copy(folder / "sluice.md", folder / "backup.md")
    put(folder, "sluice.md", SLUICE + " Sander holds the key.")
    assert counts(look(journal, folder, at=NOON + DAY)) == {"new": 1, "changed": 1}
    assert found(journal)["vault/sluice.md"] == "vault/sluice.md"


def test_a_note_rewritten_from_scratch_stays_in_its_place(journal, folder):
    look(journal, folder)
    put(folder, "sluice.md", GRAIN)
    put(folder, "more.md", "Nothing here has a word of anything else.")
    assert counts(look(journal, folder, at=NOON + DAY)) == {"new": 1, "changed": 1}
    assert found(journal)["vault/sluice.md"] == "vault/sluice.md"


def test_a_name_in_other_letters_is_the_same_note(journal, folder):
    look(journal, folder)
    (folder / "sluice.md").rename(folder / "SLUICE.md")
    assert counts(look(journal, folder, at=NOON + DAY)) == {"moved": 1}
    assert found(journal)["vault/SLUICE.md"] == "vault/sluice.md"


def test_a_move_and_a_heavy_edit_is_another_note(journal, folder):
    look(journal, folder)
    (folder / "sluice.md").unlink()
    put(folder, "upper.md", GRAIN.replace("grain", "sluice"))
    assert counts(look(journal, folder, at=NOON + DAY)) == {"new": 1, "deleted": 1}
    assert found(journal)["vault/upper.md"] == "vault/upper.md"


def test_a_move_with_half_of_the_sentences_written_again_is_the_same_note(journal, folder):
    put(folder, "ponds.md", f"{SLUICE} {WHARF}")
    look(journal, folder)
    (folder / "ponds.md").unlink()
    put(folder, "water/rules.md", f"{SLUICE} It is oiled in autumn. {WHARF[:40]}.")
    assert counts(look(journal, folder, at=NOON + DAY)) == {"moved": 1}
    assert found(journal)["vault/water/rules.md"] == "vault/ponds.md"


@pytest.mark.parametrize("moving", ["sluice.md", "twin.md"])
def test_of_two_equal_notes_the_one_that_moves_keeps_its_subject(journal, folder, moving):
    put(folder, "twin.md", SLUICE)
    look(journal, folder)
    (staying,) = {"sluice.md", "twin.md"} - {moving}
    (folder / "deep").mkdir()
    (folder / moving).rename(folder / "deep" / "elsewhere.md")
    assert counts(look(journal, folder, at=NOON + DAY)) == {"moved": 1}
    assert found(journal)["vault/deep/elsewhere.md"] == f"vault/{moving}"
    assert found(journal)[f"vault/{staying}"] == f"vault/{staying}"


def test_names_that_change_places_with_edits_on_the_way_keep_their_subjects(journal, folder):
    look(journal, folder)
    put(folder, "sluice.md", WHARF.replace("twice", "once"))
    put(folder, "wharf.md", SLUICE + " Sander has the key.")
    put(folder, "grain.md", GRAIN)
    assert counts(look(journal, folder, at=NOON + DAY)) == {"moved": 2, "new": 1}
    assert found(journal)["vault/wharf.md"] == "vault/sluice.md"
    assert found(journal)["vault/sluice.md"] == "vault/wharf.md"


def test_a_vault_in_other_letters_on_a_case_insensitive_file_system_is_the_same(
    journal, folder, tmp_path, monkeypatch
):
    look(journal, folder)
    other = tmp_path / "VAULT"
    shutil.copytree(folder, other)  # as far as this file system can show one folder under two spellings
    monkeypatch.setattr(Path, "samefile", lambda one, path: str(one).casefold() == str(path).casefold())
    scan = look(journal, other, at=NOON + DAY)
    assert (scan.vault, scan.acts) == ("vault", 0)
    assert [source.uri for source in journal.sources()] == [str(other)]


def test_lines_of_a_renamed_file_keep_their_subjects_and_what_they_follow(journal, folder):
    put(
        folder,
        "chat.jsonl",
        f'{{"id": "1", "text": "{GRAIN}"}}\n{{"id": "2", "text": "Yes.", "follows": "1"}}\n',
    )
    look(journal, folder)
    (folder / "chat.jsonl").rename(folder / "talk.jsonl")
    assert counts(look(journal, folder, at=NOON + DAY)) == {"moved": 2}
    assert found(journal)["vault/talk.jsonl#2"] == "vault/chat.jsonl#2"
    rows = staging.stage(journal.read(kinds=KINDS, days=["2026-03-02"])).filter(content="Yes.")
    assert rows["follows"].to_list() == [ids.memory_id("ada", "vault/chat.jsonl#1")]
    assert look(journal, folder, at=NOON + 2 * DAY).acts == 0


def test_a_note_that_comes_back_elsewhere_after_a_look_is_the_same(journal, folder, tmp_path):
    look(journal, folder)
    (folder / "sluice.md").rename(tmp_path / "kept.md")
    assert counts(look(journal, folder, at=NOON + DAY)) == {"deleted": 1}
    (tmp_path / "kept.md").rename(folder / "upper.md")
    assert counts(look(journal, folder, at=NOON + 2 * DAY)) == {"moved": 1}
    assert found(journal)["vault/upper.md"] == "vault/sluice.md"


def test_a_note_whose_new_file_is_left_for_the_next_night_is_not_forgotten(journal, folder):
    end = datetime(2026, 3, 2, tzinfo=UTC)
    look(journal, folder)
    (folder / "sluice.md").unlink()
    put(folder, "upper.md", SLUICE + " Sander has the key.", at=end)
    assert counts(look(journal, folder, before=end)) == {}
    assert counts(look(journal, folder, at=NOON + DAY, before=end + DAY)) == {"moved": 1}
    assert found(journal)["vault/upper.md"] == "vault/sluice.md"


def test_a_vault_under_another_path_and_name_is_the_same_vault(journal, folder, tmp_path):
    look(journal, folder)
    folder.rename(tmp_path / "Second Brain")
    scan = look(journal, tmp_path / "Second Brain", at=NOON + DAY)
    assert (scan.vault, scan.acts, scan.unchanged) == ("vault", 0, 2)
    assert look(journal, tmp_path / "Second Brain", at=NOON + 2 * DAY).vault == "vault"
    assert [source.name for source in journal.sources()] == ["vault"]


def test_a_folder_with_other_notes_is_another_vault_although_one_is_gone(journal, folder, tmp_path):
    look(journal, folder)
    folder.rename(tmp_path / "unmounted")
    put(tmp_path / "work", "grain.md", GRAIN)
    assert look(journal, tmp_path / "work", at=NOON + DAY).vault == "work"


# -- what goes along -------------------------------------------------------------------------------


class Nights:
    """What the gate lets in of each day, with an enforcing gate."""

    def __init__(self, space) -> None:
        self.space, self.done = space, 0

    def night(self, served: pl.DataFrame | None = None) -> pl.DataFrame:
        """Settle what the journal has since the last call; return the verdicts."""
        space = self.space
        entries = space.journal.read(kinds=KINDS, after_seq=self.done)
        self.done = space.journal.last_seq()
        rows = staging.stage(entries)
        verdicts = judge(rows, GatePolicy(mode="enforce", min_quality=0), served)
        space.store.upsert("staged_notes", rows)
        refused = verdicts.filter(verdict="refuse").select("memory_id", "reasons")
        hold(space.store, rows, rows.select("memory_id", "revision").join(refused, on="memory_id"))
        let_in = rows.join(verdicts.filter(pl.col("verdict") != "refuse"), on="memory_id", how="semi")

        def chunks_of(notes: pl.DataFrame) -> pl.DataFrame:
            cut = ingest_pipeline.cut(notes, space.chunker, space.embedder.name)
            return ingest_pipeline.embed(space.store, space.embedder, cut)

        admit_batch(space, let_in, chunks_of, again=True)
        return verdicts

    def live(self) -> dict[str, str]:
        """The sources that searches show, by memory."""
        rows = self.space.store.read("chunks", "status = 'live'", columns=["memory_id", "source"])
        return dict(rows.iter_rows())


@pytest.fixture
def nights(make_space) -> Nights:
    return Nights(make_space())


def shown(subject: str, text: str, at: datetime) -> pl.DataFrame:
    rows = [("ada", ids.memory_id("ada", subject), text, "s1", at)]
    return pl.DataFrame(rows, schema=SERVED_SCHEMA, orient="row")


def test_a_moved_note_that_a_search_showed_is_no_echo_and_keeps_its_ratings(nights, folder):
    space, journal = nights.space, nights.space.journal
    look(journal, folder)
    nights.night()
    memory = ids.memory_id("ada", "vault/sluice.md")
    journal.append([
        search("s1", NOON + timedelta(hours=1), [memory]),
        rating("s1", NOON + timedelta(hours=2), memory, "helpful"),
    ])  # fmt: skip
    fold_days(space, ["2026-03-01"])
    before = signals_in(space).states("ada", [memory])[memory]
    (folder / "sluice.md").unlink()
    put(folder, "ponds/upper-pond.md", SLUICE)
    look(journal, folder, at=NOON + DAY)
    verdicts = nights.night(shown("vault/sluice.md", SLUICE, NOON + timedelta(hours=20)))
    assert verdicts.select("verdict", "reasons").rows() == [("pass", [])]
    assert nights.live()[memory] == "vault/ponds/upper-pond.md"
    assert len(nights.live()) == 2
    row = space.store.read("memories", f"memory_id = '{memory}'").row(0, named=True)
    assert (row["status"], row["source"], row["path"]) == (
        "live", "vault/sluice.md", "vault/ponds/upper-pond.md",
    )  # fmt: skip
    assert row["title"] == "upper pond"
    assert signals_in(space).states("ada", [memory])[memory] == before


def test_a_copy_takes_over_from_a_shown_note_that_is_deleted(nights, folder):
    journal = nights.space.journal
    put(folder, "copy.md", SLUICE)
    look(journal, folder)
    nights.night()
    (kept,) = {"vault/copy.md", "vault/sluice.md"} & set(nights.live().values())
    (folder / kept.removeprefix("vault/")).unlink()
    look(journal, folder, at=NOON + DAY)
    verdicts = nights.night(shown(kept, SLUICE, NOON + timedelta(hours=20)))
    assert set(verdicts["verdict"]) == {"retire", "pass"}
    (other,) = {"vault/copy.md", "vault/sluice.md"} - {kept}
    assert set(nights.live().values()) == {other, "vault/wharf.md"}


def test_a_released_note_stays_released_when_it_moves(nights, folder):
    space, journal = nights.space, nights.space.journal
    put(folder, "copy.md", SLUICE)
    look(journal, folder)
    nights.night()
    held = space.store.read("quarantine").row(0, named=True)
    journal.append([release_entry(journal, held, occurred_at=NOON + timedelta(hours=1), principal="ann")])
    nights.night()
    assert len(nights.live()) == 3
    (folder / held["source"].removeprefix("vault/")).rename(folder / "elsewhere.md")
    assert counts(look(journal, folder, at=NOON + DAY)) == {"moved": 1}
    nights.night()
    assert nights.live()[held["memory_id"]] == "vault/elsewhere.md"
    assert len(nights.live()) == 3


def test_a_note_that_a_user_forgot_stays_forgotten_when_its_file_moves(nights, folder, act):
    journal = nights.space.journal
    look(journal, folder)
    nights.night()
    journal.append([act("vault/sluice.md", at=NOON + timedelta(hours=1))])
    nights.night()
    (folder / "sluice.md").rename(folder / "upper.md")
    look(journal, folder, at=NOON + DAY)
    nights.night()
    assert set(nights.live().values()) == {"vault/wharf.md"}
    assert look(journal, folder, at=NOON + 2 * DAY).acts == 0


def test_a_forgotten_note_stays_forgotten_when_it_changes_places_with_one_of_its_template(
    nights, folder, act
):
    journal = nights.space.journal
    put(folder, "a.md", WEEKS[0])
    put(folder, "b.md", WEEKS[1])
    look(journal, folder)
    nights.night()
    journal.append([act("vault/a.md", at=NOON + HOUR)])
    nights.night()
    put(folder, "a.md", WEEKS[1], at=NOON)
    put(folder, "b.md", WEEKS[0], at=NOON)
    look(journal, folder, at=NOON + DAY)
    nights.night()
    assert {"vault/a.md", "vault/b.md"} & set(nights.live().values()) == {"vault/a.md"}
    texts = nights.space.store.read("memories", "status = 'live'", columns=["content"])["content"]
    assert WEEKS[1] in texts.to_list()
    assert WEEKS[0] not in texts.to_list()
    assert look(journal, folder, at=NOON + 2 * DAY).acts == 0


def test_an_erased_note_does_not_come_back_from_another_path(open_memory, folder):
    memory = open_memory()
    nights, journal = Nights(memory._space), memory._space.journal
    look(journal, folder)
    nights.night()
    (folder / "sluice.md").rename(folder / "upper.md")
    look(journal, folder, at=NOON + DAY)
    nights.night()
    erased = ids.memory_id("ada", "vault/sluice.md")
    plan = memory.plan_erasure(source="vault/upper")
    assert [one.memory_id for one in plan.memories] == [erased]
    assert plan.files == (str(folder / "upper.md"),)
    memory.erase(erased)
    assert look(journal, folder, at=NOON + 2 * DAY).acts == 0
    (folder / "upper.md").rename(folder / "lower.md")
    assert look(journal, folder, at=NOON + 3 * DAY).acts == 0
    assert set(nights.live().values()) == {"vault/wharf.md"}


def test_the_same_events_again_give_the_same_tables(nights, make_space, folder):
    journal = nights.space.journal
    look(journal, folder)
    nights.night()
    (folder / "sluice.md").rename(folder / "upper.md")
    put(folder, "sluice.md", GRAIN)
    look(journal, folder, at=NOON + DAY)
    nights.night()
    live = nights.live()
    nights.done = 0
    nights.night()
    assert nights.live() == live
    assert len(live) == 3


def test_reports_name_the_present_place_of_a_moved_note(open_memory, folder):
    memory = open_memory()
    space, nights = memory._space, Nights(memory._space)
    put(folder, "twin.md", SLUICE)
    put(folder, "thanks.md", "ok thanks")
    look(space.journal, folder)
    nights.night()
    held = {row["source"] for row in memory.quarantine()}
    assert "vault/thanks.md" in held
    (folder / "thanks.md").rename(folder / "later.md")
    (folder / "wharf.md").rename(folder / "quay.md")
    look(space.journal, folder, at=NOON + DAY)
    nights.night()
    rows = memory.quarantine()
    assert {row["source"] for row in rows} == held - {"vault/thanks.md"} | {"vault/later.md"}
    assert len(rows) == len(held)
    (row,) = (row for row in rows if row["source"] == "vault/later.md")
    assert quarantined(space.store, "ada", row["memory_id"])["source"] == "vault/later.md"
    recent = {row["source"] for row in browse(memory.tenant, BrowseOptions())[0]}
    assert "vault/quay.md" in recent
    assert "vault/wharf.md" not in recent
    (line,) = (line for line in held_files(space) if "later.md" in line)
    assert line.startswith("vault/later.md: ")
    assert not any("thanks.md" in line for line in held_files(space))


def test_a_discarded_note_stays_discarded_when_its_file_moves(open_memory, folder):
    memory = open_memory()
    space, nights = memory._space, Nights(memory._space)
    put(folder, "thanks.md", "ok thanks")
    put(folder, "hello.md", "hello there")
    look(space.journal, folder)
    nights.night()
    discarded = ids.memory_id("ada", "vault/thanks.md")
    memory.discard(discarded)
    (folder / "thanks.md").rename(folder / "later.md")
    look(space.journal, folder, at=NOON + DAY)
    nights.night()
    assert apply_discards(space) == 1
    assert apply_discards(space) == 0
    assert [row["source"] for row in memory.quarantine()] == ["vault/hello.md"]
    (row,) = memory.quarantine(status="discarded")
    assert (row["memory_id"], row["source"]) == (discarded, "vault/later.md")
    memory.restore_discarded(discarded)
    assert {row["source"] for row in memory.quarantine()} == {"vault/hello.md", "vault/later.md"}
    (folder / "later.md").rename(folder / "last.md")
    look(space.journal, folder, at=NOON + 2 * DAY)
    nights.night()
    assert apply_discards(space) == 0
    assert {row["source"] for row in memory.quarantine()} == {"vault/hello.md", "vault/last.md"}


def test_many_moves_keep_ratings_and_ranks(make_space):
    space = make_space(journal={"log_searches": False})
    nights, lived = Nights(space), Vault(11, space.journal)
    for number in range(12):
        lived.create(f"# Note {number} about {WORDS[number]}\n\n")
    lived.look()
    nights.night()
    subjects = sorted(file.subject for file in lived.files.values())
    memories = [ids.memory_id("ada", subject) for subject in subjects]
    space.journal.append([search("s1", NOON + 30 * HOUR, memories)])
    words = ["helpful", "unhelpful", "neutral"] * 4
    space.journal.append([
        rating("s1", NOON + (31 + number / 10) * HOUR, memory, words[number], principal=f"p{number}")
        for number, memory in enumerate(memories)
    ])  # fmt: skip
    fold_days(space, ["2026-03-02"])
    memory = Memory(space.settings, namespace="ada", space=space)
    queries = [f"{WORDS[at]} {WORDS[at + 5]} about" for at in range(6)]

    def ranked() -> list[list[tuple[str, float]]]:
        return [[(one.memory_id, one.score) for one in memory.search(query, limit=12)] for query in queries]

    states, ranks = signals_in(space).states("ada", memories), ranked()
    for step in range(1, 301):
        getattr(lived, lived.random.choice(["move", "move", "swap", "rename_folder", "shout"]))()
        if step % 20 == 0:
            lived.look()
    nights.night()
    assert set(nights.live().values()) == {f"vault/{name}" for name in lived.files}
    assert signals_in(space).states("ada", memories) == states
    assert any(state.effectiveness != 0.5 for state in states.values())
    assert ranked() == ranks
    lived.close()


def test_many_moves_with_edits_keep_the_notes_and_the_ratings_of_the_others(make_space):
    space = make_space(journal={"log_searches": False})
    lived = Vault(13, space.journal)
    for number in range(12):
        lived.create(f"# Note {number} about {WORDS[number]}\n\n")
    lived.look()
    subjects = sorted(file.subject for file in lived.files.values())
    memories = [ids.memory_id("ada", subject) for subject in subjects]
    nights = Nights(space)
    nights.night()
    space.journal.append([search("s1", NOON + 30 * HOUR, memories)])
    words = ["helpful", "unhelpful", "neutral"] * 4
    space.journal.append([
        rating("s1", NOON + (31 + number / 10) * HOUR, memory, words[number], principal=f"p{number}")
        for number, memory in enumerate(memories)
    ])  # fmt: skip
    fold_days(space, ["2026-03-02"])
    states = signals_in(space).states("ada", memories)
    ways = ["move", "move", "swap", "rename_folder", "shout"]
    edited = set[str]()
    for step in range(1, 301):
        getattr(lived, lived.random.choice(ways))()
        if step % 75 == 35:  # an edit and moves in one scan
            file = min(lived.files.values(), key=lambda one: (one.subject in edited, one.subject))
            file.text, file.edited = f"{file.text} again", True
            edited.add(file.subject)
        if step % 20 == 0:
            lived.look()
    nights.night()
    assert {ids.memory_id("ada", file.subject) for file in lived.files.values()} == set(memories)
    assert set(nights.live()) == set(memories)
    assert set(nights.live().values()) == {f"vault/{name}" for name in lived.files}
    kept = {ids.memory_id("ada", subject) for subject in subjects if subject not in edited}
    now = signals_in(space).states("ada", memories)  # what an edit does to ratings is the rule of feedback
    assert len(kept) == 8
    assert {name: now[name] for name in kept} == {name: states[name] for name in kept}
    assert any(state.effectiveness != 0.5 for state in states.values())
    lived.close()


# -- a thousand moves and edits --------------------------------------------------------------------

WORDS = [f"{one}{two}" for one in ("bar", "cel", "dor", "fen", "gul", "hem", "jar") for two in
         ("den", "fix", "kop", "lin", "mas", "nov", "pet", "rus", "sol", "tam", "ven", "wik")]  # fmt: skip
PLACES = [f"{folder}{name}.md" for folder in ("", "a/", "a/b/", "c/") for name in "pqrstuvwxyz"]


@dataclass
class Written:
    """A file of the model; `subject` is known from the first look on."""

    text: str
    subject: str = ""
    edited: bool = False  # since the last look


class Vault:
    """A folder, and what is known of each file in it."""

    def __init__(self, seed: int, journal: Journal | None = None) -> None:
        self.random, self.root = random.Random(seed), Path(tempfile.mkdtemp())
        self.folder, self.files, self.days = self.root / "vault", dict[str, Written](), 0
        self.gone: dict[str, str] = {}  # where deleted notes were, by subject
        self.folder.mkdir()
        self.journal = journal or Journal.open_path(self.root / "journal.db")
        self.owned = journal is None

    def close(self) -> None:
        if self.owned:
            self.journal.close()
        shutil.rmtree(self.root)

    def write(self) -> None:
        """The folder is as the model has it."""
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        for name, file in self.files.items():
            put(self.folder, name, file.text)

    def create(self, heading: str = "") -> None:
        free = [name for name in PLACES if name not in self.files]
        if free:
            text = " ".join(self.random.choices(WORDS, k=40))
            self.files[self.random.choice(free)] = Written(heading + text)

    def move(self) -> None:
        free = [name for name in PLACES if name not in self.files]
        if free and self.files:
            name = self.random.choice(sorted(self.files))
            self.files[self.random.choice(free)] = self.files.pop(name)

    def swap(self) -> None:
        if len(self.files) > 1:
            one, two = self.random.sample(sorted(self.files), 2)
            self.files[one], self.files[two] = self.files[two], self.files[one]

    def rename_folder(self) -> None:
        moved = {name: f"c/{name[2:]}" for name in self.files if name.startswith("a/") and name[2:3] != "b"}
        if not set(moved.values()) & set(self.files):
            self.files = {moved.get(name, name): file for name, file in self.files.items()}

    def shout(self) -> None:
        if self.files:
            name = self.random.choice(sorted(self.files))
            other = name.swapcase().replace(".MD", ".md")
            if other not in self.files:
                self.files[other] = self.files.pop(name)

    def edit(self) -> None:
        calm = [name for name, file in self.files.items() if not file.edited]
        if calm:
            file = self.files[self.random.choice(sorted(calm))]
            words = file.text.split()
            for _ in range(3):
                words[self.random.randrange(len(words))] = self.random.choice(WORDS)
            file.text, file.edited = " ".join(words), bool(file.subject)

    def delete(self) -> None:
        if len(self.files) > 1:
            name = self.random.choice(sorted(self.files))
            if subject := self.files.pop(name).subject:
                self.gone[subject] = name

    def look(self) -> None:
        self.write()
        self.days += 1
        look(self.journal, self.folder, at=NOON + self.days * DAY)
        places = found(self.journal)
        assert {f"vault/{name}" for name in self.files} == set(places)
        assert len(set(places.values())) == len(places)
        for name, file in self.files.items():
            subject = places[f"vault/{name}"]
            assert file.subject in ("", subject)
            # A gone note is only replaced by another text in its place.
            places_of_it = {subject.removeprefix("vault/").casefold(), self.gone.get(subject, "").casefold()}
            assert subject not in self.gone or name.casefold() in places_of_it
            self.gone.pop(subject, None)
            file.subject, file.edited = subject, False
        rows = self.journal.latest_sources("ada", "vault")
        texts = self.journal.entries(rows.filter(kind="save")["event_id"].to_list())
        said = {entry.subject: entry.payload["content"] for entry in texts.values()}
        assert said == {file.subject: file.text for file in self.files.values()}
        assert look(self.journal, self.folder, at=NOON + self.days * DAY).acts == 0


ACTS = ["create", "move", "swap", "rename_folder", "shout", "edit", "delete"]


def test_a_thousand_moves_and_edits_lose_nothing_and_double_nothing():
    lived = Vault(7)
    for _ in range(12):
        lived.create()
    lived.look()
    weights = [2, 6, 2, 1, 2, 5, 1]
    for step in range(1, 1_001):
        getattr(lived, lived.random.choices(ACTS, weights)[0])()
        if step % 4 == 0:
            lived.look()
    lived.close()


class Moves(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.lived = Vault(0)
        for _ in range(3):
            self.lived.create()
        self.lived.look()

    @rule(seed=st.integers(0, 2**16), names=st.lists(st.sampled_from(ACTS), min_size=1, max_size=4))
    def some_acts_then_a_look(self, seed: int, names: list[str]) -> None:
        self.lived.random.seed(f"{seed} {self.lived.days}")  # or two notes might get one text
        for name in names:
            getattr(self.lived, name)()
        self.lived.look()

    @invariant()
    def every_digest_of_a_moved_note_says_so(self) -> None:
        rows = self.lived.journal.latest_sources("ada", "vault").filter(kind="save")
        moved = {
            name for name, digest in rows.select("subject", "digest").iter_rows() if digest.startswith(MOVED)
        }
        assert moved == {one for place, one in found(self.lived.journal).items() if place != one}

    def teardown(self) -> None:
        self.lived.close()


TestMoves = Moves.TestCase
TestMoves.settings = settings(
    max_examples=10, stateful_step_count=5, deadline=None, suppress_health_check=list(HealthCheck)
)
