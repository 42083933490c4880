from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from slowwave.errors import SlowwaveError
from slowwave.journal import payload_of
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import admit_batch
from slowwave.lifecycle.quarantine import lost_originals
from slowwave.quality.gate import judge
from slowwave.settings import NotesSettings
from slowwave.store import staging
from slowwave.vaults import vault
from slowwave.vaults.vault import ScanResult

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LIMITS = NotesSettings()
KINDS = ["save", "forget", "unreadable"]
TEXT = "A note about the harbour that is long enough to be let in by the gate."


@pytest.fixture
def folder(tmp_path) -> Path:
    made = tmp_path / "vault"
    made.mkdir()
    return made


def put(folder: Path, name: str, text: str | bytes = TEXT, *, at: datetime = NOON - DAY) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def watch(journal, folder, *, namespace="ada", name=""):
    return vault.watch(journal, namespace, folder, name=name, as_of=NOON, principal="test")


def look(journal, folder, *, at=NOON, before=None, settings=LIMITS, **options) -> ScanResult:
    return vault.scan(journal, watch(journal, folder), settings, as_of=at, before=before, **options)


def acts(journal, **filters) -> list[tuple[str, str]]:
    return journal.read(kinds=KINDS, **filters).select("kind", "subject").rows()


def counts(scan: ScanResult) -> dict[str, int]:
    names = ("new", "changed", "moved", "deleted", "unreadable", "unchanged", "later")
    return {name: getattr(scan, name) for name in names if getattr(scan, name)}


# -- what a look finds -----------------------------------------------------------------------------


def test_a_first_look_journals_every_note(journal, folder):
    put(folder, "b.md", "# Harbour\n\nText #tide [[a]]")
    put(folder, "sub/a.txt", "plain")
    put(folder, "picture.png", b"\x89PNG")
    put(folder, ".hidden.md")
    scan = look(journal, folder)
    assert counts(scan) == {"new": 2}
    assert scan.warnings == []
    assert scan.acts == 2
    rows = journal.read(kinds=KINDS)
    assert rows.select("kind", "subject", "namespace", "origin", "principal", "occurred_at").rows() == [
        ("save", "vault/b.md", "ada", "vault", "vault", NOON),
        ("save", "vault/sub/a.txt", "ada", "vault", "vault", NOON),
    ]
    payload = payload_of(rows["payload"][0])
    assert (payload["title"], payload["tags"], payload["links"]) == ("Harbour", ["tide"], ["a"])
    assert payload["content"] == "# Harbour\n\nText #tide [[a]]"


def test_a_second_look_at_the_same_vault_appends_nothing(journal, folder):
    put(folder, "a.md")
    put(folder, "broken.md", b"\xff\xfe\x00")
    put(folder, "facts.jsonl", '{"id": "x", "text": "one"}\n{"text": "two"}\nnot json\n')
    put(folder, "copy.md")
    put(folder, "large.md", "x" * 2_000)
    settings = NotesSettings(max_bytes=1_000)
    first = look(journal, folder, settings=settings)
    assert counts(first) == {"new": 4, "unreadable": 3}
    before = acts(journal)
    second = look(journal, folder, at=NOON + DAY, settings=settings)
    assert counts(second) == {"unchanged": 4, "unreadable": 3}
    assert second.warnings == first.warnings
    assert second.acts == 0
    assert acts(journal) == before


def test_new_changed_deleted_and_unreadable_notes_are_told_apart(journal, folder):
    for name in ("same", "changes", "goes", "breaks"):
        put(folder, f"{name}.md", f"{TEXT} {name}")
    look(journal, folder)
    seq = journal.read(kinds=KINDS)["seq"].max()
    put(folder, "changes.md", "Another text.")
    put(folder, "breaks.md", b"\x00\x01")
    put(folder, "comes.md", "A new one.")
    (folder / "goes.md").unlink()
    scan = look(journal, folder, at=NOON + DAY)
    assert counts(scan) == {"new": 1, "changed": 1, "deleted": 1, "unreadable": 1, "unchanged": 1}
    rows = journal.read(kinds=KINDS, after_seq=seq)
    assert sorted(rows.select("kind", "subject").rows()) == [
        ("forget", "vault/goes.md"),
        ("save", "vault/changes.md"),
        ("save", "vault/comes.md"),
        ("unreadable", "vault/breaks.md"),
    ]
    assert set(rows["day"]) == {"2026-03-02"}
    broken = payload_of(rows.filter(kind="unreadable")["payload"].item())
    assert broken["reason"] == "nul_bytes"
    assert broken["size_bytes"] == 2


def test_touching_a_file_is_no_change(journal, folder):
    path = put(folder, "a.md")
    look(journal, folder)
    os.utime(path, (NOON.timestamp(), NOON.timestamp()))
    assert counts(look(journal, folder, at=NOON + DAY)) == {"unchanged": 1}


def test_a_deleted_note_that_comes_back_is_new(journal, folder):
    put(folder, "a.md")
    look(journal, folder)
    put(folder, "b.md", "Another one.")
    (folder / "a.md").unlink()
    look(journal, folder, at=NOON + DAY)
    put(folder, "a.md")
    assert counts(look(journal, folder, at=NOON + 2 * DAY)) == {"new": 1, "unchanged": 1}
    mine = [kind for kind, subject in acts(journal) if subject == "vault/a.md"]
    assert mine == ["save", "forget", "save"]


def test_an_unreadable_note_that_is_mended_is_saved(journal, folder):
    put(folder, "a.md", b"\xff\xff")
    look(journal, folder)
    put(folder, "a.md")
    assert counts(look(journal, folder, at=NOON + DAY)) == {"new": 1}
    assert acts(journal) == [("unreadable", "vault/a.md"), ("save", "vault/a.md")]


def test_every_line_of_a_jsonl_file_is_a_note_of_its_own(journal, folder):
    put(folder, "facts.jsonl", '{"id": "x", "text": "one"}\n{"id": "y", "text": "two"}\n{"text": "three"}\n')
    put(folder, "other.md")
    assert counts(look(journal, folder)) == {"new": 4}
    put(folder, "facts.jsonl", '{"id": "x", "text": "one"}\n{"id": "y", "text": "changed"}\n{broken\n')
    scan = look(journal, folder, at=NOON + DAY)
    assert counts(scan) == {"unchanged": 2, "changed": 1, "unreadable": 1}
    assert acts(journal)[4:] == [("unreadable", "vault/facts.jsonl#L3"), ("save", "vault/facts.jsonl#y")]
    put(folder, "facts.jsonl", '{"id": "y", "text": "changed"}\n')
    scan = look(journal, folder, at=NOON + 2 * DAY)
    assert counts(scan) == {"unchanged": 2, "deleted": 2}


# -- what cannot be read says nothing about what it held --------------------------------------------

LINES = [f'{{"id": "k{number}", "text": "Fact {number}: {TEXT}"}}' for number in range(6)]
GOOD = "\n".join(LINES)


def with_line(line: str) -> bytes:
    """The file with this in place of its third line."""
    return "\n".join([*LINES[:2], line, *LINES[3:]]).encode()


def blocked(folder: Path, name: str, monkeypatch) -> None:
    """What the file system does where this process has no right; root has every right."""
    there = os.fspath(folder / name)
    scandir, read_bytes = os.scandir, Path.read_bytes

    def refused(given):
        if os.fspath(given).startswith(there):
            raise PermissionError(13, "Permission denied", there)

    monkeypatch.setattr(os, "scandir", lambda path=".": refused(path) or scandir(path))
    monkeypatch.setattr(Path, "read_bytes", lambda path: refused(path) or read_bytes(path))


def vanishes(folder: Path, name: str, monkeypatch) -> None:
    """The file is there when the folder is listed, and gone when it is read."""
    read_bytes = Path.read_bytes

    def read(path):
        if path.name == name:
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", read)


def leads_nowhere(folder: Path, name: str, _monkeypatch) -> None:
    (folder / name).rename(folder.parent / "elsewhere")
    (folder / name).symlink_to(folder / "nothing")


def leads_out(folder: Path, name: str, _monkeypatch) -> None:
    (folder / name).rename(folder.parent / "elsewhere")
    (folder / name).symlink_to(folder.parent / "elsewhere")


def is_a_pipe(folder: Path, name: str, _monkeypatch) -> None:
    (folder / name).rename(folder.parent / "elsewhere")
    os.mkfifo(folder / name)


def gets_a_twin(folder: Path, _name: str, _monkeypatch) -> None:
    put(folder, unicodedata.normalize("NFD", "caf\u00e9.md"), "Another text under the same name.")


def becomes(data: bytes):
    def breaks(folder: Path, name: str, _monkeypatch) -> None:
        put(folder, name, data)

    return breaks


DEEP = '{"id": "k2", "text": "t", "more": ' + "[" * 500 + "]" * 500 + "}"
BROKEN = {
    "jsonl: an over-long id": ("facts.jsonl", becomes(with_line(f'{{"id": "{"x" * 2000}", "text": "t"}}'))),
    "jsonl: nested deeper": ("facts.jsonl", becomes(with_line(DEEP.replace("[" * 500, "[" * 50_000)))),
    "jsonl: no JSON": ("facts.jsonl", becomes(with_line("{"))),
    "jsonl: no object": ("facts.jsonl", becomes(with_line("[1]"))),
    "jsonl: no text": ("facts.jsonl", becomes(with_line('{"id": "k2"}'))),
    "jsonl: NUL": ("facts.jsonl", becomes(with_line('{"id": "k2", "text": "\0\0\0\0"}'))),
    "jsonl: half a character": ("facts.jsonl", becomes(with_line('{"id": "k2", "text": "\\ud8'))),
    "jsonl: an id twice": ("facts.jsonl", becomes(with_line(LINES[0]))),
    "jsonl: cut off": ("facts.jsonl", becomes(GOOD.encode()[:250])),
    "jsonl: emptied": ("facts.jsonl", becomes(b"")),
    "jsonl: blank": ("facts.jsonl", becomes(b"\n  \n")),
    "jsonl: too large": ("facts.jsonl", becomes(GOOD.encode() + b"\n" + b" " * 3_000)),
    "jsonl: no right to read": ("facts.jsonl", blocked),
    "jsonl: gone while it is read": ("facts.jsonl", vanishes),
    "jsonl: a dangling link": ("facts.jsonl", leads_nowhere),
    "jsonl: a link out of the vault": ("facts.jsonl", leads_out),
    "note: no UTF-8": ("note.md", becomes(b"\xff\xff\xff")),
    "note: NUL": ("note.md", becomes(b"a\0\0\0\0b")),
    "note: emptied": ("note.md", becomes(b"")),
    "note: too large": ("note.md", becomes(b"x" * 5_000)),
    "note: no right to read": ("note.md", blocked),
    "note: gone while it is read": ("note.md", vanishes),
    "note: a dangling link": ("note.md", leads_nowhere),
    "note: a link out of the vault": ("note.md", leads_out),
    "note: a pipe": ("note.md", is_a_pipe),
    "note: a twin of its name": ("caf\u00e9.md", gets_a_twin),
    "folder: no right to list": ("sub", blocked),
    "folder: a dangling link": ("sub", leads_nowhere),
    "folder: a link out of the vault": ("sub", leads_out),
    "vault: no right to list": ("", blocked),
}


def whole_vault(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    put(folder, "facts.jsonl", GOOD)
    put(folder, "note.md", f"{TEXT} In a note.")
    put(folder, "caf\u00e9.md", f"{TEXT} In a caf\u00e9.")
    for number in range(3):
        put(folder, f"sub/{number}.md", f"{TEXT} Below, {number}.")


@pytest.mark.parametrize("how", BROKEN)
def test_what_cannot_be_read_says_nothing_about_what_it_held(journal, folder, monkeypatch, how):
    """Nothing is retired, it is told at every look, and a vault that is mended is as it was."""
    settings = NotesSettings(max_bytes=2_500)
    whole_vault(folder)
    assert counts(look(journal, folder, settings=settings)) == {"new": 11}
    source = watch(journal, folder)
    said = {subject: row for subject, *row in texts(journal)}
    name, breaks = BROKEN[how]
    with monkeypatch.context() as patched:
        breaks(folder, name, patched)
        first = vault.scan(journal, source, settings, as_of=NOON + DAY, allow_mass_retire=True)
        second = vault.scan(journal, source, settings, as_of=NOON + 2 * DAY, allow_mass_retire=True)
    assert (first.deleted, first.changed) == (0, 0)
    for scan in (first, second):
        assert scan.unreadable >= 1
        assert any(name in warning for warning in scan.warnings)
    assert second.acts == 0
    assert not {"forget"} & {kind for kind, _ in acts(journal)}
    assert {subject: row for subject, *row in texts(journal)}.items() >= said.items()
    whole_vault(folder)
    mended = vault.scan(journal, source, settings, as_of=NOON + 3 * DAY)
    assert (mended.deleted, mended.unreadable, mended.warnings) == (0, 0, [])
    assert mended.new + mended.unchanged == 11
    assert {subject: row for subject, *row in texts(journal)} == said
    assert vault.scan(journal, source, settings, as_of=NOON + 4 * DAY).acts == 0


def texts(journal) -> list[tuple[str, str, str]]:
    """What the sources say by the last act on each that is a save or a forget."""
    rows = journal.read(kinds=["save", "forget"]).sort("occurred_at", "seq")
    last = rows.unique("subject", keep="last").filter(pl.col("kind") == "save")
    return sorted(last.select("subject", "kind", "content_hash").rows())


def test_good_lines_beside_a_bad_one_are_taken_in(journal, folder):
    put(folder, "facts.jsonl", with_line("{"))
    scan = look(journal, folder)
    assert counts(scan) == {"new": 5, "unreadable": 1}
    assert "1 of its 6 lines" in scan.warnings[0]
    assert [subject for kind, subject in acts(journal) if kind == "unreadable"] == ["vault/facts.jsonl#L3"]


def test_a_save_and_a_fault_of_one_day_leave_the_save(journal, folder):
    put(folder, "a.md", "What was read in the morning.")
    look(journal, folder)
    put(folder, "a.md", b"\xff\xff")
    look(journal, folder, at=NOON + timedelta(hours=3))
    rows = staging.stage(journal.read(kinds=KINDS))
    assert rows.select("act", "content").rows() == [("save", "What was read in the morning.")]


def test_a_note_that_was_renamed_is_no_loss(journal, folder):
    for number in range(4):
        put(folder, f"old/{number}.md", f"{TEXT} {number}")
    look(journal, folder)
    (folder / "old").rename(folder / "new")
    scan = look(journal, folder, at=NOON + DAY)
    assert (counts(scan), scan.warnings) == ({"moved": 4}, [])


def test_a_name_with_a_number_sign_is_no_line_of_a_file(journal, folder):
    put(folder, "C#.md")
    put(folder, "a.md", f"{TEXT} else")
    look(journal, folder)
    put(folder, "C#.md", b"\xff")
    assert counts(look(journal, folder, at=NOON + DAY)) == {"unchanged": 1, "unreadable": 1}


def test_one_vault_that_fails_keeps_no_other_from_being_looked_at(journal, tmp_path, monkeypatch):
    for name in ("one", "two", "three"):
        put(tmp_path / name, "a.md")
        watch(journal, tmp_path / name, namespace=name)
    shutil.rmtree(tmp_path / "one")
    listed = vault.list_vault

    def fails(folder):
        if folder.name == "two":
            raise RuntimeError("of a kind that nobody thought of")
        return listed(folder)

    monkeypatch.setattr(vault, "list_vault", fails)
    scans = vault.scan_all(journal, LIMITS, as_of=NOON)
    found = {scan.vault: scan for scan in scans}
    assert {name: counts(scan) for name, scan in found.items()} == {
        "one": {"unreadable": 1}, "two": {"unreadable": 1}, "three": {"new": 1},
    }  # fmt: skip
    assert "is no longer at" in found["one"].warnings[0]
    assert "RuntimeError" in found["two"].warnings[0]


def test_of_two_jsonl_lines_with_one_id_the_second_is_unreadable(journal, folder):
    put(folder, "facts.jsonl", '{"id": "x", "text": "first"}\n{"id": "x", "text": "last"}\n')
    look(journal, folder)
    before = acts(journal)
    assert look(journal, folder, at=NOON + DAY).acts == 0
    assert acts(journal) == before
    rows = staging.stage(journal.read(kinds=KINDS)).sort("source")
    assert rows.select("act", "reason").rows() == [("unreadable", "bad_json_line"), ("save", None)]
    assert rows["content"].to_list()[1] == "first"


def test_a_note_above_the_size_limit_is_unreadable_and_only_its_head_is_kept(journal, folder):
    put(folder, "large.md", "x" * 1_001)
    put(folder, "right.md", "y" * 1_000)
    scan = look(journal, folder, settings=NotesSettings(max_bytes=1_000))
    assert counts(scan) == {"new": 1, "unreadable": 1}
    row = journal.read(kinds=["unreadable"]).row(0, named=True)
    payload = payload_of(row["payload"])
    assert (payload["reason"], payload["size_bytes"], len(payload["content"])) == ("too_large", 1_001, 500)
    assert "1,001 bytes" in payload["message"]


def test_acts_of_a_note_never_go_back_in_time(journal, folder):
    """The second look is given an earlier moment than the first: its act still counts as the later one."""
    put(folder, "a.md", "first text")
    look(journal, folder, at=NOON)
    put(folder, "a.md", "second text")
    look(journal, folder, at=NOON - timedelta(hours=1))
    rows = journal.read(kinds=KINDS)
    assert rows["occurred_at"].to_list() == [NOON, NOON - timedelta(hours=1)]
    assert rows["ordered_at"].is_sorted()
    assert staging.stage(rows)["content"].to_list() == ["second text"]


def test_a_scan_that_was_killed_before_it_journalled_gives_the_same_acts_again(journal, folder, monkeypatch):
    put(folder, "a.md")
    source = watch(journal, folder)
    appended = []
    monkeypatch.setattr(type(journal), "append", lambda self, entries: appended.extend(entries))
    vault.scan(journal, source, LIMITS, as_of=NOON)
    vault.scan(journal, source, LIMITS, as_of=NOON)
    assert appended[0] == appended[1]


# -- the end of the day ----------------------------------------------------------------------------


@pytest.mark.parametrize(("offset", "expected"), [(-1, {"new": 1}), (0, {"later": 1}), (1, {"later": 1})])
def test_a_file_modified_at_or_after_the_days_end_is_left_for_the_next_night(
    journal, folder, offset, expected
):
    end = datetime(2026, 3, 2, tzinfo=UTC)
    put(folder, "a.md", at=end + timedelta(seconds=offset))
    assert counts(look(journal, folder, before=end)) == expected


def test_what_is_known_of_a_postponed_file_stays(journal, folder):
    end = datetime(2026, 3, 2, tzinfo=UTC)
    put(folder, "a.md")
    put(folder, "facts.jsonl", '{"id": "x", "text": "one"}\n')
    look(journal, folder)
    put(folder, "a.md", "changed", at=end)
    put(folder, "facts.jsonl", '{"id": "y", "text": "two"}\n', at=end)
    assert counts(look(journal, folder, before=end)) == {"later": 2}
    assert len(acts(journal)) == 2
    assert counts(look(journal, folder, at=end, before=end + DAY)) == {"changed": 1, "new": 1, "deleted": 1}


# -- the brake -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "gone", "retired"),
    [
        (1, 1, 0), (2, 1, 1), (2, 2, 0), (3, 1, 1), (3, 2, 0), (4, 2, 2), (20, 10, 10), (20, 11, 0),
        (20, 20, 0), (41, 20, 20), (41, 21, 0), (50, 25, 25),
    ],
)  # fmt: skip
def test_a_look_never_retires_more_than_a_share_of_the_notes(journal, folder, total, gone, retired):
    for number in range(total):
        put(folder, f"{number:02}.md", f"note {number}")
    look(journal, folder)
    for number in range(gone):
        (folder / f"{number:02}.md").unlink()
    scan = look(journal, folder, at=NOON + DAY)
    assert scan.deleted == retired
    assert len(journal.read(kinds=["forget"])) == retired
    if not retired:
        (warning,) = scan.warnings
        assert f"{gone} of {total} notes" in warning
        assert "--delete-missing" in warning
        allowed = look(journal, folder, at=NOON + DAY, allow_mass_retire=True)
        assert (allowed.deleted, allowed.warnings) == (gone, [])


def test_a_missing_folder_is_an_error_and_retires_nothing(journal, folder):
    put(folder, "a.md")
    source = watch(journal, folder)
    vault.scan(journal, source, LIMITS, as_of=NOON)
    shutil.rmtree(folder)
    with pytest.raises(FileNotFoundError):
        vault.scan(journal, source, LIMITS, as_of=NOON + DAY)
    assert acts(journal) == [("save", "vault/a.md")]


# -- duplicates that lose their twin ---------------------------------------------------------------


class Gate:
    """What enters, day after day: each day's acts are settled once, as its night does."""

    def __init__(self, journal, space) -> None:
        self.journal, self.space = journal, space
        self.done: set[str] = set()

    def live(self) -> set[str]:
        rows = staging.stage(self.journal.read(kinds=KINDS))
        for day in sorted(set(rows["day"]) - self.done):
            self.done.add(day)
            self.night(rows.filter(day=day))
        return set(self.space.store.read("memories", "status = 'live'", columns=["source"])["source"])

    def night(self, rows: pl.DataFrame) -> None:
        space, verdicts = self.space, judge(rows, self.space.gate_policy)
        let_in = rows.join(verdicts.filter(pl.col("verdict") != "refuse"), on="memory_id", how="semi")

        def chunks_of(notes: pl.DataFrame) -> pl.DataFrame:
            cut = ingest_pipeline.cut(notes, space.chunker, space.embedder.name)
            return ingest_pipeline.embed(space.store, space.embedder, cut)

        admit_batch(space, let_in, chunks_of, again=True)
        lost = lost_originals(space.store, until=rows["day"].max())
        staged = staging.stage(self.journal.read(kinds=KINDS))
        admit_batch(space, staged.join(lost, on=["memory_id", "revision"], how="semi"), chunks_of)


@pytest.fixture
def gate(journal, make_space) -> Gate:
    """A gate over the journal, and a store of its own."""
    return Gate(journal, make_space())


def test_when_the_accepted_one_of_two_equal_notes_is_deleted_the_other_is_taken_in(journal, folder, gate):
    put(folder, "a.md")
    put(folder, "b.md")
    look(journal, folder)
    (accepted,) = gate.live()
    other = ({"vault/a.md", "vault/b.md"} - {accepted}).pop()
    (folder / accepted.removeprefix("vault/")).unlink()
    scan = look(journal, folder, at=NOON + DAY)
    assert counts(scan) == {"deleted": 1, "unchanged": 1}
    assert acts(journal, days=["2026-03-02"]) == [("forget", accepted), ("save", other)]
    assert gate.live() == {other}
    assert look(journal, folder, at=NOON + 2 * DAY).acts == 0
    assert len(acts(journal)) == 4


def test_when_the_accepted_one_of_two_equal_notes_changes_the_other_is_taken_in(journal, folder, gate):
    put(folder, "a.md")
    put(folder, "facts.jsonl", f'{{"id": "x", "text": "{TEXT}"}}\n{{"id": "y", "text": "else {TEXT}"}}\n')
    look(journal, folder)
    assert "vault/facts.jsonl#y" in gate.live()
    assert len(gate.live()) == 2
    put(folder, "a.md", f"changed {TEXT}")
    look(journal, folder, at=NOON + DAY)
    assert gate.live() == {"vault/a.md", "vault/facts.jsonl#x", "vault/facts.jsonl#y"}
    before = acts(journal)
    look(journal, folder, at=NOON + 2 * DAY)
    assert acts(journal) == before


def test_when_the_accepted_one_of_two_equal_notes_in_two_vaults_is_deleted_the_other_is_taken_in(
    journal, tmp_path, gate
):
    first, second = tmp_path / "first", tmp_path / "second"
    for made in (first, second):
        put(made, "a.md")
        put(made, "else.md", f"{TEXT} In the {made.name} vault the keeper is another one, too.")
        look(journal, made)
    others = {"first/else.md", "second/else.md"}
    (accepted,) = gate.live() - others
    (tmp_path / accepted).unlink()
    for made in (first, second):
        look(journal, made, at=NOON + DAY)
    (taken,) = {"first/a.md", "second/a.md"} - {accepted}
    assert gate.live() - others == {taken}


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="file names are Unicode elsewhere")
def test_a_file_whose_name_is_not_utf8_is_taken_in_under_a_readable_name(journal, folder):
    path = os.fsencode(folder) + b"/caf\xe9.md"
    with open(path, "w") as file:  # noqa: PTH123 - a name that is bytes
        file.write(TEXT)
    os.utime(path, (0, 0))
    assert counts(look(journal, folder)) == {"new": 1}
    assert acts(journal) == [("save", "vault/caf\ufffd.md")]
    assert look(journal, folder, at=NOON + DAY).acts == 0


@pytest.mark.skipif(sys.platform != "linux", reason="file names are Unicode elsewhere")
@pytest.mark.parametrize(
    "names", [(b"caf\xe9.md", b"caf\xe8.md"), ("caf\u00e9.md".encode(), "cafe\u0301.md".encode())]
)
def test_two_files_that_get_one_name_are_not_journalled_again_and_again(journal, folder, names):
    for name in names:
        path = os.fsencode(folder) + b"/" + name
        with open(path, "w") as file:  # noqa: PTH123 - a name that is bytes
            file.write(f"{TEXT} {name!r}")
        os.utime(path, (0, 0))
    look(journal, folder)
    before = acts(journal)
    look(journal, folder, at=NOON + DAY)
    assert acts(journal) == before


def test_a_name_that_the_journal_cannot_hold_is_a_warning(journal, folder):
    deep = "/".join(["d" * 200] * 6)
    put(folder, f"{deep}/a.md")
    put(folder, "b.md")
    scan = look(journal, folder)
    assert acts(journal) == [("save", "vault/b.md")]
    (warning,) = scan.warnings
    assert "cannot be read" in warning
    assert "1024 bytes" in warning


# -- watching --------------------------------------------------------------------------------------


def test_watching_again_changes_nothing(journal, folder):
    first = watch(journal, folder)
    assert watch(journal, folder) == first
    assert journal.sources() == [first]
    assert (first.namespace, first.name, first.uri) == ("ada", "vault", str(folder.resolve()))


def test_two_vaults_of_one_name_are_refused(journal, tmp_path):
    first, second = tmp_path / "one/notes", tmp_path / "two/notes"
    for made in (first, second):
        made.mkdir(parents=True)
    watch(journal, first)
    with pytest.raises(SlowwaveError, match="another name") as caught:
        watch(journal, second)
    assert str(first) in str(caught.value)
    watch(journal, second, name="other")
    watch(journal, second, namespace="bob")
    assert [(one.namespace, one.name) for one in journal.sources()] == [
        ("ada", "notes"), ("ada", "other"), ("bob", "notes"),
    ]  # fmt: skip


def test_a_vault_that_has_moved_keeps_its_notes(journal, folder, tmp_path):
    put(folder, "a.md")
    look(journal, folder)
    moved = tmp_path / "elsewhere" / "vault"
    moved.parent.mkdir()
    folder.rename(moved)
    scan = look(journal, moved, at=NOON + DAY)
    assert counts(scan) == {"unchanged": 1}
    assert [one.uri for one in journal.sources()] == [str(moved)]


def test_watching_what_is_not_a_folder_is_refused(journal, tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        watch(journal, tmp_path / "nowhere")
    file = put(tmp_path, "a.md")
    with pytest.raises(NotADirectoryError, match="is a file"):
        watch(journal, file)
    assert journal.sources() == []


# -- fingerprints and reports ----------------------------------------------------------------------


def test_a_fingerprint_changes_with_names_sizes_and_times(folder):
    path = put(folder, "a.md")
    marks = [vault.fingerprint(folder), vault.fingerprint(folder)]
    assert marks[0] == marks[1]
    os.utime(path, (1, 1))
    marks.append(vault.fingerprint(folder))
    put(folder, "b.md", "x")
    marks.append(vault.fingerprint(folder))
    put(folder, "b.md", "xy")
    marks.append(vault.fingerprint(folder))
    (folder / "b.md").rename(folder / "c.md")
    marks.append(vault.fingerprint(folder))
    assert len(set(marks)) == 5


def test_a_summary_has_a_row_per_vault():
    rows = vault.scan_summary([ScanResult("one", new=2, later=1), ScanResult("two", deleted=3)])
    assert rows.rows() == [("one", 2, 0, 0, 0, 0, 0, 1), ("two", 0, 0, 0, 3, 0, 0, 0)]
    assert rows.columns == ["vault", "new", "changed", "moved", "deleted", "unreadable", "unchanged", "later"]


def test_files_that_were_never_read_make_a_vault_no_less_empty_at_any_look(journal, folder):
    for name in "abc":
        put(folder, f"{name}.md", f"{TEXT} {name}")
    watch(journal, folder)
    look(journal, folder)
    for name in "abc":
        (folder / f"{name}.md").rename(folder / f"moved-{name}.md")
        put(folder, f"moved-{name}.md", b"\xff" * 40 + name.encode())
    for number in range(1, 4):
        scan = look(journal, folder, at=NOON + number * DAY)
        assert (scan.deleted, scan.unreadable) == (0, 3)
        assert any("Nothing was forgotten" in warning for warning in scan.warnings)
    for name in "abc":
        put(folder, f"moved-{name}.md", f"{TEXT} {name}", at=NOON + 3 * DAY)
    scan = look(journal, folder, at=NOON + 5 * DAY)
    assert (scan.moved, scan.deleted) == (3, 0)  # mended: they had only moved


# -- labels and dates of files -----------------------------------------------------------------------


def saved_dates(journal) -> dict[str, datetime | None]:
    rows = journal.read(kinds=["save"])
    at = [payload_of(payload)["created_at"] for payload in rows["payload"]]
    moments = [None if one is None else datetime.fromtimestamp(one / 1e6, UTC) for one in at]
    return dict(zip(rows["subject"], moments, strict=True))


def test_a_note_without_a_date_is_as_old_as_its_file(journal, folder):
    old = datetime(2021, 3, 4, 5, 6, tzinfo=UTC)
    put(folder, "plain.md", at=old)
    put(folder, "2021-05-03 Standup.md", f"{TEXT} It stood up.")
    put(folder, "stated.md", f"---\ncreated: 14.03.2020\n---\n{TEXT} It says so.", at=old)
    put(folder, "facts.jsonl", '{"id": "x", "text": "one"}', at=old)
    put(folder, "later.md", f"{TEXT} Its clock is ahead.", at=NOON + DAY)
    assert counts(look(journal, folder)) == {"new": 5}
    assert saved_dates(journal) == {
        "vault/plain.md": old,
        "vault/2021-05-03 Standup.md": datetime(2021, 5, 3, tzinfo=UTC),
        "vault/stated.md": datetime(2020, 3, 14, tzinfo=UTC),
        "vault/facts.jsonl#x": old,
        "vault/later.md": None,
    }


def test_a_change_of_a_known_note_takes_no_date_of_its_file(journal, folder):
    put(folder, "a.md", at=NOON - 9 * DAY)
    put(folder, "facts.jsonl", '{"id": "x", "text": "one"}', at=NOON - 9 * DAY)
    look(journal, folder)
    put(folder, "a.md", f"{TEXT} It changed.", at=NOON)
    put(folder, "facts.jsonl", '{"id": "x", "text": "one"}\n{"id": "y", "text": "two"}', at=NOON)
    assert counts(look(journal, folder, at=NOON + DAY)) == {"changed": 1, "new": 1, "unchanged": 1}
    assert saved_dates(journal)["vault/a.md"] is None
    assert saved_dates(journal)["vault/facts.jsonl#y"] == NOON


def test_labels_that_cannot_be_read_are_reported_once(journal, folder):
    put(folder, "a.md", f"---\ntitle: {{{{title}}}}\ncreated: soon\nstate: [x]\n---\n{TEXT}")
    scan = look(journal, folder)
    assert counts(scan) == {"new": 1}
    [warning] = scan.warnings
    assert warning.startswith("vault/a.md: its text is read, but not as written: line 2: title; ")
    assert "soon" not in warning
    again = look(journal, folder, at=NOON + DAY)
    assert (counts(again), again.warnings) == ({"unchanged": 1}, [])
