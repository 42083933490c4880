"""A home that goes to S3 and PostgreSQL and back, in parts, and is killed on the way."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import servers
import warm
from backup_helpers import FAST_MODEL, answers, live
from moving_helpers import move

from slowwave.backup.storage import FileStorage
from slowwave.errors import SettingsError, SlowwaveError, StoreError
from slowwave.home.workspace import Workspace
from slowwave.journal import maintenance_ops
from slowwave.maintenance.moving import cutover, files, running
from slowwave.maintenance.moving.targets import MoveTargets
from slowwave.memory import Memory
from slowwave.settings import load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def options() -> Iterator[dict[str, str]]:
    """Storage options of an S3 server of this machine, with a bucket."""
    with servers.s3() as bucket:
        yield bucket.options()


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with servers.postgres() as url:
        yield url


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("lived") / "home"
    home.mkdir(mode=0o700)
    home.joinpath("slowwave.toml").write_text(
        f'# Mine.\nnamespace = "ada"\n\n[embedding]\nmodel = "{FAST_MODEL}"\n'
    )
    with Memory(load(home), namespace="ada") as memory:
        live(memory)
        vault = home.parent / "vault"
        vault.mkdir()
        memory.journal.add_source("ada", "vault", str(vault), added_at=memory.home.now(), principal="ada")
    return home


@pytest.fixture
def home(lived: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(lived, tmp_path / "home"))


def target_file(path: Path, options: dict[str, str], prefix: str, url: str = "") -> str:
    lines = ["[store]", f'uri = "s3://memories/{prefix}"', "[store.storage_options]"]
    lines += [f'{name} = "{value}"' for name, value in options.items()]
    lines += ["[journal]", f'url = "{url}"'] if url else []
    path.write_text("\n".join(lines))
    path.chmod(0o600)
    return str(path)


def by_name(found: list[Any]) -> list[Any]:
    """Answers without the order of those that score the same, which tables elsewhere give in another one."""
    return [sorted((name, round(score, 5), text) for name, score, text in one) for one in found]


def fresh(database: str, name: str) -> str:
    """The URL of a new database of the server."""
    import sqlalchemy as sa

    engine = sa.create_engine(database, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return database.replace("/postgres?", f"/{name}?")


def test_to_s3_and_postgresql_and_back(
    home: Path, tmp_path: Path, options: dict[str, str], database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PART_BYTES", 4096)  # so that files of several parts go there and back
    before = answers(home)
    to = target_file(tmp_path / "target.toml", options, "whole", fresh(database, "whole"))
    would = move(home, to, dry_run=True)
    assert not would.done
    assert would.acts > 0
    assert not FileStorage("s3://memories/whole", options).list()

    done = move(home, to)
    assert done.rows == would.rows
    assert done.size > 0
    settings = load(home)
    assert settings.store.uri == "s3://memories/whole"
    assert (home / "slowwave.toml").read_text().startswith("# Mine.\n")
    assert (home / "slowwave.toml").stat().st_mode & 0o077 == 0
    assert by_name(answers(home)) == by_name(before)
    with Memory(load(home), namespace="ada") as memory:
        assert memory.journal.sources()[0].name == "vault"
        memory.save("The kettle in the kitchen of the harbour office was new in May.", key="kettle")

    with pytest.raises(StoreError, match=r"old tables are still at .*/lance.* --remove-source"):
        move(home, "files")
    assert (home / "journal.db").exists()
    cutover.remove(load(home))
    assert not (home / "lance").exists()
    assert not (home / "journal.db").exists()

    there = shutil.copytree(home, tmp_path / "there")
    back = move(home, "files")
    assert back.rows["memories"] == done.rows["memories"] + 1
    assert load(home).store.uri == ""
    assert load(home).journal.url == ""
    assert "storage_options" not in (home / "slowwave.toml").read_text()
    with Memory(load(home), namespace="ada") as memory:
        assert memory.search("kettle in the harbour office").results[0].source == "kettle"
    with (
        pytest.raises(SlowwaveError, match="this home is moved to another place"),
        Memory(load(there), namespace="ada") as old,
    ):
        old.save("Who still has the old settings is told of the move.", key="late")
    cutover.remove(load(home))
    assert not FileStorage("s3://memories/whole", options).list()
    with Memory(load(home), namespace="ada") as memory:
        assert memory.save("And saves go on after all that moving about.", key="on").status == "live"


def test_a_copy_of_a_moved_home_removes_nothing_of_the_original(home: Path, tmp_path: Path) -> None:
    move(home, str(tmp_path / "elsewhere"))
    copy = Path(shutil.copytree(home, tmp_path / "copy"))
    with pytest.raises(StoreError, match="belongs to another home"):
        cutover.remove(load(copy))
    assert (home / "lance").exists()
    cutover.remove(load(home))
    assert not (home / "lance").exists()


def test_a_part_that_has_left_something_is_not_moved_again_before_that_is_removed(
    home: Path, tmp_path: Path
) -> None:
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    move(home, first)
    for dry_run in (True, False):
        with pytest.raises(StoreError, match=rf"old tables are still at {home}/lance.* --remove-source"):
            move(home, second, dry_run=dry_run)
    copy = Path(shutil.copytree(home, tmp_path / "copy"))
    assert move(copy, str(tmp_path / "of_the_copy")).done
    assert cutover.old_places(load(copy)) == {"tables": first}
    assert cutover.remove(load(home)) == {"tables": str(home / "lance")}
    assert move(home, second).done
    assert cutover.old_places(load(home)) == {"tables": first}


def test_an_erasure_says_what_the_old_place_still_has(home: Path, tmp_path: Path) -> None:
    move(home, str(tmp_path / "new"))
    copy = Path(shutil.copytree(home, tmp_path / "copy"))
    with Memory(load(home), namespace="ada") as memory:
        saved = memory.save("The spare key of the boathouse lies below the third stone.", key="key")
        done = memory.execute_erasure(memory.plan_erasure(saved.memory_id))
        assert [one for one in done.remains if "--remove-source" in one] == [
            f"The previous place of this home, {home / 'lance'}, may still have erased texts. Remove it: "
            "slowwave move --remove-source"
        ]
    assert cutover.still_there(load(copy)) == []
    cutover.remove(load(home))
    assert cutover.still_there(load(home)) == []


def test_the_copy_is_equal_to_the_original(home: Path, lived: Path, tmp_path: Path) -> None:
    """All versions, tags and acts: only the announcement of the move and its end are new."""
    move(home, str(tmp_path / "elsewhere"), only="tables")
    cutover.remove(load(home))
    move(home, "files", only="tables")
    with Memory(load(home), namespace="ada") as one, Memory(load(lived), namespace="ada") as other:
        until = other.journal.rows.last_seq()
        assert one.journal.rows.digest(until=until) == other.journal.rows.digest()
        assert one.journal.rows.count() == until + 4
        names = sorted(other.store.db.list_tables().tables)
        for name in names:
            mine, original = (store.db.open_table(name) for store in (one.store, other.store))
            assert mine.version == original.version
            assert mine.to_arrow() == original.to_arrow()
            assert mine.list_versions() == original.list_versions()


def test_only_the_journal(home: Path, database: str) -> None:
    before, url = answers(home), fresh(database, "acts")
    done = move(home, url, only="journal")
    assert done.tables == {}
    assert done.digest
    assert load(home).store.uri == ""
    assert answers(home) == before


def test_only_what_is_elsewhere_goes_back(home: Path, tmp_path: Path, database: str) -> None:
    url = fresh(database, "in_parts")
    move(home, str(tmp_path / "tables"))
    cutover.remove(load(home))
    back = move(home, "files")
    assert back.target == {"tables": str(home / "lance")}
    cutover.remove(load(home))
    both = tmp_path / "both.toml"
    both.write_text(f'[store]\nuri = ""\n[journal]\nurl = "{url}"\n')
    assert move(home, str(both)).target.keys() == {"journal"}
    there = move(home, str(both))
    assert there.source == there.target
    assert there.target.keys() == {"tables", "journal"}
    assert not there.done


def test_a_move_that_waited_for_another_one_looks_again(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to, space = str(tmp_path / "to"), Workspace(load(home))

    def moved_meanwhile(_: Path) -> bool:
        cutover.switch(load(home), MoveTargets(load(home), [to]))
        return False

    _ = space.journal  # or it would be told when it opens it
    monkeypatch.setattr(running, "is_acquired", moved_meanwhile)
    monkeypatch.setattr(running, "carry", lambda *_: pytest.fail("it copied again"))
    words = rf"was moved meanwhile: its tables and journal are at {to}, .* run the command again"
    for where in (to, str(tmp_path / "other"), "files"):
        with pytest.raises(StoreError, match=words):
            running.move(space, MoveTargets(space.settings, [where]))
        with pytest.raises(StoreError, match=words):
            running.move(space, MoveTargets(space.settings, [where]), dry_run=True)
    for work in (running.give_up, running.remove_source):
        with pytest.raises(StoreError, match=words):
            work(space)
    space.close()


def test_of_two_moves_at_once_one_moves(home: Path, tmp_path: Path) -> None:
    command = warm.python("-m", "slowwave", "move", "--to", tmp_path / "to", "--json")
    both = [
        subprocess.Popen(
            command, env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    ended = [(*one.communicate(timeout=240), one.returncode) for one in both]
    moved = [json.loads(out) for out, _, code in ended if code == 0]
    assert [one["done"] for one in moved].count(True) == 1, ended
    assert all(code == 0 or "was moved meanwhile" in told for _, told, code in ended), ended


def test_a_place_that_holds_another_home_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("of somebody else")
    with pytest.raises(StoreError, match="is not empty"):
        move(home, str(tmp_path / "other"))
    with pytest.raises(SettingsError, match="No target given"):
        move(home)
    assert not Workspace(load(home)).journal.read(kinds=["work"], namespace="*").height


def test_variables_that_say_where_the_tables_are_are_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_STORE__URI", str(home / "lance"))
    with pytest.raises(SettingsError, match="SLOWWAVE_STORE__URI"):
        move(home, str(tmp_path / "new"))


def test_nothing_is_erased_at_a_place_that_the_home_has_left(home: Path, tmp_path: Path) -> None:
    with Memory(load(home), namespace="ada") as memory:
        move(home, str(tmp_path / "new"))
        with pytest.raises(StoreError, match=rf"are at {tmp_path}/new, .* Start this process again"):
            memory.plan_erasure(everything=True)


def test_who_has_the_tables_open_still_is_told(home: Path, tmp_path: Path) -> None:
    with Memory(load(home), namespace="ada") as memory:
        memory.search("when do we deploy?")
        assert move(home, str(tmp_path / "new"), only="tables").done
        with pytest.raises(StoreError, match=r"at .*new, .* now"):
            memory.save("What is saved by an old process must not be lost.", key="old")
    assert not list((home / "lance").glob("*.wal/*.arrows"))


KILL = """
import os, sys
from slowwave.maintenance.moving import cutover, files, running
from slowwave.journal import transfer
from slowwave.backup import storage

def killed(self, *arguments, **named):
    global left_over
    left_over -= 1
    if left_over < 0:
        if where == "switched":
            original(self, *arguments, **named)
        os._exit(137)
    return original(self, *arguments, **named)

where, left_over = sys.argv[1], int(sys.argv[2])
owner, name = {"put": (storage.FileStorage, "put"), "acts": (transfer.StoredRows, "put"),
               "end": (transfer.StoredRows, "reopen"),
               "switch": (cutover, "switch"), "switched": (cutover, "switch"),
               "closing": (transfer.StoredRows, "put_sources")}[where]
original = getattr(owner, name)
setattr(owner, name, killed)
sys.argv = ["slowwave", *sys.argv[3:]]
from slowwave.cli import main
main()
"""


def environment(home: Path) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE_")}
    return {**clean, "PYTHONPATH": str(ROOT), "SLOWWAVE_HOME": str(home)}


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        warm.python(*arguments), env=environment(home), cwd=home.parent, capture_output=True, text=True,
        timeout=240, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("where", "after"),
    [
        ("put", 3),
        pytest.param("put", 60, marks=pytest.mark.soak),
        ("acts", 0),
        pytest.param("closing", 0, marks=pytest.mark.soak),
        ("switch", 0),
    ],
)
def test_a_move_that_is_killed_goes_on_by_the_same_command(
    home: Path, tmp_path: Path, where: str, after: int, database: str
) -> None:
    before = answers(home)
    url = fresh(database, f"killed_{where}_{after}")
    command = ["move", "--to", str(tmp_path / "tables"), "--to", url]
    assert run(home, "-c", KILL, where, str(after), *command).returncode == 137
    assert load(home).store.uri == ""
    refused = run(home, "-m", "slowwave", "save", "Nobody writes in the middle of a move.")
    if where in ("closing", "switch"):  # nobody can write to the old journal any more
        assert refused.returncode == 1, refused.stderr
        assert "moved to another place" in refused.stderr
    else:
        assert refused.returncode == 4, refused.stderr
        told = refused.stderr.split("finish it: slowwave ")[1].split(". The event is in the journal")[0]
        assert shlex.split(told) == command
    done = run(home, "-m", "slowwave", *command, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["done"]
    assert load(home).store.uri == str(tmp_path / "tables")
    assert answers(home) == before
    again = run(home, "-m", "slowwave", *command)
    assert "at this place already" in again.stdout
    if refused.returncode == 1:  # else the note that was saved meanwhile waits for the night
        doctor = run(home, "-m", "slowwave", "doctor")
        assert doctor.returncode == 0, doctor.stdout


def test_a_move_that_was_killed_can_be_given_up(home: Path, tmp_path: Path, database: str) -> None:
    before = answers(home)
    command = ["move", "--to", str(tmp_path / "tables"), "--to", fresh(database, "given_up")]
    assert run(home, "-c", KILL, "switch", "0", *command).returncode == 137
    assert "Cancelled" in run(home, "-m", "slowwave", "move", "--give-up").stdout
    assert answers(home) == before
    with Memory(load(home), namespace="ada") as memory:  # later works do not let it seem moved
        memory.search("when do we deploy?")
        with maintenance_ops.maintenance_op(memory.journal, "a work", "slowwave work", memory.home.now()):
            pass
        assert memory.save("What was given up is not where the home is.", key="given up").memory_id
    assert (
        run(home, "-m", "slowwave", "save", "The home goes on in its old place after that.").returncode == 0
    )


def test_a_move_that_was_killed_after_the_switch_cannot_be_given_up(home: Path, tmp_path: Path) -> None:
    """The home is at its new place: who removed that by hand, as giving up says, would remove the home."""
    command = ["move", "--to", str(tmp_path / "tables")]
    assert run(home, "-c", KILL, "switched", "0", *command).returncode == 137
    assert load(home).store.uri == str(tmp_path / "tables")
    refused = run(home, "-m", "slowwave", "move", "--give-up")
    assert refused.returncode == 1
    assert f"Finish it: slowwave {shlex.join(command)}" in refused.stderr
    other = run(home, "-m", "slowwave", "move", "--to", str(tmp_path / "other"))
    assert f"Finish it: slowwave {shlex.join(command)}" in other.stderr
    assert run(home, "-m", "slowwave", *command).returncode == 0
    assert run(home, "-m", "slowwave", "save", "The home goes on in its new place.").returncode == 0
