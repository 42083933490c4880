"""Backups: a restored home equals the original, and whatever is wrong with a backup is found."""

from __future__ import annotations

import json
import os
import random
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from backup_helpers import FAST_MODEL, answers, archive, assert_equal_homes, back_up, live
from hypothesis import given
from hypothesis import strategies as st

from slowwave.backup import catalog, files, making
from slowwave.backup.archive import BACKUPS, HEADER, PIECES, new_name
from slowwave.backup.blob_encryption import DamagedError, name_of, seal, unseal
from slowwave.backup.keys import derived, make_key_file, read_key_file
from slowwave.backup.restoring import restore
from slowwave.backup.storage import FileStorage
from slowwave.backup.verifying import mend, verify
from slowwave.errors import BackupError, NotFoundError, StoreError
from slowwave.home.embedding_model import RESTORING
from slowwave.home.workspace import Workspace
from slowwave.journal import maintenance_ops
from slowwave.maintenance.doctor import examine
from slowwave.maintenance.moving.running import move
from slowwave.maintenance.moving.targets import MoveTargets
from slowwave.memory import Memory
from slowwave.settings import load
from slowwave.store.checkpoints import create_checkpoint, restore_checkpoint

KEY = derived(b"k" * 32)
SETTINGS = '# mine\n[embedding]\nmodel = "wordllama-256"\n[gate]\nmode = "warn"\n'


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a past; tests that change it take a copy."""
    home = tmp_path_factory.mktemp("lived") / "home"
    home.mkdir(mode=0o700)
    (home / "slowwave.toml").write_text(SETTINGS)
    with Memory(load(home), namespace="ada") as memory:
        live(memory)
        create_checkpoint(memory.store, "early", datetime.now(UTC))
        live(memory, again=1)
        memory.journal.add_source(
            "ada", "vault", "/nowhere/vault", added_at=datetime(2026, 3, 1, tzinfo=UTC), principal="ann"
        )
    (home / "pages").mkdir()
    (home / "pages" / "r#port 1%.html").write_text("<p>mine</p>")
    (home / "empty.txt").touch()
    (home / "warehouse.duckdb").write_text("made again")
    (home / "dagster").mkdir()
    (home / "dagster" / "runs").write_text("history")
    return home


@pytest.fixture
def own(lived: Path, tmp_path: Path) -> Path:
    """A copy of that home."""
    return Path(shutil.copytree(lived, tmp_path / "own"))


@pytest.fixture(scope="module")
def kept(lived: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two backups of that home in a folder; tests that change it take a copy."""
    home = Path(shutil.copytree(lived, tmp_path_factory.mktemp("kept") / "home"))
    place = home.with_name("backups")
    with Memory(load(home), namespace="ada") as memory:
        back_up(memory, place)
        memory.save("A fifth rule says that the harbour light is lit at six in the evening.", key="fifth")
        back_up(memory, place)
    return place


# A roundtrip


@pytest.mark.slow
@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_a_restored_home_equals_the_original(own: Path, tmp_path: Path, key) -> None:
    place, new = tmp_path / "backups", tmp_path / "new"
    with Memory(load(own), namespace="ada") as memory:
        made = back_up(memory, place, key)
    done = restore(load(new), archive(place, key))
    assert done.changed == ()
    with Memory(load(own), namespace="ada") as old, Memory(load(new), namespace="ada") as again:
        assert made.backup.journal.rows == old.journal.rows.count()
        assert done.digest == old.journal.rows.digest()
        assert_equal_homes(old, again)
    assert answers(new) == answers(own)
    assert any(answers(new))
    assert (new / "slowwave.toml").read_text() == SETTINGS
    assert (new / "pages" / "r#port 1%.html").read_text() == "<p>mine</p>"
    assert (new / "empty.txt").read_bytes() == b""
    assert not (new / "warehouse.duckdb").exists()
    assert not (new / "dagster").exists()
    assert not (new / RESTORING).exists()
    assert new.stat().st_mode & 0o077 == 0
    assert all(one.ok for one in examine(load(new)) if one.subject != "vault")
    with Memory(load(new), namespace="ada") as again:  # and it lives on, with its checkpoint
        assert again.save("A rule that is new in the restored home alone.", key="new").status == "live"
        restore_checkpoint(again.store, "early")
        assert again.store.count("memories") == 5
    if key:
        everything = b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())
        assert b"Thursday" not in everything


@pytest.mark.slow
def test_only_what_is_new_is_sent_and_an_older_one_comes_back(own: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    with Memory(load(own), namespace="ada") as memory:
        first = back_up(memory, place)
        before = answers(own)
        again = back_up(memory, place)
        assert again.backup.sent == 0
        assert again.backup.size == first.backup.size
        memory.save(
            "The sixth rule is about the keys of the boat shed, which hang behind its door.", key="six"
        )
        third = back_up(memory, place)
        assert 0 < third.backup.sent < first.backup.sent
    early = archive(place).named(first.backup.name)
    done = restore(load(tmp_path / "early"), archive(place), at=early.name)
    assert done.backup.name == first.backup.name
    assert answers(tmp_path / "early") == before
    assert archive(place).named(f"{third.backup.at + timedelta(seconds=1):%F %T}").name == third.backup.name
    assert archive(place).named(f"{third.backup.at:%F}").name == third.backup.name
    assert archive(place).named("").name == third.backup.name
    with pytest.raises(NotFoundError, match="The last ones are: 2"):
        archive(place).named("2020-01-01")


def test_a_home_goes_to_other_places_and_keeps_its_own(own: Path, tmp_path: Path) -> None:
    (own / "slowwave.toml").write_text(
        SETTINGS + f'[store]\nuri = "{tmp_path}/far/tables"\nann_min_chunks = 5000\n'
        f'[journal]\nurl = "sqlite:///{tmp_path}/far/j.db"\n'
    )
    (tmp_path / "far").mkdir()
    shutil.move(own / "lance", tmp_path / "far/tables")
    shutil.move(own / "journal.db", tmp_path / "far/j.db")
    with Memory(load(own), namespace="ada") as memory:
        back_up(memory, tmp_path / "backups")
    new = tmp_path / "new"
    done = restore(load(new), archive(tmp_path / "backups"))
    assert done.changed == ("store.uri", "journal.url")
    assert load(new).store.ann_min_chunks == 5000
    assert (new / "lance").is_dir()
    assert answers(new) == answers(own)

    prepared = tmp_path / "prepared"
    prepared.mkdir()
    (prepared / "slowwave.toml").write_text('[store]\nuri = "elsewhere"\n')
    restore(load(prepared), archive(tmp_path / "backups"))
    assert load(prepared).store.uri == "elsewhere"
    assert (prepared / "elsewhere" / "memories.lance").is_dir()
    assert answers(prepared) == answers(own)

    same = tmp_path / "same"
    same.mkdir()
    (same / "slowwave.toml").write_text((own / "slowwave.toml").read_text())
    with pytest.raises(BackupError, match="There are tables at"):
        restore(load(same), archive(tmp_path / "backups"))


def test_an_old_file_of_rows_that_wait_is_committed_first(own: Path, tmp_path: Path) -> None:
    with Memory(load(own), namespace="ada") as memory:
        memory.save("What was saved last waits in the log of new rows until it is committed.", key="waits")
        assert memory.store.logged()
        back_up(memory, tmp_path / "backups")
    restore(load(tmp_path / "new"), archive(tmp_path / "backups"))
    assert not list((tmp_path / "new").glob("lance.wal/*.arrows"))
    with Memory(load(tmp_path / "new"), namespace="ada") as memory:
        assert memory.search("log of new rows").results[0].source == "waits"


# What is refused


def test_a_home_that_is_not_empty_is_left_alone(own: Path, kept: Path) -> None:
    before = sorted(path.name for path in own.iterdir())
    with pytest.raises(BackupError, match="is not empty"):
        restore(load(own), archive(kept))
    assert sorted(path.name for path in own.iterdir()) == before


def test_what_a_home_keeps_of_a_move_is_not_in_the_way_of_its_own_restore(kept: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    told = {"home": str(new.resolve()), "left": {"tables": ["s3://old/lance"], "journal": []}}
    (new / "moved-from.json").write_text(json.dumps(told))
    restore(load(new), archive(kept))
    with Memory(load(new), namespace="ada") as memory:
        assert memory.store.count("memories")
    assert json.loads((new / "moved-from.json").read_text()) == told


def test_a_restore_that_was_cut_short_goes_on_and_nobody_opens_it_meanwhile(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, real = tmp_path / "new", FileStorage.put
    left = iter(range(40))

    def breaks(self, name, content):
        if next(left, None) is None:
            raise OSError(28, "No space left on device")
        real(self, name, content)

    monkeypatch.setattr(FileStorage, "put", breaks)
    with pytest.raises(OSError, match="No space left"):
        restore(load(new), archive(kept))
    monkeypatch.undo()
    os.environ["SLOWWAVE_EMBEDDING__MODEL"] = FAST_MODEL
    with pytest.raises(StoreError, match="is being restored"):
        Workspace(load(new)).journal  # noqa: B018
    with pytest.raises(StoreError, match="is being restored"):
        Workspace(load(new)).store  # noqa: B018
    with pytest.raises(BackupError, match="has begun in"):
        restore(load(new), archive(kept), at=archive(kept).names()[0])
    restore(load(new), archive(kept))
    whole = tmp_path / "whole"
    restore(load(whole), archive(kept))
    with Memory(load(new), namespace="ada") as one, Memory(load(whole), namespace="ada") as other:
        assert_equal_homes(one, other)


def test_two_backups_at_once_and_works_under_way_are_refused(own: Path, tmp_path: Path) -> None:
    with Memory(load(own), namespace="ada") as memory:
        journal = memory.journal
        with (
            journal.exclusive("backup", until=lambda: True) as held,
            Memory(load(own), namespace="ada") as other,
        ):
            assert held
            with pytest.raises(BackupError, match="Another backup"):
                back_up(other, tmp_path / "backups")
        with (
            pytest.raises(RuntimeError),
            maintenance_ops.maintenance_op(journal, "a work", "slowwave x", memory.home.now()),
        ):
            raise RuntimeError
        with pytest.raises(StoreError, match="slowwave x"):
            back_up(memory, tmp_path / "backups")


def test_places_of_others_are_refused(own: Path, kept: Path, tmp_path: Path) -> None:
    with Memory(load(own), namespace="ada") as memory:
        with pytest.raises(BackupError, match="backups of another home"):
            back_up(memory, kept)
        with pytest.raises(BackupError, match="has no backups"):
            back_up(memory, own.parent)
        (tmp_path / "file").write_text("x")
        with pytest.raises(BackupError, match=r"a file is in place of a folder|is not a folder"):
            back_up(memory, tmp_path / "file")
    with pytest.raises(BackupError, match="There are no backups"):
        archive(tmp_path)


def test_a_wrong_key_says_so(own: Path, kept: Path, tmp_path: Path) -> None:
    place, other = tmp_path / "backups", derived(b"o" * 32)
    with Memory(load(own), namespace="ada") as memory:
        back_up(memory, place, KEY)
        for wrong in (None, other):
            with pytest.raises(BackupError, match=f"encrypted with the key {KEY.number}"):
                back_up(memory, place, wrong)
    with pytest.raises(BackupError, match="are not encrypted"):
        archive(kept, KEY)
    (place / HEADER).unlink()  # then every list says it
    assert len(verify(archive(place, other)).faults) == 2


def test_a_file_that_strays_among_the_lists_stops_no_backup(own: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    with Memory(load(own), namespace="ada") as memory:
        back_up(memory, place)
        for name in ("x", ".DS_Store", "9"):
            (place / "backups" / name).write_text("not one of ours")
        assert back_up(memory, place).backup.name


def test_names_sort_by_time_whatever_the_clock_does() -> None:
    moment = datetime(2026, 3, 1, 12, 0, 0, 999_000, tzinfo=UTC)
    first = new_name(moment)
    assert first.startswith("20260301T120000999Z-")
    second = new_name(moment - timedelta(days=3), first)
    assert second.startswith("20260301T120001000Z-")
    assert new_name(moment + timedelta(days=1), second).startswith("20260302T")


# Old ones, and what was erased


@pytest.mark.slow
def test_old_backups_go_with_what_only_they_had(own: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    with Memory(load(own), namespace="ada") as memory:
        for number in range(3):
            memory.save(f"Rule {number} of the archive says that old boxes go to the cellar.", key="box")
            last = back_up(memory, place, keep=2)
    assert last.backups == 2
    assert len(last.removed) == 1
    assert last.freed > 0
    assert verify(archive(place)).sound
    assert verify(archive(place)).unused == {}
    (place / PIECES / "ab").mkdir(exist_ok=True)
    (place / PIECES / "ab" / ("ab" * 32)).write_bytes(b"of a backup that was killed")
    assert list(verify(archive(place)).unused) == [f"{PIECES}/ab/{'ab' * 32}"]
    with Memory(load(own), namespace="ada") as memory:
        back_up(memory, place)
    assert verify(archive(place)).unused == {}


@pytest.mark.slow
def test_what_was_erased_leaves_the_backups_too(own: Path, tmp_path: Path) -> None:
    place, secret = (
        tmp_path / "backups",
        "The zebracanary relay is behind the radar, in the red box of the mate.",
    )

    def holds() -> bool:
        found = archive(place)
        return any(b"zebracanary" in found.get(name) for name in found.stored())

    with Memory(load(own), namespace="ada") as memory:
        saved = memory.save(secret, key="secret")
        memory.home.store.settle()
        back_up(memory, place)
        back_up(memory, place)
        done = memory.erase(saved.memory_id)
        assert any("--forget-erased" in one for one in done.remains)
        assert [one.advice for one in examine(load(own)) if one.subject == "erased"] == [
            f"slowwave backup {place} --forget-erased"
        ]
        with_old = back_up(memory, place)
        assert with_old.backups == 3
        made = back_up(memory, place, forget_erased=True)
        assert len(made.removed) == 2
        assert made.backups == 2
        assert not holds()
        assert not [one for one in examine(load(own)) if one.subject == "erased"]
        assert verify(archive(place)).sound
        again = memory.save("Another text, which is erased as well and was in no backup at all.", key="b")
        assert not any("zebra" in one for one in memory.erase(again.memory_id).remains)
    restore(load(tmp_path / "new"), archive(place))
    assert "zebracanary" not in str(answers(tmp_path / "new"))


@pytest.mark.slow
def test_doctor_says_when_the_last_one_was(own: Path, tmp_path: Path) -> None:
    def told(**backup):
        found = examine(load(own, backup=backup))
        return [(one.ok, one.message, one.advice) for one in found if one.subject == "backup"]

    place = tmp_path / "backups"
    assert told() == []
    assert told(uri=str(place)) == [(False, f"there is none at {place} yet", "slowwave backup")]
    with Memory(load(own), namespace="ada") as memory:
        back_up(memory, place)
    ((fresh, words, _),) = told(uri=str(place))
    assert fresh
    assert "1 there" in words
    old = catalog.read(own)
    last = old.places[str(place)]
    catalog.note(own, old, str(place), catalog.LastBackup(**{
        **{name: getattr(last, name) for name in last.__slots__}, "at": last.at - timedelta(days=3),
    }))  # fmt: skip
    assert [one[0] for one in told(uri=str(place))] == [False]
    assert [one[0] for one in told()] == [True]  # nobody asked for one


# Damage


@pytest.mark.slow
def test_every_flipped_bit_is_found(kept: Path, tmp_path: Path) -> None:
    place = Path(shutil.copytree(kept, tmp_path / "backups"))
    assert verify(archive(place)).sound
    chance = random.Random(7)
    every = sorted(path for path in place.rglob("*") if path.is_file())
    lists = [path for path in every if path.parent.name == BACKUPS]
    for path in [place / HEADER, *lists, *chance.sample(every, 12)]:
        whole = path.read_bytes()
        at, bit = chance.randrange(len(whole)), 1 << chance.randrange(8)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
        found = verify(archive(place))
        assert [one.where for one in found.faults] == [str(path.relative_to(place))], (path, at, bit)
        assert not found.sound
        harmed = {name for one in found.faults for name in one.backups}
        assert set(found.whole) == set(found.backups) - harmed
        path.write_bytes(whole)
    assert verify(archive(place)).sound


def test_a_missing_piece_says_what_it_harms_and_the_next_backup_heals_it(own: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    with Memory(load(own), namespace="ada") as memory:
        first = back_up(memory, place)
        data = next(one for one in first.backup.tables["memories"].files if one.name.startswith("data/"))
        piece = data.pieces[0]
        (place / PIECES / piece[:2] / piece).unlink()
        (fault,) = verify(archive(place)).faults
        assert fault.problem == "is missing"
        assert fault.what.startswith("table memories, ")
        assert fault.backups == (first.backup.name,)
        with pytest.raises(BackupError, match=r"Table memories, .* is missing"):
            restore(load(tmp_path / "new"), archive(place))
        back_up(memory, place)
        assert verify(archive(place)).sound
    restore(load(tmp_path / "new"), archive(place), at=first.backup.name)


def test_a_damaged_piece_is_sent_again_when_it_was_taken_away(own: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    with Memory(load(own), namespace="ada") as memory:
        made = back_up(memory, place)
        piece = made.backup.journal.pages[0].pieces[0]
        path = place / PIECES / piece[:2] / piece
        *kept, last = path.read_bytes()
        path.write_bytes(bytes([*kept, last ^ 1]))
        back_up(memory, place)
        found = verify(archive(place))
        (fault,) = found.faults
        assert fault.what.startswith("journal, entries 1 to ")
        assert len(fault.backups) == 2
        assert mend(archive(place), found) == 1
        back_up(memory, place)
    assert verify(archive(place)).sound


def test_a_lost_header_is_written_again(own: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    with Memory(load(own), namespace="ada") as memory:
        back_up(memory, place)
        whole = (place / HEADER).read_bytes()
        (place / HEADER).write_bytes(b"{}")
        back_up(memory, place)
    assert (place / HEADER).read_bytes() == whole


# Pieces and keys


@given(st.binary(max_size=5_000), st.sampled_from([None, KEY]), st.data())
def test_a_piece_comes_back_and_any_change_is_seen(content, key, data) -> None:
    name = name_of(content, key)
    stored = seal(name, content, key)
    assert unseal(name, stored, key) == content
    at = data.draw(st.integers(0, len(stored) - 1))
    bit = data.draw(st.integers(0, 7))
    with pytest.raises(DamagedError):
        unseal(name, stored[:at] + bytes([stored[at] ^ (1 << bit)]) + stored[at + 1 :], key)
    with pytest.raises(DamagedError):
        unseal(name, stored[: data.draw(st.integers(0, len(stored) - 1))], key)


@pytest.mark.parametrize("size", [0, 1, 2**20 - 1, 2**20, 2**20 + 1, 3 * 2**20])
def test_pieces_of_several_chunks(size: int) -> None:
    content = random.Random(size).randbytes(size)
    name = name_of(content, KEY)
    stored = seal(name, content, KEY)
    assert unseal(name, stored, KEY) == content
    assert seal(name, content, KEY) != stored  # no nonce is used twice
    with pytest.raises(DamagedError, match="with this key"):
        unseal("0" * 64, stored, KEY)  # put in another one's place
    assert name_of(content, derived(b"o" * 32)) != name != name_of(content, None)


def test_a_key_file_is_its_owners_and_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "key"
    key = make_key_file(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_key_file(path) == key
    assert key.content.hex() not in repr(key)
    with pytest.raises(BackupError, match="exists already"):
        make_key_file(path)
    path.chmod(0o644)
    with pytest.raises(BackupError, match="chmod 600"):
        read_key_file(path)
    path.chmod(0o600)
    path.write_text("slowwave-backup-key-1:abcd\n")
    with pytest.raises(BackupError, match="is not a backup key"):
        read_key_file(path)
    with pytest.raises(BackupError, match="Cannot read"):
        read_key_file(tmp_path / "none")


def test_the_key_is_in_no_backup(own: Path, tmp_path: Path) -> None:
    key = make_key_file(own / "my.key")
    with Memory(load(own), namespace="ada") as memory:
        made = making.make(
            memory.home, FileStorage(str(own / "backups"), make=True), key, spared=[own / "my.key"]
        )
    names = {file.name for file in made.backup.files}
    assert "slowwave.toml" in names
    assert "my.key" not in names
    assert not any(name.startswith("backups/") for name in names)


def test_backups_elsewhere_in_the_home_are_in_no_other_backup(own: Path, tmp_path: Path) -> None:
    with Memory(load(own), namespace="ada") as memory:
        back_up(memory, own / "mine")
        made = back_up(memory, tmp_path / "others")
    assert not any(file.name.startswith("mine/") for file in made.backup.files)


def test_files_of_several_pieces_come_back(own: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(making, "PIECE_BYTES", 4_096)
    with Memory(load(own), namespace="ada") as memory:
        made = back_up(memory, tmp_path / "backups")
    most = max(len(file.pieces) for part in made.backup.tables.values() for file in part.files)
    assert most > 3
    restore(load(tmp_path / "new"), archive(tmp_path / "backups"))
    assert answers(tmp_path / "new") == answers(own)


def moved(home: Path, to: Path) -> None:
    space = Workspace(load(home))
    move(space, MoveTargets(space.settings, (str(to),), "tables"))
    space.close()


def test_what_a_moved_home_left_is_in_no_backup_and_hides_no_table(
    own: Path, tmp_path: Path, monkeypatch
) -> None:
    moved(own, tmp_path / "tables")
    with Memory(load(own), namespace="ada") as memory:
        memory.save("The pelicans of the harbour came back on the first day of April.", key="pelicans")
        made = back_up(memory, tmp_path / "backups")
        assert not [file.name for file in made.backup.files if file.name.startswith(("lance", "journal.db"))]
        with monkeypatch.context() as former:  # as backups were made that had what was left
            former.setattr(files, "LEFT_OUT", tuple(name for name in files.LEFT_OUT if name != "lance"))
            former.setattr(files, "old_places", lambda home: [])
            made = back_up(memory, tmp_path / "backups")
        assert [file.name for file in made.backup.files if file.name.startswith("lance/")]
    restore(load(tmp_path / "new"), archive(tmp_path / "backups"))
    assert answers(tmp_path / "new") == answers(own)
    with Memory(load(tmp_path / "new"), namespace="ada") as again:
        assert again.search("pelicans of the harbour").results[0].source == "pelicans"


def test_a_copy_and_a_restored_home_do_not_go_on_with_the_backups_of_the_original(
    own: Path, tmp_path: Path
) -> None:
    place = tmp_path / "backups"

    def backed_up(home: Path, **how: bool) -> making.Made:
        with Memory(load(home), namespace="ada") as memory:
            return making.make(memory.home, FileStorage(str(place), make=True), None, **how)

    backed_up(own)
    copy = Path(shutil.copytree(own, tmp_path / "copy"))
    restore(load(tmp_path / "restored"), archive(place))
    backed_up(own)
    for other in (copy, tmp_path / "restored"):
        with pytest.raises(BackupError, match=r"made by another copy of this home.*--adopt"):
            backed_up(other)
    assert len(archive(place).names()) == 2
    backed_up(tmp_path / "restored", adopt=True)
    backed_up(tmp_path / "restored")
    with pytest.raises(BackupError, match="another copy of this home"):
        backed_up(own)


def test_a_restored_home_goes_on_where_the_last_backup_is(own: Path, tmp_path: Path) -> None:
    with Memory(load(own), namespace="ada") as memory:
        back_up(memory, tmp_path / "backups")
    shutil.rmtree(own)
    restore(load(own), archive(tmp_path / "backups"))
    with Memory(load(own), namespace="ada") as memory:
        assert back_up(memory, tmp_path / "backups").backups == 2


def test_who_takes_the_newest_backup_away_or_renames_the_place_goes_on(own: Path, tmp_path: Path) -> None:
    with Memory(load(own), namespace="ada") as memory:
        back_up(memory, tmp_path / "backups")
        second = back_up(memory, tmp_path / "backups")
        (tmp_path / "backups" / BACKUPS / second.backup.name).unlink()
        assert back_up(memory, tmp_path / "backups").backups == 2
        (tmp_path / "backups").rename(tmp_path / "mounted elsewhere")
        assert back_up(memory, tmp_path / "mounted elsewhere").backups == 3


def test_a_backup_that_was_killed_before_it_was_noted_is_this_homes(
    own: Path, tmp_path: Path, monkeypatch
) -> None:
    with Memory(load(own), namespace="ada") as memory:
        with monkeypatch.context() as killed:
            killed.setattr(making, "_prune", Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                back_up(memory, tmp_path / "backups")
        assert back_up(memory, tmp_path / "backups").backups == 2


def test_backups_that_fail_one_after_the_other_leave_the_place_to_this_home(
    own: Path, tmp_path: Path, monkeypatch
) -> None:
    def fails(at: str, memory: Memory) -> None:
        with monkeypatch.context() as killed:
            killed.setattr(making, at, Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                back_up(memory, tmp_path / "backups")

    with Memory(load(own), namespace="ada") as memory:
        back_up(memory, tmp_path / "backups")
        fails("_prune", memory)  # it is there, and was not noted
        fails("holding", memory)
        fails("holding", memory)
        assert back_up(memory, tmp_path / "backups").backups == 3
        assert not catalog.read(own).begun


def test_a_home_that_lost_what_it_is_known_by_adopts_its_backups(own: Path, tmp_path: Path) -> None:
    with Memory(load(own), namespace="ada") as memory:
        back_up(memory, tmp_path / "backups")
        (own / catalog.FILE).unlink()
        with pytest.raises(BackupError, match=r"of another home.*--adopt"):
            back_up(memory, tmp_path / "backups")
        made = making.make(memory.home, FileStorage(str(tmp_path / "backups")), None, adopt=True)
        assert made.backups == 2
        assert back_up(memory, tmp_path / "backups").backups == 3


def test_a_place_that_lost_its_header_takes_nothing_in_the_clear_if_its_backups_are_encrypted(
    own: Path, tmp_path: Path
) -> None:
    with Memory(load(own), namespace="ada") as memory:
        back_up(memory, tmp_path / "backups", KEY)
        (tmp_path / "backups" / HEADER).unlink()
        with pytest.raises(BackupError, match="can be read without a key"):
            back_up(memory, tmp_path / "backups")
        assert back_up(memory, tmp_path / "backups", KEY).encrypted
